"""Samples in blocks: the evidence that they add to a dominance race, and the verdicts.

Axes: B races, K options, N = capacity, r rounds told, b samples of a block, P pairs, L bets.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxrace import kernels
from jaxrace.core.protocol import number, pytree
from jaxrace.core.validation import Owner, require_number
from jaxrace.evidence.decision import Seen, Verdict, certify, seen_of
from jaxrace.evidence.levels import Blocks, log_factors, log_sum
from jaxrace.racing.certified.race import ORDERS, common, pairs_of, standing
from jaxrace.racing.certified.result import CertifiedResult
from jaxrace.racing.result import FloatArray


@pytree
class DominanceParams:
    """The numbers of a ``DominanceRace``; make them with ``DominanceRace.params``."""

    delta: jax.Array = number()  # float32 []
    max_rounds: jax.Array = number(dtype=np.int32)  # int32 [], n_max, samples per option
    tolerance: jax.Array = number()  # float32 [], m, in units of the score or a win probability
    null: jax.Array = number()  # float32 [], mu: the mean of differences in [-1, 1] under the null
    level: jax.Array = number()  # float32 [], LA: the log e-value of a verdict
    strong_level: jax.Array = number()  # float32 [], LB: of a strong one; infinite without (b)
    possible_level: jax.Array = number()  # float32 [], to be out; infinite within a tolerance
    bets: jax.Array = number()  # float32 [L], lambda
    log_weights: jax.Array = number()  # float32 [L], ln w
    slack: jax.Array = number(functools.partial(require_number, least=0))  # float32 []
    owner: Owner = dataclasses.field(metadata={"static": True})  # the kind and size of the race


@pytree
class DominanceState:
    """The progress of a ``DominanceRace``."""

    outcomes: Any  # leaves [K, N, ...], all samples so far
    simulated: jax.Array  # int32 [K], samples told for options that had asked
    samples: jax.Array  # int32 [K], samples that counted
    first_bad: jax.Array  # int32 [K], number of the first sample that was not finite, or 0
    # Of the P pairs i < j: of i over j, and of j over i.
    log_bets: jax.Array  # float32 [P, L, 2], sum of ln F_m(lambda) over the common blocks
    highest: jax.Array  # float32 [P, 2], e_ij: the largest ln E_ij so far, -inf without blocks
    margin: jax.Array  # int32 [P], sum of the margins 2 S_ij - 1 of the blocks, in ``Blocks.unit``
    doubtful: jax.Array  # bool [K, K], pairs that are drawn for
    asked: jax.Array  # bool [K]
    certificate: jax.Array  # int32 [], a number of ``CERTIFICATES``
    net: jax.Array  # int32 [K, K], wins less losses of all common samples, of an uncertified end
    owner: Owner = dataclasses.field(metadata={"static": True})  # the race

    @property
    def round(self) -> jax.Array:
        """int32 []: samples told of every option."""
        return self.simulated.min(-1)

    @property
    def invalid(self) -> jax.Array:
        """int32 [K]: number of the first sample that counted and was not finite, or 0."""
        counted = (self.first_bad > 0) & (self.first_bad <= self.samples)
        return jnp.where(counted, self.first_bad, 0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DominanceResult(CertifiedResult):
    """The result of a ``DominanceRace``."""

    log_bets: jax.Array  # float32 [K, K, L], ln of the products of block factors
    highest: jax.Array  # float32 [K, K], the largest ln E_ij in the course of the race
    margin: jax.Array  # int32 [K, K], antisymmetric; see ``DominanceState``
    doubtful: jax.Array  # bool [K, K], pairs that the race was drawing for; none if certified
    asked: jax.Array  # bool [K], who would be drawn next
    blocks: Any = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})

    @property
    def log_highest(self) -> FloatArray:
        self._require_host("log_highest", "`highest`")
        return np.asarray(self.highest, np.float64)

    @property
    def log_evidence(self) -> FloatArray:
        """ln E_ij after the blocks that i and j share, float64 [..., K, K]; 0 without any.

        No e-value: the race may have stopped because of samples of one option alone.
        """
        self._require_host("log_evidence", "`log_bets`")
        log_weights = np.asarray(self.params.log_weights, np.float64)[..., None, None, :]
        return np.logaddexp.reduce(np.asarray(self.log_bets, np.float64) + log_weights, axis=-1)

    @property
    def e_values(self) -> FloatArray:
        """E-values, which may be averaged, or multiplied if independent: float64 [..., K, K].

        sqrt(max E_ij) / 2, the p-value p by the calibrator p^(-1/2) / 2 (Vovk and Wang 2021): its
        expectation is at most 1 if i is not preferred to j, why ever the race stopped.
        """
        self._require_host("e_values", "`highest`")
        return 0.5 / np.sqrt(self.p_values)

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes behind the e-values: within the blocks of every pair."""
        self._require_host("oracle_calls", "`samples`")
        blocks, samples = self.blocks, np.asarray(self.samples, np.int64)
        shared = np.minimum(samples[..., :, None], samples[..., None, :])
        later = np.maximum(shared - blocks.first, 0) // blocks.later
        calls = np.where(shared < blocks.first, 0, blocks.first**2 + later * blocks.later**2)
        return np.triu(calls, 1).sum((-2, -1))


def rounds_to_tell(blocks: Blocks, state: Any) -> int:
    """How many samples of each option that asks complete its next block; not under a trace."""
    lacking = blocks.lacking(np.asarray(state.simulated))
    return int(lacking.max(initial=0, where=np.asarray(state.asked)))


def see(highest: Any, margin: Any, complete: Any, params: Any, blocks: Blocks) -> Seen:
    """What a decision is taken on; evidence [K, K], ``complete`` as for ``decide``."""
    shared = jnp.maximum(common(complete), 1).astype(jnp.float32)
    mean = margin.astype(jnp.float32) / (jnp.float32(blocks.unit) * shared)  # 2 S_ij - 1
    return seen_of(highest, mean, params.level, params.strong_level, params.null)


def decide(
    highest: Any, margin: Any, complete: Any, params: Any, *, top: int, blocks: Blocks
) -> Verdict:
    """Certify, ask for more, or end; ``complete``, int32 [K], are whole blocks of the options."""
    seen = see(highest, margin, complete, params, blocks)
    leads, most = standing(seen).first(top, jnp), blocks.complete(params.max_rounds, jnp)
    about = seen, leads, complete, most, params.level, params.slack
    return certify(*about, is_tolerant=params.tolerance > 0, xp=jnp)


def count_blocks(
    states: DominanceState,
    params: DominanceParams,
    before: jax.Array,
    after: jax.Array,
    num_told: int,
    *,
    blocks: Blocks,
    difference: Callable[[Any, Any], jax.Array],
    opens: bool,
    goes_on: bool,
) -> DominanceState:
    """Play the blocks that pairs have come to share: first ones if ``opens``, later if ``goes_on``.

    ``difference`` of two outcomes is a sign, an integer, or a float32 in [-1, 1]. Options had
    ``before`` blocks, int32 [B, K], which have been played, and have ``after``, of ``num_told``
    further samples at most.
    """
    num_options = before.shape[1]
    first, second = pairs_of(num_options)
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states.outcomes)

    def shared(complete: jax.Array) -> jax.Array:
        return jnp.minimum(complete[:, first], complete[:, second])

    def play(size: int, earlier: Any, place: jax.Array, block: jax.Array) -> Any:
        race, pair = place // first.size, place % first.size
        rows = tuple(race * num_options + option[pair] for option in (first, second))
        told, highest, margin = earlier
        total, log_e, gain = kernels.with_operands_kept(
            functools.partial(_add_block, blocks.unit),
            block[0] >= 0,
            jnp.moveaxis(told, 0, -1),
            _block_differences(difference, samples, rows, blocks.start(block, jnp), size),
            params.bets[race].T,
            params.log_weights[race].T,
            params.null[race],
        )
        return jnp.moveaxis(total, -1, 0), jnp.maximum(highest, log_e.T), margin + gain

    def play_one_each(size: int, block: jax.Array, evidence: Any) -> Any:
        """The block with this number, int32 [B, P], of every pair that shares it."""
        of_size = functools.partial(play, size)
        return kernels.update_listed(block < end, of_size, evidence, place, block)

    done, end = shared(before), shared(after)
    evidence = states.log_bets, states.highest, states.margin
    place = jnp.arange(end.size, dtype=jnp.int32).reshape(end.shape)
    # Slices of blocks that the capacity has no room for would not fit.
    capacity = jax.tree.leaves(samples)[0].shape[1]
    if opens and blocks.first <= capacity:
        number = jnp.where(done == 0, 0, jnp.int32(jnp.iinfo(jnp.int32).max))
        evidence = lax.cond(
            ((done == 0) & (end > 0)).any(),
            functools.partial(play_one_each, blocks.first, number),
            lambda evidence: evidence,
            evidence,
        )
    if goes_on and blocks.first + blocks.later <= capacity:
        # First blocks have been played.
        evidence = lax.fori_loop(
            0,
            (num_told + blocks.later - 1) // blocks.later,
            lambda number, kept: play_one_each(blocks.later, jnp.maximum(done, 1) + number, kept),
            evidence,
        )
    log_bets, highest, margin = evidence
    return dataclasses.replace(states, log_bets=log_bets, highest=highest, margin=margin)


def _block_differences(
    difference: Callable[[Any, Any], jax.Array],
    samples: Any,
    rows: tuple[jax.Array, ...],
    start: jax.Array,
    size: int,
) -> jax.Array:
    """Of the samples from ``start`` [P] on, of the options in two rows [P]: [b, b, P]."""
    slices = [kernels.sample_slices(samples, row, start, size) for row in rows]

    def take_all(x: Any, y: Any) -> jax.Array:
        found = jax.vmap(jax.vmap(jax.vmap(difference), (None, 0)), (0, None))(x, y)
        is_sign = jnp.issubdtype(found.dtype, jnp.integer)
        return found.astype(jnp.int8 if is_sign else jnp.float32)

    return kernels.with_operands_kept(take_all, start[0] >= 0, *slices)


def _add_block(
    unit: int,
    told: jax.Array,
    found: jax.Array,
    bets: jax.Array,
    log_weights: jax.Array,
    null: jax.Array,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What a block of differences ``found`` [b, b, R] adds to sums ln F_m(lambda), [L, 2, R].

    The sums after it, ln E_ij [2, R], and the margin [R] of the first order in whole units.
    """
    both = found[:, :, None].astype(jnp.float32) * ORDERS - null
    total = told + log_factors(both, bets[:, None] / 2, jnp)
    if jnp.issubdtype(found.dtype, jnp.integer):
        # At most 23 signs in an int8. Sums that XLA takes by rows would be kernels of their own.
        net = functools.reduce(jnp.add, functools.reduce(jnp.add, found).astype(jnp.int32))
        gain = unit // len(found) ** 2 * net
    else:
        gain = jnp.rint(unit * found.mean((0, 1))).astype(jnp.int32)
    return total, log_sum(log_weights[:, None] + total, 0, jnp), gain
