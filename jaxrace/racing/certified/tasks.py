"""What outcomes on shared tasks add to the evidence of every pair of options.

Task s of a pair, in the common order, has the difference d_s in [-1, 1], and the factor
1 + lambda_s (d_s - c_s). In a stream c_s is the mean mu under the null; in a list of N tasks c_s
and lambda_s are those of ``task_bets.frame_of_list``, and i over j is certain once the tasks left
cannot change it. Axes: B races, K options, P = K (K - 1) / 2 pairs, R of them at once, L bets,
Q nulls.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace import kernels
from jaxrace.core.protocol import number, pytree
from jaxrace.core.validation import Owner, require_integer, require_number
from jaxrace.evidence.task_bets import frame_of_list, winnings
from jaxrace.kernels.kahan import Total, add
from jaxrace.racing.certified.race import ORDERS, pairs_of
from jaxrace.racing.certified.result import TIE, CertifiedResult

BLOCK = 8  # tasks of a pair that are counted at once
_MOST = 1e30  # products are cut here, far above every level

Differences = Callable[[Any, Any], jax.Array]  # of outcomes [BLOCK, R, ...] of each: [BLOCK, R]

_positive_integer = functools.partial(require_integer, least=1)
_not_negative = functools.partial(require_number, least=0)


@pytree
class SharedParams:
    """The numbers of a ``SharedRace``; make them with ``SharedRace.params``."""

    delta: jax.Array = number()  # float32 []
    max_rounds: jax.Array = number(dtype=np.int32)  # int32 [], most tasks of an option; of a list N
    tolerance: jax.Array = number()  # float32 [], m, in units of the score or a win probability
    level: jax.Array = number()  # float32 [], the log e-value of a verdict
    strong_level: jax.Array = number()  # float32 [], of a verdict that counts; infinite by mean
    possible_level: jax.Array = number()  # float32 [], that of being out of the best
    nulls: jax.Array = number()  # float32 [Q], means of differences: of verdicts, and 0 if another
    bets: jax.Array = number()  # float32 [L], lambda
    weights: jax.Array = number()  # float32 [L], w
    slack: jax.Array = number(_not_negative)  # float32 []
    first: jax.Array = number(_positive_integer, np.int32)  # int32 [], tasks before the first look
    least: jax.Array = number(_positive_integer, np.int32)  # int32 [], tasks of a batch at least
    growth: jax.Array = number(_not_negative)  # float32 [], a batch's share of an option's tasks
    owner: Owner = dataclasses.field(metadata={"static": True})  # the kind and size of the race


class PairEvidence(NamedTuple):
    """The evidence of P pairs (i, j), i < j: of i over j, and of j over i; in states [P, ...]."""

    bets: jax.Array  # float32 [L, Q, 2, P], w times the products of factors over the common tasks
    highest: jax.Array  # float32 [Q, 2, P], the largest E so far; infinite where it is certain
    total: Total  # float32 [P], S: the sum of the differences of i and j


@pytree
class SharedState:
    """The progress of a ``SharedRace``."""

    outcomes: Any  # leaves [K, N + BLOCK, ...], all outcomes so far
    simulated: jax.Array  # int32 [K], tasks told for options that had asked
    wanted: jax.Array  # int32 [K], tasks that are to be told before the next look
    first_bad: jax.Array  # int32 [K], number of the first invalid outcome, or 0
    pairs: PairEvidence  # leaves [P, ...], the evidence of each pair
    certificate: jax.Array  # int32 [], a number of ``CERTIFICATES``
    owner: Owner = dataclasses.field(metadata={"static": True})  # the race

    @property
    def samples(self) -> jax.Array:
        """int32 [K]: outcomes that counted, which are all."""
        return self.simulated

    @property
    def round(self) -> jax.Array:
        """int32 []: tasks told of every option."""
        return self.simulated.min(-1)

    @property
    def invalid(self) -> jax.Array:
        """int32 [K]: number of the first outcome that counted and was invalid, or 0."""
        return self.first_bad


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SharedResult(CertifiedResult):
    """The result of a ``SharedRace``."""

    highest: jax.Array  # float32 [Q, K, K], ln of the largest E_ij in the course of the race
    mean_difference: jax.Array  # float32 [K, K], over the common tasks, in [-1, 1]
    asked: jax.Array  # int32 [K], how many further tasks each would run next
    finite: bool = dataclasses.field(metadata={"static": True})

    @property
    def evaluations(self) -> NDArray[np.int64]:
        """Outcomes of all options together: int64 [...]."""
        self._require_host("evaluations", "`samples`")
        return np.asarray(self.samples, np.int64).sum(-1)

    @property
    def log_highest(self) -> NDArray[np.float64]:
        self._require_host("log_highest", "`highest`")
        return np.asarray(self.highest, np.float64)[..., 0, :, :]

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two options on a task that the race counted."""
        self._require_host("oracle_calls", "`samples`")
        samples = np.asarray(self.samples, np.int64)
        shared = np.minimum(samples[..., :, None], samples[..., None, :])
        return np.triu(shared, 1).sum((-2, -1))


def count_tasks(
    states: SharedState,
    params: SharedParams,
    before: jax.Array,
    num_told: int,
    *,
    differences: Differences,
    is_finite: bool,
) -> SharedState:
    """Play the tasks that pairs have come to share, ``num_told`` at most.

    Options had ``before``, int32 [B, K].
    """
    num_options = before.shape[1]
    first, second = pairs_of(num_options)
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)

    def shared(told: jax.Array) -> jax.Array:
        return jnp.minimum(told[:, first], told[:, second])  # [B, P]

    def play(kept: PairEvidence, place: jax.Array, begin: jax.Array, end: jax.Array) -> Any:
        race, pair = place // first.size, place % first.size
        rows = tuple(race * num_options + option[pair] for option in (first, second))
        own = (kernels.sample_slices(samples, row, begin, BLOCK) for row in rows)
        numbers = (
            params.nulls[race].T[:, None],
            params.bets[race].T[:, None, None],
            params.max_rounds[race].astype(jnp.float32),
        )
        tasks = begin + jnp.arange(1, BLOCK + 1, dtype=jnp.int32)[:, None]  # s
        step = functools.partial(_play_task, numbers, end, is_finite)
        unroll = BLOCK if kernels.sizes().takes_all else 1
        told = tasks, differences(*own)
        kept = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), kept)  # pairs fill the vector units
        kept, _ = lax.scan(step, kept, told, unroll=unroll)
        return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), kept)

    def play_pass(number: jax.Array, kept: PairEvidence) -> PairEvidence:
        begin = start + BLOCK * number
        return kernels.update_listed(begin < end, play, kept, place, begin, end)

    start, end = shared(before), shared(states.simulated)
    place = jnp.arange(start.size, dtype=jnp.int32).reshape(start.shape)
    pairs = lax.fori_loop(0, -(-num_told // BLOCK), play_pass, states.pairs)
    return dataclasses.replace(states, pairs=pairs)


def _play_task(
    numbers: tuple[jax.Array, ...],
    end: jax.Array,
    is_finite: bool,
    earlier: PairEvidence,
    task: tuple[jax.Array, jax.Array],
) -> tuple[PairEvidence, None]:
    number, difference = task  # [R]: s and d_s; a pair plays up to ``end``
    nulls, bets, whole = numbers  # of each pair: [Q, 1, R], [L, 1, 1, R] and N [R]
    counts = number <= end
    done = number.astype(jnp.float32)
    both = difference * ORDERS  # [2, R]
    mean, growth = nulls, 1.0
    if is_finite:
        sums = earlier.total.value * ORDERS
        mean, growth = frame_of_list(nulls, sums, done, whole, jnp)  # [Q, 2, R]
    factors = 1 + winnings(bets, both, mean, growth, jnp)  # [L, Q, 2, R]
    product = jnp.minimum(earlier.bets * factors, _MOST)
    product = jnp.where(counts, product, earlier.bets)
    highest = jnp.maximum(earlier.highest, product.sum(0))
    added = add(earlier.total, difference)
    total = jax.tree.map(lambda new, old: jnp.where(counts, new, old), added, earlier.total)
    if is_finite:
        left = whole - done
        value, missing = (x * ORDERS for x in total)
        surplus = (value - left) + (missing - nulls * whole)
        is_certain = surplus > TIE * whole  # what is closer than rounding is not
        certain = jnp.where((left == 0) & ~is_certain, 0.0, highest)  # after all tasks
        highest = jnp.where(counts, jnp.where(is_certain, jnp.inf, certain), highest)
    return PairEvidence(product, highest, total), None
