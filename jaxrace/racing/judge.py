"""Dominance races on samples that have been made already, decided on the host.

The evidence is that of tables, ``evidence.blocks``, in NumPy, and the decision that of compiled
races. Axes: K options, n_i samples of option i.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace import kernels
from jaxrace.core import narrowing
from jaxrace.core.compilation import jit
from jaxrace.core.validation import BadArgument
from jaxrace.evidence.blocks import BlockPairs, Differences, block_values
from jaxrace.evidence.decision import EXHAUSTED, RUNNING, behind
from jaxrace.evidence.independence import Runs, require_independent
from jaxrace.evidence.levels import Bets
from jaxrace.evidence.table_decision import who_may_help
from jaxrace.judging import scores
from jaxrace.racing import base, comparing
from jaxrace.racing.certified.blocks import (
    DominanceParams,
    DominanceResult,
    DominanceState,
    decide,
    see,
)
from jaxrace.racing.certified.dominance import DominanceRace

# Pairs of options that are compared at once.
_MOST_PAIRS = 64

# Samples of an option that are compared with each other, to see whether they are independent.
_MOST_COMPARED = 512


def judge(
    race: DominanceRace,
    samples: Mapping[str, Any] | Sequence[Any],
    params: DominanceParams,
    *,
    dependent: bool = False,
) -> DominanceResult:
    """What the samples that there are say, of however many each option has.

    The guarantee is that of the race, whoever was sampled, how often and why, as long as the next
    sample of an option does not depend on the others. So more samples of the options in doubt may
    be added behind the others and judged again, with the same race and params, or with a race of
    larger capacity and the same ``horizon``.

    Numbers of which only the order counts (``kernels.only_orders``) are compared as they are,
    however large and however close to each other. Others have 32 bits, as JAX gives them.

    Args:
        race: The race.
        samples: Of each option all its outcomes in the order in which they were made, leaves
            [n_i, ...] with 0 <= n_i <= capacity; by name, or in a list.
        params: From ``race.params``.
        dependent: Do not look whether samples are independent. Nothing is certified then.

    Returns:
        The result; ``asked`` are the options of which more samples would help.

    Raises:
        ValueError: There are samples of other than K options, more of one than the capacity, or
            they are not alike; one that counts is NaN or infinite; a number is out of JAX's range,
            or cannot be told from others; ``compare`` is no antisymmetric sign; the samples of an
            option are not independent (see ``check_runs``).

    Warns:
        DependentRunsWarning: Samples hardly are independent; nothing is certified.

    >>> from jaxrace.kernels import total_order
    >>> race = DominanceRace(num_options=3, top=1, capacity=100, compare=total_order)
    >>> a, b, c = np.random.default_rng(0).normal([0.0, 1.0, 3.0], size=(25, 3)).T
    >>> result = judge(race, {"a": a[:12], "b": b, "c": c}, race.params(delta=0.05))
    >>> result.best_names, result.certificate, result.samples.tolist()
    (['c'], 'dominance', [11, 21, 21])
    """
    race._check_params(params)
    names, of_options = _by_options(race, samples)
    options = [_host_arrays(of_option) for of_option in of_options]
    if names is not None and all(isinstance(x, np.ndarray) and x.ndim == 1 for x in options):
        scores.require_options("samples", dict(zip(names, options, strict=True)))
    counts = np.array([_count(race, *option) for option in enumerate(options)], np.int32)
    first_bad = np.array([_first_bad(race, of_option) for of_option in options], np.int32)
    only_orders = kernels.only_orders(race.compare)
    try:
        # Ranks, where only the order counts.
        compared = _ranked(options) if race.by == "wins" and only_orders else options
        outcomes = jax.tree.map(functools.partial(_padded, race.capacity), *compared)
    except (TypeError, ValueError) as error:
        raise ValueError(f"samples: expected outcomes that are alike: {error}") from error
    if not only_orders:
        for arrays in zip(*map(jax.tree.leaves, options), strict=True):
            values = np.concatenate(arrays)
            narrowing.require_told_apart("samples", values, narrowing.dtype_of(values))
    outcomes = narrowing.as_arrays("samples", outcomes)
    if race.by == "wins":
        few = comparing.first_few(outcomes), int(counts.min())
        comparing.check_once(race.compare, None, *few)
    example = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[2:], x.dtype), outcomes)
    state = dataclasses.replace(
        race.init(example, params), outcomes=outcomes, first_bad=jnp.asarray(first_bad)
    )
    # Numbers are compared on the host, by rank or by score.
    leaves = [jax.tree.leaves(of_option) for of_option in compared]
    is_plain = len(leaves[0]) == 1 and leaves[0][0].ndim == 1
    is_plain &= only_orders or race.by == "mean"
    columns = [x[0] for x in leaves] if is_plain else None
    differences = _differences(race, columns, outcomes)
    state = _judged(race, state, params, differences, counts)
    base.raise_if_invalid(state.invalid, "", race.low, race.high)
    if state.certificate >= EXHAUSTED:
        state = _finish(race, state, params)
    if not dependent:
        labels = [f"option {i}" for i in range(len(options))] if names is None else list(names)
        dependent = require_independent(_runs(race, labels, leaves, columns, outcomes, counts))
    return dataclasses.replace(race.result(state, params), names=names, dependent=dependent)


def _judged(
    race: DominanceRace,
    state: DominanceState,
    params: DominanceParams,
    differences: Differences,
    counts: np.ndarray,
) -> DominanceState:
    """Decide a race that has not begun on all samples that it will get, ``counts`` int [K]."""
    numbers = jax.tree.map(np.asarray, params)
    blocks, limit = race.blocks, int(params.max_rounds)
    within = np.minimum(counts, limit)
    # Bets on d in [-1, 1], where the race writes them for d / 2.
    bets = Bets(tuple(np.array(params.bets, float) / 2), tuple(np.exp(numbers.log_weights)))
    pairs = BlockPairs(differences, within, bets, blocks.first, blocks.later)
    every = ~np.eye(len(counts), dtype=bool)
    first, second = np.nonzero(every)
    process = pairs.process(first, second, float(params.null))

    def square(of_pairs: np.ndarray, nothing: float = 0.0) -> np.ndarray:
        found = np.full((*every.shape, *of_pairs.shape[1:]), nothing, np.float32)
        found[every] = of_pairs
        return found

    # In 32 bits, as a race that draws its samples has them.
    highest = square(process.highest, -np.inf)
    complete = pairs.complete()
    shared = np.minimum(complete[:, None], complete[None, :])
    margin = np.zeros(every.shape, np.int32)
    margin[every] = np.rint(process.mean * shared[every] * blocks.unit)
    asked, certificate = within < min(blocks.first, limit), RUNNING if limit > 0 else EXHAUSTED
    doubtful = np.asarray(state.doubtful)
    if certificate == RUNNING and not asked.any():
        about = highest, margin, complete, numbers
        found = decide(*about, top=race.top, blocks=blocks, xp=np)
        certificate, doubtful, asked = int(found.certificate), found.doubtful, found.asked
        if certificate == EXHAUSTED:
            # Samples that came otherwise may have left options behind.
            served = who_may_help(
                see(*about, blocks, np),
                doubtful,
                shared >= blocks.num_complete(limit),
                race.top,
                is_tolerant=float(params.tolerance) > 0,
            )
            certificate = RUNNING if served.any() else EXHAUSTED
            asked = behind(served, complete)
    played = within if limit < blocks.first else pairs.start(complete)
    return dataclasses.replace(
        state,
        simulated=counts.astype(np.int32),
        samples=np.asarray(played, np.int32),
        log_bets=square(process.log_bets),
        highest=highest,
        margin=margin,
        doubtful=doubtful,
        asked=asked & (certificate == RUNNING),
        certificate=np.int32(certificate),
    )


def _by_options(race: DominanceRace, samples: Any) -> tuple[tuple[str, ...] | None, list[Any]]:
    """The options' names, if they have any, and the samples of each."""
    names = None
    if isinstance(samples, Mapping):
        names, found = tuple(map(str, samples)), list(samples.values())
        if len(set(names)) < len(names):
            raise BadArgument("samples", "different names", ", ".join(names))
    elif isinstance(samples, Sequence) and not isinstance(samples, str):
        found = list(samples)
    else:
        # An array without names: which of its axes is that of the options?
        shape = np.shape(samples)
        if len(shape) < 2 or shape[1] == race.num_options or shape[0] != race.num_options:
            raise BadArgument(
                "samples",
                "samples by name, or a list of arrays, one of each of the "
                f"{race.num_options} options",
                f"an array {list(shape)}",
                ": a table [n, K] is list(table.T)",
            )
        found = list(_host_array(samples))
    if len(found) != race.num_options:
        raise BadArgument("samples", f"those of {race.num_options} options", f"{len(found)}")
    return names, found


def _host_arrays(samples: Any) -> Any:
    if isinstance(samples, list | tuple) and all(map(np.isscalar, samples)):
        samples = np.asarray(samples)  # numbers, and not a pytree of them
    return jax.tree.map(_host_array, samples)


def _host_array(leaf: Any) -> np.ndarray:
    array = np.asarray(narrowing.as_host_array("samples", leaf))
    comparing.require_real("samples", array)
    return array


def _count(race: DominanceRace, option: int, samples: Any) -> int:
    lengths = {x.shape[0] if x.ndim else -1 for x in jax.tree.leaves(samples)}
    if len(lengths) != 1 or -1 in lengths:
        raise ValueError(f"samples: expected arrays [n, ...] of one length for option {option}")
    (count,) = lengths
    if count > race.capacity:
        expected = f"at most the capacity {race.capacity} of each option"
        raise BadArgument("samples", expected, f"{count} of option {option}")
    return count


def _first_bad(race: DominanceRace, samples: Any) -> int:
    """Number of the first sample that is NaN or infinite, or by mean out of its range; or 0."""
    leaves = jax.tree.leaves(samples)
    bad = [~np.isfinite(x).all(axis=tuple(range(1, x.ndim))) for x in leaves]
    if race.low is not None and race.high is not None:
        bad += [(x < race.low) | (x > race.high) for x in leaves]
    places = np.flatnonzero(np.any(bad, axis=0))
    return int(places[0]) + 1 if places.size else 0


def _ranked(options: list[Any]) -> list[Any]:
    """The place of each number among all different ones, whatever dtypes they have: int32."""

    def ranks(*arrays: np.ndarray) -> list[np.ndarray]:
        shape = {x.shape[1:] for x in arrays}
        if len(shape) > 1:
            raise ValueError(f"one shape, got {', '.join(map(str, sorted(shape)))}")
        found = scores.ranks([x.reshape(-1) for x in arrays])
        return [y.astype(np.int32).reshape(x.shape) for y, x in zip(found, arrays, strict=True)]

    structure = jax.tree.structure(options[0])
    ranked = jax.tree.map(ranks, *options)
    return jax.tree.transpose(structure, jax.tree.structure([0] * len(options)), ranked)


def _padded(capacity: int, *arrays: np.ndarray) -> np.ndarray:
    """[K, N, ...], filled up by zeros, which are never read."""
    return np.stack([np.pad(x, [(0, capacity - len(x)), *[(0, 0)] * (x.ndim - 1)]) for x in arrays])


def _runs(
    race: DominanceRace,
    names: list[str],
    leaves: list[list[np.ndarray]],
    columns: list[np.ndarray] | None,
    outcomes: Any,
    counts: np.ndarray,
) -> list[Runs]:
    """The samples of each option as they are looked at for independence."""
    if columns is not None and race.by == "wins":
        return [Runs(name, x, x) for name, x in zip(names, columns, strict=True)]
    few = min(race.capacity, _MOST_COMPARED)
    found = []
    for option, (name, count, arrays) in enumerate(zip(names, counts, leaves, strict=True)):
        # By how many of the first samples each of them is beaten less than it beats.
        itself = np.array([option])
        signs = _block_signs(race.compare, few, outcomes, itself, itself, 0 * itself)
        net = np.where(np.arange(few) < count, np.asarray(signs)[0], 0).sum(1)
        seen: dict[Any, int] = {}
        rows = zip(*([row.tobytes() for row in leaf] for leaf in arrays), strict=True)
        codes = np.array([seen.setdefault(row, len(seen)) for row in rows], int)  # equal if equal
        found.append(Runs(name, net[:count], codes))
    return found


def _differences(
    race: DominanceRace, columns: list[np.ndarray] | None, outcomes: Any
) -> Differences:
    """The signs of samples of pairs of options: of numbers on the host, of others by ``compare``.

    By mean the differences of scores, in float64.
    """
    if columns is not None:
        values, sign = _padded(race.capacity, *[x.astype(float) for x in columns]), 1
        if race.by == "wins":
            one = jax.tree.map(lambda x: np.ones((), x.dtype), outcomes)
            sign = int(race.compare(one, jax.tree.map(np.zeros_like, one)))

        def of_numbers(first: Any, second: Any, start: Any, size: int) -> np.ndarray:
            x, y = block_values(values, first, second, start, size)
            return (x - y) / race.width if race.by == "mean" else sign * np.sign(x - y)

        return of_numbers

    def of_outcomes(first: Any, second: Any, start: Any, size: int) -> np.ndarray:
        found = np.zeros((size, size, len(first)), np.int8)
        for at in range(0, len(first), _MOST_PAIRS):
            some = slice(at, at + _MOST_PAIRS)
            # Of one length, so that there is one program.
            rows = [np.resize(column[some], _MOST_PAIRS) for column in (first, second, start)]
            signs = _block_signs(race.compare, size, outcomes, *rows)
            found[..., some] = np.moveaxis(signs, 0, 2)[..., : len(first[some])]
        return found

    return of_outcomes


@jit(2)
def _block_signs(
    compare: Any, size: int, outcomes: Any, first: jax.Array, second: jax.Array, start: jax.Array
) -> jax.Array:
    def of_pair(one: jax.Array, other: jax.Array, start: jax.Array) -> jax.Array:
        def block(option: jax.Array) -> Any:
            part = functools.partial(lax.dynamic_slice_in_dim, start_index=start, slice_size=size)
            return jax.tree.map(lambda x: part(x[option]), outcomes)

        signs = jax.vmap(jax.vmap(compare, (None, 0)), (0, None))(block(one), block(other))
        return signs.astype(jnp.int8)

    return jax.vmap(of_pair)(first, second, start)


@jit(1)
def _finish(race: DominanceRace, state: Any, params: DominanceParams) -> Any:
    """Count all samples of a race that ends without a certificate, for its guess."""
    return base.in_batch(race._finish_batch, state, params)
