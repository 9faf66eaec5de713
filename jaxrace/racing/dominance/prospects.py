"""Whose samples may still certify a set, where a pair in doubt has none left? Axes: K options.

A race ends there, since it draws for all pairs in doubt alike. Samples that came otherwise may have
left options behind, which change who is in doubt.
"""

import math

import jax
import jax.numpy as jnp

from jaxrace.racing.dominance import decision
from jaxrace.racing.dominance.state import Blocks, DominanceParams


def who_may_help(
    evidence: decision.Evidence, params: DominanceParams, top: int, blocks: Blocks
) -> jax.Array:
    """The options that lag in a pair which may still matter to certificate (a): bool [K].

    If j over i is decided, or the pair is undecided and exhausted, a set that is ever certified has
    j in it with i. Who takes more than kappa options with it is out, who is taken by more than
    K - kappa is in; nobody helps if that leaves no set. First come the pairs in doubt, then others
    of which not both options are in, nor both out.

    Args:
        evidence: Of one race.
        params: Of it.
        top: kappa.
        blocks: Their sizes.
    """
    num_options = evidence.complete.size
    most = blocks.complete(params.max_rounds)
    over = evidence.highest >= params.level
    shared = decision.shared_blocks(evidence.complete)
    undecided = ~(over | over.T) & ~jnp.eye(num_options, dtype=bool)
    takes = over.T | (undecided & (shared >= most)) | jnp.eye(num_options, dtype=bool)
    for _ in range(math.ceil(math.log2(num_options))):
        takes = (takes[:, :, None] & takes[None, :, :]).any(1)  # with all that those take
    is_out = takes.sum(1) > top
    is_in = takes.sum(0) > num_options - top
    is_possible = (
        (is_out.sum() <= num_options - top) & (is_in.sum() <= top) & ~(is_in & is_out).any()
    )
    both_alike = (is_in[:, None] & is_in[None, :]) | (is_out[:, None] & is_out[None, :])
    is_open = undecided & (shared < most) & ~both_alike & is_possible
    doubtful = decision.decide(evidence, params, most, top, blocks).doubtful
    doubtful = is_open & (doubtful | doubtful.T)
    served = jnp.where(doubtful.any(), doubtful, is_open)
    lags = evidence.complete[:, None] <= evidence.complete[None, :]
    return (served & lags).any(1)
