"""How a person reads what a selector has found."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxrace.selection.base import SelectionResult

# Longer tables are cut; the arrays of the result have everything.
_MOST_LISTED = 20


def describe(result: "SelectionResult") -> str:
    """A few lines: how sure it is, and the options from the best."""
    selector = result.selector
    title = f"{type(selector).__name__}: top {selector.top} of {selector.num_options}"
    if np.ndim(result.done):
        return f"{title}, {len(np.asarray(result.done).reshape(-1)):,} selections"
    ranking, scores = np.asarray(result.ranking), np.asarray(result.scores)
    lines = [f"{title} after {int(result.samples):,} comparisons", f"  {_sureness(result)}"]
    lines.append(f"  {'place':>5}  {'option':>6}  {'score':>10}")
    for place, option in enumerate(ranking[:_MOST_LISTED]):
        mark = "selected" if place < selector.top else ""
        line = f"  {place + 1:>5}  {option:>6}  {scores[option]:>10.4g}  {mark}"
        lines.append(line.rstrip())
    if len(ranking) > _MOST_LISTED:
        lines.append(f"  and {len(ranking) - _MOST_LISTED} more")
    return "\n".join(lines)


def _sureness(result: "SelectionResult") -> str:
    confidence = float(result.confidence)
    if confidence == 0 and bool(result.done):
        return "undecided, or without any measure of how sure that is; it asks for nothing more"
    if confidence == 0:
        return "nothing is known yet of how sure that is"
    if result.selector.is_guaranteed:
        return f"correct with probability at least {confidence:.3g}"
    return f"correct with probability about {confidence:.3f}, an estimate without guarantee"
