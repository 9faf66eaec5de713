"""Races by mean and within a tolerance: how many certify what they must not. Axes: K options.

Options are equally good, or apart by just the tolerance. Of equal ones the first are taken to be
the best: any other set that is certified is wrong, which the theorems allow with probability delta.
"""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing
from papers.audits.dominance.options import Faces, Law, draw
from papers.audits.reckoning import FULL_SIZE, MOST_OF_CONTROL, Finding, count_wrong

DELTA = 0.05
HORIZON = 150  # n_max


@dataclasses.dataclass(frozen=True)
class MeanTask:
    """Options with scores from 0 to 1; half of them are the best."""

    name: str  # for reports
    options: Faces
    tolerance: float = 0.0  # above 0 the last options are better by just so much
    by: Any = "mean"
    null: float | None = None  # what its bets take for the null, if that is not its tolerance

    @property
    def race(self) -> racing.DominanceRace:
        """The race."""
        scale: dict[str, Any] = {"low": 0.0, "high": 1.0} if self.by == "mean" else {}
        number = len(self.options.faces)
        return racing.DominanceRace(number, number // 2, HORIZON, by=self.by, **scale)

    @property
    def params(self) -> racing.DominanceParams:
        """Its numbers."""
        params = self.race.params(DELTA, tolerance=self.tolerance)
        if self.null is None:
            return params
        return dataclasses.replace(params, null=jnp.float32(self.null))

    def is_wrong(self, certified: np.ndarray, best: np.ndarray) -> np.ndarray:
        """Which races, bool [races], certify others than the first [races, kappa].

        Within a tolerance: which certify any but the last.
        """
        number = len(self.options.faces)
        right = np.arange(number // 2) + (number - number // 2 if self.tolerance else 0)
        return certified & ~np.isin(best, right).all(-1)


_CONSTANT, _COIN = (0.5,) * 20, (0.0, 1.0) * 10
_RARE = (1.0,) + ((0.5 - 0.05) / 0.95,) * 19  # in float32 of mean 1/2 to eight digits
_EVEN = tuple((np.arange(20) / 19).tolist())
_FOUR_TENTHS, _SIX_TENTHS = (0.0,) * 12 + (1.0,) * 8, (0.0,) * 8 + (1.0,) * 12
_APART = Faces((_FOUR_TENTHS, _SIX_TENTHS))

TASKS: tuple[MeanTask, ...] = (
    MeanTask("two coins", Faces((_COIN, _COIN))),
    MeanTask("a constant before a coin", Faces((_CONSTANT, _COIN))),
    MeanTask("a coin before a constant", Faces((_COIN, _CONSTANT))),
    MeanTask("rarely great after a coin", Faces((_COIN, _RARE))),
    MeanTask("four of unlike laws", Faces((_RARE, _CONSTANT, _COIN, _EVEN))),
    MeanTask("a gap that is the tolerance", _APART, tolerance=0.2),
    MeanTask("the same by wins", _APART, tolerance=0.1, by="wins"),
)

CONTROLS: tuple[MeanTask, ...] = (
    MeanTask("control: two coins, bets on a gap above -.1", Faces((_COIN, _COIN)), null=-0.1),
    MeanTask("control: a tolerance that is less than the gap", _APART, tolerance=0.4),
)


def audit_means(races: int = FULL_SIZE, tasks: tuple[MeanTask, ...] = TASKS) -> Iterator[Finding]:
    """Count wrong certificates, which are allowed delta, in so many races per line."""
    for number, task in enumerate(tasks):
        key = jax.random.fold_in(jax.random.key(0), number)
        errors = int(count_wrong(functools.partial(_wrong, task), key, races))
        within = f", tolerance {task.tolerance:g}" if task.tolerance else ""
        claim = f"by {task.by}{within}"
        yield Finding(task.name, claim, DELTA, DELTA, errors, races)


def control_means(races: int = FULL_SIZE) -> Iterator[Finding]:
    """The same of races that are told what is not so: they must be refuted."""
    return audit_means(min(races, MOST_OF_CONTROL), CONTROLS)


def _wrong(task: MeanTask, keys: jax.Array) -> np.ndarray:
    played = _play(task.race, task.options.laws, keys, task.params)
    return task.is_wrong(*map(np.asarray, played))


@functools.partial(jax.jit, static_argnums=0)
def _play(
    race: racing.DominanceRace, laws: Law, keys: jax.Array, params: racing.DominanceParams
) -> tuple[jax.Array, jax.Array]:
    """Which races certify, bool [races], and their first kappa, int32 [races, kappa]."""
    result = jax.vmap(lambda key: racing.run(race, key, draw, laws, params, race.chunk))(keys)
    return result.decided, result.ranking[:, : race.top]
