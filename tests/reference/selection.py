"""Top-k selection from duels with scores: POCBAm, its Thurstone fit, the hybrid, PKG and OCBA-m.

X_ij = -X_ji is the score of i over j. Matrices are [K, K]: counts n, means m, variances v (sums of
squares over n) and s2 (over n - 1). Lists of pairs have the order of `pair_list`. Equations are
those of Groves and Branke 2020, "Exploiting transitivity for top-k selection with score-based
dueling bandits"; POCBAm and PKG are of Groves and Branke 2019, OCBA-m of Chen et al. 2008.
"""

import itertools
import math

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.stats

FLOOR = 1e-6  # of a variance, relative to the pooled one
ROOT = math.sqrt(2 * math.pi)


def pair_list(num_options):
    """All i < j, row by row."""
    return [(i, j) for i in range(num_options) for j in range(i + 1, num_options)]


def ratio(a, b):
    """The entries a / b; 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=np.asarray(b) != 0)


def order(mu):
    """All options, the best first; of equal ones the lower index first."""
    return sorted(range(len(mu)), key=lambda i: (-mu[i], i))


def top(mu, k):
    return sorted(int(i) for i in order(mu)[:k])


def mean_of(x):
    """The mean, exact if all numbers are equal; 0 without any."""
    return x[0] + np.mean(np.subtract(x, x[0])) if len(x) else 0.0


class Scores:
    """All scores so far; n, m and v of a pair anew, in two passes, whenever it gets one more."""

    def __init__(self, num_options):
        self.samples = {pair: [] for pair in pair_list(num_options)}
        self.n = np.zeros((num_options, num_options), int)
        self.m = np.zeros((num_options, num_options))
        self.v = np.zeros((num_options, num_options))

    def add(self, i, j, score):
        (i, j), score = ((i, j), score) if i < j else ((j, i), -score)
        self.samples[i, j].append(float(score))
        x = np.array(self.samples[i, j])
        mean = mean_of(x)
        self.n[i, j] = self.n[j, i] = len(x)
        self.m[i, j], self.m[j, i] = mean, -mean
        self.v[i, j] = self.v[j, i] = np.mean((x - mean) ** 2)


def pooled(squares, freedom, means):
    """The variance within all groups of scores; if that is 0 their mean square, or 1."""
    if np.any(squares):
        return np.sum(squares) / np.sum(freedom)
    return np.mean(np.square(means)) if np.any(means) else 1.0


def pooled_of_pairs(n, v, m=()):
    """That of the pairs."""
    pairs = np.triu_indices(len(n), 1)
    return pooled((n * v)[pairs], np.maximum(n - 1, 0)[pairs], m)


def mixed(squares, divisors, within, w):
    """Variances, each mixed with w samples of the one within all pairs; at least 1e-6 of that."""
    return np.maximum(ratio(squares + w * within, divisors + w), FLOOR * within)


def unbiased(n, v, w=0, m=()):
    """s2 of all pairs, eq. (7)."""
    return mixed(n * v, np.maximum(n - 1, 0), pooled_of_pairs(n, v, m), w)


def likely(n, v, w=0, m=()):
    """v of all pairs, for the likelihood."""
    return mixed(n * v, n, pooled_of_pairs(n, v, m), w)


def score_moments(n, m, v, w=0):
    """Means and variances of S_i, every pair for itself; and s2. Groves and Branke 2019."""
    s2 = unbiased(n, v, w, m)
    return m.sum(1), ratio(s2, n).sum(1), s2


def threshold(mu, sigma, k):
    """C of eq. (11), in the form that is exact if both means are equal."""
    p, q = order(mu)[k - 1 : k + 1]
    return mu[q] + (mu[p] - mu[q]) * (sigma[q] / (sigma[p] + sigma[q]))


def log_product(mu, sigma, c, k):
    """Logarithm of the product in eq. (12): the best k are above c, the others below."""
    signs = np.where(np.isin(np.arange(len(mu)), top(mu, k)), 1, -1)
    return float(scipy.stats.norm.logcdf(signs * (mu - c) / sigma).sum())


def log_correct(mu, variance, k):
    """Log APCS, eq. (12)."""
    sigma = np.sqrt(variance)
    return log_product(mu, sigma, threshold(mu, sigma, k), k)


def log_expected_correct(mu, variance, pair_variances, n, k):
    """Log AEPCS of one more duel of each pair, eqs. (13) and (14); c stays."""
    c = threshold(mu, np.sqrt(variance), k)
    result = np.full(n.shape, -np.inf)
    for i, j in pair_list(len(mu)):
        larger = n.copy()
        larger[i, j] = larger[j, i] = n[i, j] + 1
        sigma = np.sqrt(ratio(pair_variances, larger).sum(1))
        result[i, j] = result[j, i] = log_product(mu, sigma, c, k)
    return result


def residuals(gamma, m):
    """m_ij - (gamma_i - gamma_j)."""
    return m - gamma[:, None] + gamma[None, :]


def thurstone_log_likelihood(gamma, sigma2, n, m, v):
    """Eq. (4) without its constant, by the counts, means and variances of the pairs."""
    pairs = np.triu_indices(len(n), 1)
    n, sigma2, squares = n[pairs], sigma2[pairs], (v + residuals(gamma, m) ** 2)[pairs]
    return float(np.sum(-n / 2 * np.log(sigma2) - n * squares / (2 * sigma2)))


def profile_log_likelihood(gamma, n, m, v):
    """The same at the best variances for gamma: v_ij + (m_ij - gamma_i + gamma_j)^2."""
    return thurstone_log_likelihood(gamma, v + residuals(gamma, m) ** 2, n, m, v)


def profile_gradient(gamma, n, m, v):
    """Its gradient [K], by all gammas: eq. (5) at the best variances."""
    r = residuals(gamma, m)
    return ratio(n * r, v + r**2).sum(1)


def start(n, m, v):
    """Gamma of eq. (6) and sigma2 of eq. (7)."""
    borda = m.sum(1)
    return (borda - borda[0]) / len(n), ratio(n * v, np.maximum(n - 1, 1))


def fit_alternating(n, m, v, gamma, steps=100_000):
    """A stationary point of the likelihood: the best variances, then the best gammas, and so on."""
    pairs = np.triu_indices(len(n), 1)
    total = n[pairs].sum()
    scale = math.sqrt(np.sum((n * (v + m**2))[pairs]) / total)  # that of a score
    gamma = np.array(gamma, float)
    for _ in range(steps):
        sigma2 = v + residuals(gamma, m) ** 2
        if np.abs(profile_gradient(gamma, n, m, v)).max() <= 1e-9 * total / scale:
            break
        weights = ratio(n, sigma2)
        laplacian = np.diag(weights.sum(1)) - weights
        gamma[1:] = np.linalg.solve(laplacian[1:, 1:], (weights * m).sum(1)[1:])
        gamma[0] = 0
    return gamma, v + residuals(gamma, m) ** 2


def fit_quasi_newton(n, m, v):
    """A local maximum by L-BFGS-B on all gammas but the first and all log sigmas, section 4."""
    pairs, free = np.triu_indices(len(n), 1), len(n) - 1
    gamma, sigma2 = start(n, m, v)

    def unpack(parameters):
        log_sigma = np.zeros(n.shape)
        log_sigma[pairs] = parameters[free:]
        return np.append(0.0, parameters[:free]), np.exp(2 * (log_sigma + log_sigma.T))

    def loss(parameters):
        """The negative of eq. (4), and of eq. (5) by gamma and log sigma."""
        gamma, sigma2 = unpack(parameters)
        r = residuals(gamma, m)
        by_gamma = (n * r / sigma2).sum(1)[1:]
        by_log_sigma = (-n + n * (v + r**2) / sigma2)[pairs]
        value = thurstone_log_likelihood(gamma, sigma2, n, m, v)
        return -value, -np.append(by_gamma, by_log_sigma)

    first = np.append(gamma[1:], np.log(sigma2[pairs]) / 2)
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9}
    result = scipy.optimize.minimize(loss, first, method="L-BFGS-B", jac=True, options=options)
    return unpack(result.x)


def fitted_moments(gamma, sigma2, n):
    """Means and variances of S_i by the fit, eq. (9)."""
    return len(gamma) * gamma - gamma.sum(), ratio(sigma2, n).sum(1)


def kl_normal(mu1, variance1, mu2, variance2):
    """KL(N(mu1, variance1) || N(mu2, variance2)), eq. (19)."""
    squares = variance1 + (mu1 - mu2) ** 2
    return np.log(variance2 / variance1) / 2 + squares / (2 * variance2) - 1 / 2


def intransitivity_index(mu1, variance1, mu2, variance2):
    """II of the observed and of the fitted scores, eq. (17)."""
    both = kl_normal(mu1, variance1, mu2, variance2) + kl_normal(mu2, variance2, mu1, variance1)
    return float(-np.expm1(-both.sum() / (2 * len(mu1))))


def best_sum(mu, i, j, k, d):
    """V(d): the k largest of mu, after a shift of i by d and of j by -d, summed."""
    shifted = np.array(mu, float)
    shifted[i] += d
    shifted[j] -= d
    return np.sort(shifted)[-k:].sum()


def breakpoints(mu, i, j, k):
    """Where the slope of V changes, and by how much: slopes are differences between all ties."""
    scale = np.ptp(mu) or 1.0
    others = np.delete(mu, [i, j])
    ties = np.sort([*(others - mu[i]), *(mu[j] - others), (mu[j] - mu[i]) / 2])
    ties = ties[np.diff(ties, prepend=-math.inf) > 1e-12 * scale]
    slopes = []
    for a, b in itertools.pairwise([ties[0] - scale, *ties, ties[-1] + scale]):
        low, high = (3 * a + b) / 4, (a + 3 * b) / 4
        rise = best_sum(mu, i, j, k, high) - best_sum(mu, i, j, k, low)
        slopes.append(round(rise / (high - low)))
    return [(b, jump) for b, jump in zip(ties, np.diff(slopes), strict=True) if jump != 0]


def knowledge_gradient(mu, n, s2, k):
    """E V(d) - V(0) for every pair, by the breakpoints of V; the diagonal is 0.

    One more duel moves the pair's mean by d: normal, of variance s2 / (n (n + 1)).
    """
    result = np.zeros(n.shape)
    for i, j in pair_list(len(mu)):
        sigma = math.sqrt(s2[i, j] / (n[i, j] * (n[i, j] + 1)))
        for b, jump in breakpoints(mu, i, j, k):
            z = -abs(b) / sigma
            f = z * scipy.stats.norm.cdf(z) + math.exp(-z * z / 2) / ROOT
            result[i, j] += jump * sigma * max(f, 0.0)
        result[j, i] = result[i, j]
    return result


def knowledge_gradient_by_quadrature(i, j, mu, n, s2, k):
    """The same for one pair by numerical integration, up to 12 standard deviations."""
    sigma = math.sqrt(s2[i, j] / (n[i, j] * (n[i, j] + 1)))

    def integrand(z):
        gain = best_sum(mu, i, j, k, sigma * z) - best_sum(mu, i, j, k, 0.0)
        return gain * math.exp(-z * z / 2) / ROOT

    kinks = [b / sigma for b, _ in breakpoints(mu, i, j, k) if abs(b) < 12 * sigma]
    cuts = itertools.pairwise(sorted({*range(-12, 13), *kinks}))
    return sum(scipy.integrate.quad(integrand, a, b, epsabs=1e-14)[0] for a, b in cuts)


class UniformReference:
    """All pairs in turn."""

    def __init__(self, K, k, warm_up=2, pooled_samples=0):
        self.k, self.pooled_samples = k, pooled_samples
        self.scores = Scores(K)
        self.pairs = pair_list(K)
        self.warm_samples = warm_up * len(self.pairs)
        self.told = 0

    def is_ready(self):
        return self.told >= self.warm_samples

    def ask(self, uniform):
        return self.pairs[self.told % len(self.pairs)]

    def tell(self, i, j, score):
        self.scores.add(i, j, score)
        self.told += 1

    def moments(self):
        """Means and variances of S_i, and the variances of the pairs that these come from."""
        return score_moments(self.scores.n, self.scores.m, self.scores.v, self.pooled_samples)

    def selected(self):
        return top(self.moments()[0], self.k)

    def confidence(self):
        return math.exp(log_correct(*self.moments()[:2], self.k)) if self.is_ready() else 0.0


class PocbamReference(UniformReference):
    """POCBAm: Groves and Branke 2019, and Table 1 without the fit."""

    def __init__(self, K, k, warm_up=3, pooled_samples=0):
        super().__init__(K, k, warm_up, pooled_samples)

    def ask(self, uniform):
        if not self.is_ready():
            return super().ask(uniform)
        values = np.asarray(self.values())
        counts = self.scores.n
        # Of equals the one of the fewest samples, then the first.
        return max(self.pairs, key=lambda pair: (values[pair], -counts[pair]))

    def values(self):
        """What the next pair has most of."""
        return log_expected_correct(*self.moments(), self.scores.n, self.k).tolist()


class MlPocbamReference(PocbamReference):
    """ML-POCBAm, Table 1; one fit after every score, however often it is asked for."""

    def __init__(self, K, k, warm_up=3, pooled_samples=0, warm_start=False, steps=100_000):
        super().__init__(K, k, warm_up, pooled_samples)
        self.warm_start, self.steps = warm_start, steps
        self.gamma = self.sigma2 = np.zeros(0)
        self.fitted_at = -1

    def moments(self):
        if not self.is_ready():
            return super().moments()
        n, m, v = self.scores.n, self.scores.m, self.scores.v
        if self.fitted_at != self.told:
            v = likely(n, v, self.pooled_samples, m)
            again = self.warm_start and self.fitted_at >= 0
            first = self.gamma if again else start(n, m, v)[0]
            self.gamma, self.sigma2 = fit_alternating(n, m, v, first, self.steps)
            self.fitted_at = self.told
        return *fitted_moments(self.gamma, self.sigma2, n), self.sigma2


class HybridReference(MlPocbamReference):
    """Section 6: POCBAm where the scores disagree with the fit, for selection too."""

    def __init__(self, K, k, warm_up=3, pooled_samples=0, limit=0.17):
        super().__init__(K, k, warm_up, pooled_samples, steps=1)
        self.limit = limit

    def moments(self):
        fitted = super().moments()
        observed = PocbamReference.moments(self)
        use_fit = self.is_ready() and intransitivity_index(*observed[:2], *fitted[:2]) <= self.limit
        return fitted if use_fit else observed


class KnowledgeGradientReference(PocbamReference):
    """PKG: Groves and Branke 2019, with a normal distribution of the next mean."""

    def values(self):
        mu, _, s2 = self.moments()
        gains = knowledge_gradient(mu, self.scores.n, s2, self.k)
        return gains.tolist()


class OcbaReference(PocbamReference):
    """OCBA-m on the options alone, each against random opponents: Chen et al. 2008."""

    def __init__(self, K, k, warm_up=3):
        super().__init__(K, k)
        self.warm_samples = warm_up * K
        self.samples = [[] for _ in range(K)]

    def tell(self, i, j, score):
        self.samples[i].append(float(score))
        self.told += 1

    def moments(self):
        """Mean score of every option and its variance, and the variance of one score."""
        count = np.array([len(x) for x in self.samples])
        mu = np.array([mean_of(x) for x in self.samples])
        squares = np.array([np.sum((np.array(x) - mean_of(x)) ** 2) for x in self.samples])
        freedom = np.maximum(count - 1, 0)
        s2 = mixed(squares, freedom, pooled(squares, freedom, mu), 0)
        return mu, ratio(s2, count), s2

    def ask(self, uniform):
        i = self.told % len(self.samples)
        if self.is_ready():
            mu, variance, _ = self.moments()
            delta = mu - threshold(mu, np.sqrt(variance), self.k)
            starving = variance / np.maximum(delta**2, np.finfo(float).tiny)  # w / N
            # c is such that the options beside it are equally so: the one of fewer samples.
            near = np.flatnonzero(starving >= (1 - 1e-5) * starving.max())
            i = min(near, key=lambda option: len(self.samples[option]))
        j = i + 1 + math.floor(uniform * (len(self.samples) - 1))
        return int(i), int(j) % len(self.samples)
