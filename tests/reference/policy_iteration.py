"""Preference-based policy iteration, one number at a time: sign tests, regressions, votes.

Fürnkranz, Hüllermeier, Cheng and Park 2012; the penalty of the regressions is an argument.
"""

import itertools

import numpy as np
import scipy.optimize
import scipy.stats


def sign_test(wins, losses, level):
    """+1, -1 or 0: is one side significant at the level in a one-sided test of untied pairs?"""
    untied = wins + losses
    if untied == 0:
        return 0
    for sign, count in ((1, wins), (-1, losses)):
        if scipy.stats.binomtest(count, untied, alternative="greater").pvalue <= level:
            return sign
    return 0


def preferences(outcomes, prefer, level):
    """Signs [N, P] from outcomes [N, A, R] by ``prefer(a, b)``."""
    num_states, num_actions, num_rollouts = outcomes.shape
    rows = []
    for n in range(num_states):
        row = []
        for a, b in itertools.combinations(range(num_actions), 2):
            signs = [prefer(outcomes[n, a, r], outcomes[n, b, r]) for r in range(num_rollouts)]
            row.append(sign_test(signs.count(1), signs.count(-1), level))
        rows.append(row)
    return np.array(rows)


def fitted_probabilities(observations, preferred, ridge):
    """f_ab [n, P] in the states [n, inputs] themselves."""
    observations = np.asarray(observations, np.float64)
    deviation = observations.std(axis=0)
    scaled = (observations - observations.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    inputs = np.column_stack([scaled, np.ones(len(scaled))])
    columns = []
    for signs in np.asarray(preferred, np.float64).T:
        chosen = signs != 0
        signed = inputs[chosen] * signs[chosen, None]

        def loss(weights, signed=signed):
            margins = signed @ weights
            slope = -signed.T @ (1 / (1 + np.exp(margins)))
            value = np.logaddexp(0, -margins).sum() + ridge * weights @ weights
            return value, slope + 2 * ridge * weights

        start = np.zeros(inputs.shape[1])
        found = scipy.optimize.minimize(loss, start, jac=True, options={"gtol": 1e-9})
        columns.append(1 / (1 + np.exp(-inputs @ found.x)))
    return np.column_stack(columns)


def votes(probabilities, num_actions):
    """Votes [A] from f_ab of the pairs [P]."""
    totals = np.zeros(num_actions)
    for p, (a, b) in enumerate(itertools.combinations(range(num_actions), 2)):
        totals[a] += probabilities[p]
        totals[b] += 1 - probabilities[p]
    return totals
