"""Records of a run in JAX as people read them: a table by name."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core.compilation import is_traced

_MOST = 10  # records, the last ones


def shown_records(name: str, columns: Mapping[str, ArrayLike]) -> str:
    """Columns [R] of a run's records as a table, truth values [R, K] as the places that are true.

    Of one record, without the axis R, that line. Of many runs, or in a trace, the shapes.

    >>> print(shown_records("Run", {"time": [10, 20], "selected": [[True, False], [False, True]]}))
    Run: 2 records
      time  selected
        10         0
        20         1
    """
    if is_traced(columns) or np.ndim(columns["time"]) > 1:
        shapes = ", ".join(f"{head} {list(np.shape(column))}" for head, column in columns.items())
        return f"{name}: {shapes}"
    number = np.size(columns["time"])
    ndim = np.ndim(columns["time"])
    cells = [[head] for head in columns]
    for own, column in zip(cells, columns.values(), strict=True):
        rows = np.asarray(column) if ndim else np.asarray(column)[None]
        own += [_cell(row) for row in rows[-_MOST:]]
    widths = [max(map(len, own)) for own in cells]
    lines = [
        "  ".join(["", *(cell.rjust(width) for cell, width in zip(row, widths, strict=True))])
        for row in zip(*cells, strict=True)
    ]
    more = f", the last {_MOST}" if number > _MOST else ""
    return "\n".join([f"{name}: {number:,} record{'s' * (number != 1)}{more}", *lines])


def _cell(value: np.ndarray) -> str:
    if value.ndim:
        return ", ".join(map(str, np.flatnonzero(value)))
    if value.dtype == bool:
        return "yes" if value else "no"
    return f"{value:.4g}" if value.dtype.kind == "f" else f"{value:,}"
