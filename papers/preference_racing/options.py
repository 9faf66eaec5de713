"""Synthetic racing tasks: random sets of options whose distributions and true order are known.

Busa-Fekete et al. 2014, section 6.1, and Busa-Fekete et al. 2013 (Top-k selection based on adaptive
sampling of noisy preferences), the experiments on synthetic data. Each task has

    draw(key, k, num_options)        a random instance: a pytree with leaves [K]
    sample(key, option)              one outcome, float32 [], of one option (leaves [])
    win_probabilities(options)       s_ij = P(X_i > X_j) + P(X_i = X_j) / 2, exactly, float32 [K, K]
    means(options)                   E X_i, float32 [K]
    value_range(k)                   R, the width that a Hoeffding race assumes

k is the complexity parameter of the papers, a positive number: the larger, the farther apart the
options. `draw` may be vmapped over keys and k, `sample` over keys and options; ValueError if
`num_options` or k is not positive. Axes: K options.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxrace.core.float32 import as_float32, strongly_typed
from jaxrace.core.validation import MOST_INT32, BadArgument, require_integer, require_positive


class NormalOptions(NamedTuple):
    """Normal distributions; leaves float32 [K]."""

    mean: jax.Array
    variance: jax.Array


class BernoulliDriftOptions(NamedTuple):
    """Fair coins (0 or 1) shifted by a drift each; leaves float32 [K]."""

    drift: jax.Array  # d_i


class UniformOptions(NamedTuple):
    """Uniform distributions on [0, upper_limit); leaves float32 [K]."""

    upper_limit: jax.Array  # d_i


@dataclasses.dataclass(frozen=True)
class Normal:
    """X_i ~ N((k/2) m_i, v_i) with m_i and v_i (a variance) uniform in [0, 1).

    Busa-Fekete et al. 2014, section 6.1, scenario 1.

    >>> Normal().draw(jax.random.key(0), k=3.0, num_options=4).mean.shape
    (4,)
    """

    def draw(self, key: jax.Array, k: jax.Array | float, num_options: int = 10) -> NormalOptions:
        """`num_options` options."""
        require_integer("num_options", num_options, 1, MOST_INT32)
        m, v = _uniform(key, (2, num_options))
        return NormalOptions(mean=_complexity(k) / 2 * m, variance=v)

    def sample(self, key: jax.Array, option: NormalOptions) -> jax.Array:
        """One outcome."""
        option = strongly_typed(option, "option")
        return option.mean + jnp.sqrt(option.variance) * jax.random.normal(key, (), jnp.float32)

    def win_probabilities(self, options: NormalOptions) -> jax.Array:
        """s_ij = Phi((mean_i - mean_j) / sqrt(v_i + v_j))."""
        options = strongly_typed(options, "options")
        difference = options.mean[:, None] - options.mean[None, :]
        deviation = jnp.sqrt(options.variance[:, None] + options.variance[None, :])
        # Equal means are 1/2 whatever the variances, also 0.
        probability = jax.scipy.special.ndtr(difference / deviation)
        return jnp.where(difference == 0.0, jnp.float32(0.5), probability)

    def means(self, options: NormalOptions) -> jax.Array:
        """Their means."""
        return strongly_typed(options, "options").mean

    def value_range(self, k: jax.Array | float) -> float:
        """R = 8: with probability over 0.99 no option's draws of a race spread farther.

        The support is unbounded; with R = 8 the papers concede a small chance of error to the
        Hoeffding race (Busa-Fekete et al. 2013, footnote 6).
        """
        _require_complexity(k)
        return 8.0


@dataclasses.dataclass(frozen=True)
class BernoulliDrift:
    """X_i = B + d_i with a fair coin B in {0, 1} and d_i uniform in [0, k / drift_scale).

    Busa-Fekete et al. 2014, section 6.1, scenario 2. `drift_scale` is 10 there and 5 in Busa-Fekete
    et al. 2013; ValueError unless it is a positive number that a float32 holds.

    >>> options = BernoulliDriftOptions(drift=jnp.array([0.0, 0.5, 1.0], jnp.float32))
    >>> print(BernoulliDrift().win_probabilities(options))
    [[0.5   0.25  0.125]
     [0.75  0.5   0.25 ]
     [0.875 0.75  0.5  ]]
    """

    drift_scale: float = 10.0

    def __post_init__(self) -> None:
        require_positive("drift_scale", self.drift_scale)

    def draw(
        self, key: jax.Array, k: jax.Array | float, num_options: int = 10
    ) -> BernoulliDriftOptions:
        """`num_options` options."""
        require_integer("num_options", num_options, 1, MOST_INT32)
        scale = _complexity(k, 1 / self.drift_scale) / self.drift_scale
        return BernoulliDriftOptions(drift=scale * _uniform(key, (num_options,)))

    def sample(self, key: jax.Array, option: BernoulliDriftOptions) -> jax.Array:
        """One outcome."""
        option = strongly_typed(option, "option")
        coin = jax.random.bernoulli(key, jnp.float32(0.5))
        return coin.astype(jnp.float32) + option.drift

    def win_probabilities(self, options: BernoulliDriftOptions) -> jax.Array:
        """s_ij, the mean over the four equally likely pairs of coins.

        With D = d_i - d_j > 0 that is 3/4 for D < 1 (only tails against heads loses), 7/8 for D = 1
        (where that pair ties) and 1 for D > 1; and 1 - s_ji for D < 0.
        """
        options = strongly_typed(options, "options")
        # The very numbers that `sample` returns, so rounding cannot make a difference.
        support = options.drift[:, None] + jnp.array([0.0, 1.0], jnp.float32)  # [K, 2]
        a, b = support[:, None, :, None], support[None, :, None, :]
        wins = (a > b).astype(jnp.float32) + 0.5 * (a == b).astype(jnp.float32)  # [K, K, 2, 2]
        return jnp.mean(wins, axis=(2, 3))

    def means(self, options: BernoulliDriftOptions) -> jax.Array:
        """1/2 + d_i."""
        return 0.5 + strongly_typed(options, "options").drift

    def value_range(self, k: jax.Array | float) -> float:
        """R = 1, the width of each option's support {d_i, d_i + 1}."""
        _require_complexity(k)
        return 1.0


@dataclasses.dataclass(frozen=True)
class Uniform:
    """X_i uniform in [0, d_i) with d_i uniform in [0, 10 k).

    Busa-Fekete et al. 2013, synthetic data. As described, k is but a unit of measurement: it
    changes no win probability, nor a Hoeffding race with R = 10 k.

    >>> options = UniformOptions(upper_limit=jnp.array([4.0, 2.0], jnp.float32))
    >>> print(Uniform().win_probabilities(options))
    [[0.5  0.75]
     [0.25 0.5 ]]
    """

    def draw(self, key: jax.Array, k: jax.Array | float, num_options: int = 10) -> UniformOptions:
        """`num_options` options."""
        require_integer("num_options", num_options, 1, MOST_INT32)
        scale = 10 * _complexity(k, 10.0)
        return UniformOptions(upper_limit=scale * _uniform(key, (num_options,)))

    def sample(self, key: jax.Array, option: UniformOptions) -> jax.Array:
        """One outcome."""
        return strongly_typed(option, "option").upper_limit * _uniform(key, ())

    def win_probabilities(self, options: UniformOptions) -> jax.Array:
        """s_ij = 1 - d_j / (2 d_i) for d_i > d_j, and 1 - s_ji for d_i < d_j."""
        options = strongly_typed(options, "options")
        a, b = options.upper_limit[:, None], options.upper_limit[None, :]
        # P(the one with the smaller limit wins) = smaller / (2 larger). 0 / 0 is replaced below.
        upset = jnp.minimum(a, b) / (2 * jnp.maximum(a, b))
        probability = jnp.where(a > b, 1.0 - upset, upset)
        return jnp.where(a == b, jnp.float32(0.5), probability)

    def means(self, options: UniformOptions) -> jax.Array:
        """d_i / 2."""
        return strongly_typed(options, "options").upper_limit / 2

    def value_range(self, k: jax.Array | float) -> jax.Array | float:
        """R = 10 k: what is known of an option before any sample is only that d_i < 10 k."""
        _require_complexity(k, 10.0)
        return 10.0 * k


def _uniform(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return jax.random.uniform(key, shape, jnp.float32)


def _complexity(k: jax.Array | float, times: float = 1.0) -> jax.Array:
    """k as float32; BadArgument unless it is positive, also ``times`` a factor."""
    _require_complexity(k, times)
    return as_float32("k", k)


def _require_complexity(k: jax.Array | float, times: float = 1.0) -> None:
    """Numbers of the host are looked at, which may not be traced."""
    if isinstance(k, jax.Array):
        return
    require_positive("k", k)
    least, most = (float(getattr(jnp.finfo(jnp.float32), end)) for end in ("tiny", "max"))
    least, most = least / min(times, 1.0), most / max(times, 1.0)
    if not least <= k <= most:
        expected = f"a positive number from {least:.2g} to {most:.2g}, as float32 holds"
        raise BadArgument("k", expected, repr(k))
