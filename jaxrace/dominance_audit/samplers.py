"""Options whose win probabilities are known exactly. Axes: K options, m faces."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

Matrix = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True)
class Normals:
    """Options with normal outcomes of variance 1.

    Attributes:
        means: Of each option [K].

    >>> Normals((0.0, 0.0)).win_probabilities[0][1]
    0.5
    """

    means: tuple[float, ...]

    def __call__(self, key: jax.Array, option: jax.Array) -> jax.Array:
        """An outcome of an option, int32 in 0 .. K - 1."""
        return jax.random.normal(key, (), jnp.float32) + jnp.array(self.means, jnp.float32)[option]

    @property
    def win_probabilities(self) -> Matrix:
        """s_ij [K][K]."""
        means = np.array(self.means)
        gaps = means[:, None] - means[None, :]
        return tuple(map(tuple, stats.norm.cdf(gaps / np.sqrt(2)).tolist()))


@dataclasses.dataclass(frozen=True)
class Faces:
    """Dice: every option shows one of m numbers, all equally likely.

    Attributes:
        faces: Of each option [K][m]. A number that stands there twice is twice as likely.

    >>> Faces(((0, 0), (-1, 1))).win_probabilities  # a constant against a fair coin
    ((0.5, 0.5), (0.5, 0.5))
    """

    faces: tuple[tuple[float, ...], ...]

    def __call__(self, key: jax.Array, option: jax.Array) -> jax.Array:
        """An outcome of an option, int32 in 0 .. K - 1."""
        faces = jnp.array(self.faces, jnp.float32)
        place = faces.shape[1] * jax.random.uniform(key, (), jnp.float32)
        return faces[option, place.astype(jnp.int32)]

    @property
    def win_probabilities(self) -> Matrix:
        """s_ij [K][K], counted: a tie of s is a 0.5 to the last digit."""
        # As the samples are: numbers that a float32 cannot tell apart are ties.
        faces = np.array(self.faces, np.float32)
        signs = np.sign(faces[:, None, :, None] - faces[None, :, None, :])
        nets = signs.sum((2, 3), dtype=np.int64)
        return tuple(map(tuple, (0.5 + nets / (2 * faces.shape[1] ** 2)).tolist()))
