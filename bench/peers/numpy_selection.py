"""ML-POCBAm and POCBAm by NumPy and SciPy: a run as one would write it after the paper.

Groves and Branke, "Exploiting transitivity for top-k selection with score-based dueling bandits",
Table 1; equations are theirs. Axes: K options, P pairs i < j, row by row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr

Array = NDArray[np.float64]


class Pairs(NamedTuple):
    """All pairs i < j."""

    first: NDArray[np.intp]  # [P]
    second: NDArray[np.intp]  # [P]
    signs: Array  # [P, K], 1 for the first, -1 for the second
    touched: Array  # [P, K], 1 for both


class Scores(NamedTuple):
    """Of all pairs, [P] each; changed in place."""

    counts: Array
    means: Array
    squares: Array  # sums of squares around the means

    def add(self, pair: int, score: float) -> None:
        """One more."""
        self.counts[pair] += 1
        change = score - self.means[pair]
        self.means[pair] += change / self.counts[pair]
        self.squares[pair] += change * (score - self.means[pair])

    @property
    def variances(self) -> Array:
        """Eq. 7, [P]."""
        return self.squares / (self.counts - 1)


def pairs_of(size: int) -> Pairs:
    """Those of K options."""
    first, second = np.triu_indices(size, 1)
    options = np.eye(size)
    return Pairs(first, second, options[first] - options[second], options[first] + options[second])


def fit(
    pairs: Pairs, scores: Scores, options: dict[str, Any] | None = None
) -> tuple[Array, Array, float]:
    """A local maximum of the likelihood (eqs. 4 to 7) over qualities and logarithms of sigma.

    Args:
        pairs: Of the options.
        scores: At least two of each pair.
        options: Of SciPy's L-BFGS-B, where not its own.

    Returns:
        Qualities [K], the first of which is 0, variances [P], and evaluations.
    """
    counts, means, signs = scores.counts, scores.means, pairs.signs[:, 1:]
    free = signs.shape[1]
    second_moments = scores.squares / counts

    def loss(parameters: Array) -> tuple[float, Array]:
        log_deviations = parameters[free:]
        residuals = means - signs @ parameters[:free]
        weights = counts * np.exp(-2 * log_deviations)
        squares = weights * (second_moments + residuals * residuals)
        gradient = np.concatenate([(weights * residuals) @ signs, squares - counts])
        return float(counts @ log_deviations + squares.sum() / 2), -gradient

    borda = means @ pairs.signs
    qualities = (borda - borda[0]) / len(borda)
    start = np.concatenate([qualities[1:], np.log(scores.variances) / 2])
    found = minimize(loss, start, method="L-BFGS-B", jac=True, options=options)
    qualities[1:] = found.x[:free]
    return qualities, np.exp(2 * found.x[free:]), found.nfev


def log_expected_correct(
    pairs: Pairs, means: Array, variances: Array, counts: Array, top: int
) -> tuple[Array, NDArray[np.intp]]:
    """Log AEPCS of one more score of each pair [P], eqs. 10 to 14, and the options from the best.

    Only the factors of both options of a pair change with it.

    Args:
        pairs: Of the options.
        means: [K], of S_i.
        variances: [P], of one score.
        counts: [P].
        top: k.
    """
    totals = (variances / counts) @ pairs.touched
    order = np.argsort(-means, kind="stable")
    last, after = order[top - 1], order[top]
    deviations = np.sqrt(totals)
    weight = deviations[after] / (deviations[last] + deviations[after])
    threshold = means[after] + (means[last] - means[after]) * weight
    signs = np.full(len(means), -1.0)
    signs[order[:top]] = 1
    distances = signs * (means - threshold)
    present = log_ndtr(distances / deviations)
    smaller = variances / (counts * (counts + 1))
    result = np.full(len(counts), present.sum())
    for options in (pairs.first, pairs.second):
        result += log_ndtr(distances[options] / np.sqrt(totals[options] - smaller))
        result -= present[options]
    return result, order


class Run(NamedTuple):
    """What a run leaves."""

    selected: NDArray[np.intp]  # [k], in order
    best: NDArray[np.intp]  # [k], who should be
    counts: Array  # [P], scores of each pair
    evaluations: int  # of the likelihood


def run(seed: int, size: int, top: int, warm_up: int, informed: int, with_fit: bool = True) -> Run:
    """One run in a problem with qualities and variances uniform in [0, 1] (section 5.1).

    Args:
        seed: Of the problem and the scores.
        size: K.
        top: k.
        warm_up: Scores of each pair that come first.
        informed: Scores after that.
        with_fit: ML-POCBAm, which fits the model afresh after every score; else POCBAm.
    """
    rng, pairs = np.random.default_rng(seed), pairs_of(size)
    true_qualities = rng.random(size)
    true_means = pairs.signs @ true_qualities
    true_deviations = np.sqrt(rng.random(len(true_means)))
    first = rng.normal(true_means, true_deviations, (warm_up, len(true_means)))
    counts, means = np.full(len(true_means), float(warm_up)), first.mean(0)
    scores = Scores(counts, means, ((first - means) ** 2).sum(0))
    evaluations = 0

    def expect() -> tuple[Array, NDArray[np.intp]]:
        nonlocal evaluations
        if not with_fit:
            return log_expected_correct(pairs, means @ pairs.signs, scores.variances, counts, top)
        qualities, variances, number = fit(pairs, scores)
        evaluations += number
        believed = size * qualities - qualities.sum()
        return log_expected_correct(pairs, believed, variances, counts, top)

    value, order = expect()
    for _ in range(informed):
        pair = int(value.argmax())
        scores.add(pair, rng.normal(true_means[pair], true_deviations[pair]))
        value, order = expect()
    best = np.sort(np.argsort(-true_qualities)[:top])
    return Run(np.sort(order[:top]), best, counts, evaluations)
