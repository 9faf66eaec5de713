"""What every race finds, and how a person reads it. Axes: K options."""

import abc
import dataclasses
from typing import Any

import jax
import numpy as np
from numpy.typing import ArrayLike, NDArray

# Longer tables and lists are cut; the arrays of the result have everything.
MAX_LISTED = 20


# Results hold arrays: the comparison of a dataclass would raise.
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class RaceResult(abc.ABC):
    """The result of a race; under vmap every array has leading batch axes. Print it."""

    ranking: jax.Array  # int32 [K], options from best to worst
    selected: jax.Array  # bool [K], certainly in the top kappa; if decided, the first kappa
    discarded: jax.Array  # bool [K], certainly not needed for it; if decided, all others
    decided: jax.Array  # bool [], nothing is left to decide
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples drawn for options that had asked
    invalid: jax.Array  # int32 [K], first round with a counted outcome not finite, or 0
    params: Any  # the numbers of the race
    top: int = dataclasses.field(metadata={"static": True})  # kappa
    dynamic_delta: bool = dataclasses.field(default=False, metadata={"static": True})
    common_random_numbers: bool = dataclasses.field(default=False, metadata={"static": True})
    dependent: bool = dataclasses.field(default=False, metadata={"static": True})

    @property
    def num_options(self) -> int:
        """K."""
        return self.ranking.shape[-1]

    @property
    def best(self) -> NDArray[np.int32]:
        """The first kappa of the ranking: int32 [..., kappa]."""
        return np.asarray(self.ranking)[..., : self.top]

    @property
    @abc.abstractmethod
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes that the race counted."""

    @property
    def heuristic(self) -> str | None:
        """Why the guarantee does not hold, or None where it does."""
        if self.common_random_numbers:
            return "common random numbers make the options dependent"
        if self.dependent:
            return "samples may depend on each other"
        return "the dynamic correction has no proof" if self.dynamic_delta else None

    @property
    def guarantee(self) -> str:
        """What holds with which probability, in words."""
        if self.heuristic:
            return f"heuristic, no guarantee: {self.heuristic}"
        return self._promise()

    def _promise(self) -> str:
        """What holds where nothing is a heuristic."""
        return f"what is certain is right with {confidence(self.params.delta)}"

    @abc.abstractmethod
    def _title(self) -> str:
        """The race's kind and numbers."""

    @abc.abstractmethod
    def _columns(self) -> dict[str, NDArray[Any]]:
        """Further columns of the table, [K] each."""

    def _tied(self) -> NDArray[np.bool_]:
        """Options that are equally good across the boundary, bool [K]."""
        return np.zeros(self.num_options, bool)

    _compares = True  # does the race compare outcomes with each other?
    # What to say of options that are tied; {places} are left for them, and some are {taken}.
    _tied_how = "any {places} of them will do, and {taken}"

    def _is_certain(self) -> bool:
        """May "in" and "out" be called certain?"""
        return self.heuristic is None

    def _words(self) -> dict[str, str]:
        """What is said of options in the table, and the line that lists them: ins, then outs."""
        sure = "certainly" if self._is_certain() else "perhaps"
        return {"in": f"{sure} in", "out": f"{sure} out"}

    def _progress(self) -> str:
        """How the race stands."""
        if self.decided:
            return "decided"
        played, limit = int(np.max(self.samples)), int(self.params.max_rounds)
        guess = "the undecided are ranked by a guess"
        if played < limit:
            return f"NOT decided yet, after {played} of at most {limit} rounds: {guess}"
        return f"NOT decided within {limit} rounds: {guess}"

    def _notes(self) -> dict[str, str]:
        """Further lines of the report, with their names."""
        return {}

    def __str__(self) -> str:
        if np.ndim(self.decided):
            return self._of_batch()
        ranking, tied = np.asarray(self.ranking), self._tied()
        selected = np.asarray(self.selected) & ~tied
        discarded = np.asarray(self.discarded) & ~tied
        (is_in, says_in), (is_out, says_out) = self._words().items()
        samples = np.asarray(self.samples)
        compared = f", {int(self.oracle_calls):,} comparisons" if self._compares else ""
        rows = {
            says_in: listed(ranking, selected),
            says_out: listed(ranking, discarded),
            "undecided": listed(ranking, ~(selected | discarded | tied)),
        }
        if tied.any():
            places = int(self.top - selected.sum())
            taken = "the first is taken" if places == 1 else f"the first {places} are taken"
            how = self._tied_how.format(places=places, taken=taken)
            rows["tied"] = f"{listed(ranking, tied)}: {how}"
        rows |= self._notes()
        rows["cost"] = (
            f"{int(samples.sum()):,} samples counted, "
            f"{int(np.sum(self.simulated)):,} simulated{compared}"
        )
        verdict = dict.fromkeys(np.flatnonzero(selected), is_in)
        verdict |= dict.fromkeys(np.flatnonzero(discarded), is_out)
        verdict |= dict.fromkeys(np.flatnonzero(tied), "tied")
        columns = self._columns()
        lines = [
            f"Top {self.top} of {self.num_options} options: {self._title()}",
            f"  {self._progress()}",
            f"  {self.guarantee}",
            *(f"  {name:<15}{text}" for name, text in rows.items()),
            "",
            "  rank  option  " + "".join(f"{name:>9}" for name in columns) + "  samples  verdict",
        ]
        for rank, option in enumerate(ranking[:MAX_LISTED]):
            numbers = "".join(f"{_short(column[option]):>9}" for column in columns.values())
            mark = verdict.get(option, "?")
            lines.append(f"  {rank + 1:>4}  {option:>6}  {numbers}{samples[option]:>9}  {mark}")
        if self.num_options > MAX_LISTED:
            lines.append(f"  ... and {self.num_options - MAX_LISTED} more")
        return "\n".join(lines)

    def _of_batch(self) -> str:
        decided = np.asarray(self.decided)
        samples = np.asarray(self.samples).sum(-1)
        simulated = np.asarray(self.simulated).sum(-1)
        return (
            f"{decided.size} races, top {self.top} of {self.num_options} options: {self._title()}\n"
            f"  {int(decided.sum())} of {decided.size} decided; in each, {self.guarantee}\n"
            f"  mean cost {samples.mean():,.1f} samples counted, {simulated.mean():,.1f} simulated"
        )


def confidence(delta: ArrayLike) -> str:
    """The words for 1 - delta."""
    return f"probability at least {span(1 - np.asarray(delta, np.float64))}"


def span(numbers: ArrayLike) -> str:
    """One number, or the smallest to the largest of a batch.

    >>> span(0.05), span([0.01, 0.5])
    ('0.05', '0.01 to 0.5')
    """
    low, high = (f"{end:.4g}" for end in (np.min(numbers), np.max(numbers)))
    return low if low == high else f"{low} to {high}"


def listed(ranking: NDArray[np.integer], mask: NDArray[np.bool_]) -> str:
    """The options of a mask [K], best first."""
    names = [str(option) for option in ranking if mask[option]]
    shown = ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")
    return shown or "-"


def _short(number: Any) -> str:
    return str(int(number)) if isinstance(number, int | np.integer) else f"{number:.3f}"
