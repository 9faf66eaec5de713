"""Dueling bandits and matrices by name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import dueling
from jaxrace import tables as data
from jaxrace.core.validation import BadArgument
from jaxrace.dueling import matrices
from papers.duels import families
from papers.duels.config import ALGORITHMS, DEFAULT_ARMS, MATRICES, DuelsConfig
from papers.duels.dts_plus import DoubleThompsonPlus
from papers.savage.borda import BordaElimination


class Entrant(NamedTuple):
    """An algorithm and its params."""

    algorithm: dueling.Algorithm
    params: Any


MAKERS: dict[str, Callable[[int], Any]] = {
    "rucb": dueling.Rucb,
    "dts": dueling.DoubleThompson,
    "dts-plus": DoubleThompsonPlus,
    "sup-klucb": dueling.SupKlucb,
    "sup-klucb-borda": lambda num_arms: dueling.SupKlucb(num_arms, "borda"),
    "rmed1": dueling.Rmed1,
    "merge-rucb": dueling.MergeRucb,
    "self-sparring": dueling.SelfSparring,
    "savage": lambda num_arms: dueling.Savage(num_arms, dueling.CopelandWinner(num_arms)),
    "savage-condorcet": lambda num_arms: dueling.Savage(
        num_arms, dueling.CondorcetWinner(num_arms)
    ),
    "savage-borda": lambda num_arms: dueling.Savage(num_arms, dueling.BordaWinner(num_arms)),
    "borda-elimination": BordaElimination,
    "savage-sampled": lambda num_arms: dueling.Savage(
        num_arms, dueling.CopelandWinner(num_arms), dueling.Introspection()
    ),
    "interleaved-filter": dueling.InterleavedFilter,
    "beat-the-mean": dueling.BeatTheMean,
    "uniform": dueling.UniformDuels,
}
assert MAKERS.keys() == ALGORITHMS.keys()


def entrant(name: str, num_arms: int, horizon: int, delta: float, key: jax.Array) -> Entrant:
    """An algorithm of ``ALGORITHMS`` for K arms and T duels; the key is for tests of its own."""
    algorithm = MAKERS[name](num_arms)
    if isinstance(algorithm, dueling.Savage):
        return Entrant(algorithm, algorithm.params(delta=delta, horizon=horizon, key=key))
    if isinstance(algorithm, BordaElimination):
        return Entrant(algorithm, algorithm.params(delta=delta))
    if isinstance(algorithm, dueling.InterleavedFilter | dueling.BeatTheMean):
        return Entrant(algorithm, algorithm.params(horizon=horizon))
    return Entrant(algorithm, algorithm.params())


def matrix_of(config: DuelsConfig) -> data.Matrix:
    """The preference matrix of a job."""
    if config.matrix not in MATRICES:
        return _read(config)
    count, key = config.arms or DEFAULT_ARMS, jax.random.key(np.uint32(config.seed))
    makers: dict[str, Callable[[], jax.Array]] = {
        "random": lambda: matrices.random(key, count),
        "linear": lambda: families.linear_order(key, count),
        "hard-condorcet": lambda: matrices.hard_condorcet(count),
        "flat": lambda: matrices.flat(count),
        "cyclic": lambda: families.cyclic(count),
        "plackett-luce": lambda: families.plackett_luce(
            jax.random.uniform(key, (count,), jnp.float32, minval=1e-3)
        ),
        "thurstone": lambda: families.thurstone(jax.random.normal(key, (count,), jnp.float32)),
    }
    assert makers.keys() == MATRICES.keys()
    if config.matrix == "cyclic" and count < 3:
        raise BadArgument("arms", "at least 3 for a cyclic matrix", str(count))
    return data.Matrix(tuple(map(str, range(count))), np.asarray(makers[config.matrix](), float))


def _read(config: DuelsConfig) -> data.Matrix:
    if "." not in config.matrix and not Path(config.matrix).exists():
        raise BadArgument("matrix", f"a file or one of {', '.join(MATRICES)}", repr(config.matrix))
    found = data.read_matrix(config.matrix, decimal=config.decimal, delimiter=config.delimiter)
    if config.arms not in (None, len(found.names)):
        raise BadArgument("arms", f"{len(found.names)}, as in {config.matrix}", str(config.arms))
    return found
