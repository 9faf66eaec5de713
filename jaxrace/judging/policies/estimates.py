"""What a new policy would earn, from a log of another one, in five ways.

Axes: n trajectories of at most T steps, s steps in all, A actions, p features, d inputs. Returns
are normalised: R = c + sum_t r_t, of rewards r_t [n, T] that are discounted and scaled, 0 beyond
the end. rho_t, [n, T], is how much likelier the policy does what was done in a step, 1 beyond the
end; w_t = rho_1 ... rho_t. Sources: Precup, Sutton and Singh 2000; Thomas 2015 (the last one but
one, as "consistent weighted per-decision"); Jiang and Li 2016.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxrace.evidence.quantiles import student_quantile
from jaxrace.judging.policies.loading import Parts
from jaxrace.judging.policies.trajectories import ReturnRange, Trajectories
from jaxrace.judging.policies.weighing import Mixed, features_of, fit_rewards, softmax

_AT_ONCE = 2**20  # probabilities that are in memory at the same time


def per_decision(
    ratios: NDArray[np.float64], rewards: NDArray[np.float64]
) -> tuple[np.float64, np.float64]:
    """Estimates of the mean of sum_t r_t in which a reward weighs with the steps up to it.

    Of ``ratios`` rho_t and ``rewards`` r_t, [n, T]: 1/n sum_i sum_t w_it r_it, which is unbiased;
    and sum_t (sum_i w_it r_it / sum_i w_it), which varies less and is not.

    >>> per_decision(np.array([[2.0, 0.5], [1.0, 3.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    (np.float64(2.5), np.float64(1.4166666666666665))
    """
    weights = ratios.cumprod(1)
    weighted, totals = (weights * rewards).sum(0), weights.sum(0)
    by_step = np.divide(weighted, totals, out=np.zeros_like(totals), where=totals > 0)
    return weighted.sum() / len(ratios), by_step.sum()


def doubly_robust_returns(
    ratios: NDArray[np.float64],
    rewards: NDArray[np.float64],
    expected: NDArray[np.float64],
    modelled: NDArray[np.float64],
    end: float = 0.0,
) -> NDArray[np.float64]:
    """The doubly robust value of each trajectory, [n] (Jiang and Li 2016, equation 10).

    V_t = rho_t (r_t + V_{t+1}) + v_t - m_t, from V_{T+1} = ``end``, which is c. In each step q is a
    model of what is still to come: ``expected`` v_t = sum_a pi(a | x_t) q(x_t, a), and
    ``modelled`` m_t = pi(a_t | x_t) / p_t q(x_t, a_t), whose mean is the same; [n, T], 0 beyond the
    end. So the mean of V_1 is an unbiased estimate, however wrong the model is, if the model does
    not depend on these trajectories.

    >>> doubly_robust_returns(*np.array([[[2.0]], [[1.0]], [[0.4]], [[0.6]]]))
    array([1.8])
    """
    values = np.full(len(ratios), end)
    for step in reversed(range(ratios.shape[1])):
        values = ratios[:, step] * (rewards[:, step] + values)
        values += expected[:, step] - modelled[:, step]
    return values


def estimates_of(
    parts: Parts,
    returns: ReturnRange,
    order: int,
    policy: Mixed,
    delta: float,
) -> dict[str, Any]:
    """Estimates of the part that tests a policy, besides importance sampling, normalised.

    One policy, of a basis of an ``order``. The model is a linear one of what the policy in use
    still earned, by what is observed and, in logs of several steps, how late it is; it is fitted on
    the other part. Its bound is Student's, with error probability ``delta``.
    """
    test, several = parts.test, _has_several_steps(parts)
    end = float(returns.normalised(0.0))
    rewards = _rewards(test, returns)
    ratios, expected, modelled = _steps(parts, returns, order, policy)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = ratios.prod(1)
        total = weights.sum()
        weighted = (weights * (end + rewards.sum(1))).sum() / total if total else None
        found: dict[str, Any] = {"self_normalised": weighted}
        if several:
            plain, own = per_decision(ratios, rewards)
            found |= {"per_decision": end + plain, "self_normalised_per_decision": end + own}
        values = doubly_robust_returns(ratios, rewards, expected, modelled, end)
        mean, stderr = values.mean(), values.std(ddof=1) / len(values) ** 0.5
        quantile = student_quantile(delta, len(values) - 1)
    found |= {
        "doubly_robust": mean,
        "doubly_robust_stderr": stderr,
        "doubly_robust_bound": mean - quantile * stderr,
    }
    return {
        name: float(x) if x is not None and np.isfinite(x) else None for name, x in found.items()
    }


def _has_several_steps(parts: Parts) -> bool:
    return max(part.taken.shape[1] for part in (parts.train, parts.test)) > 1


def _rewards(data: Trajectories, returns: ReturnRange) -> NDArray[np.float64]:
    """Discounted and scaled, [n, T]: with c they add up to the normalised return."""
    scale = float(returns.normalised(1.0) - returns.normalised(0.0))
    horizon = data.rewards.shape[1]
    return scale * data.rewards * data.taken * returns.discounts(horizon, np.float64)


def _steps(
    parts: Parts, returns: ReturnRange, order: int, policy: Mixed
) -> tuple[NDArray[np.float64], ...]:
    """The ratios rho_t, and v_t and m_t by the model, of the part that tests the policy: [n, T].

    The rest of a mixture is the policy in use, of which what was earned itself is the value.
    """
    train, test, theta, alpha = parts.train, parts.test, policy.theta[0], float(policy.alpha[0])
    longest = train.taken.shape[1]

    def inputs(data: Trajectories) -> tuple[np.ndarray, np.ndarray]:
        """Features of the policy, and of the model: [s, p] and [s, p] or [s, p + 1]."""
        features = features_of(order, data.observations[data.taken])
        if not _has_several_steps(parts):
            return features, features
        late = np.minimum(np.arange(data.taken.shape[1]) / max(longest - 1, 1), 1)
        late = np.broadcast_to(late, data.taken.shape)[data.taken]
        return features, np.column_stack([features, late])

    still = _rewards(train, returns)[:, ::-1].cumsum(1)[:, ::-1] + float(returns.normalised(0.0))
    still, done = still[train.taken], train.actions[train.taken]
    model = fit_rewards(inputs(train)[1], done, still, len(theta))
    ends = min(still.min(), 0), max(still.max(), 1)  # of what may be still to come
    seen, known = inputs(test)
    done, logged = test.actions[test.taken], test.probabilities[test.taken]
    ratios, expected, modelled = (np.zeros(len(seen)) for _ in range(3))
    size = max(_AT_ONCE // len(theta), 1)
    for start in range(0, len(seen), size):
        rows = slice(start, start + size)
        chances = softmax(seen[rows] @ theta.T)
        values = np.clip(known[rows] @ model.T, *ends)
        is_known = done[rows] < len(theta)  # an action that was not searched is never taken
        own = np.arange(len(chances)), np.where(is_known, done[rows], 0)
        ratios[rows] = np.where(is_known, chances[own], 0) / logged[rows]
        expected[rows] = (chances * values).sum(1)
        modelled[rows] = ratios[rows] * values[own]
    ratios = alpha * ratios + (1 - alpha)

    def filled(values: np.ndarray, default: float) -> np.ndarray:
        table = np.full(test.taken.shape, default, np.float64)
        table[test.taken] = values
        return table

    return filled(ratios, 1), filled(alpha * expected, 0), filled(alpha * modelled, 0)
