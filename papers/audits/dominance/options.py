"""Options whose win probabilities are known, and tasks of them. Axes: K options, m faces."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from jaxrace.core.validation import BadArgument

Matrix = tuple[tuple[float, ...], ...]
MOST_FACES = 128  # room for the faces of any die, so that one program serves options of every kind


class Law(NamedTuple):
    """What an option draws from: a normal number and a die, of which one has nothing to say."""

    mean: jax.Array  # float32 []
    deviation: jax.Array  # float32 []
    faces: jax.Array  # float32 [MOST_FACES]
    num_faces: jax.Array  # float32 [], those that there are


def draw(key: jax.Array, law: Law) -> jax.Array:
    """An outcome of an option: float32 []."""
    place = (law.num_faces * jax.random.uniform(key, (), jnp.float32)).astype(jnp.int32)
    noise = jax.random.normal(key, (), jnp.float32)
    return law.mean + law.deviation * noise + law.faces[place]


@dataclasses.dataclass(frozen=True)
class Normals:
    """Options with normal outcomes of variance 1."""

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
    """Dice: every option shows one of m numbers, all equally likely."""

    # Of each option [K][m]; a number that stands there twice is twice as likely.
    faces: tuple[tuple[float, ...], ...]

    @property
    def laws(self) -> Law:
        """Of all options, leaves [K, ...]; ValueError if an option has too many faces."""
        faces = jnp.array(self.faces, jnp.float32)
        number = faces.shape[1]
        if number > MOST_FACES:
            raise BadArgument("faces", f"at most {MOST_FACES} of an option", str(number))
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


@dataclasses.dataclass(frozen=True)
class SetTask:
    """Options of which kappa are to be found."""

    name: str  # for reports
    top: int  # kappa
    options: Normals | Faces

    @property
    def num_options(self) -> int:
        """K."""
        return len(self.options.win_probabilities)

    @property
    def beats(self) -> NDArray[np.bool_]:
        """Is s_ij > 1/2? bool [K, K]."""
        return np.array(self.options.win_probabilities) > 0.5

    def dominates(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Does each member of a set [..., K] beat each other option? bool [...]."""
        cross = chosen[..., :, None] & ~chosen[..., None, :]
        return np.asarray((self.beats | ~cross).all((-2, -1)))

    def is_copeland_top(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Does no other option beat more options than a member of a set [..., K]? bool [...]."""
        scores = self.beats.sum(-1)
        least = np.where(chosen, scores, self.num_options).min(-1)
        return least >= np.where(chosen, -1, scores).max(-1)


# Face f beats it with probability f / 20, a die of mean 10 half of the time.
_NOISE = tuple(range(1, 20, 2))
# The first beats the second, that the third, that the first, with probability 5/9 each; dice that
# are thrown 3 times in 10, else there is noise.
_CIRCLE = tuple(die * 10 + _NOISE * 7 for die in ((4, 8, 18), (2, 12, 16), (6, 10, 14)))
# Noise with one of its ten 19s lowered to 1: a little worse than each of the circle.
_WORSE = (*(_NOISE * 10)[:-1], 1)

# The first ties with the second, a constant with a coin. The second beats the third with
# probability 0.65, and that the first with 0.7. Scores differ although a link is tied, so that
# certificate (b) can be wrong.
_TIED_LINK = ((3,) * 10, (2, 5) * 5, (4,) * 7 + (1,) * 3)
TIED_CIRCLE = SetTask("circle with a tied link", 2, Faces(_TIED_LINK))

TASKS: tuple[SetTask, ...] = (
    SetTask("0 against a coin", 1, Faces(((0, 0), (-1, 1)))),
    SetTask("two 0 against two coins", 2, Faces(((0, 0), (-1, 1), (0, 0), (-1, 1)))),
    SetTask("2 equal normals", 1, Normals((0.0,) * 2)),
    SetTask("5 equal normals", 2, Normals((0.0,) * 5)),
    SetTask("4 equal dice", 1, Faces(((1, 2, 3),) * 4)),
    SetTask("normals, gaps 1e-4", 2, Normals((0.0, 1e-4, 2e-4, 3e-4))),
    SetTask("normals, gaps 1e-6", 1, Normals((0.0, 1e-6, 2e-6))),
    SetTask("circle at the boundary", 1, Faces(_CIRCLE)),
    SetTask("circle above the boundary", 3, Faces((*_CIRCLE, _WORSE))),
    TIED_CIRCLE,
    SetTask("tied pair among clear ones", 3, Normals((8.0, 4.0, 0.0, 0.0, -4.0, -8.0))),
)
