"""Selections whose records say how well the Thurstone model fits. Axes: K options."""

import dataclasses
from typing import Any, NamedTuple

import jax

from jaxrace import selection


class IndexRow(NamedTuple):
    """A record with the intransitivity index."""

    time: jax.Array  # int32 []
    selected: jax.Array  # bool [K]
    intransitivity: jax.Array  # float [], II
    valid: jax.Array  # bool [], see ``selection.Record``


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class IndexWork(selection.SelectionWork):
    """A selection by ``MlPocbam``, or the hybrid, with the index that the latter goes by.

    >>> import jax.numpy as jnp
    >>> from jaxrace import sweep
    >>> from jaxrace.selection import SelectionJob, normal_score, thurstone
    >>> selector = selection.MlPocbam(4, 2, fit="swept")
    >>> keys = jax.random.split(jax.random.key(0), 2)
    >>> work = IndexWork(selector, normal_score, 38, 20, selector.params())
    >>> problems = jax.vmap(thurstone, in_axes=(0, None))(keys, 4)
    >>> row = sweep.run(work, sweep.stacked(SelectionJob(keys, problems))).rows.row
    >>> row.time.tolist(), bool((0 <= row.intransitivity).all() & (row.intransitivity <= 1).all())
    ([18, 38, 18, 38], True)
    """

    def step(self, state: Any) -> tuple[Any, Any]:
        """See ``SelectionWork``."""
        selector, own = self.selector, state.run.selector
        assert isinstance(selector, selection.MlPocbam)
        then, record = super().step(state)
        pooled = selector.pooled_samples
        observed = selection.observed_moments(own.scores, pooled)
        index = selection.intransitivity_index(
            observed, selection.fitted_moments(own.scores, own.model, pooled)
        )
        return then, IndexRow(record.time, record.selected, index, record.valid)
