"""What Busa-Fekete et al. 2014 claim of the medical task, and what came out. Axes: R repeats."""

import itertools

import numpy as np

from papers.claims import NO, OPEN, YES, Claim, difference, verdict, yes_or_no
from papers.preference_racing import medical_runs as medical
from papers.workbench import mean_and_error, mean_in_words, with_error

FEW = 4000  # the paper looks at learners with fewer training episodes than these
PREFERENCE_BASED = ("pb-edps", "pbpi")

# What a curve may differ from its end where it has settled.
_TOLERANCES = {"mean_reward": 2.0, "survival_rate": 0.01}


def convergence_claims(found: medical.Findings, fixed: medical.Fixed) -> list[Claim]:
    """Those of figures 4 and 6."""
    early = {
        method: medical.mean_before(found["A", method], "survival_rate", FEW)
        for method in medical.LEARNERS
    }
    reward, alive = _last(found, "A", "mean_reward"), _last(found, "B", "survival_rate")
    kept = medical.without_own_doses(fixed["B"])
    alive |= {name: metrics["survival_rate"] for name, metrics in kept.items()}
    par = {name: difference(reward[name], reward["sarsa"]) for name in ("edps", "pb-edps")}
    next_one = min(set(reward) - {"pbpi"}, key=lambda method: reward[method].mean())
    least = difference(reward[next_one], reward["pbpi"])
    return [
        _fastest(found, "A", "mean_reward", ("sarsa",), "SARSA converges fastest"),
        Claim(
            "Hazard A: the reward of SARSA is on a par with that of the others",
            "figure 4a, text",
            f"less that of sarsa ({_of(reward['sarsa'])}): {_all(par)}",
            yes_or_no(all(abs(change) < 2 * error for change, error in par.values())),
        ),
        Claim(
            "Hazard A: PBPI earns least of the learners",
            "figure 4a, text",
            f"{_of(reward['pbpi'])}; the next one, {next_one}, earns {_apart(*least)} more",
            verdict(*least),
        ),
        _ahead(
            early,
            f"Hazard A: below {FEW:,} episodes the preference-based methods keep more patients "
            "alive than the value-based ones",
            "figure 4b, text",
        ),
        _as_much_as_fixed(_last(found, "B", "mean_reward"), kept),
        _ahead(
            alive,
            "Hazard B: the preference-based methods outperform all others in survival",
            "figure 6b, text",
        ),
        _fastest(
            *(found, "B", "survival_rate", PREFERENCE_BASED),
            "the preference-based methods converge faster",
        ),
    ]


def _last(found: medical.Findings, hazard: str, metric: str) -> medical.Metrics:
    return {method: found[hazard, method].last[metric] for method in medical.LEARNERS}


def _of(values: np.ndarray) -> str:
    return mean_in_words(values.astype(float), digits=3)


def _apart(change: float, error: float) -> str:
    return f"{change:+.3f} ± {error:.3f}"


def _all(changes: dict[str, tuple[float, float]]) -> str:
    return ", ".join(f"{method} {_apart(*change)}" for method, change in changes.items())


def _fastest(
    found: medical.Findings, hazard: str, metric: str, claimed: tuple[str, ...], claim: str
) -> Claim:
    """The slowest of the claimed ones against the fastest of the others."""
    tolerance = _TOLERANCES[metric]
    places = {
        method: medical.settled(medical.curve(found, hazard, method, metric), tolerance)
        for method in medical.LEARNERS
    }
    others = min(place for method, place in places.items() if method not in claimed)
    here = ", ".join(f"{method} {place:,.0f}" for method, place in places.items())
    return Claim(
        f"Hazard {hazard}: {claim}",
        f"figure {4 if hazard == 'A' else 6}, text",
        f"{medical.labels()[metric]} within {tolerance:g} of its end from then on: {here} episodes",
        yes_or_no(max(places[method] for method in claimed) < others),
    )


def _as_much_as_fixed(reward: medical.Metrics, fixed: medical.Policies) -> Claim:
    earned = {name: metrics["mean_reward"] for name, metrics in fixed.items()}
    best = max(earned, key=lambda method: earned[method].mean())
    changes = {method: difference(reward[method], earned[best]) for method in PREFERENCE_BASED}
    counts = (
        f"{method} {sum(reward[method].mean() > one.mean() for one in earned.values())} of "
        f"{len(earned)}"
        for method in PREFERENCE_BASED
    )
    return Claim(
        "Hazard B: the preference-based methods earn as much as the fixed policies",
        "figure 6a, text",
        f"less the best of them, {best} ({_of(earned[best])}): {_all(changes)}; "
        f"more than: {', '.join(counts)}",
        yes_or_no(all(change > -2 * error for change, error in changes.values())),
    )


def _ahead(values: dict[str, np.ndarray], claim: str, paper: str) -> Claim:
    """Is the worst of the preference-based methods ahead of the best of the others?"""
    order = sorted(values, key=lambda method: -values[method].mean())
    worst = [method for method in order if method in PREFERENCE_BASED][-1]
    best = next(method for method in order if method not in PREFERENCE_BASED)
    change, error = difference(values[worst], values[best])
    means = ", ".join(f"{name} {values[name].mean():.3f}" for name in order)
    here = f"{means}; {worst} less {best}: {_apart(change, error)}"
    return Claim(claim, paper, here, verdict(change, error))


# Means of (C_S, C_X) in figure 7 of Fürnkranz et al. 2012, and its order of death rates in figure
# 8, from few to many, in our words: "extreme" is 1, "high" .7, "medium" .4 and "low" .1.
PBPI_2012 = (2.68, 1.56)
DEATHS_2012 = ("pbpi", "constant 0.4", "random", "constant 0.7", "constant 0.1", "constant 1")


def outcome_claims(
    hazard: str, points: dict[str, np.ndarray], deaths: dict[str, np.ndarray]
) -> list[Claim]:
    """Those of figures 3 and 5, and of PBPI's paper; of (C_S, C_X) [R, 2] and death rates [R]."""
    figure = f"figure {3 if hazard == 'A' else 5}"
    both = f"{figure}, with figure 4b" if hazard == "A" else f"{figure} (A only in the paper)"
    three = {method: np.column_stack([points[method], deaths[method]]) for method in points}
    claims = [
        _on_front(hazard, "pb-edps", figure, points),
        _on_front(hazard, "pb-edps", both, three),
    ]
    if hazard == "B":
        return [*claims, _on_front(hazard, "pbpi", figure, points, close=True)]
    mean, error = mean_and_error(points["pbpi"].T)
    of_pbpi = Claim(
        "(C_S, C_X) of PBPI",
        f"{PBPI_2012} (Fürnkranz et al. 2012, figure 7; other coefficients)",
        f"({with_error(mean[0], error[0], 2)}, {with_error(mean[1], error[1], 2)})",
        yes_or_no(bool((np.abs(mean - PBPI_2012) < 2 * error).all())),
    )
    return [*claims, of_pbpi, _order_of_deaths(deaths)]


def _on_front(
    hazard: str, method: str, paper: str, points: dict[str, np.ndarray], close: bool = False
) -> Claim:
    margins = dominance_margins(method, points)
    nearest = max(margins, key=lambda name: margins[name])
    margin = margins[nearest]
    holds = NO if margin > 2 else YES if margin < -2 else OPEN
    criteria = "(C_S, C_X, death rate)" if points[method].shape[1] == 3 else "(C_S, C_X)"
    lies = "not on it" if margin > 0 else "on it"
    return Claim(
        f"Hazard {hazard}: {method} is {'close to' if close else 'on'} the Pareto front of "
        f"{criteria}",
        paper,
        f"by its means {lies}; {nearest} comes nearest to dominating it: its less favourable mean "
        f"is {abs(margin):.1f} standard errors {'smaller' if margin > 0 else 'larger'}",
        OPEN if close and holds == NO else holds,  # "close" is no number
    )


def dominance_margins(method: str, points: dict[str, np.ndarray]) -> dict[str, float]:
    """By how many standard errors all means of another method are smaller; below 0: not all are."""
    own_mean, own_error = mean_and_error(points[method].T)
    margins = {}
    for name, values in points.items():
        if name != method:
            mean, error = mean_and_error(values.T)
            margins[name] = float(((own_mean - mean) / np.hypot(own_error, error)).min())
    return margins


def _order_of_deaths(deaths: dict[str, np.ndarray]) -> Claim:
    wrong = []
    for before, after in itertools.pairwise(DEATHS_2012):
        change, error = difference(deaths[after], deaths[before])
        if change < -2 * error:
            wrong.append(f"{before} before {after}")
    order = sorted(DEATHS_2012, key=lambda name: deaths[name].mean())
    return Claim(
        "Fewest patients die by PBPI: the order of the death rates",
        f"{' < '.join(DEATHS_2012)} (Fürnkranz et al. 2012, figure 8)",
        f"{' < '.join(order)}; significantly the other way round: {', '.join(wrong) or 'none'}",
        yes_or_no(not wrong),
    )
