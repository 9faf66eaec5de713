"""Options whose win probabilities are known exactly. Axes: K options, m faces."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

Matrix = tuple[tuple[float, ...], ...]

# Room for the faces of any die, so that one program serves options of every kind.
MOST_FACES = 128


class Law(NamedTuple):
    """What an option draws from: a normal number and a die, of which one has nothing to say."""

    mean: jax.Array  # float32 []
    deviation: jax.Array  # float32 []
    faces: jax.Array  # float32 [MOST_FACES]
    num_faces: jax.Array  # float32 [], those that there are


def draw(key: jax.Array, law: Law) -> jax.Array:
    """An outcome of an option: float32 [].

    >>> import jax
    >>> constant = jax.tree.map(lambda x: x[0], Faces(((3,), (4,))).laws)
    >>> print(draw(jax.random.key(0), constant))
    3.0
    """
    place = (law.num_faces * jax.random.uniform(key, (), jnp.float32)).astype(jnp.int32)
    noise = jax.random.normal(key, (), jnp.float32)
    return law.mean + law.deviation * noise + law.faces[place]


@dataclasses.dataclass(frozen=True)
class Normals:
    """Options with normal outcomes of variance 1.

    >>> Normals((0.0, 0.0)).win_probabilities[0][1]
    0.5
    """

    means: tuple[float, ...]  # of each option [K]

    @property
    def laws(self) -> Law:
        """Of all options, leaves [K, ...]."""
        means = jnp.array(self.means, jnp.float32)
        ones = jnp.ones_like(means)
        return Law(means, ones, jnp.zeros((means.size, MOST_FACES), jnp.float32), ones)

    @property
    def win_probabilities(self) -> Matrix:
        """s_ij [K][K]."""
        means = np.array(self.means)
        gaps = means[:, None] - means[None, :]
        return tuple(map(tuple, stats.norm.cdf(gaps / np.sqrt(2)).tolist()))


@dataclasses.dataclass(frozen=True)
class Faces:
    """Dice: every option shows one of m numbers, all equally likely.

    >>> Faces(((0, 0), (-1, 1))).win_probabilities  # a constant against a fair coin
    ((0.5, 0.5), (0.5, 0.5))
    """

    # Of each option [K][m]; a number that stands there twice is twice as likely.
    faces: tuple[tuple[float, ...], ...]

    @property
    def laws(self) -> Law:
        """Of all options, leaves [K, ...]; ValueError if an option has too many faces."""
        faces = jnp.array(self.faces, jnp.float32)
        number = faces.shape[1]
        if number > MOST_FACES:
            raise ValueError(f"faces: expected at most {MOST_FACES} of an option, got {number}")
        none = jnp.zeros(len(faces), jnp.float32)
        room = jnp.pad(faces, ((0, 0), (0, MOST_FACES - number)))
        return Law(none, none, room, jnp.full_like(none, number))

    @property
    def win_probabilities(self) -> Matrix:
        """s_ij [K][K], counted: a tie of s is a 0.5 to the last digit."""
        # As the samples are: numbers that a float32 cannot tell apart are ties.
        faces = np.array(self.faces, np.float32)
        signs = np.sign(faces[:, None, :, None] - faces[None, :, None, :])
        nets = signs.sum((2, 3), dtype=np.int64)
        return tuple(map(tuple, (0.5 + nets / (2 * faces.shape[1] ** 2)).tolist()))
