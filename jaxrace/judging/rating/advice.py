"""Which comparison to make next. Axes: K options, m exchanges, B comparisons."""

import math

import numpy as np

from jaxrace.judging.rating.model import Rating, chance, variance_of

# Exchanges of a selected and another option, the most doubtful: advice is about these.
_MOST_EXCHANGES = 32

_FARTHEST = 1e100  # standard deviations, beyond which all is equal

# With Q(b) = P(Z > b), 1 - b Q(b) / phi(b) is the mean of t^2 / (b^2 / 2 + t^2) by the weights
# exp(-t^2): the trapezoidal rule, and the pole at t = i b / sqrt(2) (Hunter and Regan 1972).
_STEP = 0.5
_PLACES = ((np.arange(13) + 0.5) * _STEP) ** 2
_WEIGHTS = 2 * _STEP / math.sqrt(math.pi) * np.exp(-_PLACES) * _PLACES
_POLE = math.pi / _STEP  # from here on the pole adds nothing
_LOG_ROOT = math.log(2 * math.pi) / 2
_NEAR = 5.0  # so far math.erfc is exact, too


def advice(
    rating: Rating, top: int, number: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The comparisons that are expected to raise the total quality of the selected most.

    A score of a pair moves all qualities, by a normal number times a vector, and is worth at least
    what the best exchange of two options gains (the knowledge gradient of correlated beliefs,
    Frazier, Powell and Dayanik 2009, for k = 1). ``rng`` draws how it comes out, for the next pair.
    Returned are the pairs, int64 [B, 2], and ln of the largest chance that one of them alone
    changes the selection.
    """
    places = np.argsort(np.argsort(-rating.qualities, kind="stable"))
    first, second, gaps = _exchanges(rating, top)
    pairs, chances, so_far = [], [], rating
    for _ in range(number):
        pair = sorted(_best_pair(so_far, top), key=places.__getitem__)
        pairs.append(pair)
        step = _step_of(so_far, *pair)
        qualities = so_far.qualities + rng.normal() * step
        covariance = so_far.covariance - np.outer(step, step)
        so_far = so_far._replace(qualities=qualities, covariance=covariance)
        step = _step_of(rating, *pair)
        chances.append(_log_change(gaps, step[first] - step[second]))
    return np.array(pairs), max(chances)


def _spread(rating: Rating, first: int, second: np.ndarray | int) -> np.ndarray:
    """The variance of the next score of a pair, in units of a quality, [...]."""
    noise = np.full(np.shape(second), rating.noise)
    if rating.kind == "win":
        share = chance(rating.qualities[first] - rating.qualities[second])
        noise = noise / np.maximum(share * (1 - share), np.finfo(float).tiny)
    return noise + variance_of(rating.covariance, first, second)


def _step_of(rating: Rating, first: int, second: int) -> np.ndarray:
    """By how much a score of the pair that is off by its spread moves the qualities, [K]."""
    moved = rating.covariance[:, first] - rating.covariance[:, second]
    return moved / np.sqrt(_spread(rating, first, second))


def _best_pair(rating: Rating, top: int) -> tuple[int, int]:
    first, second, gaps = _exchanges(rating, top)
    sides = rating.covariance[first] - rating.covariance[second]
    most, best = -np.inf, (int(first[0]), int(second[0]))
    for option in np.unique([first, second]):
        others = np.delete(np.arange(len(rating.qualities)), option)
        steps = (sides[:, [option]] - sides[:, others]) / np.sqrt(_spread(rating, option, others))
        gains = _log_gains(gaps[:, None], np.abs(steps)).max(0)  # of m exchanges
        at = int(np.argmax(gains))
        if gains[at] > most:
            most, best = gains[at], (int(option), int(others[at]))
    return best


def _exchanges(rating: Rating, top: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The selected and the other options of the most doubtful exchanges, and their gaps: [m]."""
    order = np.argsort(-rating.qualities, kind="stable")
    first, second = (x.ravel() for x in np.meshgrid(order[:top], order[top:], indexing="ij"))
    gaps = rating.qualities[first] - rating.qualities[second]
    spread = variance_of(rating.covariance, first, second)
    doubtful = np.argsort(gaps / np.sqrt(spread), kind="stable")[:_MOST_EXCHANGES]
    return first[doubtful], second[doubtful], gaps[doubtful]


def _log_change(gaps: np.ndarray, steps: np.ndarray) -> float:
    """ln of the chance that qualities which move by N(0, 1) steps turn one of the gaps round."""
    sides = [gaps[steps * sign > 0] / np.abs(steps[steps * sign > 0]) for sign in (1, -1)]
    tails = [log_tail(float(side.min())) for side in sides if side.size]
    return float(np.logaddexp.reduce(tails)) if tails else -math.inf


def _log_gains(gaps: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """ln E max(s Z - gap, 0) of steps s >= 0 and Z ~ N(0, 1): the gain may be below any float."""
    steps = np.maximum(steps, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        return np.log(steps) + log_loss(np.minimum(gaps / steps, _FARTHEST))


def log_loss(b: np.ndarray) -> np.ndarray:
    """ln E max(Z - b, 0) of Z ~ N(0, 1), for b from 0 to 1e150."""
    return np.log(_rest(b)) - b**2 / 2 - _LOG_ROOT


def log_tail(b: float) -> float:
    """ln P(Z > b) of Z ~ N(0, 1), for b from 0."""
    if b < _NEAR:
        return math.log(math.erfc(b / math.sqrt(2)) / 2)
    return math.log1p(-float(_rest(np.array(b)))) - math.log(b) - b * b / 2 - _LOG_ROOT


def _rest(b: np.ndarray) -> np.ndarray:
    """1 - b Q(b) / phi(b), which is 1 / b^2 where b is large."""
    x, found = b / math.sqrt(2), np.zeros(np.shape(b))
    for weight, place in zip(_WEIGHTS.tolist(), _PLACES.tolist(), strict=True):
        found += weight / (x * x + place)
    near = np.minimum(x, _POLE)
    pole = np.exp(near**2) / (1 + np.exp(2 * _POLE * near))
    return found - 2 * math.sqrt(math.pi) * (near < _POLE) * near * pole
