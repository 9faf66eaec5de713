"""The race on shared tasks as its definition says it, one task after the other, in float64.

Nothing is shared with ``jaxrace.racing.certified``, but for the numbers in ``params``.
"""

import numpy as np

LEAST_FACTOR = 0.01
TIE = 2.0**-23


def log_e_process(differences, params, null=0.0, whole=None):
    """The largest ln E so far after each task [n]; ``whole`` is N of a finite list."""
    bets, weights = (np.asarray(x, np.float64) for x in (params.bets, params.weights))
    products, total, largest, found = np.ones(bets.size), 0.0, -np.inf, []
    for s, d in enumerate(differences, 1):
        mean, bet = null, bets
        if whole is not None:
            left = whole - s + 1
            mean, bet = max((null * whole - total) / left, -1.0), bets * whole / left
        bet = np.minimum(bet, (1 - LEAST_FACTOR) / max(1 + mean, 1e-6))
        products = products * (1 + bet * (d - mean))
        total += d
        largest = max(largest, np.log(weights @ products))
        if whole is not None:
            surplus = total - null * whole - (whole - s)
            if surplus > TIE * whole:
                largest = np.inf
            elif s == whole:
                largest = -np.inf
        found.append(largest)
    return np.array(found)


def plain_race(race, params, differences):
    """Play a race on differences [K, K, N] that are all known.

    Returns the tasks of each option [K], the first kappa, the certificate and who may be best, by
    verdicts without a tolerance.
    """
    num_options, _, num_tasks = differences.shape
    whole = num_tasks if race.finite else None
    level, strong_level, possible_level = (
        float(x) for x in (params.level, params.strong_level, params.possible_level)
    )
    pairs = [(i, j) for i in range(num_options) for j in range(num_options) if i != j]
    nulls = np.asarray(params.nulls, np.float64)
    log_e = {
        pair: [log_e_process(differences[pair], params, null, whole) for null in nulls]
        for pair in pairs
    }
    told = np.full(num_options, int(params.first))
    while True:
        highest = np.full((2, num_options, num_options), -np.inf)
        mean = np.zeros((num_options, num_options))
        for i, j in pairs:
            shared = min(told[i], told[j])
            highest[:, i, j] = log_e[i, j][0][shared - 1], log_e[i, j][-1][shared - 1]
            mean[i, j] = differences[i, j, :shared].mean()

        def stand(highest, line, null, mean=mean):
            """Pairs that have reached it, unless their mean or the reverse contradicts that."""
            reached = (highest >= line) & ~((null == 0) & (highest >= line).T)
            return reached & (mean >= null)

        over = stand(highest[0], level, nulls[0])
        wins = (over | (~over.T & (mean > 0))).sum(1)
        order = np.lexsort((-mean.sum(1).round(6), -wins))
        leads = np.isin(np.arange(num_options), order[: race.top])
        beats = stand(highest[1], possible_level, 0)
        possible = beats.sum(0) < race.top
        cross = leads[:, None] & ~leads[None, :]
        strong = stand(highest[0], strong_level, nulls[0])
        counts = strong.sum(1)[:, None] + strong.sum(0)[None, :]
        lacking = cross & (counts < num_options - 1)
        if not (cross & ~over).any():
            return told, set(order[: race.top].tolist()), "dominance", possible
        by_counts = race.by == "wins" and nulls.size == 1
        if by_counts and not lacking.any():
            return told, set(order[: race.top].tolist()), "counts", possible
        doubtful = cross & ~over
        if nulls.size == 1:  # within a tolerance each of two may be over the other
            doubtful &= ~over.T
        if by_counts and not doubtful.any():
            for i, j in np.argwhere(lacking):
                open_pairs = ~strong & ~strong.T & ~np.eye(num_options, dtype=bool)
                value = np.where(open_pairs, highest[0], -np.inf)
                p, q = value[i].argmax(), value[:, j].argmax()
                if (value[i, p], -p) >= (value[q, j], -q):
                    doubtful[i, p] = open_pairs[i, p]
                else:
                    doubtful[q, j] = open_pairs[q, j]
        common = np.minimum(told[:, None], told[None, :])
        if not doubtful.any() or (doubtful & (common >= int(params.max_rounds))).any():
            return told, set(order[: race.top].tolist()), None, possible
        deficit = np.where(doubtful, level - highest[0], -np.inf)
        served = doubtful & (deficit >= deficit.max() - float(params.slack))
        asked = ((served | served.T) & (told[:, None] <= told[None, :])).any(1)
        share = np.floor(told.astype(np.float32) * np.float32(params.growth)).astype(int)
        batch = np.maximum(int(params.least), share)
        told = np.where(asked, np.minimum(told + batch, int(params.max_rounds)), told)
