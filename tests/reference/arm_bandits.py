"""Bandits whose arms pay 1 or 0, one pull at a time, every quantity anew from the pulls so far.

Auer et al. 2002 (UCB1), Garivier and Cappe 2011 (KL-UCB), Even-Dar et al. 2002 (action
elimination, c = 5). Ties go to the first arm, or to the place that a uniform number names.
"""

import math

import scipy.optimize

from reference import reference_bounds, savage


def means_of(history, num_arms):
    """Pulls, and mean payments; 0 without pulls."""
    pulls, means = [0] * num_arms, [0.0] * num_arms
    for arm in range(num_arms):
        payments = [paid for pulled, paid in history if pulled == arm]
        pulls[arm] = len(payments)
        means[arm] = sum(payments) / len(payments) if payments else 0.0
    return pulls, means


def utilities(question, means):
    """What the arms are worth: the m best are worth nothing where the next best is wanted."""
    if question.kind == "best":
        return means
    order = sorted(range(len(means)), key=lambda i: (-means[i], i))
    return [0.0 if i in order[: question.skipped] else means[i] for i in range(len(means))]


def ucb1(value, pulls, time, scale):
    """The mean and sqrt(2 ln t / n), where scale = 2."""
    return value + math.sqrt(scale * math.log(time) / pulls)


def kl_ucb(value, pulls, time, scale):
    """The largest q with n kl(mean, q) <= ln t, where scale = 1."""
    level = scale * math.log(time) / pulls
    if value >= 1 or level == 0:
        return value
    most = 1 - 1e-15
    if reference_bounds.divergence(value, most) <= level:
        return 1.0

    def excess(q):
        return float(reference_bounds.divergence(value, q)) - level

    return float(scipy.optimize.brentq(excess, value, most, xtol=1e-14))  # pyright: ignore


def best_by_index(index, question, wrapped, history, scale):
    """Arms whose index is the largest, and those for which rounding decides: two lists."""
    pulls, means = means_of(history, question.num_arms)
    arms = range(question.num_arms)
    if 0 in pulls:
        unseen = [i for i in arms if pulls[i] == 0]
        return unseen, unseen
    values = utilities(question, means) if wrapped else means
    found = [index(values[i], pulls[i], len(history), scale) for i in arms]
    top = max(found)
    # The library computes in float32: KL-UCB's Newton steps to about 1e-6.
    exact = [i for i in arms if found[i] == top]
    return exact, [i for i in arms if found[i] > top - 1e-5]


def pick(arms, uniform):
    """One of a list, each with the same probability."""
    return arms[min(int(uniform * len(arms)), len(arms) - 1)]


def survivors(question, wrapped, history, delta):
    """Who is left after each pull, [T] sets; the pulls are those of `next_survivor`."""
    active = set(range(question.num_arms))
    answer = []
    for length in range(1, len(history) + 1):
        pulls, means = means_of(history[:length], question.num_arms)
        rounds = {pulls[i] for i in active}
        if len(rounds) == 1 and len(active) > 1:
            t = rounds.pop()
            alpha = math.sqrt(math.log(5 * question.num_arms * t**2 / delta) / t)
            values = utilities(question, means) if wrapped else means
            top = max(values[i] for i in active)
            active = {i for i in active if top - values[i] < 2 * alpha}
        answer.append(active)
    return answer


def next_survivor(active, history, num_arms):
    """The one with the fewest pulls, the first of several."""
    pulls, _ = means_of(history, num_arms)
    return min(active, key=lambda i: (pulls[i], i))


def recommended(question, history):
    """f of the estimates."""
    return savage.decide(question, means_of(history, question.num_arms)[1])
