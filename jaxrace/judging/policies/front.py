"""A policy that is certainly better than the one in use, from a log. Axes: n trajectories."""

import functools
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxrace.core import inputs, validation
from jaxrace.core.validation import BadArgument
from jaxrace.judging.policies import plausibility, trajectories, weighing
from jaxrace.judging.policies.bounds import BOUNDS, Used
from jaxrace.judging.policies.candidates import KINDS, LogTask, find_candidate
from jaxrace.judging.policies.estimates import estimates_of
from jaxrace.judging.policies.loading import Loaded, Parts, divide, load
from jaxrace.judging.policies.result import ImprovementOfLog
from jaxrace.judging.policies.saved import SavedPolicy, policy_in_words
from jaxrace.judging.policies.together import means_of
from jaxrace.judging.policies.trajectories import ReturnRange, Trajectories
from jaxrace.judging.policies.weighing import LogEvidence, Mixed, features_of

_MOST_WEIGHTS = 10_000  # of a policy
_FEWEST_CLUSTERS = 20
_MOST_FEATURES = 2 * 10**8  # features of all steps of a log: 1.6 GB


class _Log(NamedTuple):
    """A log, made ready for its one test."""

    parts: Parts
    returns: ReturnRange
    order: int  # of the basis
    bound: str
    delta: float
    clusters: np.ndarray | None  # int64 [n], of the part that tests

    def evidence(self, data: Trajectories) -> LogEvidence:
        """Of one of the parts."""
        taken, num_actions = data.taken, max(int(self.parts.train.actions.max()) + 1, 2)
        features = features_of(self.order, data.observations[taken])
        starts = np.append(0, np.cumsum(taken.sum(1))[:-1])
        by = starts, self.returns.returns(data), data.behaviour, num_actions
        return LogEvidence(features, data.actions[taken], data.probabilities[taken], *by)

    def own(self, share: float | None) -> float | None:
        """What a number in [0, 1] is in the log's own units."""
        return None if share is None else float(self.returns.original(float(share)))

    def lower(self, rng: np.random.Generator, values: np.ndarray, behaviour: np.ndarray) -> float:
        """The bound of the mean of values >= 0, [n]; of clusters each counts once."""
        values = means_of(values, self.clusters)
        behaviour = behaviour if self.clusters is None else np.zeros(len(values), int)
        rows = Used(np.ones(len(values), bool), behaviour)
        return float(BOUNDS[self.bound].bound_of_one(rng, values, rows, self.delta))


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
    r"""Look in a log of decisions for a policy that is certainly better than the one in use.

    Or for one whose mean return is certainly no less than a ``floor``. A fifth of the log is
    searched for a candidate, and the rest tests it, once. With a safe bound a policy that is not so
    is returned with probability at most ``delta``. The other of the two has a bound of its own,
    wrong with probability at most ``delta``, too. If you try a log again until something passes,
    the error probability is larger.

    Args:
        data: Logged decisions, as ``jaxrace.tables.read_log`` takes them: a data frame, columns by
            name, a list of rows, or the path of a file. Or the path of an NPZ file of arrays.
        low: The least possible return.
        high: The largest possible return.
        bound: The lower confidence bound of the test: ci, betting, betting-anytime and bernstein
            are safe; t, bca and percentile semi-safe, that is approximate.
        candidates: k-fold: cross-validated mixtures with the policy in use, which are likelier to
            pass and take longer. none: no mixtures.
        delta: The error probability of the test.
        floor: The mean return that a new policy must have, from ``low`` to ``high``, with
            ``smaller`` the most that it may cost; one that is worse than the policy in use may have
            it. Without a floor the gain over the policy in use must be above 0.
        discount: The discount of rewards, per step.
        smaller: Rewards are costs: smaller is better. The floor is then the largest allowed mean.
        larger: Larger rewards are better, though a name such as "ticket price" sounds like a cost.
        order: The order of the policies' Fourier basis; 0 for linear features.
        seed: The seed of the draws.
        argument: What messages begin with.
        **columns: ``columns`` (by their roles), ``decimal`` and ``delimiter`` of ``read_log``.

    Raises:
        BadArgument: An argument is out of its range, or a row of the log cannot be used.

    >>> drawn = np.random.default_rng(0).integers(2, size=(400, 2)).tolist()
    >>> rows = [{"old": old, "action": action, "probability": 0.5} for old, action in drawn]
    >>> log = [row | {"reward": int(row["old"] == row["action"])} for row in rows]
    >>> result = improve(log, 0, 1, bound="t", candidates="none")
    >>> result.found, result.policy.probabilities([[0], [1]]).round().tolist()
    (True, [[1.0, 0.0], [0.0, 1.0]])
    """
    validation.require_choice("bound", bound, tuple(BOUNDS))
    validation.require_choice("candidates", candidates, KINDS)
    validation.require_float32_probability("delta", delta)
    validation.require_integer("order", order, 0)
    validation.require_integer("seed", seed, 0, 2**32 - 1)
    inputs.require_direction(smaller, larger)
    returns = ReturnRange(low, high, discount, smaller)
    _require_floor(returns, floor)
    try:
        found = load(data, returns, larger, argument=argument, **columns)
    except OSError as error:
        got = f"{str(data)!r}: {error.strerror}"
        raise BadArgument(argument, "a file that can be read", got) from error
    _require_usable(found, candidates, weighing.num_features(order, len(found.names)))
    # All that is learnt from the log but the verdict is learnt from its training part, so that the
    # candidate is independent of what it is tested on.
    of_split, of_search, of_test = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    behaviour, clusters = found.data.behaviour, found.clusters
    _require_clusters(found.where, clusters)
    units = behaviour if clusters is None else np.zeros(int(clusters.max()) + 1, int)
    chosen = np.zeros(len(units), bool)
    chosen[trajectories.some_of_each(of_split, units, len(units) // trajectories.TRAIN_ONE_IN)] = (
        True
    )
    in_training = chosen if clusters is None else chosen[clusters]
    parts = divide(found, in_training)
    of_train, of_tested = (
        None if clusters is None else clusters[rows] for rows in (in_training, ~in_training)
    )
    log = _Log(parts, returns, order, bound, delta, of_tested)
    # With the other returns the floor, and the candidate with it, would know the test.
    earned = means_of(returns.returns(parts.train), of_train)
    in_use, stderr = round(float(earned.mean()), 6), (high - low) * _stderr(earned)
    wanted = in_use if floor is None else float(returns.normalised(floor))
    wanted = min(max(wanted, 0.0), 1.0)  # of a mean that is 1 or 0, rounding
    train, test = map(log.evidence, (parts.train, parts.test))
    task = LogTask(BOUNDS[bound], train, delta, wanted, int((~chosen).sum()))
    policy, estimate = find_candidate(candidates, of_search, task)
    if clusters is not None:  # of these, not of trajectories
        values = train.weights(policy)[0] * train.returns
        estimate = float(means_of(values, of_train).mean())
    theta, alpha, weights = policy.theta[0], float(policy.alpha[0]), test.weights(policy)[0]
    summary: dict[str, Any] = {
        "method": "batch",
        "bound": bound,
        "bound_is_safe": BOUNDS[bound].is_safe,
        "is_safe": BOUNDS[bound].is_safe,
        "delta": delta,
        "delta_holds_for": "the whole run",
        "low": low,
        "high": high,
        "smaller": smaller,
        "in_use": log.own(in_use),
        "in_use_stderr": stderr,
        "floor": floor,
        "trajectories": len(behaviour),
        "tests": 1,
        "repeats": 1,
        **_tested(log, test, weights, None if floor is None else wanted, of_test),
        "estimate": log.own(estimate),
        "alpha": alpha,
        "clusters": None if clusters is None else int(clusters.max()) + 1,
        "said": [*found.said, *_clusters_said(clusters)],
    }
    if alpha == 0:
        summary["weights"] = None  # the policy in use weighs all alike
    else:
        if clusters is None:
            summary["estimates"] = _estimates_of(log, policy)
        summary["policy"] = policy_in_words(order, theta, parts)
    ends = parts.low, parts.high
    saved = SavedPolicy(theta, alpha, parts.names, *ends, parts.action_names, order)
    return ImprovementOfLog(summary, saved)


def _clusters_said(clusters: np.ndarray | None) -> list[str]:
    if clusters is None:
        return []
    return [
        f"{int(clusters.max()) + 1:,} clusters count once each, by their means: how many decisions "
        "one has must not depend on what is done"
    ]


def _require_clusters(where: str, clusters: np.ndarray | None) -> None:
    if clusters is not None and (count := int(clusters.max()) + 1) < _FEWEST_CLUSTERS:
        raise BadArgument(where, f"{_FEWEST_CLUSTERS} clusters or more", f"{count}")


def _require_floor(returns: ReturnRange, floor: float | None) -> None:
    """Raise if no return could be better than the floor, or none worse than it."""
    is_inside = isinstance(floor, int | float | np.number) and returns.low <= floor <= returns.high
    if floor is not None and not (is_inside and returns.normalised(floor) < 1):
        low, high = f"{returns.low:g}", f"{returns.high:g}"
        ends = f"({low}, {high}]" if returns.smaller else f"[{low}, {high})"
        raise BadArgument("floor", f"a mean return in {ends}", repr(floor))


def _require_usable(loaded: Loaded, candidates: str, features: int) -> None:
    """Raise unless policies of so many features of each action can be learnt from a log."""
    data = loaded.data
    trajectories.require_enough(data)
    done = np.unique(data.actions[data.taken])
    if len(done) < 2:
        name = repr(loaded.action_names[0]) if loaded.action_names else str(done[0])
        raise BadArgument(loaded.place(0, 0), "two actions or more", f"{name} alone")
    policies = len(np.unique(data.behaviour))
    if candidates != "none" and policies > 1:
        expected = f"none for a log of {policies} behaviour policies"
        raise BadArgument(
            "candidates", f"{expected}, as mixtures are with the one in use", candidates
        )
    most = _MOST_WEIGHTS // features
    if most < 2:
        expected = f"policies of at most {_MOST_WEIGHTS} weights"
        raise BadArgument("order", expected, f"{features} of each action")
    row, step = np.unravel_index(data.actions.argmax(), data.actions.shape)
    if data.actions[row, step] >= most:  # perhaps the number of something else
        raise BadArgument(
            loaded.place(int(row), int(step)),
            f"at most {most - 1}, as policies have at most {_MOST_WEIGHTS} weights, {features} of "
            "each action",
            f"{data.actions[row, step]}",
        )
    count, horizon = data.actions.shape
    if count * horizon * features > _MOST_FEATURES:
        expected = f"at most {_MOST_FEATURES:,} features of all steps together"
        raise BadArgument(
            "order", expected, f"{features:,} of each of {count:,} x {horizon:,} steps"
        )
    place = functools.partial(loaded.place, column="probability", array="probabilities")
    plausibility.require_possible(data, [loaded.seen], place)
    plausibility.require_no_copies(data, loaded.seen)


def _tested(
    log: _Log,
    test: LogEvidence,
    weights: np.ndarray,
    wanted: float | None,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """What the part of the log that was not searched says of a policy with these weights, [n].

    It passes with a mean of at least ``wanted``, or a gain.
    """
    parts, lower, gain = log.parts, np.nan, np.nan
    width = log.returns.high - log.returns.low
    with np.errstate(over="ignore", invalid="ignore"):
        values = weights * test.returns
        estimate = means_of(values, log.clusters).mean()
        gains = values - test.returns  # of mean V(new) - V(in use), at least -1
    if np.isfinite(weights).all():
        lower = log.lower(rng, values, test.behaviour)
        gain = log.lower(rng, gains + 1, test.behaviour) - 1
    of_weights = plausibility.check_weights(means_of(weights, log.clusters))
    of_actions = plausibility.check_actions(parts.train, parts.test)
    # A bound that cannot be told, for want of data or of digits, certifies nothing; and weights
    # whose mean is above 1 make every policy look better than it is.
    is_refuted = of_weights.is_refuted or of_actions["is_refuted"]
    is_enough = gain > 0 if wanted is None else np.isfinite(lower) and lower >= wanted
    passed = bool(is_enough) and not is_refuted
    if parts.action_names:
        of_actions["action"] = parts.action_names[of_actions["action"]]
    if (column := of_actions["column"]) is not None:
        above, low, high = of_actions["above"], parts.low[column], parts.high[column]
        of_actions |= {"column": parts.names[column], "above": float(low + above * (high - low))}
    return {
        "passed": {"mean": float(passed), "stderr": None, "count": 1},
        "lower_bound": None if log.returns.smaller else log.own(lower),
        "upper_bound": log.own(lower) if log.returns.smaller else None,
        "tested_estimate": log.own(estimate),
        "gain": width * float(means_of(gains, log.clusters).mean()),
        "gain_bound": width * gain if np.isfinite(gain) else None,
        "weights": of_weights.to_dict(),
        "taken_actions": of_actions,
    }


def _estimates_of(log: _Log, policy: Mixed) -> dict[str, Any]:
    """More estimates, in the log's own units."""
    found = estimates_of(log.parts, log.returns, log.order, policy, log.delta)
    stderr, width = found.pop("doubly_robust_stderr"), log.returns.high - log.returns.low
    own = {name: log.own(share) for name, share in found.items()}
    return own | {"doubly_robust_stderr": None if stderr is None else width * stderr}


def _stderr(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
