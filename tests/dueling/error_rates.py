"""How often something goes wrong, from how often it did."""

import scipy.stats


def upper_limit(errors, confidence=0.999):
    """One-sided Clopper-Pearson limit of a rate from above, of runs that erred or did not [n]."""
    count, total = int(errors.sum()), len(errors)
    return scipy.stats.beta.ppf(confidence, count + 1, total - count)
