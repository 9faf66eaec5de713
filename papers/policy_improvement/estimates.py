"""What a policy would earn, by four kinds of importance sampling: Precup, Sutton and Singh 2000.

Axes: n trajectories of T steps, p features, A actions.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxrace.improvement import LinearSoftmax, ReturnRange, Trajectories, unmixed
from jaxrace.improvement.weights import (
    evidence,
    log_ratios,
    weighted_estimate,
    weighted_returns,
)
from jaxrace.judging.policies.trajectories import require_actions, require_returns


class Estimates(NamedTuple):
    """Performance in [0, 1] of a policy, from trajectories of others; float32 [] each."""

    ordinary: jax.Array  # unbiased; its variance grows exponentially with T
    weighted: jax.Array  # weights divided by their sum: biased, less variance
    per_decision: jax.Array  # each reward weighs with the steps up to it: unbiased
    weighted_per_decision: jax.Array  # both


def estimates(
    softmax: LinearSoftmax, theta: ArrayLike, data: Trajectories, returns: ReturnRange
) -> Estimates:
    """Four estimates of what a policy would earn.

    The policy is that of theta, float32 [A, p]; the trajectories are those of any policies.
    BadArgument (not under a trace) if theta, an action or a return is out of its range.
    """
    softmax.require_theta("theta", theta)
    if not isinstance(data.actions, Tracer):
        require_actions("data", data, softmax.num_actions)
        require_returns("data[{}]".format, data, returns)
    policy = unmixed(theta)
    known = evidence(softmax, data, returns, initial=policy.theta)
    ratios = log_ratios(policy, known)
    weights = jnp.exp(ratios.sum(-1))
    upto = jnp.where(known.rows.present[:, None], jnp.exp(jnp.cumsum(ratios, -1)), 0)
    rewards = jnp.where(data.taken, data.rewards, 0) * returns.discounts(ratios.shape[-1])
    count = known.rows.present.sum(dtype=jnp.float32)
    totals = upto.sum(0)
    by_step = jnp.where(totals > 0, (upto * rewards).sum(0) / totals, 0)
    return Estimates(
        ordinary=weighted_returns(weights, known).sum() / count,
        weighted=weighted_estimate(weights, known),
        per_decision=returns.normalised((upto * rewards).sum() / count),
        weighted_per_decision=returns.normalised(by_step.sum()),
    )
