"""What a race found. Axes: K options, N = capacity."""

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace import kernels
from jaxrace.racing import report

if TYPE_CHECKING:
    from jaxrace.racing.preference.race import PreferenceRace
    from jaxrace.racing.preference.state import PreferenceParams
    from jaxrace.racing.value import ValueParams, ValueRace

FloatArray = NDArray[np.float64]


# Results hold arrays: the comparison of a dataclass would raise.
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class PreferenceResult:
    """The result of a ``PreferenceRace``; under vmap every array has leading batch axes."""

    ranking: jax.Array  # int32 [K], options from best to worst
    selected: jax.Array  # bool [K], certainly in the top kappa; if decided, the first kappa
    discarded: jax.Array  # bool [K], certainly not in it; if decided, all others
    tied: jax.Array  # bool [K], equal Copeland scores across the boundary of a decided race
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
    def win_matrix(self) -> FloatArray:
        """S_ij, float64 [..., K, K]; 1/2 on the diagonal and where nothing was compared."""
        squares = np.maximum(np.asarray(self.rounds, np.float64), 1.0) ** 2
        return 0.5 + np.asarray(self.net) / (2 * squares)

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes that the race counted: sum of n_ij^2 over pairs."""
        squares = np.asarray(self.rounds, np.int64) ** 2
        return np.triu(squares, 1).sum((-2, -1))

    @property
    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper confidence bounds of s_ij, float64 [K, K], two-sided.

        Computed on the host in float64, from exact counts. With ``intersect`` they are the
        intersection over all rounds of the pair; see ``empty_intersections``. Those of a race
        with the dynamic correction are the intervals of its bound without the correction.

        Raises:
            ValueError: The result is that of a batch; take one race out of it first.
        """
        self._require_one("intervals")
        if self.outcomes is None:
            return self._intervals_of(self.win_matrix, np.asarray(self.rounds))
        return self._intersected()[:2]

    @property
    def empty_intersections(self) -> NDArray[np.bool_]:
        """Was the intersection of a pair's intervals ever empty? bool [K, K].

        The newest interval was taken up then. It happens with probability at most delta. All
        False without ``intersect``.

        Raises:
            ValueError: The result is that of a batch.
        """
        self._require_one("empty_intersections")
        if self.outcomes is None:
            return np.zeros(np.shape(self.rounds), bool)
        return self._intersected()[2]

    @property
    def heuristic(self) -> str | None:
        """Why the guarantee does not hold, or None where it does."""
        return _heuristic(self)

    @property
    def guarantee(self) -> str:
        """What holds with which probability, in words."""
        if self.heuristic:
            return f"heuristic, no guarantee: {self.heuristic}"
        text = f"what is certain is right with {report.confidence(self.params.delta)}"
        epsilon = report.span(self.params.epsilon)
        if epsilon != "0":
            return f"{text}, for some win probabilities within {epsilon} of the true ones"
        if kernels.bound_named(self.race.bound).sides == 1:
            return f"{text}, if no two options tie exactly (else delta doubles)"
        return text

    def _require_one(self, name: str) -> None:
        if np.ndim(self.decided):
            raise ValueError(f"{name}: expected the result of one race, got a batch")

    def _intervals_of(
        self, estimate: FloatArray, rounds: NDArray[np.integer]
    ) -> tuple[FloatArray, FloatArray]:
        return kernels.intervals(
            kernels.bound_named(self.race.bound),
            self.race.num_options,
            int(self.params.max_rounds),
            float(self.params.delta),
            estimate,
            rounds,
        )

    def _intersected(self) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Lower, upper, and whether an intersection was empty, round by round."""
        rounds = np.asarray(self.rounds)
        num_rounds = max(int(rounds.max()), 1)
        seen = jax.tree.map(lambda x: x[:, :num_rounds], self.outcomes)
        wins = np.asarray(kernels.prefix_wins(self.race.compare, seen))  # [n, K, K]
        lower, upper = np.zeros(rounds.shape), np.ones(rounds.shape)
        ever_empty = np.zeros(rounds.shape, bool)
        for n in range(1, num_rounds + 1):
            low, high = self._intervals_of(wins[n - 1] / (2.0 * n**2), np.full(rounds.shape, n))
            meet_low, meet_high = np.maximum(lower, low), np.minimum(upper, high)
            empty = meet_low > meet_high
            counted = n <= rounds
            lower = np.where(counted, np.where(empty, low, meet_low), lower)
            upper = np.where(counted, np.where(empty, high, meet_high), upper)
            ever_empty |= counted & empty
        return lower, upper, ever_empty

    def __str__(self) -> str:
        title = (
            f"preference race (Copeland), bound {self.race.bound}, rule {self.race.rule}, "
            f"delta {report.span(self.params.delta)}"
        )
        epsilon = report.span(self.params.epsilon)
        if epsilon != "0":
            title += f", epsilon {epsilon}"
        if np.ndim(self.decided):
            return report.describe_batch(self, title)
        columns = {
            "beats": np.asarray(self.copeland),
            "mean S": (self.win_matrix.sum(-1) - 0.5) / (self.race.num_options - 1),
        }
        certain = self.heuristic is None and epsilon == "0"
        return report.describe(
            self,
            title,
            columns,
            certain=certain,
            tied=np.asarray(self.tied),
            cost=f", {int(self.oracle_calls):,} comparisons",
        )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
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
        return _heuristic(self)

    @property
    def guarantee(self) -> str:
        """What holds with which probability, in words."""
        if self.heuristic:
            return f"heuristic, no guarantee: {self.heuristic}"
        return (
            f"what is certain is right with {report.confidence(self.params.delta)}, "
            f"if every option's outcomes span at most {report.span(self.params.value_range)}"
        )

    def __str__(self) -> str:
        title = f"{self.race.title}, delta {report.span(self.params.delta)}"
        if np.ndim(self.decided):
            return report.describe_batch(self, title)
        columns = {
            "mean": np.asarray(self.mean, np.float64),
            "lower": np.asarray(self.lower, np.float64),
            "upper": np.asarray(self.upper, np.float64),
        }
        certain = self.heuristic is None
        return report.describe(self, title, columns, certain=certain)


def _heuristic(result: PreferenceResult | ValueResult) -> str | None:
    if result.common_random_numbers:
        return "common random numbers make the options dependent"
    if result.race.dynamic_delta:
        return "the dynamic correction has no proof"
    return None
