"""A policy that is certainly no worse, from a log: the front door. Axes: n trajectories."""

import functools
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxrace.core import validation
from jaxrace.evidence.quantiles import student_quantile
from jaxrace.judging.policies import plausibility
from jaxrace.judging.policies.bounds import bound_called
from jaxrace.judging.policies.candidates import KINDS, Task, find_candidate
from jaxrace.judging.policies.doubly_robust import doubly_robust, fit_rewards
from jaxrace.judging.policies.loading import Loaded, Parts, divide, load
from jaxrace.judging.policies.result import ImprovementOfLog
from jaxrace.judging.policies.saved import SavedPolicy
from jaxrace.judging.policies.softmax import features_of, num_features, softmax
from jaxrace.judging.policies.splits import in_training
from jaxrace.judging.policies.trajectories import ReturnRange, Trajectories, require_enough
from jaxrace.judging.policies.weighing import Evidence, Mixed
from jaxrace.judging.policies.words import policy_in_words

_MOST_WEIGHTS = 10_000  # of a policy
_MOST_FEATURES = 2 * 10**8  # features of all steps of a log: 1.6 GB


class Log(NamedTuple):
    """A log, made ready for its one test."""

    parts: Parts
    returns: ReturnRange
    order: int  # of the basis
    said: tuple[str, ...]  # what was guessed of the file
    seeds: tuple[np.random.SeedSequence, ...]  # of the search, and of the test
    bound: str
    candidates: str
    delta: float
    floor: float | None  # a return, as all of the log


def improve(
    data: Any,
    low: float,
    high: float,
    *,
    bound: str = "bca",
    candidates: Literal["none", "k-fold"] = "k-fold",
    delta: float = 0.05,
    floor: float | None = None,
    discount: float = 1.0,
    smaller: bool = False,
    larger: bool = False,
    order: int = 0,
    seed: int = 0,
    argument: str = "data",
    **columns: Any,
) -> ImprovementOfLog:
    r"""Look in a log of decisions for a policy that is certainly no worse than the one in use.

    A fifth of the log is searched for a candidate, and the rest tests it, once. A log that is tried
    again until something passes has a larger error probability than ``delta``.

    Args:
        data: Logged decisions, as ``jaxrace.tables.read_log`` takes them: a data frame, columns by
            name, a list of rows, or the path of a file; or that of an NPZ file of arrays.
        low: The least return that is possible.
        high: The largest one.
        bound: Lower confidence bound of the test: ci, betting, betting-anytime and bernstein are
            safe, t, bca and percentile semi-safe, that is approximate.
        candidates: none, or k-fold: cross-validated mixtures with the policy in use, which are
            likelier to pass and take longer.
        delta: Error probability of the test.
        floor: Mean return that a new policy must have, on the scale from ``low`` to ``high``; None:
            an estimate, the mean return of the fifth that is searched.
        discount: Of rewards.
        smaller: Are rewards costs, of which smaller is better? The floor is then the largest mean.
        larger: Is larger better, though the rewards are called like costs, as in "ticket price"?
        order: Of the Fourier basis of the policies; 0 for linear features.
        seed: Of the draws.
        argument: What messages begin with.
        **columns: ``columns`` (by their roles), ``decimal`` and ``delimiter`` of ``read_log``.

    Raises:
        ValueError: An argument is out of its range, or a row of the log cannot be used.

    >>> rows = [{"old": k % 2, "action": k // 2 % 2, "probability": 0.5} for k in range(400)]
    >>> log = [row | {"reward": int(row["old"] == row["action"])} for row in rows]
    >>> result = improve(log, 0, 1, bound="t", candidates="none")
    >>> result.found, result.policy.probabilities([[0], [1]]).round().tolist()
    (True, [[1.0, 0.0], [0.0, 1.0]])
    """
    columns |= {"discount": discount, "order": order, "seed": seed, "argument": argument}
    columns |= {"smaller": smaller, "larger": larger}
    return tested(prepared(data, low, high, bound, candidates, delta, floor, **columns))


def prepared(
    data: Any,
    low: float,
    high: float,
    bound: str = "bca",
    candidates: Literal["none", "k-fold"] = "k-fold",
    delta: float = 0.05,
    floor: float | None = None,
    discount: float = 1.0,
    smaller: bool = False,
    larger: bool = False,
    order: int = 0,
    seed: int = 0,
    argument: str = "data",
    **columns: Any,
) -> Log:
    """Read a log and divide it; what is wrong with it, or another argument, is said here."""
    bound_called(bound)
    validation.require_choice("candidates", candidates, KINDS)
    validation.require_float32_probability("delta", delta)
    validation.require_integer("order", order, 0)
    validation.require_integer("seed", seed, 0, 2**32 - 1)
    validation.require_direction(smaller, larger)
    returns = ReturnRange(low, high, discount, smaller)
    _require_floor(returns, floor)
    try:
        found = load(data, returns, larger, argument=argument, **columns)
    except OSError as error:
        expected = f"{argument}: expected a file that can be read"
        raise ValueError(f"{expected}, got {str(data)!r}: {error.strerror}") from error
    require_enough(found.data)
    _require_two_actions(found)
    policies = len(np.unique(found.data.behaviour))
    if candidates != "none" and policies > 1:
        raise ValueError(
            f"candidates: expected none for a log of {policies} behaviour policies, as mixtures "
            f"are with the one in use, got {candidates}"
        )
    _require_few_numbers(found, num_features(order, len(found.names)))
    plausibility.require_possible(
        found.data,
        found.seen,
        functools.partial(found.place, column="probability", array="probabilities"),
    )
    # All that is learnt from the log but the verdict is learnt from its training part, so that the
    # candidate is independent of what it is tested on.
    of_split, *seeds = np.random.SeedSequence(seed).spawn(3)
    parts = divide(found, in_training(np.random.default_rng(of_split), found.data.behaviour))
    own = tuple(seeds), bound, candidates, delta, floor
    return Log(parts, returns, order, found.said, *own)


def _require_floor(returns: ReturnRange, floor: float | None) -> None:
    """Raise if no return could be better than the floor, or none worse than it."""
    is_inside = isinstance(floor, int | float | np.number) and returns.low <= floor <= returns.high
    if floor is not None and not (is_inside and returns.normalised(floor) < 1):
        low, high = f"{returns.low:g}", f"{returns.high:g}"
        ends = f"({low}, {high}]" if returns.smaller else f"[{low}, {high})"
        raise ValueError(f"floor: expected a mean return in {ends}, got {floor!r}")


def _require_two_actions(loaded: Loaded) -> None:
    """Raise if there is nothing to choose from."""
    done = np.unique(loaded.data.actions[loaded.data.taken])
    if len(done) < 2:
        name = repr(loaded.action_names[0]) if loaded.action_names else str(done[0])
        raise ValueError(f"{loaded.place(0, 0)}: expected two actions or more, got {name} alone")


def _require_few_numbers(loaded: Loaded, features: int) -> None:
    """Raise if policies would have too many weights, or all steps too many features."""
    actions = loaded.data.actions
    row, step = (int(index) for index in np.unravel_index(actions.argmax(), actions.shape))
    most = _MOST_WEIGHTS // features
    if most < 2:
        raise ValueError(
            f"order: expected policies of at most {_MOST_WEIGHTS} weights, got {features} of "
            "each action"
        )
    if actions[row, step] >= most:  # perhaps a number that is no action's
        raise ValueError(
            f"{loaded.place(row, step)}: expected at most {most - 1}, as policies have at most "
            f"{_MOST_WEIGHTS} weights, {features} of each action, got {actions[row, step]}"
        )
    count, horizon = actions.shape
    if count * horizon * features > _MOST_FEATURES:
        raise ValueError(
            f"order: expected at most {_MOST_FEATURES:,} features of all steps together, got "
            f"{features:,} of each of {count:,} x {horizon:,} steps"
        )


def tested(log: Log) -> ImprovementOfLog:
    """Search and test, once."""
    parts, returns, bound = log.parts, log.returns, bound_called(log.bound)
    width = returns.high - returns.low
    floor, floor_stderr = log.floor, 0.0
    if floor is None:
        # With the other returns the floor, and the candidate with it, would know the test.
        earned = returns.returns(parts.train)
        wanted = round(float(earned.mean()), 6)
        floor, floor_stderr = _own(returns, wanted), width * _stderr(earned)
    else:
        wanted = float(returns.normalised(floor))
    wanted = min(max(wanted, 0.0), 1.0)  # of a mean that is 1 or 0, rounding
    train, test = (_evidence(log, part) for part in (parts.train, parts.test))
    of_search, of_test = map(np.random.default_rng, log.seeds)
    task = Task(bound, train, log.delta, wanted, len(test.returns))
    policy, estimate = find_candidate(log.candidates, of_search, task)
    weights = test.weights(policy)[0]
    lower = np.nan
    if np.isfinite(weights).all():
        lower = bound.bound(of_test, weights * test.returns, test.behaviour, log.delta)
    check = plausibility.check_weights(weights)
    of_actions = plausibility.check_actions(parts.train, parts.test)
    if parts.action_names:
        of_actions["action"] = parts.action_names[of_actions["action"]]
    # A bound that cannot be told, for want of data or of digits, certifies nothing; and weights
    # whose mean is above 1 make every policy look better than it is.
    is_refuted = check.is_refuted or of_actions["is_refuted"]
    passed = bool(np.isfinite(lower) and lower >= wanted) and not is_refuted
    alpha, is_safe = float(policy.alpha[0]), bound.is_safe
    with np.errstate(over="ignore", invalid="ignore"):
        tested_estimate = (weights * test.returns).mean()
    bounds = (None, lower) if returns.smaller else (lower, None)
    summary: dict[str, Any] = {
        "method": "batch",
        "bound": log.bound,
        "bound_is_safe": is_safe,
        "is_safe": is_safe,
        "delta": log.delta,
        "delta_holds_for": "the whole run",
        "low": returns.low,
        "high": returns.high,
        "smaller": returns.smaller,
        "floor": floor,
        "floor_stderr": floor_stderr,
        "floor_is_estimate": log.floor is None,
        "trajectories": len(train.returns) + len(test.returns),
        "tests": 1,
        "repeats": 1,
        "passed": {"mean": float(passed), "stderr": None, "count": 1},
        "lower_bound": _own(returns, bounds[0]),
        "upper_bound": _own(returns, bounds[1]),
        "estimate": _own(returns, estimate),
        "tested_estimate": _own(returns, tested_estimate),
        "alpha": alpha,
        "weights": {
            "mean": check.mean if np.isfinite(check.mean) else None,
            "stderr": check.stderr if np.isfinite(check.stderr) else None,
            "level": plausibility.WEIGHT_LEVEL,
            "is_refuted": check.is_refuted,
            "is_low": check.is_low,
        }
        if alpha
        else None,  # the policy in use weighs all alike
        "taken_actions": of_actions,
        "said": list(log.said),
    }
    if alpha > 0 and max(part.taken.shape[1] for part in (parts.train, parts.test)) == 1:
        summary["estimates"] = _estimates_of(log, policy, weights)
    theta = policy.theta[0]
    if alpha > 0:
        summary["policy"] = policy_in_words(log.order, theta, parts)
    ends = parts.low, parts.high
    saved = SavedPolicy(theta, alpha, parts.names, *ends, parts.action_names, log.order)
    return ImprovementOfLog(summary, saved)


def _evidence(log: Log, data: Trajectories) -> Evidence:
    taken, num_actions = data.taken, max(log.parts.num_actions, 2)
    features = features_of(log.order, data.observations[taken])
    starts = np.append(0, np.cumsum(taken.sum(1))[:-1])
    by = starts, log.returns.returns(data), data.behaviour, num_actions
    return Evidence.of(features, data.actions[taken], data.probabilities[taken], *by)


def _estimates_of(log: Log, policy: Mixed, weights: np.ndarray) -> dict[str, Any]:
    """Two more estimates, of the part that tests the policy, and a bound where one holds.

    The ``weights`` [n] are those of that part; the model of rewards is of the other part.
    """
    parts, by = log.parts, log.returns
    (train, done, earned), (test, actions, returns) = (
        (
            features_of(log.order, part.observations[:, 0]),
            part.actions[:, 0],
            by.returns(part),
        )
        for part in (parts.train, parts.test)
    )
    model = fit_rewards(train, done, earned, policy.theta.shape[1])
    expected = np.clip(test @ model.T, 0, 1)
    chances = softmax(test @ policy.theta[0].T)
    logged = parts.test.probabilities[:, 0]
    own = doubly_robust(chances, expected, actions, logged, returns)
    # The rest is the policy in use, of which the rewards themselves are values.
    alpha = float(policy.alpha[0])
    values = alpha * own + (1 - alpha) * returns
    mean, stderr, total = values.mean(), _stderr(values), weights.sum()
    worst = mean - student_quantile(log.delta, len(values) - 1) * stderr
    weighted = (weights * returns).sum() / total if total else None
    return {
        "self_normalised": _own(by, weighted),
        "doubly_robust": _own(by, mean),
        "doubly_robust_stderr": (by.high - by.low) * stderr,
        "doubly_robust_bound": _own(by, worst),
    }


def _own(returns: ReturnRange, share: Any) -> float | None:
    """What a number in [0, 1] is in the log's own units, where there is one."""
    return None if share is None else float(returns.original(float(share)))


def _stderr(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
