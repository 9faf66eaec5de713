"""Uniform sampling, and the knowledge gradient of pairs. Axes: K options."""

import dataclasses

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.selection.score_selector import ScoreSelector
from jaxrace.selection.scores import Moments


@dataclasses.dataclass(frozen=True)
class Uniform(ScoreSelector):
    """All pairs in turn.

    >>> selector = Uniform(num_options=3, top=1)
    >>> params = selector.params()
    >>> state = selector.init(params)
    >>> for score in (1.0, 2.0, 0.5):
    ...     pair = selector.ask(jax.random.key(0), state, params)
    ...     state = selector.tell(state, pair, score, params)
    >>> print(selector.result(state, params).scores)
    [ 3.  -0.5 -2.5]
    """

    def value(self, moments: Moments) -> jax.Array:
        """See ``ScoreSelector``."""
        return jnp.zeros(moments.counts.shape, float)


@dataclasses.dataclass(frozen=True)
class KnowledgeGradient(ScoreSelector):
    """PKG: the pair whose next score is expected to raise the total of the selected most.

    Where no single score is likely to change the selection, the one that is the likeliest to is
    still found, though all gains are below any float. After Groves and Branke 2019; the next score
    is taken to be normal, with the variance estimated.

    >>> KnowledgeGradient(num_options=4, top=2, warm_up=2).opening
    12
    """

    def value(self, moments: Moments) -> jax.Array:
        """See ``ScoreSelector``."""
        return kernels.relative_knowledge_gradient(moments.means, moments.deviations, self.top)
