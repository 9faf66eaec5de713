"""How many runs until a race, a ranking or a gate answers: the front door. Axes: K options."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxrace.answers.answer import listed
from jaxrace.core.inputs import require_truth
from jaxrace.core.validation import (
    BadArgument,
    require_integer,
    require_number,
    require_positive,
    require_top,
)
from jaxrace.evidence.blocks import independent_bets
from jaxrace.evidence.levels import FloatArray
from jaxrace.evidence.process import NEVER
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.evidence.tasks import SharedPairs
from jaxrace.judging.plan_result import PlannedShare, PlanOfRace
from jaxrace.judging.question import Question
from jaxrace.judging.scores import ScoreTable
from jaxrace.judging.simulated import (
    EvidenceRules,
    Goal,
    answered_after,
    drawn_in_groups,
    drawn_runs,
    drawn_tasks,
    stated_runs,
)
from jaxrace.judging.table_race import prepared

_SHARES = (0.25, 0.5, 0.75, 0.9)
_LEAST_PILOT = 5  # tasks, or runs of each option
_AT_ONCE = 2**22  # numbers that are drawn at once
NOT_SIMULATED = ("looks", "dependent", "compare", "final")

Draw = Callable[[int, int], FloatArray]


class _Asked(NamedTuple):
    """What is planned, and what the runs are drawn from."""

    question: Question
    names: tuple[str, ...]
    draw: Draw  # of numbers of races and of runs: [K, races, runs, R]
    pilot: tuple[int, ...]  # runs of each option that count already
    notes: list[str]
    shares: Mapping[str, float] = {}  # of each group of tasks
    there: Mapping[str, NDArray[np.bool_]] = {}  # which of its tasks each option has run: [K, n]


def plan(
    data: Any = None,
    top: int = 1,
    *,
    tiers: int | None = None,
    baseline: str | None = None,
    margin: float = 0.0,
    options: int | str | Sequence[str] | None = None,
    gap: float | None = None,
    spread: float | None = None,
    correlation: float = 0.0,
    budget: int | None = None,
    most: int = 10_000,
    fresh: bool = False,
    simulations: int = 200,
    seed: int = 0,
    **settings: Any,
) -> PlanOfRace:
    """Say how many runs it will take until a race, a ranking or a gate answers.

    It simulates the very race, on all that a pilot leaves possible, or on normal scores of stated
    means. All options run alike: a race that runs only options in doubt needs fewer runs.

    With ``order_by_lot`` it plans one look at a table that is complete: choose a number of tasks,
    run them all, and look once. A pilot has been looked at, so its tasks do not count.

    Args:
        data: A pilot: scores by name, as ``race`` takes them, of at least five tasks, or five runs
            of each option. Or a stated mean of each option by its name.
        top: How many of the best options are wanted, kappa.
        tiers: Plan a ranking into so many tiers, instead of a race.
        baseline: Plan a gate: every other option against the option of this name, which is one of
            the stated options, too.
        margin: Of the gate: how close is enough. Each option is not worse, or is no better, by so
            much.
        options: State this many options instead of a pilot. They are called option 1, 2, ...
            Of a pilot: the names of the options to race.
        gap: By how much each of the best is better than each of the others, which are alike. Of
            tiers: each option than the next. Of a gate: each option than the baseline.
        spread: The standard deviation of an option's stated scores.
        correlation: The correlation of the stated scores of two options on a task. Above 0 tasks
            are shared.
        budget: How many runs of each option, or tasks, you can pay for. The plan says how many
            races these answer.
        most: The most runs of each option, or tasks, that a simulated race has.
        fresh: Do not count the pilot's runs: the race begins anew. So it is with order_by_lot.
        simulations: The number of simulated races.
        seed: The seed of the simulation.
        **settings: The other arguments of ``race``: delta, by, low, high, shared, of, tolerance,
            smaller, larger, horizon, weights, order_by_lot, gaps, and how a pilot is read.

    Returns:
        The result; print it.

    Raises:
        ValueError: An argument is out of its range; there are both a pilot and options, or neither;
            the pilot is too small, or ``race`` would refuse it.

    Warns:
        DependentRunsWarning: As ``race`` does, of a pilot.

    >>> result = plan(options=3, gap=0.2, spread=0.4, correlation=0.5)
    >>> result.quantiles[1].share, 50 < result.quantiles[1].each < 200
    (0.5, True)
    """
    for name, least in (("most", _LEAST_PILOT), ("simulations", 20), ("seed", 0)):
        require_integer(name, {"most": most, "simulations": simulations, "seed": seed}[name], least)
    if budget is not None:
        require_integer("budget", budget, 1)
    require_truth("fresh", fresh)
    is_once = settings.get("order_by_lot") is not None
    for name in settings.keys() & {*NOT_SIMULATED}:
        if settings.pop(name) not in (None, False):
            raise BadArgument(name, "none for a plan", "another")
    if settings.get("weights") is not None and settings.get("of") is not None:
        hint = ": without it, a stream of each group is planned for"
        raise BadArgument("of", "none beside weights, for a plan", "a list", hint)
    if isinstance(options, str) and options.strip().isdecimal():
        options = int(options)
    elif options is not None and not isinstance(options, int):
        settings["options"], options = options, None
    if tiers is not None and baseline is not None:
        raise BadArgument("tiers", "none beside a baseline", f"{tiers}")
    if settings.get("tolerance") and (tiers or baseline) is not None:
        raise BadArgument("tolerance", "none for tiers or a gate", f"{settings['tolerance']}")
    if baseline is not None:
        settings["tolerance"] = margin
    elif margin:
        raise BadArgument("margin", "none without a baseline", f"{margin}")
    settings |= {"top": top, "kind": "top"} if tiers is None else {"kind": "rank"}
    rng = np.random.default_rng(seed)
    is_stated = isinstance(data, Mapping) and all(map(np.isscalar, data.values()))
    if data is None or is_stated:
        asked = _stated(rng, data, (options, gap, spread, correlation), baseline, tiers, settings)
    else:
        stated = {"options": options, "gap": gap, "spread": spread, "correlation": correlation}
        for name, value in stated.items():
            if value:
                raise BadArgument(name, "none beside a pilot", f"{value}")
        asked = _after_pilot(rng, data, fresh or is_once, settings)
    question, names = asked.question, asked.names
    require_top(top, len(names))
    if tiers is not None:
        require_integer("tiers", tiers, 2, most=len(names))
    if baseline is not None and baseline not in names:
        raise BadArgument("baseline", f"one of {', '.join(names)}", repr(baseline))
    goal = Goal(top, tiers, None if baseline is None else names.index(baseline))
    length = question.of or max(most, budget or 0, *asked.pilot)
    each = _answered(asked, goal, length, simulations)
    return _result(asked, goal, each, budget, length)


def _stated(
    rng: np.random.Generator,
    means: Mapping[str, float] | None,
    stated: tuple[int | None, float | None, float | None, float],
    baseline: str | None,
    tiers: int | None,
    settings: dict[str, Any],
) -> _Asked:
    options, gap, spread, correlation = stated
    require_number("correlation", correlation, least=0, below=1)
    if (means is None and (options is None or gap is None)) or spread is None:
        expected = "a file, or options, gap and spread (--options, --gap, --spread)"
        raise BadArgument("pilot", expected, "neither")
    require_positive("spread", spread)
    if means is None:
        assert options is not None
        assert gap is not None
        require_integer("options", options, 2, most=300)
        names = [f"option {place}" for place in range(1, options + 1)]
        if baseline is not None and baseline not in names:
            names[0] = baseline
        if tiers is not None:
            values = -gap * np.arange(options)
        elif baseline is not None:
            values = np.where(np.array(names) == baseline, 0.0, gap)
        else:
            values = np.where(np.arange(options) < settings.get("top", 1), gap, 0.0)
        means = dict(zip(names, values.tolist(), strict=True))
    kept = {name: settings[name] for name in Question.__dataclass_fields__.keys() & settings.keys()}
    is_shared = kept.pop("shared", False) or correlation > 0
    question = Question(**kept, shared=is_shared)
    values, notes = np.array([*means.values()], float), []
    if question.smaller:
        values = -values
    is_normal = question.by == "wins"
    if not is_normal:
        assert question.low is not None
        if options is not None:
            values = values + (question.low + question.width / 2 - values.mean())
        values, spread = (values - question.low) / question.width, spread / question.width
        if abs(values - 0.5).max() > spread or spread > 0.5:
            raise BadArgument(
                "spread",
                f"{abs(values - 0.5).max() * question.width:g} to {question.width / 2:g}, by mean",
                f"{spread * question.width:g}",
                ": scores are two values, a spread above and below the middle of the range",
            )
    notes.append("normal scores" if is_normal else "scores of two values, as right and wrong are")
    if correlation > 0 and not settings.get("shared"):
        notes.append("options run on the same tasks, as their scores are correlated")
    about = values, spread, correlation

    def draw(races: int, runs: int) -> FloatArray:
        return stated_runs(rng, *about, races, runs, is_normal=is_normal)

    return _Asked(question, tuple(means), draw, (0,) * len(means), notes)


def _after_pilot(
    rng: np.random.Generator, data: Any, fresh: bool, settings: dict[str, Any]
) -> _Asked:
    kind = settings.pop("kind")
    found = prepared(kind, data, settings)
    groups, shares = None, dict[str, float]()
    if isinstance(found.pairs, SharedPairs):
        values = found.pairs.values
        there = ~np.isnan(values).all(-1).any(0)  # tasks that all have run
        runs, counts = list(values[:, there]), (int(there.sum()),) * len(values)
        if found.table.groups:
            groups = np.array(found.table.groups, str)[there]
            shares = {x: count / counts[0] for x, count in Counter(groups.tolist()).items()}
        if found.table.lottery is not None:  # the first tasks of its order count
            counted = int(np.logical_and.accumulate(there).sum())
            runs, counts = list(values[:, :counted]), (counted,) * len(values)
            shares = found.table.lottery.weights
        values = values[:, there]
    else:
        values, runs, counts = None, found.columns, tuple(map(len, found.columns))
    if found.question.of is not None and min(counts) >= found.question.of:
        hint = ": nothing is left to plan; race, rank and gate answer it"
        raise BadArgument("pilot", "a part of the list of tasks", f"all {min(counts):,}", hint)
    if min(counts) < _LEAST_PILOT:
        of_what = "tasks that all have run" if values is not None else "runs of each option"
        raise BadArgument("pilot", f"{_LEAST_PILOT} {of_what} or more", f"{min(counts)}")

    def draw(races: int, length: int) -> FloatArray:
        if found.table.lottery is not None and values is not None and groups is not None:
            drawn = drawn_in_groups(rng, values, groups, shares, races, length)
        elif values is not None:
            drawn = drawn_tasks(rng, values, races, length)
        else:
            drawn = drawn_runs(rng, runs, races, length)
        for option, own in enumerate(runs if not fresh else ()):
            drawn[option, :, : len(own)] = own.reshape(len(own), -1)[:length]
        return drawn

    pilot = (0,) * len(counts) if fresh else counts
    there = {} if fresh else _there(found.table, found.question.gaps)
    return _Asked(found.question, found.table.names, draw, pilot, found.notes, shares, there)


def _there(table: ScoreTable, gaps: str) -> dict[str, NDArray[np.bool_]]:
    """Which tasks each option has run already, those that count and those that wait: [K, n].

    A lottery takes the tasks of a group in their order. Else those that most have run come first.
    """
    if table.tasks is None:
        return {}
    before = table if table.lottery is None else table.lottery.before
    number = len(before.task_names)
    has = np.stack([np.bincount(x, minlength=number) > 0 for x in before.tasks or ()])
    if gaps == "skip":  # never filled
        has = has & has.all(0)
    if table.lottery is None:
        return {"": has[:, np.argsort(-has.sum(0), kind="stable")]}
    return {group: has[:, np.array(before.groups, str) == group] for group in table.lottery.weights}


def _still_to_make(asked: _Asked, number: int) -> dict[str, NDArray[np.int64]]:
    """Of so many tasks, or runs of each option, what each option still lacks, by group: [K]."""
    if not asked.there:
        return {"": np.maximum(number - np.array(asked.pilot), 0)}
    found = {}
    for group, has in asked.there.items():
        needed = math.ceil(round(number * (asked.shares[group] if group else 1), 6))
        found[group] = needed - has[:, :needed].sum(1)
    return found


def _answered(asked: _Asked, goal: Goal, length: int, simulations: int) -> np.ndarray:
    """Runs of each option until an answer, in order; infinity if it takes more: [simulations]."""
    question, number = asked.question, len(asked.names)
    levels = question.levels(number)
    shared, of = question.shared, question.of
    rules = EvidenceRules(
        by=question.by,
        bets=(
            shared_bets(levels.verdict, of)
            if shared
            else independent_bets(levels.verdict, question.horizon)
        ),
        level=levels.verdict if goal.baseline is None else math.log((number - 1) / question.delta),
        null=question.null,
        is_shared=shared,
        num_tasks=of,
    )
    at_once = max(_AT_ONCE // (number * length), 1)
    parts = [min(at_once, simulations - done) for done in range(0, simulations, at_once)]
    found = [answered_after(asked.draw(races, length), rules, goal) for races in parts]
    each = np.sort(np.concatenate(found))
    return np.where(each == NEVER, np.inf, each)


def _result(
    asked: _Asked, goal: Goal, each: np.ndarray, budget: int | None, length: int
) -> PlanOfRace:
    question = asked.question
    quantiles = []
    for share in _SHARES:
        number = each[math.ceil(share * len(each)) - 1]
        is_known = np.isfinite(number)
        lacking = _still_to_make(asked, int(number)) if is_known else {}
        further = int(sum(x.sum() for x in lacking.values())) if is_known else None
        runs = int(number) if is_known else None
        quantiles.append(PlannedShare(share, runs, further))
    notes = list(asked.notes)
    if not (question.shared or np.isfinite(each).all()):
        notes.append(
            f"bets are for {question.horizon:,} runs of an option: a larger horizon, stated before "
            "the race, finds smaller gaps"
        )
    if asked.shares and (middle := quantiles[1].each) is not None:
        each_group = [f"{math.ceil(middle * part):,} of {x}" for x, part in asked.shares.items()]
        lacking = {x: n.max() for x, n in _still_to_make(asked, middle).items() if x and n.any()}
        left = [f"{number:,} of {group}" for group, number in lacking.items()]
        more = f"; each option still lacks up to {listed(left)}" if left else ""
        notes.append(f"{middle:,} tasks are about {listed(each_group)}{more}")
    return PlanOfRace(
        names=asked.names,
        top=goal.top,
        tiers=goal.tiers,
        baseline=None if goal.baseline is None else asked.names[goal.baseline],
        by=question.by,
        kind=question.kind_of_runs,
        delta=question.delta,
        tolerance=question.tolerance,
        quantiles=tuple(quantiles),
        pilot=max(asked.pilot),
        budget=budget,
        answered=None if budget is None else float((each <= budget).mean()),
        most=length,
        each=tuple(each.tolist()),
        one_look=question.order_by_lot is not None,
        notes=tuple(notes),
    )
