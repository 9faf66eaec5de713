"""The number that algorithms with upper confidence bounds share."""

import dataclasses

import jax
import jax.numpy as jnp

from jaxrace.validation import require_number


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class WidthParams:
    """How wide confidence bounds are."""

    alpha: jax.Array  # float32 [], of sqrt(alpha ln t / N)


def width_params(alpha: float) -> WidthParams:
    """Checked; ValueError if ``alpha`` is not positive.

    >>> width_params(0.0)
    Traceback (most recent call last):
    ValueError: alpha: expected a number in [1e-06, inf), got 0.0
    """
    require_number("alpha", alpha, least=1e-6)
    return WidthParams(jnp.asarray(alpha, jnp.float32))
