"""Each candidate of a table against one baseline: the front door. Axes: C candidates.

Four claims may become certain of a candidate, whose differences from the baseline have a mean D.
Those for it are one event, that the null E d <= D is rejected, and those against it another one:
the theorem on gates in docs/leaderboards.md.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_integer,
    require_number,
    require_probability,
)
from jaxrace.evidence.levels import BoolArray, FloatArray, IntArray, log_sum
from jaxrace.evidence.process import Pairs, Process, lower_ends
from jaxrace.judging.final_look import look_once
from jaxrace.judging.gate_result import CLAIMS, EQUAL, FALLS, PASSES, Candidate, GateOfTable
from jaxrace.judging.judgement import assumed, mean_score
from jaxrace.judging.next_runs import next_runs, number_of, to_run
from jaxrace.judging.result import NextRuns
from jaxrace.judging.table_race import Prepared, prepared

Want = Literal["either", "better", "not-worse"]

_UNLIKELY = 100  # times what there is: what would take longer is not forecast


def gate(
    data: Any,
    *,
    baseline: str,
    margin: float = 0.0,
    delta_reject: float | None = None,
    want: Want = "either",
    at_most: int | None = None,
    **settings: Any,
) -> GateOfTable:
    """Is each candidate better than a baseline, not worse by a margin, no better by it, or worse?

    Candidates are all options but the baseline. Runs may be added and the table judged again, as
    often as wanted: errors are those of all looks and all candidates together.

    Args:
        data: Scores by name, as ``race`` takes them.
        baseline: The name of the option that all others are compared with.
        margin: Not worse by so much is good enough, and no better by so much is not worth going on:
            in units of the score by mean, and in win probability (below 0.5) by wins.
        delta_reject: The probability that worse, or no better by the margin, is said of any
            candidate and is not so. Without it the same as delta, which is that of better, and of
            not worse by the margin.
        want: What lets a candidate pass. One between -margin and margin is both, not worse by it
            and no better by it: either takes what is certain first. With better, not worse does not
            pass; with not-worse, no better does not reject.
        at_most: Of so many candidates in all, each has the same share of the errors. Without it of
            those in the table; or with looks of any number, and the one that came as number c has
            the share 6 / (pi c)^2.
        **settings: The other arguments of ``race``, but top and tolerance. By a file of looks new
            candidates may come and old ones be left out, while the baseline stays. By final the
            verdicts of one look stand beside those of all looks, by which candidates pass.

    Returns:
        The result; print it.

    Raises:
        ValueError: As ``race`` does; or an argument is out of its range, no option is called like
            the baseline, or there are more candidates than at_most.

    Warns:
        DependentRunsWarning: As ``race`` does.

    >>> main, new, old = np.random.default_rng(0).normal([[0.0], [1.5], [-1.5]], size=(3, 40))
    >>> result = gate({"main": main, "new": new, "old": old}, baseline="main")
    >>> [(one.name, one.verdict) for one in result.candidates], result.status
    ([('new', 'better'), ('old', 'worse')], 1)
    """
    for name in {"top", "tolerance"} & settings.keys():
        raise BadArgument(name, "none for a gate", repr(settings[name]), ": margin= is its own")
    require_choice("want", want, ("either", "better", "not-worse"))
    errors: list[float] = [settings.get("delta", 0.05)]
    errors.append(errors[0] if delta_reject is None else delta_reject)
    require_probability("delta_reject", errors[1])
    if at_most is not None:
        require_integer("at_most", at_most, 1)
    kept = {"baseline": baseline, "delta_reject": errors[1], "at_most": at_most}
    asked = prepared("gate", data, settings, **kept)
    names, question = asked.table.names, asked.question
    if baseline not in names:
        raise BadArgument("baseline", f"one of {listed(names)}", repr(baseline))
    most = question.width if question.by == "mean" else 0.5
    require_number("margin", margin, least=0, below=most)
    before = asked.past.options if asked.past else ()
    coming = [name for name in dict.fromkeys((*before, *names)) if name != baseline]
    if at_most is not None and len(coming) > at_most:
        raise BadArgument("at_most", f"{len(coming):,} or more, as so many came", f"{at_most}")
    reserved = at_most or (None if asked.past else len(coming))
    share = dict(zip(coming, shares(len(coming), reserved).tolist(), strict=True))
    candidates = [name for name in coming if name in names]
    each = np.array([share[name] for name in candidates])
    levels = -np.log(np.outer(errors, each))
    found = _answer(asked, candidates, baseline, margin, want, levels)
    told = {"delta_reject": errors[1], "at_most": reserved}
    if question.final and not found.refuted:
        once = _verdicts_once(asked, candidates, baseline, margin, want, errors)
        options = zip(found.candidates, once, strict=True)
        told["candidates"] = tuple(dataclasses.replace(x, final=final) for x, final in options)
    return asked.answered(dataclasses.replace(found, **told))


def _verdicts_once(
    asked: Prepared,
    candidates: Sequence[str],
    baseline: str,
    margin: float,
    want: Want,
    errors: Sequence[float],
) -> list[str]:
    """The verdict on each candidate of one look: each claim of a kind has half of its error."""
    question, table, columns, pairs = asked[:4]
    first = np.array([table.names.index(name) for name in candidates])
    second = np.full(len(first), table.names.index(baseline))
    null = dataclasses.replace(question, tolerance=margin).null
    deltas = [error / 2 if margin else error for error in errors]
    looks = {
        (delta, mu): look_once(question, table, columns, pairs, delta=delta, null=mu)
        for delta in {*deltas}
        for mu in {0.0, null}
    }
    ways = zip(deltas, ((first, second), (second, first)), strict=True)
    claims = [looks[delta, mu].claims(*way) for delta, way in ways for mu in (0.0, null)]
    counted = [k for k, claim in enumerate(CLAIMS) if claim in (*PASSES[want], *FALLS[want])]
    found = np.stack(claims)[counted]
    verdicts = np.array(CLAIMS)[counted][found.argmax(0)].astype(object)
    verdicts[~found.any(0)] = "not known"
    return verdicts.tolist()


def shares(number: int, at_most: int | None) -> FloatArray:
    """The shares that candidates have of an error, in the order in which they came: [number].

    >>> shares(3, 4).tolist(), shares(2, None).round(3).tolist()
    ([0.25, 0.25, 0.25], [0.608, 0.152])
    """
    if at_most is not None:
        return np.full(number, 1 / at_most)
    return 6 / (math.pi * np.arange(1, number + 1)) ** 2


class Certain(NamedTuple):
    """What is certain of candidates, in the order of ``CLAIMS``."""

    claims: BoolArray  # [4, C]
    processes: list[Process]  # of each claim
    levels: FloatArray  # [4, C]


def certain_of(
    pairs: Pairs, first: IntArray, second: IntArray, margin: float, levels: FloatArray
) -> Certain:
    """Which claims are certain of the options ``first`` against the baseline ``second``, [C] each.

    ``margin`` is one of differences in [-1, 1]; ``levels`` [2, C] are log e-values, of the two
    claims for an option and of the two against it.
    """
    ways = (first, second), (second, first)
    found = [pairs.process(*way, null) for way in ways for null in (0.0, -margin)]
    level = np.repeat(levels, 2, 0)
    return Certain(np.stack([one.highest for one in found]) >= level, found, level)


def forecast(
    process: Process, level: FloatArray, weights: Sequence[float], num_tasks: int | None
) -> FloatArray:
    """Further runs of both until there is evidence of ``level``, if they go on as so far: [C].

    ln E of a bet grows like the number n of runs, and in a list of N tasks, where bets grow, like
    n N / (N - n). inf if that of none grows, or all tasks of the list.
    """
    number, logs = process.common[:, None], np.log(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = process.log_bets * (1 / number - (0 if num_tasks is None else 1 / num_tasks))
        total = np.where(rate > 0, (level[:, None] - logs) / rate, np.inf).min(1)  # by one bet
        least = np.zeros_like(total)
        for _ in range(20 * np.isfinite(total).any()):  # all together need fewer
            middle = np.where(np.isfinite(total), (least + total) / 2, total)
            does = ~(log_sum(logs + rate * middle[:, None]) < level)
            least, total = np.where(does, least, middle), np.where(does, middle, total)
    if num_tasks is not None:
        total = 1 / (1 / total + 1 / num_tasks)
    return np.ceil(np.maximum(total - process.common, 1))


def _answer(
    asked: Prepared,
    candidates: Sequence[str],
    baseline: str,
    margin: float,
    want: Want,
    levels: FloatArray,
) -> GateOfTable:
    question, table, _, pairs = asked[:4]
    places = [table.names.index(name) for name in candidates]
    first, second = np.array(places), np.full(len(places), table.names.index(baseline))
    mu = -dataclasses.replace(question, tolerance=margin).null
    found = certain_of(pairs, first, second, mu, levels)
    mean, common, _, tied = found.processes[0][2:]
    low = lower_ends(pairs, first, second, levels[0])
    high = -lower_ends(pairs, second, first, levels[1])
    # They reach the margin, too, if that claim is certain.
    low = np.where(found.claims[1], low.clip(-mu), low)
    high = np.where(found.claims[3], high.clip(max=mu), high)
    counted = [k for k, claim in enumerate(CLAIMS) if claim in (*PASSES[want], *FALLS[want])]
    of_counted = found.claims[counted]
    verdicts = np.array(CLAIMS)[counted][of_counted.argmax(0)].astype(object)
    verdicts[~of_counted.any(0)] = "too few"
    verdicts[~of_counted.any(0) & tied] = EQUAL
    weights = pairs.bets.weights
    ahead = [forecast(found.processes[k], found.levels[k], weights, question.of) for k in counted]
    further = np.where(verdicts == "too few", np.min(ahead, 0), 0)
    further = np.where(further <= _UNLIKELY * common, further, np.inf)
    refuted, is_odd = "", (common > 0) & ~((low <= mean) & (mean <= high))
    if is_odd.any():
        refuted = (
            f"by how much {candidates[int(is_odd.argmax())]} is better than {baseline} over all of "
            f"the table is outside of its own interval: it is hardly true that {assumed(question)}"
        )
    runs: NextRuns = {}
    if not refuted and asked.may_go_on:
        is_open = np.zeros((len(table.names), len(table.names)), bool)
        is_open[first, second] = verdicts == "too few"
        runs = next_runs(question, table, pairs, to_run(question, table, pairs, is_open))
    effects = np.stack([question.effect(x) for x in (mean, low, high)], -1)
    effects[common == 0] = np.nan

    def row(name: str, verdict: str, effect: Sequence[float], more: float) -> Candidate:
        option = table.names.index(name)
        by_mean = question.by == "mean"
        return Candidate(
            name=name,
            runs=len(table.values[option]),
            score=mean_score(question, table, pairs, option) if by_mean else None,
            **dict(zip(("estimate", "low", "high"), map(_known, effect), strict=True)),
            verdict=verdict,
            further=int(more) if 0 < more < np.inf else None,
            next=number_of(runs, name),
        )

    each = zip(candidates, verdicts.tolist(), effects.tolist(), further.tolist(), strict=True)
    answered = GateOfTable(
        delta=question.delta,
        delta_reject=question.delta,
        by=question.by,
        kind=question.kind_of_runs,
        margin=margin,
        wanted=want,
        baseline=row(baseline, "baseline", [np.nan] * 3, 0),
        candidates=tuple(row(*one) for one in each),
        at_most=None,
        next_runs=runs,
        notes=tuple(asked.notes),
        better=question.better(table),
        one_look=question.order_by_lot is not None,
        refuted=refuted,
    )
    return answered.without_verdicts() if refuted else answered


def _known(effect: float) -> float | None:
    return None if math.isnan(effect) else effect
