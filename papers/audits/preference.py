"""How often does a race give a wrong verdict? It may with probability delta at most.

A verdict "i beats j" is wrong when s_ij <= 1/2. The tasks make it as likely as can be.

    python -m papers.audits.preference          the full audit, 100,000 races per line, in Markdown
    python -m papers.audits.preference 20000    a smaller one
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace import kernels, racing
from papers.audits import reckoning
from papers.audits.dominance.options import Faces, Matrix, Normals


@dataclasses.dataclass(frozen=True)
class AuditTask:
    """Options whose s_ij are known."""

    name: str  # for reports
    max_rounds: int  # n_max
    # ``sample(key, option) -> outcome``, option an int32 in 0 .. K - 1.
    sample: Callable[[jax.Array, jax.Array], jax.Array]
    win_probabilities: Matrix  # s_ij [K][K]; the diagonal does not matter


def _sample_close(key: jax.Array, option: jax.Array) -> jax.Array:
    return jax.random.normal(key, (), jnp.float32) + _CLOSE_GAP * option.astype(jnp.float32)


def _sample_coin(key: jax.Array, option: jax.Array) -> jax.Array:
    coin = 2.0 * jax.random.bernoulli(key).astype(jnp.float32) - 1.0
    return jnp.where(option == 0, coin, 0.0)


def _sample_die(key: jax.Array, option: jax.Array) -> jax.Array:
    """Cyclic dice, mixed with a common uniform noise so that they are nearly tied."""
    which, face, noise = jax.random.uniform(key, (3,), jnp.float32)
    faces = jnp.array(_DICE, jnp.float32)
    rolled = faces[option, (3 * face).astype(jnp.int32)]
    return jnp.where(which < _DICE_SHARE, rolled, 10.0 * noise)


def _die_probabilities() -> Matrix:
    """s_ij of two mixtures. A die beats the noise half of the time, as its mean face is 5."""
    both = np.array(Faces(_DICE).win_probabilities)
    return tuple(map(tuple, (0.5 + _DICE_SHARE**2 * (both - 0.5)).tolist()))


# Each option is better than the one before by so little that 300 rounds see a tie.
_CLOSE_GAP = 1e-4
# A beats B beats C beats A, each with probability 5/9 (faces doubled: three suffice).
_DICE = ((2.0, 4.0, 9.0), (1.0, 6.0, 8.0), (3.0, 5.0, 7.0))
# With probability 1 - share a sample is noise that beats a die's face f with (10 - f) / 10.
_DICE_SHARE = 0.3


_CLOSE = Normals(tuple(_CLOSE_GAP * option for option in range(4)))

TASKS: tuple[AuditTask, ...] = (
    AuditTask("nearly tied, continuous", 100, _sample_close, _CLOSE.win_probabilities),
    AuditTask("cyclic", 100, _sample_die, _die_probabilities()),
    AuditTask("fair coin against 0", 300, _sample_coin, ((0.5, 0.5), (0.5, 0.5))),
)

UNPROTECTED = "kl without the union over rounds"  # the broken control


def audit(races: int = reckoning.FULL_SIZE) -> Iterator[reckoning.Finding]:
    """Measure every bound on every task for every delta, with at least so many races per line."""
    batches = reckoning.batches_of(races)
    for number, task in enumerate(TASKS):
        key = jax.random.fold_in(jax.random.key(0), number)
        size = len(task.win_probabilities)
        race = racing.PreferenceRace(size, 1, task.max_rounds, kernels.total_order)
        is_wrong = np.array(task.win_probabilities) <= 0.5

        def errs(result: racing.PreferenceResult, is_wrong: np.ndarray = is_wrong) -> jax.Array:
            return (result.beats & is_wrong).any()

        are_tied = task.win_probabilities[0][1] == 0.5
        for name in (*kernels.RACE_BOUNDS, UNPROTECTED):
            one_sided = name in kernels.RACE_BOUNDS and kernels.RACE_BOUNDS[name].sides == 1
            params = [_params(race, name, delta) for delta in reckoning.DELTAS]
            wrong = wrong_races(race, task.sample, errs, batches, key, params)
            for delta, errors in zip(reckoning.DELTAS, wrong, strict=True):
                allowed = 2 * delta if one_sided and are_tied else delta
                total = batches * reckoning.BATCH
                yield reckoning.Finding(task.name, name, delta, allowed, errors, total)


def unprotected_thresholds(num_options: int, max_rounds: int, delta: float) -> NDArray[np.int32]:
    """KL thresholds of any one round in all of them, int32 [max_rounds]."""
    # Round n of a race of n_max rounds at n_max delta has the level of a race of one round.
    kl, rounds = kernels.RACE_BOUNDS["kl"], range(1, max_rounds + 1)
    found = [kernels.thresholds(kl, num_options, n, n * delta)[n - 1] for n in rounds]
    return np.array(found, np.int32)


def _params(race: racing.PreferenceRace, bound: str, delta: float) -> racing.PreferenceParams:
    """Of a race by any bound: a bound is its thresholds, and one compiled program serves all."""
    make = unprotected_thresholds
    if bound != UNPROTECTED:
        make = functools.partial(kernels.thresholds, kernels.RACE_BOUNDS[bound])
    thresholds = make(race.num_options, race.capacity, delta)
    return dataclasses.replace(race.params(delta), thresholds=jnp.asarray(thresholds))


def wrong_races(
    race: racing.Race,
    sample: Callable[[jax.Array, jax.Array], jax.Array],
    errs: Callable[[Any], jax.Array],
    batches: int,
    key: jax.Array,
    params: list[Any],
) -> list[int]:
    """How many races with each of the params err, by the same samples."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *params)
    return np.asarray(_wrong_races(race, sample, errs, batches, key, stacked)).sum(0).tolist()


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _wrong_races(
    race: racing.Race, sample: Any, errs: Any, batches: int, key: jax.Array, params: Any
) -> jax.Array:
    options = jnp.arange(race.num_options, dtype=jnp.int32)

    def of_key(race_key: jax.Array) -> jax.Array:
        return jax.vmap(lambda own: errs(racing.run(race, race_key, sample, options, own)))(params)

    return reckoning.wrong_by_batch(of_key, key, batches)


if __name__ == "__main__":
    size = reckoning.races_asked_for("Audit the guarantee of the races.")
    print(reckoning.markdown_table(audit(size)))
