"""What a race found, and how a person reads it. Axes: K options, N = capacity."""

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace import kernels

if TYPE_CHECKING:
    from jaxrace.racing.preference import PreferenceParams, PreferenceRace
    from jaxrace.racing.value import ValueParams, ValueRace

# Longer tables are cut; the arrays of the result have everything.
_MAX_TABLE_ROWS = 20

_COMMON_RANDOM_NUMBERS = "common random numbers make the options dependent"


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PreferenceResult:
    """The result of a ``PreferenceRace``; under vmap every array has leading batch axes."""

    ranking: jax.Array  # int32 [K], options from best to worst
    selected: jax.Array  # bool [K], certainly among the top kappa
    discarded: jax.Array  # bool [K], certainly not
    decided: jax.Array  # bool [], the race ended because nothing was left to decide
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples drawn for options that had asked
    beats: jax.Array  # bool [K, K], i certainly beats j
    copeland: jax.Array  # int32 [K], first sort key: #{j : S_ij > 1/2}
    borda: jax.Array  # int32 [K], second sort key: sum of 2 S_ij - 1, in fixed point
    net: jax.Array  # int32 [K, K], wins minus losses over all pairs of samples
    rounds: jax.Array  # int32 [K, K], samples per option behind net
    invalid: jax.Array  # int32 [K], first round with a counted outcome not finite, or 0
    outcomes: Any  # leaves [K, N, ...] where the race intersects intervals, else None
    params: "PreferenceParams"
    race: "PreferenceRace" = dataclasses.field(metadata={"static": True})
    common_random_numbers: bool = dataclasses.field(default=False, metadata={"static": True})

    @property
    def best(self) -> NDArray[np.int32]:
        """The first kappa of the ranking: int32 [..., kappa]."""
        return np.asarray(self.ranking)[..., : self.race.top]

    @property
    def win_matrix(self) -> NDArray[np.float64]:
        """S_ij, float64 [..., K, K]; 1/2 on the diagonal and where nothing was compared."""
        squares = np.maximum(np.asarray(self.rounds, np.float64), 1.0) ** 2
        return 0.5 + np.asarray(self.net) / (2 * squares)

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes that the race counted: sum of n_ij^2 over pairs."""
        squares = np.asarray(self.rounds, np.int64) ** 2
        return np.triu(squares, 1).sum((-2, -1))

    @property
    def intervals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper confidence bounds of s_ij, float64 [K, K], two-sided.

        Computed on the host in float64, from exact counts. With ``intersect`` they are the
        intersection over all rounds of the pair; where that is empty (an event of probability
        at most delta) the newest interval stands.

        Raises:
            ValueError: The result is that of a batch; take one race out of it first.
        """
        if np.ndim(self.decided):
            raise ValueError("intervals: expected the result of one race, got a batch")
        if self.outcomes is None:
            return self._intervals_of(self.win_matrix, np.asarray(self.rounds))
        return self._intersected()

    @property
    def heuristic(self) -> str | None:
        """Why the guarantee does not hold, or None where it does."""
        if self.common_random_numbers:
            return _COMMON_RANDOM_NUMBERS
        if self.race.dynamic_delta:
            return "the dynamic correction has no proof"
        return None

    @property
    def caveat(self) -> str | None:
        """What the guarantee assumes beyond independent samples, or None."""
        if kernels.bound_named(self.race.bound).sides == 1:
            return "if no two options tie exactly (else delta doubles)"
        return None

    def _intervals_of(
        self, estimate: NDArray[np.float64], rounds: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        bound = kernels.bound_named(self.race.bound)
        return kernels.intervals(
            bound,
            self.race.num_options,
            int(self.params.max_rounds),
            float(self.params.delta),
            estimate,
            rounds,
        )

    def _intersected(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        num_rounds = max(int(np.max(self.rounds)), 1)
        seen = jax.tree.map(lambda x: x[:, :num_rounds], self.outcomes)
        wins = np.asarray(kernels.prefix_wins(self.race.compare, seen))  # [n, K, K]
        number = np.arange(1, num_rounds + 1)[:, None, None]
        low, high = self._intervals_of(
            wins / (2.0 * number**2), np.broadcast_to(number, wins.shape)
        )
        counted = number <= np.asarray(self.rounds)
        lower = np.where(counted, low, 0.0).max(0)
        upper = np.where(counted, high, 1.0).min(0)
        newest = self._intervals_of(self.win_matrix, np.asarray(self.rounds))
        empty = lower > upper
        return np.where(empty, newest[0], lower), np.where(empty, newest[1], upper)

    def __str__(self) -> str:
        title = (
            f"preference race (Copeland), bound {self.race.bound}, rule {self.race.rule}, "
            f"delta {float(np.min(self.params.delta)):.3g}"
        )
        if np.ndim(self.decided):
            return _describe_batch(self, title)
        calls = f", {int(self.oracle_calls):,} comparisons"
        columns = {
            "beats": np.asarray(self.copeland),
            "mean S": (self.win_matrix.sum(-1) - 0.5) / (self.race.num_options - 1),
        }
        return _describe(self, title, columns, calls)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ValueResult:
    """The result of a value-based race; under vmap every array has leading batch axes."""

    ranking: jax.Array  # int32 [K], options from best to worst
    selected: jax.Array  # bool [K], certainly among the top kappa
    discarded: jax.Array  # bool [K], certainly not
    decided: jax.Array  # bool [], no option is undecided
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples drawn for options that had asked
    mean: jax.Array  # float32 [K], the sort key among options of equal standing
    lower: jax.Array  # float32 [K], confidence bounds of the mean
    upper: jax.Array  # float32 [K]
    empty: jax.Array  # bool [K], an intersection of intervals was empty
    invalid: jax.Array  # int32 [K], first round with a counted outcome not finite, or 0
    params: "ValueParams"
    race: "ValueRace" = dataclasses.field(metadata={"static": True})
    common_random_numbers: bool = dataclasses.field(default=False, metadata={"static": True})

    @property
    def best(self) -> NDArray[np.int32]:
        """The first kappa of the ranking: int32 [..., kappa]."""
        return np.asarray(self.ranking)[..., : self.race.top]

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes: a value-based race makes none."""
        return np.zeros(np.shape(self.decided), np.int64)

    @property
    def heuristic(self) -> str | None:
        """Why the guarantee does not hold, or None where it does."""
        if self.common_random_numbers:
            return _COMMON_RANDOM_NUMBERS
        if self.race.dynamic_delta:
            return "the dynamic correction has no proof"
        return None

    @property
    def caveat(self) -> str:
        """What the guarantee assumes beyond independent samples."""
        widths = np.unique(np.asarray(self.params.value_range))
        return f"if the range is {', '.join(f'{width:.4g}' for width in widths)}"

    def __str__(self) -> str:
        title = f"{self.race.title}, delta {float(np.min(self.params.delta)):.3g}"
        if np.ndim(self.decided):
            return _describe_batch(self, title)
        columns = {
            "mean": np.asarray(self.mean, np.float64),
            "lower": np.asarray(self.lower, np.float64),
            "upper": np.asarray(self.upper, np.float64),
        }
        return _describe(self, title, columns, calls="")


def _describe(
    result: PreferenceResult | ValueResult,
    title: str,
    columns: dict[str, NDArray[Any]],
    calls: str,
) -> str:
    race = result.race
    selected, discarded = np.asarray(result.selected), np.asarray(result.discarded)
    ranking = np.asarray(result.ranking)
    delta = float(result.params.delta)
    samples, simulated = int(np.sum(result.samples)), int(np.sum(result.simulated))
    undecided = ~(selected | discarded)
    verdict = "decided"
    if not result.decided:
        rounds = int(result.params.max_rounds)
        verdict = f"NOT decided within {rounds} rounds, the undecided are ranked by a guess"
    guarantee = f"what is certain is right with probability at least {1 - delta:.3g}"
    sure = "certainly"
    if result.heuristic:
        guarantee = f"heuristic, no guarantee: {result.heuristic}"
        sure = "probably"
    elif result.caveat:
        guarantee += f", {result.caveat}"
    lines = [
        f"Top {race.top} of {race.num_options} options: {title}",
        f"  {verdict}; {guarantee}",
        f"  {sure + ' in':<15}{_listed(ranking, selected)}",
        f"  {sure + ' out':<15}{_listed(ranking, discarded)}",
        f"  {'undecided':<15}{_listed(ranking, undecided)}",
        f"  {'cost':<15}{samples:,} samples counted, {simulated:,} simulated{calls}",
        "",
        "  rank  option  " + "".join(f"{name:>9}" for name in columns) + "  samples  verdict",
    ]
    for rank, option in enumerate(ranking[:_MAX_TABLE_ROWS]):
        verdict = "in" if selected[option] else "out" if discarded[option] else "?"
        numbers = "".join(f"{_short(column[option]):>9}" for column in columns.values())
        count = int(np.asarray(result.samples)[option])
        lines.append(f"  {rank + 1:>4}  {option:>6}  {numbers}{count:>9}  {verdict}")
    if race.num_options > _MAX_TABLE_ROWS:
        lines.append(f"  ... and {race.num_options - _MAX_TABLE_ROWS} more")
    return "\n".join(lines)


def _describe_batch(result: PreferenceResult | ValueResult, title: str) -> str:
    decided = np.asarray(result.decided)
    samples = np.asarray(result.samples).sum(-1)
    simulated = np.asarray(result.simulated).sum(-1)
    return (
        f"{decided.size} races, top {result.race.top} of {result.race.num_options} options: "
        f"{title}\n"
        f"  {int(decided.sum())} decided; mean cost {samples.mean():,.1f} samples counted, "
        f"{simulated.mean():,.1f} simulated"
    )


def _listed(ranking: NDArray[np.integer], mask: NDArray[np.bool_]) -> str:
    names = [str(option) for option in ranking if mask[option]]
    shown = ", ".join(names[:_MAX_TABLE_ROWS]) + (", ..." if len(names) > _MAX_TABLE_ROWS else "")
    return shown or "-"


def _short(number: Any) -> str:
    return str(int(number)) if isinstance(number, int | np.integer) else f"{number:.3f}"
