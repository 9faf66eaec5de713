"""Each candidate against one baseline: the front door. Axes: C candidates."""

import contextlib
import dataclasses
import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_integer,
    require_number,
    require_probability,
)
from jaxrace.evidence.levels import FloatArray
from jaxrace.judging.claims import Want, certain_of, counted_claims, shares
from jaxrace.judging.engine_result import GateOfGames
from jaxrace.judging.final_look import look_once
from jaxrace.judging.gate_games import gate_games, require_baseline
from jaxrace.judging.gate_result import CLAIMS, Candidate, GateOfTable
from jaxrace.judging.judgement import mean_score, outside, refusal
from jaxrace.judging.next_runs import next_runs, number_of, to_run
from jaxrace.judging.rating.front import read_comparisons
from jaxrace.judging.result import NextRuns
from jaxrace.judging.table_race import Prepared, prepared, race
from jaxrace.tables import Votes
from jaxrace.tables.comparisons import ComparisonsError

# What to do about arguments of scores where there are games.
_OF_GAMES = {
    "margin": ": tolerance (--tolerance) is theirs, in Elo",
    "looks": ": leave it out, as verdicts on games hold at every look without a file of looks",
}


def gate(
    data: Any,
    *,
    baseline: str,
    margin: float = 0.0,
    delta_reject: float | None = None,
    want: Want = "either",
    at_most: int | None = None,
    tolerance: float = 0.0,
    gap: float | None = None,
    score: str = "auto",
    first_column: str | None = None,
    second_column: str | None = None,
    **settings: Any,
) -> GateOfTable | GateOfGames:
    """Is each candidate better than a baseline, not worse by a margin, no better by it, or worse?

    Candidates are all options but the baseline. You may add runs and judge the table again, as
    often as you like: error probabilities hold for all looks and all candidates together. Games and
    votes are judged in Elo, and only those of a candidate and the baseline count.

    Args:
        data: Scores by name, as ``race`` takes them; or games or votes, as ``select`` does.
        baseline: The name of the option that all others are compared with.
        margin: A candidate passes if it is not worse by so much, and is rejected if it is no better
            by so much: by mean in units of the score, by wins in win probability (below 0.5).
        delta_reject: The probability of wrongly calling any candidate worse, or no better by the
            margin. Without it the same as ``delta``, the probability of wrongly calling any better,
            or not worse by the margin.
        want: What decides about a candidate that is both not worse and no better by the margin.
            either: what is certain first. better: not worse does not pass. not-worse: no better
            does not reject.
        at_most: How many candidates there will be at most. Each has the same share of the errors.
            Without it all in the table share them; or, with ``looks`` at scores, any number may
            come, and number c has the share 6 / (pi c)^2.
        tolerance: The margin of games, in Elo: not worse is to be no more than so much behind, no
            better is to be less than so much ahead.
        gap: Of games: your guess, made before the first one, of how many Elo lie between the truth
            and what you ask about. For better that is the gain that you expect: 5 if you expect 5.
            For not worse by 5 it is 5 more than that: 5 if you expect 0. A good guess saves a fifth
            of the games, a bad one costs some; error probabilities hold whatever it is.
        score: What numbers as scores of games or votes are: "win", the first's share of a win;
            "margin", by how much it was better; "auto", what alone they can be.
        first_column: Of games or votes: the column of the first option. With it, or ``score``, data
            are read as games or votes.
        second_column: Of games or votes: the column of the second option.
        **settings: The other arguments of ``race``, but top; of games ``delta`` alone. With
            ``looks`` new candidates may come and old ones may be left out, while the baseline
            stays. With ``final`` the verdicts of one look stand beside those of all looks.
            Candidates pass by those of all looks.

    Returns:
        The result; print it.

    Raises:
        ValueError: As ``race`` or ``select`` does; or an argument is out of its range, no option
            is called like the baseline, or there are more candidates than at_most.

    Warns:
        DependentRunsWarning: As ``race`` does.

    >>> main, new, old = np.random.default_rng(0).normal([[0.0], [1.5], [-1.5]], size=(3, 40))
    >>> result = gate({"main": main, "new": new, "old": old}, baseline="main")
    >>> [(one.name, one.verdict) for one in result.candidates], result.status
    ([('new', 'better'), ('old', 'worse')], 1)
    >>> won = np.random.default_rng(0).choice(["new", "old"], 800)
    >>> games = {"first": ["new"] * 800, "second": ["old"] * 800, "winner": won}
    >>> (found,) = gate(games, baseline="old", tolerance=40, gap=40).candidates
    >>> found.verdict, round(found.elo, 1)
    ('no better', -23.5)
    """
    if "top" in settings:
        raise BadArgument("top", "none for a gate", repr(settings["top"]))
    require_choice("want", want, ("either", "better", "not-worse"))
    errors: list[float] = [settings.get("delta", 0.05)]
    errors.append(errors[0] if delta_reject is None else delta_reject)
    require_probability("delta_reject", errors[1])
    if at_most is not None:
        require_integer("at_most", at_most, 1)
    kept = {"baseline": baseline, "delta_reject": errors[1], "at_most": at_most}
    of_votes = {"first_column": first_column, "second_column": second_column}
    of_votes |= {"score": None if score == "auto" else score}
    told = {name: given for name, given in of_votes.items() if given is not None}
    asked = None
    if not (isinstance(data, Votes) or told):
        with contextlib.suppress(ComparisonsError):
            asked = prepared("gate", data, settings, **kept)
    if asked is None:
        votes = _games(data, settings | ({"margin": margin} if margin else {}), told)
        asked_for = {"tolerance": tolerance, "gap": gap, "want": want, "at_most": at_most}
        return gate_games(votes, baseline, errors=(errors[0], errors[1]), **asked_for)
    for name, given in (("tolerance", tolerance), ("gap", gap)):
        if given:
            raise BadArgument(name, "games or votes", "scores", ": margin (--margin) is theirs")
    names, question = asked.table.names, asked.question
    require_baseline(baseline, names)
    most = question.width if question.by == "mean" else 0.5
    require_number("margin", margin, least=0, below=most)
    if margin and len(marks := question.marks_of(asked.table)):
        low, high = marks[0], marks[-1]
        expected = (
            f"by='mean', low={low:g}, high={high:g} (--by mean --low {low:g} --high {high:g}) for "
            "answers that are right, wrong or partly right"
        )
        hint = f": a margin of the mean, wrong and right being {low:g} and {high:g}; one of wins "
        if len(marks) == 2:
            hint += f"is half of it, {margin:g} is {2 * margin * (high - low):g}"
        else:
            hint += "is of how often a candidate is better, by however much"
        raise BadArgument("margin", expected, "by='wins'", hint)
    before = asked.past.options if asked.past else ()
    coming = [name for name in dict.fromkeys((*before, *names)) if name != baseline]
    if at_most is not None and len(coming) > at_most:
        raise BadArgument("at_most", f"{len(coming):,} or more, as so many came", f"{at_most}")
    reserved = at_most or (None if asked.past else len(coming))
    share = dict(zip(coming, shares(len(coming), reserved).tolist(), strict=True))
    candidates = [name for name in coming if name in names]
    each = np.array([share[name] for name in candidates])
    levels = -np.log(np.outer(errors, each))
    found = _answer(asked, candidates, baseline, margin, want, levels, 1 - sum(errors))
    told = {"delta_reject": errors[1], "at_most": reserved}
    if question.final and not found.refused:
        once = _verdicts_once(asked, candidates, baseline, margin, want, errors)
        options = zip(found.candidates, once, strict=True)
        told["candidates"] = tuple(dataclasses.replace(x, final=final) for x, final in options)
    return asked.answered(dataclasses.replace(found, **told))


def _games(data: Any, settings: Mapping[str, Any], told: Mapping[str, str]) -> Votes:
    """Games or votes, to which no argument of scores applies but that of their column."""
    names = ("decimal", "delimiter", "score_column", "cluster_column")
    text = {name: settings[name] for name in names if name in settings}
    unset = {name: one.default for name, one in inspect.signature(race).parameters.items()}
    for name, given in settings.items():
        if name not in ("delta", *text) and given not in (None, (), "", unset.get(name)):
            raise BadArgument(name, "scores of options", "games or votes", _OF_GAMES.get(name, ""))
    if isinstance(data, Votes):
        return data
    return read_comparisons(data, **{"argument": "data", **text, **told})


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
    counted = counted_claims(want)
    found = np.stack(claims)[counted]
    verdicts = np.array(CLAIMS)[counted][found.argmax(0)].astype(object)
    verdicts[~found.any(0)] = "not known"
    return verdicts.tolist()


def _answer(
    asked: Prepared,
    candidates: Sequence[str],
    baseline: str,
    margin: float,
    want: Want,
    levels: FloatArray,
    level: float,
) -> GateOfTable:
    question, table, _, pairs = asked[:4]
    places = [table.names.index(name) for name in candidates]
    first, second = np.array(places), np.full(len(places), table.names.index(baseline))
    mu = -dataclasses.replace(question, tolerance=margin).null
    found = certain_of(pairs, first, second, mu, levels)
    mean, common = found.processes[0].mean, found.processes[0].common
    low, high = found.ends(pairs, first, second, mu)
    verdicts, further = found.verdicts(want, pairs.bets.weights, question.of)
    refused, is_odd = "", (common > 0) & ~((low <= mean) & (mean <= high))
    if is_odd.any():
        odd = int(is_odd.argmax())
        numbers = (float(question.effect(x)[odd]) for x in (mean, low, high))
        refused = refusal(outside(candidates[odd], baseline, *numbers), question, table)
    runs: NextRuns = {}
    if not refused and asked.may_go_on:
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
            level=level,
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
        of=question.of,
        one_look=question.order_by_lot is not None,
        refused=refused,
    )
    return answered.without_verdicts() if refused else answered


def _known(effect: float) -> float | None:
    return None if math.isnan(effect) else effect
