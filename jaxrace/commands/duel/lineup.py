"""Dueling bandits and matrices by name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import dueling
from jaxrace.commands.duel.config import ALGORITHMS, DEFAULT_ARMS, MATRICES, DuelConfig
from jaxrace.dueling import matrices


class Entrant(NamedTuple):
    """An algorithm and its numbers."""

    algorithm: dueling.Algorithm
    params: Any


Maker = Callable[[int, int, float, jax.Array], Entrant]  # K, T, delta, key


def _plain(kind: Callable[[int], dueling.Algorithm]) -> Maker:
    def make(num_arms: int, horizon: int, delta: float, key: jax.Array) -> Entrant:
        algorithm = kind(num_arms)
        return Entrant(algorithm, algorithm.params())

    return make


def _timed(kind: Callable[[int], Any]) -> Maker:
    def make(num_arms: int, horizon: int, delta: float, key: jax.Array) -> Entrant:
        algorithm = kind(num_arms)
        return Entrant(algorithm, algorithm.params(horizon=horizon))

    return make


def _savage(
    decision: Callable[[int], Any], introspection: dueling.Introspection | None = None
) -> Maker:
    def make(num_arms: int, horizon: int, delta: float, key: jax.Array) -> Entrant:
        algorithm = dueling.Savage(num_arms, decision(num_arms), introspection)
        return Entrant(algorithm, algorithm.params(delta=delta, horizon=horizon, key=key))

    return make


MAKERS: dict[str, Maker] = {
    "rucb": _plain(dueling.Rucb),
    "dts": _plain(dueling.DoubleThompson),
    "dts-plus": _plain(lambda num_arms: dueling.DoubleThompson(num_arms, plus=True)),
    "sup-klucb": _plain(dueling.SupKlucb),
    "sup-klucb-borda": _plain(lambda num_arms: dueling.SupKlucb(num_arms, "borda")),
    "savage": _savage(dueling.CopelandWinner),
    "savage-condorcet": _savage(dueling.CondorcetWinner),
    "savage-borda": _savage(dueling.BordaWinner),
    "savage-sampled": _savage(dueling.CopelandWinner, dueling.Introspection()),
    "interleaved-filter": _timed(dueling.InterleavedFilter),
    "beat-the-mean": _timed(dueling.BeatTheMean),
    "uniform": _plain(dueling.Uniform),
}
assert MAKERS.keys() == ALGORITHMS.keys()


def entrant(name: str, num_arms: int, horizon: int, delta: float, key: jax.Array) -> Entrant:
    """An algorithm of ``ALGORITHMS`` for K arms and T duels; the key is for tests of its own.

    >>> entrant("rucb", 3, 1000, 0.05, jax.random.key(0)).algorithm
    Rucb(num_arms=3)
    """
    return MAKERS[name](num_arms, horizon, delta, key)


def matrix_of(config: DuelConfig) -> np.ndarray:
    """The preference matrix of a job, float32 [K, K].

    Raises:
        ValueError: There is no such file or name, or the file holds no preference matrix or one of
            other than the wanted arms.

    >>> matrix_of(DuelConfig(matrix="linear", arms=3, seed=1)).shape
    (3, 3)
    """
    count, key = config.arms or DEFAULT_ARMS, jax.random.key(np.uint32(config.seed))
    makers: dict[str, Callable[[], jax.Array]] = {
        "random": lambda: matrices.random(key, count),
        "linear": lambda: matrices.linear_order(key, count),
        "hard-condorcet": lambda: matrices.hard_condorcet(count),
        "flat": lambda: matrices.flat(count),
        "cyclic": lambda: matrices.cyclic(count),
        "plackett-luce": lambda: matrices.plackett_luce(
            jax.random.uniform(key, (count,), jnp.float32, minval=1e-3)
        ),
        "thurstone": lambda: matrices.thurstone(jax.random.normal(key, (count,), jnp.float32)),
    }
    assert makers.keys() == MATRICES.keys()
    if config.matrix == "cyclic" and count < 3:
        raise ValueError(f"arms: expected at least 3 for a cyclic matrix, got {count}")
    if config.matrix in makers:
        return matrices.check_matrix(makers[config.matrix]())
    if "." not in config.matrix and not Path(config.matrix).exists():
        raise ValueError(
            f"matrix: expected a file or one of {', '.join(MATRICES)}, got {config.matrix!r}"
        )
    found = matrices.read_matrix(config.matrix)
    if config.arms not in (None, len(found)):
        raise ValueError(f"arms: expected {len(found)}, as in {config.matrix}, got {config.arms}")
    return found
