"""Races on samples that have been made already. Axes: K options, n_i samples of option i."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.racing import base, checks
from jaxrace.racing.dominance import DominanceRace
from jaxrace.racing.dominance_result import DominanceResult
from jaxrace.racing.dominance_state import DominanceParams


def judge(race: DominanceRace, samples: Sequence[Any], params: DominanceParams) -> DominanceResult:
    """What the samples that there are say, of however many each option has.

    The guarantee is that of the race, whoever was sampled, how often and why, as long as the next
    sample of an option does not depend on the others: a verdict rests on e-values that may be
    looked at at any time. So more samples may be made of the options in doubt, added behind the
    others, and judged again, with the same race and params. What is left over of a block counts
    next time.

    Args:
        race: The race.
        samples: Of each option all its outcomes in the order in which they were made, leaves
            [n_i, ...] with 0 <= n_i <= capacity.
        params: From ``race.params``.

    Returns:
        The result; ``asked`` are the options of which more samples would help, "running" is what
        certifies nothing yet, and ``further_samples`` says how many it may take.

    Raises:
        ValueError: There are samples of other than K options, more of one than the capacity, or
            they are not alike; one that counts is NaN or infinite; the race's ``compare`` is no
            antisymmetric sign.

    >>> from jaxrace.kernels import total_order
    >>> race = DominanceRace(num_options=3, top=1, capacity=100, compare=total_order)
    >>> scores = np.random.default_rng(0).normal([0.0, 1.0, 3.0], size=(25, 3)).T
    >>> result = judge(race, [scores[0, :12], scores[1], scores[2]], race.params(delta=0.05))
    >>> result.best.tolist(), result.certificate, result.samples.tolist()
    ([2], 'dominance', [11, 21, 21])
    """
    race.check_params(params)
    if len(samples) != race.num_options:
        raise ValueError(
            f"samples: expected those of {race.num_options} options, got {len(samples)}"
        )
    options = [jax.tree.map(np.asarray, of_option) for of_option in samples]
    counts = [_count(race, option, of_option) for option, of_option in enumerate(options)]
    try:
        padded = [
            jax.tree.map(functools.partial(_padded, race.capacity), of_option)
            for of_option in options
        ]
        stacked = jax.tree.map(lambda *x: np.stack(x), *padded)
    except (TypeError, ValueError) as error:
        raise ValueError(f"samples: expected outcomes that are alike: {error}") from error
    outcomes = base.as_arrays("samples", stacked)
    race.check_preferences((checks.first_few(outcomes), min(counts)))
    state = _judge(race, outcomes, jnp.asarray(counts, jnp.int32), params)
    base.raise_if_invalid(state.invalid)
    return race.result(state, params)


def _count(race: DominanceRace, option: int, samples: Any) -> int:
    lengths = {x.shape[0] if x.ndim else -1 for x in jax.tree.leaves(samples)}
    if len(lengths) != 1 or -1 in lengths:
        raise ValueError(f"samples: expected arrays [n, ...] of one length for option {option}")
    (count,) = lengths
    if count > race.capacity:
        raise ValueError(
            f"samples: expected at most the capacity {race.capacity} of each option, "
            f"got {count} of option {option}"
        )
    return count


def _padded(capacity: int, x: np.ndarray) -> np.ndarray:
    """To [N, ...], by zeros, which nobody reads."""
    return np.pad(x, [(0, capacity - len(x)), *[(0, 0)] * (x.ndim - 1)])


@functools.partial(jax.jit, static_argnums=0)
def _judge(race: DominanceRace, outcomes: Any, counts: jax.Array, params: DominanceParams) -> Any:
    example = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[2:], x.dtype), outcomes)
    lanes = (race.begin(example, params), outcomes, counts, params)
    states = race.judge_lanes(*jax.tree.map(lambda x: x[None], lanes))
    return jax.tree.map(lambda x: x[0], states)
