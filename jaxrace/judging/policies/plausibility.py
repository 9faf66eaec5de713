"""Can a log be right: its probabilities, and each of its trajectories? n of at most T steps.

If probabilities are too small, or trajectories are there several times, a policy looks better, or
better known, than it is, and the test certifies it.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.evidence.copies import log_orders
from jaxrace.evidence.independence import REFUSED, doubt_about_rows
from jaxrace.judging.policies.trajectories import Trajectories

_ROUNDING = 0.01  # probabilities are printed with two digits, or more

# Stakes of the bets that the mean weight is above 1, as parts of what is left; and the error
# probability of saying that it is.
_STAKES = 2.0 ** -np.arange(1, 11)
WEIGHT_LEVEL = 0.001
ACTION_LEVEL = 0.01  # the same of saying that an action is taken too often
_MOST_CELLS = 10**7  # numbers observed that are looked at


def require_possible(
    data: Trajectories,
    observations: Sequence[Any] | None = None,
    place: Callable[[int, int], str] = "probabilities[{}, {}]".format,
) -> None:
    """Raise unless policies can have the logged probabilities, going by what was observed.

    Wherever the same was observed, the smallest probabilities with which a policy took different
    actions are together 1 at most, but for 0.01 each. Some must be below 1, as certain policies say
    nothing of others. ``observations`` are arrays [n, T, ...], the only one of ``data`` unless
    given; ``place`` is what messages call a trajectory and a step.

    >>> from jaxrace.improvement import trajectories
    >>> certain = trajectories(np.zeros((2, 1, 1)), [[0], [1]], np.ones((2, 1)), np.zeros((2, 1)))
    >>> require_possible(certain)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    jaxrace.core.validation.BadArgument: probabilities: expected some below 1, as 2 different ...
    """
    taken = np.asarray(data.taken)
    chances, actions = np.asarray(data.probabilities)[taken], np.asarray(data.actions)[taken]
    different = len(np.unique(actions))
    if different > 1 and (chances == 1).all():
        raise BadArgument(
            "probabilities",
            f"some below 1, as {different} different actions were taken",
            "1 in every step",
            ": log how likely each action was; a policy that leaves nothing to chance says nothing "
            "of other policies",
        )
    places = np.argwhere(taken)
    policies = np.asarray(data.behaviour)[places[:, 0]]
    seen = _observed(data.observations if observations is None else observations, taken)
    state = _numbered([policies[:, None], *seen])
    kind = _numbered([state[:, None], actions[:, None]])
    # The step of each state and action with the smallest probability, the first of equal ones.
    order = np.lexsort((chances, kind))
    least = order[np.r_[True, np.diff(kind[order]) > 0]]
    sums = np.bincount(state[least], chances[least].astype(np.float64))
    counts = np.bincount(state[least])
    worst = int(np.argmax(sums - _ROUNDING * counts))
    if sums[worst] <= 1 + _ROUNDING * counts[worst]:
        return
    mine = least[state[least] == worst]
    pair = np.sort(mine[np.argsort(-chances[mine], kind="stable")[:2]])
    got = [f"{chances[i]:g} of action {actions[i]} in {place(*places[i].tolist())}" for i in pair]
    raise BadArgument(
        place(*places[pair[1]].tolist()),
        "probabilities that are together 1 at most, of different actions of one policy where the "
        "same was observed",
        f"{' and '.join(got)}, of all {counts[worst]} actions {sums[worst]:.4g}",
        ": say which policy each trajectory is by (behaviour), and observe what it goes by, as the "
        "day if it learns in between",
    )


def require_no_copies(data: Trajectories, observations: np.ndarray) -> None:
    """Raise if trajectories are there several times, which chance does in at most 1e-6 of logs.

    ``observations`` are [n, T, ...].
    """
    taken = data.taken
    seen = np.where(taken[..., None], observations.reshape(*taken.shape, -1), 0)
    done = [np.where(taken, x, 0) for x in (data.actions, data.probabilities, data.rewards)]
    count = len(taken)
    codes = _numbered([data.behaviour[:, None], taken, *done, seen.reshape(count, -1)])
    doubt_about_rows("trajectories", {"": codes})


def tell_rewards(seen: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Which numbers observed, [s, d], tell the rewards [s], or are told by them: bool [d].

    Of decisions that follow no other. What is known before an action does so if no action matters;
    else it is the reward in other words. Let rewards be equally likely in each order. Then so is

        found = values of a function, at most g^m of them, of n! / (n_1! ... n_g!) orders

    with m kinds of what tells, and of what is told g, each n_i times; and an order that rises, or
    falls, is one of two.
    """
    y = np.unique(rewards, return_inverse=True)[1]
    return np.array([_tells(np.unique(x, return_inverse=True)[1], y) for x in seen.T], bool)


def _tells(x: np.ndarray, y: np.ndarray) -> bool:
    """Does one column tell the other, or is it told? Both are the places of their values."""
    kinds = x.max() + 1, y.max() + 1
    pairs = len(np.unique(x * kinds[1] + y))
    log_ps = [0.0]
    for told, of, by in ((y, kinds[1], kinds[0]), (x, kinds[0], kinds[1])):
        if pairs == by:
            log_ps.append(by * math.log(of) - log_orders(np.bincount(told)))
    if pairs == kinds[0] == kinds[1] and ((x == y).all() or (x == kinds[1] - 1 - y).all()):
        log_ps.append(math.log(2) - log_orders(np.bincount(y)))
    return min(log_ps) < math.log(REFUSED)


def _observed(observations: Any, taken: np.ndarray) -> list[np.ndarray]:
    """What was seen in each step that was taken, [s, d] of each array [n, T, ...]."""
    arrays = observations if isinstance(observations, list | tuple) else [observations]
    return [np.asarray(array)[taken].reshape(taken.sum(), -1) for array in arrays]


def _numbered(columns: list[np.ndarray]) -> np.ndarray:
    """Rows by numbers, equal ones by the same: int64 [m]."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in np.concatenate([part.T for part in columns]):
        values = np.unique(column, return_inverse=True)[1]
        # Numbered anew, so that products do not overflow.
        number = np.unique(number * (int(values.max()) + 1) + values, return_inverse=True)[1]
    return number


class WeightCheck(NamedTuple):
    """The mean weight of a policy on trajectories that it does not depend on.

    If the logged probabilities are right it is 1, or less if it takes actions the log has not.
    """

    mean: float
    stderr: float
    log_e: float  # ln of the evidence that it is above 1

    @property
    def is_refuted(self) -> bool:
        """Are the logged probabilities too small? Wrong with probability .001 at most."""
        return self.log_e >= -math.log(WEIGHT_LEVEL)

    @property
    def is_high(self) -> bool:
        """Is the mean 2.6 standard errors above 1? About one of 200 right ones is."""
        return self.mean - 2.6 * self.stderr > 1

    @property
    def is_low(self) -> bool:
        """Is the mean three standard errors below 1? About .001 of right ones are."""
        return self.mean + 3 * self.stderr < 1

    def to_dict(self) -> dict[str, Any]:
        """As ``jaxrace improve`` says it."""
        found = {"mean": self.mean, "stderr": self.stderr, "level": WEIGHT_LEVEL}
        return found | {
            "is_refuted": self.is_refuted,
            "is_low": self.is_low,
            "is_high": self.is_high,
        }


def check_weights(weights: np.ndarray) -> WeightCheck:
    """Test the mean of importance weights of independent trajectories, [n], against 1.

    Whatever their distribution, the fortune prod (1 + stake (w - 1)) of a gambler who bets that the
    mean is above 1 has a mean of 1 at most if it is not, and so is 1,000 or more with probability
    .001 at most (Markov). So has the mean of several fortunes. As weights may be as large as they
    like, no test has a guarantee that the mean is below 1.

    >>> check_weights(np.full(40, 1.0)).is_refuted, check_weights(np.full(40, 2.0)).is_refuted
    (False, True)
    """
    weights = np.asarray(weights, np.float64)
    fortunes = np.log1p(_STAKES[:, None] * (weights - 1)).sum(1)
    has_error = len(weights) > 1 and np.isfinite(weights).all()
    stderr = weights.std(ddof=1) / math.sqrt(len(weights)) if has_error else math.inf
    log_e = float(np.logaddexp.reduce(fortunes)) - math.log(len(_STAKES))
    return WeightCheck(float(weights.mean()), float(stderr), log_e)


def check_actions(known: Trajectories, data: Trajectories) -> dict[str, Any]:
    """Test whether actions were taken more often than the logged probabilities of ``data`` say.

    1{action} / probability has a mean of 1 at most in every step, whatever was before and whatever
    is observed (an array [n, T, ...], or a list of some). A gambler as in ``check_weights`` bets on
    it step by step, on each action of each behaviour policy in the ``known`` trajectories, which
    ``data`` do not depend on; half a unit of the last digit is rounding. Half of the money is on
    all steps, half on those alone in which one of the numbers observed is above what most known
    ones are, or is not: what depends on the action was not known before it. The answer, with the
    mean as ratio, is of the action that looks worst, in all steps if ``column`` is None, else in
    those above a number, or not (``is_above``).
    """
    size = 1 + max(int(part.actions.max()) for part in (known, data))
    before, done = (  # who took it, and what, as one number
        np.repeat(np.asarray(part.behaviour, np.int64), part.taken.sum(1)) * size
        + part.actions[part.taken]
        for part in (known, data)
    )
    chances = data.probabilities[data.taken].astype(np.float64)
    kinds = np.unique(before)
    exact = (d for d in range(2, 7) if np.abs(chances - chances.round(d)).max() < 1e-7)
    weights = 1 / (chances + 0.5 * 10.0 ** -next(exact, 7))
    place = np.searchsorted(kinds, done).clip(max=len(kinds) - 1)
    weights = np.where(kinds[place] == done, weights, 0)  # what is not known wins nothing
    won = [np.log1p(stake * (weights - 1)) - np.log1p(-stake) for stake in _STAKES]

    def bets_on(rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """ln of fortunes [stakes, kinds] by some decisions, and how many these are, [kinds]."""
        ends = [np.searchsorted(np.sort(done[rows] // size), kinds // size + x) for x in (0, 1)]
        count = ends[1] - ends[0]
        own = [np.bincount(place[rows], one[rows], len(kinds)) for one in won]
        return count * np.log1p(-_STAKES)[:, None] + own, count

    before_seen, seen = (
        np.concatenate(_observed(part.observations, np.asarray(part.taken)), 1)
        for part in (known, data)
    )
    middles = np.median(before_seen, 0)
    parts: list[tuple[int | None, bool, Any]] = [(None, True, slice(None))]
    for column in range(min(seen.shape[1], _MOST_CELLS // max(len(done), 1))):
        is_above = seen[:, column] > middles[column]
        if not (before_seen[:, column] > middles[column]).any():
            is_above = seen[:, column] >= middles[column]
        if 0 < is_above.sum() < len(is_above):
            parts += [(column, True, is_above), (column, False, ~is_above)]
    bets = [bets_on(rows) for *_, rows in parts]
    shares = np.r_[1, np.full(len(parts) - 1, 1 / max(len(parts) - 1, 1))]
    shares = np.log(shares / shares.sum())
    log_es = [np.logaddexp.reduce(x, None) - math.log(x.size) for x, _ in bets]
    worst_part = int(np.argmax(log_es + shares))
    column, is_above, rows = parts[worst_part]
    fortunes, decisions = bets[worst_part]
    worst = int(fortunes.max(0).argmax())
    own, count = chances[rows][done[rows] == kinds[worst]], int(decisions[worst])
    return {
        "action": int(kinds[worst] % size),
        "behaviour": int(kinds[worst] // size),
        "taken": len(own),
        "decisions": count,
        "ratio": float((1 / own).sum()) / max(count, 1),
        "column": column,
        "above": None if column is None else float(middles[column]),
        "is_above": is_above,
        "level": ACTION_LEVEL,
        "is_refuted": bool(np.logaddexp.reduce(log_es + shares) >= -math.log(ACTION_LEVEL)),
    }
