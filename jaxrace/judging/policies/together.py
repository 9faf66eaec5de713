"""Trajectories that belong together, as those of a user do: n of them, in C clusters.

Bounds are of independent values. Trajectories of one user are not, if users differ in what they
earn whatever is done: then a user of the part that tests a policy decides about many at once.
"""

from collections.abc import Mapping
from shlex import quote

import numpy as np

from jaxrace.core.validation import DataRefused
from jaxrace.evidence.clusters import resemblance

_MOST_LOOKED_AT = 20_000  # trajectories
_MOST_COLUMNS = 4  # those of the fewest labels
_LEVEL = 0.01  # of doubting independent ones, of all columns together


def require_apart(where: str, returns: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
    """Raise if returns [n] of one label resemble each other; of each column, labels int [n]."""
    fewest = sorted(columns.items(), key=lambda column: column[1].max())[:_MOST_COLUMNS]
    for head, labels in fewest:
        kept = labels < np.searchsorted(np.cumsum(np.bincount(labels)), _MOST_LOOKED_AT) + 1
        own, group = labels[kept], np.zeros(kept.sum(), int)
        found = resemblance(returns[None, kept], own, group, _LEVEL / len(fewest))
        if found is not None:
            raise DataRefused(
                where,
                "independent decisions",
                f"rewards of one {head!r} that are alike: their mean varies {found.times:.2g} "
                "times as much",
                f": --columns cluster={quote(head)} (columns={{'cluster': {head!r}}}) counts each "
                f"once, by its mean; context={quote(head)}, beside all else that is observed, says "
                "that there are no others of these",
            )


def means_of(values: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """The mean of values [n] in each cluster, [C]; the values themselves without clusters.

    >>> means_of(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 2]))
    array([2., 5.])
    """
    if clusters is None:
        return values
    number = np.unique(clusters, return_inverse=True)[1]
    return np.bincount(number, values) / np.bincount(number)
