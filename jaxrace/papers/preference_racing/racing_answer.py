"""The report on whether racing helps PB-EDPS. Axes: R repetitions."""

import itertools

import numpy as np

from jaxrace.commands.train.learning import CANDIDATES
from jaxrace.commands.workbench import mean_and_error, mean_in_words
from jaxrace.papers.preference_racing.medical_runs import HAZARDS, labels
from jaxrace.papers.preference_racing.racing_variants import FAST, PUBLISHED, RACES, VARIANTS
from jaxrace.tables import markdown_table

SHOWN = ("survival_rate", "mean_reward")
GENERATION, FINAL = "generation", "final"  # kinds of races

# By hazard and variant, columns [R] of the last policies.
Findings = dict[tuple[str, str], dict[str, np.ndarray]]


def paragraphs(found: Findings, generations: dict[str, np.ndarray]) -> list[str]:
    """The text, with what was measured in it."""
    count = len(found["A", PUBLISHED]["episodes"])
    comparisons = [(f"## Hazard {hazard}", _comparison(found, hazard)) for hazard in HAZARDS]
    return [
        f"Every variant has {count:,} searches per hazard, and counts with the last policy that "
        "it had found within the budget: the race in which a budget is used up is finished, and "
        "what comes of it does not count here, which leaves large populations with fewer episodes "
        "than others. ± is one standard error; differences are paired, since a repetition has the "
        "same random numbers in all variants. Step size 10, delta 0.2.",
        "![Curves](curves.png)",
        *itertools.chain(*comparisons),
        "## What the races decide",
        _decisions(generations),
        "Where nothing is decided early, the published schedule is a fixed one: n_max grows by a "
        "quarter from generation to generation, from 3 to 100. Generation by generation:",
        _schedule(generations),
        "## The answer",
        *(_answer(found, generations, hazard) for hazard in HAZARDS),
        *(_fast(found, hazard) for hazard in HAZARDS),
        *_answers(found),
    ]


def _difference(
    found: Findings, hazard: str, name: str, metric: str, base: str | None = None
) -> tuple[float, float]:
    """From the base of a variant, with the standard error: both had the same random numbers."""
    other = found[hazard, base or VARIANTS[name].base][metric]
    mean, error = mean_and_error(found[hazard, name][metric] - other)
    return float(mean), float(error)


def _names(found: Findings) -> list[str]:
    """The variants that were run."""
    return [name for name in VARIANTS if ("A", name) in found]


def _comparison(found: Findings, hazard: str) -> str:
    rows = []
    for name in _names(found):
        cells = [f"{found[hazard, name]['episodes'].mean():,.0f}"]
        for metric in SHOWN:
            cells.append(mean_in_words(found[hazard, name][metric], digits=3))
            change, error = _difference(found, hazard, name, metric)
            cells.append("" if name == PUBLISHED else _in_words(change, error))
        rows.append([name, *cells, "" if name == PUBLISHED else VARIANTS[name].base])
    heads = [part for metric in SHOWN for part in (labels()[metric], "difference")]
    return markdown_table(["variant", "episodes", *heads, "difference to"], rows)


def _decisions(generations: dict[str, np.ndarray]) -> str:
    rows = []
    for name, hazard, race in itertools.product(VARIANTS, HAZARDS, (GENERATION, FINAL)):
        races, finished, decided = _decided(generations, hazard, name, race)
        size = CANDIDATES if race == FINAL else VARIANTS[name].population
        if races:
            counts = f"{races:,}", f"{finished:.2%}", f"{decided:.3f} of {size}"
            rows.append([name, hazard, race, *counts])
    heads = ("variant", "hazard", "race", "races", "ended early", "options decided in a race")
    return markdown_table(heads, rows)


def _decided(
    generations: dict[str, np.ndarray], hazard: str, name: str, race: str = GENERATION
) -> tuple[int, float, float]:
    """Races, the share of them that end early, and the mean number of options decided."""
    asked = {"hazard": hazard, "variant": name, "race": race}
    chosen = np.all([generations[column] == value for column, value in asked.items()], axis=0)
    searches = generations["searches"][chosen]
    if not searches.size:
        return 0, 0.0, 0.0
    finished, decided = (
        float(np.average(generations[column][chosen], weights=searches))
        for column in ("finished", "options_decided")
    )
    return int(searches.sum()), finished, decided


_COUNTED = ("searches", "finished", "options_decided", "max_rounds")


def _schedule(generations: dict[str, np.ndarray]) -> str:
    """The published schedule, generation by generation."""
    asked = {"variant": PUBLISHED, "race": GENERATION}
    own = np.all([generations[column] == value for column, value in asked.items()], axis=0)
    table = {column: generations[column][own] for column in (*_COUNTED, "hazard", "generation")}
    rows = [
        [hazard, str(generation), f"{rounds:.1f}", f"{races:,}"]
        + [f"{round(share * races):,}" for share in (finished, decided)]
        for races, finished, decided, rounds, hazard, generation in zip(
            *table.values(), strict=True
        )
    ]
    heads = ("hazard", "generation", "n_max", "races", "of them finished", "options decided")
    return markdown_table(heads, rows)


def _in_words(change: float, error: float) -> str:
    return f"{change:+.3f} ({change / max(error, 1e-9):+.1f} SE)"


def _answer(found: Findings, generations: dict[str, np.ndarray], hazard: str) -> str:
    """Does it pay to race until something is decided?"""
    raced = [name for name in RACES if (hazard, name) in found]
    if not raced:
        return f"Hazard {hazard}: no race but the published one was run."
    shares = {name: _decided(generations, hazard, name)[1] for name in raced}
    most = max(shares, key=lambda name: shares[name])
    better = [
        name
        for name in raced
        if all(change > 2 * error for change, error in _changes(found, hazard, name))
    ]
    survival, reward = (_in_words(*one) for one in _changes(found, hazard, most))
    published = _decided(generations, hazard, PUBLISHED)[1]
    return (
        f"Hazard {hazard}: the published race ends {published:.2%} of the races early. Of all "
        f"others {most} ends most, {shares[most]:.2%}, and changes survival by {survival} and the "
        f"reward by {reward}. Does racing pay? {'Yes: ' + ', '.join(better) if better else 'No'}."
    )


def _changes(found: Findings, hazard: str, name: str) -> list[tuple[float, float]]:
    """Of each metric, from the published schedule."""
    return [_difference(found, hazard, name, metric, PUBLISHED) for metric in SHOWN]


def _fast(found: Findings, hazard: str) -> str:
    """What the best setting changes, and is it better by two standard errors?"""
    if (hazard, FAST) not in found:
        return f"Hazard {hazard}: {FAST} was not run."
    changes = _changes(found, hazard, FAST)
    survival, reward = (_in_words(*one) for one in changes)
    better = all(change > 2 * error for change, error in changes)
    return (
        f"Hazard {hazard}: {FAST} (`--method pb-edps-fast`) changes survival by {survival} and the "
        f"reward by {reward} from the published schedule. Is it better by two standard errors? "
        f"{'Yes' if better else 'No'}."
    )


def _answers(found: Findings) -> list[str]:
    """Which variants are better, and worse, than their bases by two standard errors."""
    text = []
    for hazard, metric in itertools.product(HAZARDS, SHOWN):
        others = [name for name in _names(found) if name != PUBLISHED]
        changes = {name: _difference(found, hazard, name, metric) for name in others}
        better = [name for name, (change, error) in changes.items() if change > 2 * error]
        worse = [name for name, (change, error) in changes.items() if change < -2 * error]
        text.append(
            f"Hazard {hazard}, {labels()[metric]}: better than what it is compared with, by more "
            "than two standard errors: "
            f"{'; '.join(better) or 'none'}. Worse: {'; '.join(worse) or 'none'}."
        )
    return text
