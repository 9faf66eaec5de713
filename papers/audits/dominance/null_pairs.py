"""Pairs that do not beat each other: does the e-value keep Ville's inequality? Axes: P pairs."""

import functools
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray
from scipy import stats

from jaxrace import kernels, racing
from jaxrace.core.validation import require_integer
from jaxrace.evidence.levels import log_factors
from papers.audits.dominance.options import Faces, Law, Normals, SetTask, draw
from papers.audits.dominance.races import HORIZONS
from papers.audits.reckoning import FULL_SIZE, Finding

ALPHAS = (0.01, 0.05, 0.2, 0.5)
_BATCH = 5_000  # pairs that are played together


def _hills(*places: float) -> tuple[float, ...]:
    """128 quantiles of an even mixture of normals around these places, exactly symmetric."""
    half = stats.norm.ppf((np.arange(64) + 0.5) / 128)
    hill = np.concatenate([half, -half[::-1]])[:: len(places)]
    hill = (hill - hill[::-1]) / 2
    return tuple(np.concatenate([place + hill for place in places]).tolist())


# The first does not beat the second: s <= 1/2.
NULL_PAIRS: tuple[SetTask, ...] = (
    SetTask("equal normals", 1, Normals((0.0, 0.0))),
    SetTask("equal dice", 1, Faces(((1, 2, 3), (1, 2, 3)))),
    SetTask("0 over a coin", 1, Faces(((0, 0), (-1, 1)))),
    SetTask("slightly worse", 1, Normals((-0.007, 0.0))),
    SetTask("two hills over one", 1, Faces((_hills(-3, 3), _hills(0)))),
    # Nine faces in twelve beat a third of the numbers, the other three beat all.
    SetTask("rarely great over even", 1, Faces(((4.5,) * 9 + (100,) * 3, tuple(range(1, 13))))),
)


def audit_pairs(
    pairs: int = FULL_SIZE,
    kinds: Sequence[SetTask] = NULL_PAIRS,
    horizons: Sequence[int] = HORIZONS,
) -> Iterator[Finding]:
    """Count the pairs whose e-value reaches 1 / alpha at the end of any block: allowed is alpha."""
    for number, kind in enumerate(kinds):
        for horizon in horizons:
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), number), horizon)
            largest = largest_log_e(kind, horizon, key, pairs)
            yield from _findings(kind, f"largest E, n_max {horizon}", largest)


def control_pairs(pairs: int = FULL_SIZE) -> Iterator[Finding]:
    """The same with broken bets, on h - 0.45 instead of h - 1/2, which must be refuted."""
    horizon = min(HORIZONS)
    key = jax.random.fold_in(jax.random.key(0), len(NULL_PAIRS))
    largest = largest_log_e(NULL_PAIRS[0], horizon, key, pairs, 0.45)
    claim = f"control: an even chance is 0.45, n_max {horizon}"
    yield from _findings(NULL_PAIRS[0], claim, largest)


def _findings(kind: SetTask, claim: str, largest: NDArray[np.float32]) -> Iterator[Finding]:
    for alpha in ALPHAS:
        errors = int((largest >= -np.log(alpha)).sum())
        yield Finding(kind.name, claim, alpha, alpha, errors, largest.size)


def largest_log_e(
    kind: SetTask, horizon: int, key: jax.Array, pairs: int, even_chance: float = 0.5
) -> NDArray[np.float32]:
    """The largest ln E of the first at ends of blocks, by bets 1 + lambda (h - c): float32 [P]."""
    require_integer("pairs", pairs, 1)
    size = min(pairs, _BATCH)
    keys = [jax.random.fold_in(key, number) for number in range(-(-pairs // size))]
    chance = jnp.float32(even_chance)
    laws = kind.options.laws
    return np.concatenate([np.asarray(_play(horizon, size, laws, k, chance)) for k in keys])


@functools.partial(jax.jit, static_argnums=(0, 1))
def _play(horizon: int, size: int, laws: Law, key: jax.Array, even_chance: jax.Array) -> jax.Array:
    race = racing.DominanceRace(2, 1, horizon, kernels.total_order)
    params = race.params()

    def draw_block(block: jax.Array, length: int) -> jax.Array:
        keys = jax.random.split(jax.random.fold_in(key, block), (2, length, size))
        of_pairs = jax.vmap(draw, (0, None))
        return jax.vmap(jax.vmap(of_pairs, (0, None)))(keys, laws)

    def play_block(
        carry: tuple[jax.Array, jax.Array], block: jax.Array, length: int
    ) -> tuple[jax.Array, jax.Array]:
        log_bets, largest = carry
        x, y = draw_block(block, length)
        signs = kernels.total_order(x[:, None], y[None, :])
        null = 2 * even_chance - 1  # of signs, 2 h - 1
        bets = jnp.broadcast_to(params.bets[:, None] / 2, (params.bets.size, size))
        log_bets = log_bets + log_factors(signs.astype(jnp.float32) - null, bets, jnp)
        log_e = jax.nn.logsumexp(params.log_weights[:, None] + log_bets, axis=0)
        return log_bets, jnp.maximum(largest, log_e)

    nothing = jnp.zeros((params.bets.size, size), jnp.float32)
    carry = play_block((nothing, jnp.full(size, -jnp.inf)), jnp.uint32(0), race.first_block)
    later = jnp.arange(1, int(race.blocks.complete(horizon)), dtype=jnp.uint32)
    return lax.scan(lambda c, block: (play_block(c, block, race.block), None), carry, later)[0][1]
