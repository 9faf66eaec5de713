"""How a person reads the result of a race, or of a batch of races."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from jaxrace.racing.dominance.result import DominanceResult
    from jaxrace.racing.results import PreferenceResult, ValueResult

# Longer tables and lists are cut; the arrays of the result have everything.
MAX_LISTED = 20


def describe(
    result: "PreferenceResult | ValueResult | DominanceResult",
    title: str,
    columns: dict[str, NDArray[Any]],
    *,
    certain: bool,
    tied: NDArray[np.bool_] | None = None,
    tied_how: str = "any {places} of them, the first are taken",
    progress: str = "",
    notes: dict[str, str] | None = None,
    cost: str = "",
) -> str:
    """The report of one race.

    Args:
        result: Its result.
        title: The race's kind and numbers.
        columns: Further columns of the table, [K] each.
        certain: May "in" and "out" be called certain?
        tied: bool [K], options that are equally good across the boundary.
        tied_how: What to say of these; {places} are left for them.
        progress: How the race stands; whether it is decided, unless given.
        notes: Further lines, with their names.
        cost: More about the cost, to follow the samples.
    """
    race, ranking = result.race, np.asarray(result.ranking)
    tied = np.zeros(race.num_options, bool) if tied is None else tied
    selected = np.asarray(result.selected) & ~tied
    discarded = np.asarray(result.discarded) & ~tied
    sure = "certainly" if certain else "perhaps"
    samples, simulated = int(np.sum(result.samples)), int(np.sum(result.simulated))
    places = int(race.top - selected.sum())
    rows = {
        f"{sure} in": _listed(ranking, selected),
        f"{sure} out": _listed(ranking, discarded),
        "undecided": _listed(ranking, ~(selected | discarded | tied)),
        "tied": f"{_listed(ranking, tied)}: {tied_how.format(places=places)}",
        **(notes or {}),
        "cost": f"{samples:,} samples counted, {simulated:,} simulated{cost}",
    }
    if not tied.any():
        del rows["tied"]
    verdict = dict.fromkeys(np.flatnonzero(selected), "in")
    verdict |= dict.fromkeys(np.flatnonzero(discarded), "out")
    verdict |= dict.fromkeys(np.flatnonzero(tied), "tied")
    lines = [
        f"Top {race.top} of {race.num_options} options: {title}",
        f"  {progress or _progress(result)}",
        f"  {result.guarantee}",
        *(f"  {name:<15}{text}" for name, text in rows.items()),
        "",
        "  rank  option  " + "".join(f"{name:>9}" for name in columns) + "  samples  verdict",
    ]
    for rank, option in enumerate(ranking[:MAX_LISTED]):
        numbers = "".join(f"{_short(column[option]):>9}" for column in columns.values())
        count = int(np.asarray(result.samples)[option])
        mark = verdict.get(option, "?")
        lines.append(f"  {rank + 1:>4}  {option:>6}  {numbers}{count:>9}  {mark}")
    if race.num_options > MAX_LISTED:
        lines.append(f"  ... and {race.num_options - MAX_LISTED} more")
    return "\n".join(lines)


def describe_batch(result: "PreferenceResult | ValueResult | DominanceResult", title: str) -> str:
    """The report of a batch of races."""
    decided = np.asarray(result.decided)
    samples = np.asarray(result.samples).sum(-1)
    simulated = np.asarray(result.simulated).sum(-1)
    return (
        f"{decided.size} races, top {result.race.top} of {result.race.num_options} options: "
        f"{title}\n"
        f"  {int(decided.sum())} of {decided.size} decided; in each, {result.guarantee}\n"
        f"  mean cost {samples.mean():,.1f} samples counted, {simulated.mean():,.1f} simulated"
    )


def confidence(delta: ArrayLike) -> str:
    """The words for 1 - delta.

    >>> confidence(0.05)
    'probability at least 0.95'
    """
    return f"probability at least {span(1 - np.asarray(delta, np.float64))}"


def span(numbers: ArrayLike) -> str:
    """One number, or the smallest to the largest of a batch.

    >>> span(0.05), span([0.01, 0.5])
    ('0.05', '0.01 to 0.5')
    """
    low, high = (f"{end:.4g}" for end in (np.min(numbers), np.max(numbers)))
    return low if low == high else f"{low} to {high}"


def _progress(result: "PreferenceResult | ValueResult | DominanceResult") -> str:
    if result.decided:
        return "decided"
    played, limit = int(np.max(result.samples)), int(result.params.max_rounds)
    guess = "the undecided are ranked by a guess"
    if played < limit:
        return f"NOT decided yet, after {played} of at most {limit} rounds: {guess}"
    return f"NOT decided within {limit} rounds: {guess}"


def _listed(ranking: NDArray[np.integer], mask: NDArray[np.bool_]) -> str:
    names = [str(option) for option in ranking if mask[option]]
    shown = ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")
    return shown or "-"


def _short(number: Any) -> str:
    return str(int(number)) if isinstance(number, int | np.integer) else f"{number:.3f}"
