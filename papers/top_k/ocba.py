"""OCBA-m on single options, each against random others: a baseline. Axes: K options."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from jaxrace import kernels
from jaxrace.core.protocol import make_params, pytree, verb
from jaxrace.core.validation import require_integer
from jaxrace.selection.base import Selector, Standing
from jaxrace.selection.rounds import random_other
from jaxrace.selection.scores import (
    LEAST_VARIANCE,
    ScoreParams,
    first_of_fewest,
    or_square,
    welford,
)

# Options whose needs differ by less, relatively, are equally needy.
_ROUNDING = 1e-5


@pytree
class OcbaState:
    """OCBA-m between two comparisons."""

    time: jax.Array  # int32 [], comparisons told
    counts: jax.Array  # int32 [K], N_i, comparisons of an option as the first
    means: jax.Array  # float [K], of its scores
    variances: jax.Array  # float [K], of its scores, biased


@dataclasses.dataclass(frozen=True)
class Ocba(Selector):
    """Options get samples in the ratio (s_i / (mu_i - c))^2 (Chen et al. 2008), in random pairs.

    The second option of a pair is drawn from all others, and a score counts for the first alone,
    whose mean score then estimates S_i / (K - 1). Half of what a comparison says is given away:
    what allocation by single options costs, to compare with allocation by pairs.

    Attributes:
        warm_up: Comparisons of each option that come first.

    >>> selector = Ocba(num_options=3, top=1)
    >>> params = selector.params()
    >>> print(selector.ask(jax.random.key(0), selector.init(params), params)[0])
    0
    """

    warm_up: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer("warm_up", self.warm_up, 2)

    @property
    def opening(self) -> int:
        return self.warm_up * self.num_options

    params_kind: ClassVar[type] = ScoreParams

    def params(self, confidence: float = 1.0) -> ScoreParams:
        """The numbers, as ``ScoreSelector.params``."""
        return make_params(ScoreParams, confidence=confidence)

    @verb
    def init(self, params: ScoreParams) -> OcbaState:
        zeros = jnp.zeros(self.num_options, float)
        counts = jnp.zeros(self.num_options, jnp.int32)
        return OcbaState(jnp.zeros((), jnp.int32), counts, zeros, zeros)

    def draw(self, key: jax.Array) -> jax.Array:
        """A number that picks the second option."""
        return jax.random.uniform(key, (), jnp.float32)

    def choose(self, noise: jax.Array, state: OcbaState, params: ScoreParams) -> jax.Array:
        variances = self._variances(state)
        counts = jnp.maximum(state.counts, 1).astype(variances.dtype)
        deviations = jnp.sqrt(variances / counts)
        threshold = kernels.selection_threshold(state.means, deviations, self.top)
        squares = jnp.maximum((state.means - threshold) ** 2, jnp.finfo(variances.dtype).tiny)
        starving = variances / squares / counts
        early = state.counts.min() < self.warm_up
        # c is such that the two options beside it are equally so: the one of fewer samples.
        best = early | (starving >= (1 - _ROUNDING) * starving.max())
        first = first_of_fewest(best, state.counts)
        return jnp.stack([first, random_other(first, noise, self.num_options)])

    @verb
    def tell(self, state: OcbaState, pair: Any, score: Any, params: ScoreParams) -> OcbaState:
        option = pair[0]
        parts = state.counts, state.means, state.variances
        found = welford(*(x[option] for x in parts), score=score.astype(state.means.dtype))
        counts, means, variances = (
            part.at[option].set(new) for part, new in zip(parts, found, strict=True)
        )
        return OcbaState(state.time + 1, counts, means, variances)

    def standing(self, state: OcbaState, params: ScoreParams) -> Standing:
        early = state.counts.min() < self.warm_up
        confidence = jnp.where(early, 0, self._confidence(state))
        return Standing(state.means, kernels.ranking(state.means), confidence)

    def done(self, state: OcbaState, params: ScoreParams) -> jax.Array:
        return params.is_reached(self._confidence(state)) & (state.counts.min() >= self.warm_up)

    def _confidence(self, state: OcbaState) -> jax.Array:
        variances = self._variances(state)
        variances = variances / jnp.maximum(state.counts, 1).astype(variances.dtype)
        return jnp.exp(kernels.log_correct_selection(state.means, variances, self.top))

    def _variances(self, state: OcbaState) -> jax.Array:
        """s_i^2, unbiased, float [K]."""
        degrees = jnp.maximum(state.counts - 1, 0)
        squares = state.variances * state.counts.astype(state.variances.dtype)
        total = jnp.maximum(degrees.sum(), 1).astype(squares.dtype)
        pooled = or_square(squares.sum() / total, state.means)
        degrees = jnp.maximum(degrees, 1).astype(squares.dtype)
        return jnp.maximum(squares / degrees, LEAST_VARIANCE * pooled)
