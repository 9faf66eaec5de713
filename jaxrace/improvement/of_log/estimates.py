"""What else single decisions say of a policy, beside importance sampling. Axes: n decisions."""

from typing import Any

import numpy as np
from scipy.special import softmax
from scipy.stats import t as student

from jaxrace.improvement.doubly_robust import doubly_robust, fit_rewards
from jaxrace.improvement.loading import Parts
from jaxrace.improvement.policies import Mixed
from jaxrace.improvement.policy_improvement import PolicyImprovement


def estimates_of(
    method: PolicyImprovement,
    policy: Mixed,
    parts: Parts,
    weights: np.ndarray,
    delta: float,
) -> dict[str, Any]:
    """Two more estimates, of the part that tests the policy, and a bound where one holds.

    The ``weights`` [n] are those of that part; the model of rewards is of the other part.
    """
    (train, done, earned), (test, actions, returns) = (
        (
            np.asarray(method.softmax.basis(part.observations), np.float64)[:, 0],
            np.asarray(part.actions)[:, 0],
            np.asarray(method.returns.returns(part), np.float64),
        )
        for part in (parts.train, parts.test)
    )
    model = fit_rewards(train, done, earned, method.softmax.num_actions)
    expected = np.clip(test @ model.T, 0, 1)
    chances = softmax(test @ np.asarray(policy.theta, np.float64).T, axis=1)
    logged = np.asarray(parts.test.probabilities)[:, 0]
    own = doubly_robust(chances, expected, actions, logged, returns)
    # The rest is the policy in use, of which the rewards themselves are values.
    alpha = float(policy.alpha)
    values = alpha * own + (1 - alpha) * returns
    stderr = float(values.std(ddof=1) / np.sqrt(len(values)))
    mean, total = float(values.mean()), weights.sum()
    return {
        "self_normalised": float((weights * returns).sum() / total) if total else None,
        "doubly_robust": mean,
        "doubly_robust_stderr": stderr,
        "doubly_robust_lower": mean - float(student.ppf(1 - delta, len(values) - 1)) * stderr,
    }
