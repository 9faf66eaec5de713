"""How a person reads what a race found. Axes: K options."""

from typing import Any

import jax
import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace import kernels
from jaxrace.core.validation import BadArgument
from jaxrace.racing.checks import NO_SIGN
from jaxrace.racing.preference.result import PreferenceResult
from jaxrace.racing.result import REPORTS, FloatArray
from jaxrace.racing.value import ValueResult

# Longer tables and lists are cut; the arrays of the result have everything.
MAX_LISTED = 20

_TARGETS = {
    "borda": "their expected share of wins against all others",
    "random_walk": "the visits of a random walk that restarts in 2% of its steps",
}
_NO_SIGN = "compare(a, b) and compare(b, a) are not 1 and -1, -1 and 1, or both 0"
_NAMES = {"copeland": "Copeland", "borda": "Borda", "random_walk": "random walk"}


class Report:
    """The words and the table of a result."""

    compares = True  # does the race compare outcomes with each other?
    unit = "sample"  # what an option has one outcome of
    # What to say of options that are tied; {places} are left for them, and some are {taken}.
    tied_how = "any {places} of them will do, and {taken}"

    def __init__(self, result: Any) -> None:
        self.result = result
        self.numbers = result.params

    def guarantee(self) -> str:
        """What holds with which probability."""
        if self.result.heuristic:
            return f"heuristic, no guarantee: {self.result.heuristic}"
        return self.promise()

    def promise(self) -> str:
        """What holds where nothing is a heuristic."""
        sure = span(1 - np.asarray(self.numbers.delta, np.float64))
        return f"what is certain is right with probability at least {sure}"

    def title(self) -> str:
        """The race's kind and numbers."""
        raise NotImplementedError

    def columns(self) -> dict[str, NDArray[Any]]:
        """Further columns of the table, [K] each."""
        raise NotImplementedError

    def tied(self) -> NDArray[np.bool_]:
        """Options that are equally good across the boundary, bool [K]."""
        return np.asarray(self.result.tied)

    def is_certain(self) -> bool:
        """May "in" and "out" be called certain?"""
        return self.result.heuristic is None

    def words(self) -> dict[str, str]:
        """What is said of options in the table, and the line that lists them: ins, then outs."""
        sure = "certainly" if self.is_certain() else "perhaps"
        return {"in": f"{sure} in", "out": f"{sure} out"}

    def progress(self) -> str:
        """How the race stands."""
        if self.result.decided:
            return "decided"
        played, limit = int(np.max(self.result.samples)), int(self.numbers.max_rounds)
        guess = "the undecided are ranked by a guess"
        if played < limit:
            return f"NOT decided yet, after {played} of at most {limit} rounds: {guess}"
        return f"NOT decided within {limit} rounds: {guess}"

    def notes(self) -> dict[str, str]:
        """Further lines, with their names."""
        return {}

    def invalid(self) -> str:
        """Which options gave outcomes that cannot be raced, or ""."""
        first = np.asarray(self.result.invalid)
        if not (bad := first != 0).any():
            return ""
        if (first == NO_SIGN).any():
            count = int((first == NO_SIGN).any(-1).sum())
            which = (
                f"{count} of {first[..., 0].size} races prove"
                if first.ndim > 1
                else "the race proves"
            )
            return f"INVALID: {which} nothing: {_NO_SIGN}"
        what = "NaN, infinity or a score out of range" if self.bounded() else "NaN or infinity"
        if first.ndim > 1:
            races, count = int(bad.any(-1).sum()), first[..., 0].size
            of_any = bad.reshape(count, -1).any(0)
            options = _listed(np.arange(of_any.size), np.asarray(of_any))
            return f"INVALID: {races} of {count} races prove nothing: option {options} gave {what}"
        worst = int(np.where(bad, first, first.max() + 1).argmin())
        others = bad & (np.arange(len(first)) != worst)
        also = f", and so did {_listed(np.arange(len(first)), others)}" if others.any() else ""
        where = f"{what} in {self.unit} {first[worst]}{also}"
        return f"INVALID: option {worst} gave {where}; the race proves nothing"

    def bounded(self) -> bool:
        """Have outcomes a range?"""
        return False

    def __str__(self) -> str:
        result = self.result
        samples, simulated = np.asarray(result.samples), np.asarray(result.simulated)
        invalid = self.invalid()
        if np.ndim(result.decided):
            told = self._of_batch(samples.sum(-1), simulated.sum(-1))
            return f"{invalid}\n{told}" if invalid else told
        if invalid:
            of_race = f"Top {result.top} of {result.num_options} options: {self.title()}"
            return f"{invalid}\n{of_race}, {int(samples.sum()):,} {self.unit}s counted"
        ranking, tied = np.asarray(result.ranking), self.tied()
        selected = np.asarray(result.selected) & ~tied
        discarded = np.asarray(result.discarded) & ~tied
        (is_in, says_in), (is_out, says_out) = self.words().items()
        rows = {
            says_in: _listed(ranking, selected),
            says_out: _listed(ranking, discarded),
            "undecided": _listed(ranking, ~(selected | discarded | tied)),
        }
        if tied.any():
            places = int(result.top - selected.sum())
            taken = "the first is taken" if places == 1 else f"the first {places} are taken"
            how = self.tied_how.format(places=places, taken=taken)
            rows["tied"] = f"{_listed(ranking, tied)}: {how}"
        rows |= self.notes()
        compared = f", {int(result.oracle_calls):,} comparisons" if self.compares else ""
        rows["cost"] = (
            f"{int(samples.sum()):,} samples counted, {int(simulated.sum()):,} simulated{compared}"
        )
        verdict = dict.fromkeys(np.flatnonzero(selected), is_in)
        verdict |= dict.fromkeys(np.flatnonzero(discarded), is_out)
        verdict |= dict.fromkeys(np.flatnonzero(tied), "tied")
        columns = self.columns()
        lines = [
            f"Top {result.top} of {result.num_options} options: {self.title()}",
            f"  {self.progress()}",
            f"  {self.guarantee()}",
            *(f"  {name:<15}{text}" for name, text in rows.items()),
            "",
            "  rank  option  " + "".join(f"{name:>9}" for name in columns) + "  samples  verdict",
        ]
        for rank, option in enumerate(ranking[:MAX_LISTED]):
            numbers = "".join(f"{_short(column[option]):>9}" for column in columns.values())
            mark = verdict.get(option, "?")
            lines.append(f"  {rank + 1:>4}  {option:>6}  {numbers}{samples[option]:>9}  {mark}")
        if result.num_options > MAX_LISTED:
            lines.append(f"  ... and {result.num_options - MAX_LISTED} more")
        return "\n".join(lines)

    def _of_batch(self, samples: NDArray[Any], simulated: NDArray[Any]) -> str:
        result, decided = self.result, np.asarray(self.result.decided)
        of_all = f"{decided.size} races, top {result.top} of {result.num_options} options"
        lines = [
            f"{of_all}: {self.title()}",
            f"  {int(decided.sum())} of {decided.size} decided; in each, {self.guarantee()}",
        ]
        if not decided.all():
            left = (~np.asarray(result.discarded)).sum(-1)[~decided].mean()
            lines.append(f"  options not out yet in a race that is not decided: {left:,.1f}, mean")
        cost = f"{samples.mean():,.1f} samples counted, {simulated.mean():,.1f} simulated"
        return "\n".join([*lines, f"  mean cost {cost}"])


class PreferenceReport(Report):
    """Of a ``PreferenceRace``."""

    def guarantee(self) -> str:
        ranked_by = self.result.ranked_by
        if ranked_by == "copeland":
            return super().guarantee()
        return f"{super().guarantee()}; options are ranked by {_TARGETS[ranked_by]}"

    def promise(self) -> str:
        text, epsilon = super().promise(), span(self.numbers.epsilon)
        if epsilon != "0":
            return f"{text}, for some win probabilities within {epsilon} of the true ones"
        if kernels.bound_named(self.result.bound).sides == 1:
            return f"{text}, if no two options tie exactly (else delta doubles)"
        return text

    def title(self) -> str:
        result, epsilon = self.result, span(self.numbers.epsilon)
        title = (
            f"preference race ({_NAMES[result.ranked_by]}), bound {result.bound}, rule "
            f"{result.rule}, delta {span(self.numbers.delta)}"
        )
        return title if epsilon == "0" else f"{title}, epsilon {epsilon}"

    def columns(self) -> dict[str, NDArray[Any]]:
        result = self.result
        mean_share = {"mean S": (result.win_matrix.sum(-1) - 0.5) / (result.num_options - 1)}
        if result.scores is None:
            return {"beats": np.asarray(result.beats).sum(-1), **mean_share}
        columns = {"score": np.asarray(result.scores, np.float64)}
        return columns | (mean_share if result.ranked_by == "random_walk" else {})

    def is_certain(self) -> bool:
        return super().is_certain() and span(self.numbers.epsilon) == "0"

    def intervals(self) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Lower and upper ends, and was an intersection empty? [K, K] each, of one race."""
        result = self.result
        if np.ndim(result.decided):
            raise BadArgument("intervals", "the result of one race", "a batch")
        rounds = np.asarray(result.rounds)
        lower, upper = np.zeros(rounds.shape), np.ones(rounds.shape)
        ever_empty = np.zeros(rounds.shape, bool)
        if result.outcomes is None:
            return *self._intervals_of(result.win_matrix, rounds), ever_empty
        num_rounds = max(int(rounds.max()), 1)
        seen = jax.tree.map(lambda x: x[:, :num_rounds], result.outcomes)
        wins = np.asarray(kernels.prefix_wins(result.compare, seen))  # [n, K, K]
        for n in range(1, num_rounds + 1):
            low, high = self._intervals_of(wins[n - 1] / (2.0 * n**2), np.full(rounds.shape, n))
            meet_low, meet_high = np.maximum(lower, low), np.minimum(upper, high)
            empty = meet_low > meet_high
            counted = n <= rounds
            lower = np.where(counted, np.where(empty, low, meet_low), lower)
            upper = np.where(counted, np.where(empty, high, meet_high), upper)
            ever_empty |= counted & empty
        return lower, upper, ever_empty

    def _intervals_of(
        self, estimate: FloatArray, rounds: NDArray[np.integer]
    ) -> tuple[FloatArray, FloatArray]:
        bound, numbers = kernels.bound_named(self.result.bound), self.numbers
        about = self.result.num_options, int(numbers.max_rounds), float(numbers.delta)
        return kernels.intervals(bound, *about, estimate, rounds)


class ValueReport(Report):
    """Of a ``ValueRace``."""

    compares = False

    def promise(self) -> str:
        width = span(self.numbers.value_range)
        return f"{super().promise()}, if every option's outcomes span at most {width}"

    def title(self) -> str:
        return f"{self.result.title}, delta {span(self.numbers.delta)}"

    def columns(self) -> dict[str, NDArray[Any]]:
        names = ("mean", "lower", "upper")
        return {name: np.asarray(getattr(self.result, name), np.float64) for name in names}

    def tied(self) -> NDArray[np.bool_]:
        return np.zeros(self.result.num_options, bool)

    def bounded(self) -> bool:
        return True


def span(numbers: ArrayLike) -> str:
    """One number, or the smallest to the largest of a batch.

    >>> span(0.05), span([0.01, 0.5])
    ('0.05', '0.01 to 0.5')
    """
    low, high = (f"{end:.4g}" for end in (np.min(numbers), np.max(numbers)))
    return low if low == high else f"{low} to {high}"


def _listed(ranking: NDArray[np.integer], mask: NDArray[np.bool_]) -> str:
    """The options of a mask [K], best first."""
    names = [str(option) for option in ranking if mask[option]]
    shown = ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")
    return shown or "-"


def _short(number: Any) -> str:
    return str(int(number)) if isinstance(number, int | np.integer) else f"{number:.3f}"


REPORTS |= {PreferenceResult: PreferenceReport, ValueResult: ValueReport}
