"""Tasks on which a dominance race is as easily wrong as can be. Axes: K options."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from jaxrace.audits.dominance.samplers import Faces, Matrix, Normals


@dataclasses.dataclass(frozen=True)
class SetTask:
    """Options of which kappa are to be found."""

    name: str  # for reports
    top: int  # kappa
    options: Normals | Faces  # know what is drawn from them, and their ``win_probabilities``

    @property
    def win_probabilities(self) -> Matrix:
        """s_ij [K][K]; the diagonal does not matter."""
        return self.options.win_probabilities

    @property
    def num_options(self) -> int:
        """K."""
        return len(self.win_probabilities)

    @property
    def beats(self) -> NDArray[np.bool_]:
        """Is s_ij > 1/2? bool [K, K]."""
        return np.array(self.win_probabilities) > 0.5

    def dominates(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Does each member of a set [..., K] beat each other option? bool [...].

        >>> import numpy as np
        >>> circle = task_named("circle above the boundary")
        >>> circle.dominates(np.array([[1, 1, 1, 0], [1, 1, 0, 1]], bool)).tolist()
        [True, False]
        """
        cross = chosen[..., :, None] & ~chosen[..., None, :]
        return np.asarray((self.beats | ~cross).all((-2, -1)))

    def is_copeland_top(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Does no other option beat more options than a member of a set [..., K]? bool [...].

        >>> import numpy as np
        >>> circle = task_named("circle at the boundary")
        >>> circle.is_copeland_top(np.eye(3, dtype=bool)).tolist()
        [True, True, True]
        """
        scores = self.beats.sum(-1)
        least = np.where(chosen, scores, self.num_options).min(-1)
        return least >= np.where(chosen, -1, scores).max(-1)


def _nearly_tied(faces: tuple[int, ...]) -> tuple[int, ...]:
    """A die of three faces in 2, 4, ..., 18, thrown 3 times in 10; else one of 1, 3, ..., 19.

    Such noise is beaten by face f with probability f / 20, by dice of mean 10 half of the time.
    """
    return faces * 10 + _NOISE * 7


_NOISE = tuple(range(1, 20, 2))
# The first beats the second, that the third, that the first, with probability 5/9 each.
_CIRCLE = tuple(map(_nearly_tied, ((4, 8, 18), (2, 12, 16), (6, 10, 14))))
# Noise with one of its ten 19s lowered to 1: a little worse than each of the circle.
_WORSE = (*(_NOISE * 10)[:-1], 1)

# The first ties with the second, a constant with a coin. The second beats the third with
# probability 0.65, and that the first with 0.7.
_TIED_LINK = ((3,) * 10, (2, 5) * 5, (4,) * 7 + (1,) * 3)

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
    SetTask("circle with a tied link", 2, Faces(_TIED_LINK)),
    SetTask("tied pair among clear ones", 3, Normals((8.0, 4.0, 0.0, 0.0, -4.0, -8.0))),
)


def task_named(name: str) -> SetTask:
    """The task of this name.

    >>> task_named("tied pair among clear ones").num_options
    6
    """
    found = [task for task in TASKS if task.name == name]
    if not found:
        names = ", ".join(repr(task.name) for task in TASKS)
        raise ValueError(f"name: expected one of {names}, got {name!r}")
    return found[0]
