"""The whole list of a table's options, in tiers: the front door. Axes: K options."""

import dataclasses
import math
import os
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from jaxrace.core.validation import BadArgument, require_choice, require_integer
from jaxrace.evidence import decision
from jaxrace.evidence.boundaries import Board, board_of, tied_groups
from jaxrace.evidence.levels import BoolArray
from jaxrace.evidence.own_score import own_scores
from jaxrace.evidence.process import MOST_OF_ALL_PAIRS, Evidence, intervals
from jaxrace.judging import scores
from jaxrace.judging.board_result import RankedOption, RankedPair, RankOfTable, ShownPairs
from jaxrace.judging.final_look import with_one_look
from jaxrace.judging.judgement import contradiction
from jaxrace.judging.next_runs import next_runs, number_of, progress, to_run
from jaxrace.judging.question import Question
from jaxrace.judging.result import NextRuns
from jaxrace.judging.table_race import Prepared, prepared
from jaxrace.tables.by_name import numbers_by_name


def rank(
    data: Any,
    *,
    tiers: int | None = None,
    tolerance: float = 0.0,
    pairs: ShownPairs = "none",
    cost: Mapping[str, float] | str | os.PathLike[str] | None = None,
    **settings: Any,
) -> RankOfTable:
    """Put options in tiers: who is certainly better than everybody below, and who is tied?

    Each option has its score with an interval, its tier, and the ranks that it may have. All of it
    is valid at every look, as in ``race``; tiers need no more evidence than the best alone.

    Args:
        data: Scores by name, as ``race`` takes them.
        tiers: How many tiers are enough. Without it as many as possible are wanted.
        tolerance: Two options are tied if neither is better by so much: by mean in units of the
            score, by wins in win probability (below 0.5). Of any two it is enough to know that they
            are tied.
        pairs: all: also say how much better one of any two options is. none: leave that out.
        cost: What each option costs: by name, or a file with columns of options and costs. The
            answer then names the cheapest option that is not certainly worse than another by more
            than the tolerance.
        **settings: The other arguments of ``race``, but top. ``delta`` is the probability that any
            tier is wrong. It is also the probability that any rank, tie or interval is wrong.

    Returns:
        The result; print it.

    Raises:
        ValueError: As ``race`` does; or there are more than 300 options.

    Warns:
        DependentRunsWarning: As ``race`` does.

    >>> runs = np.random.default_rng(0).normal([0.0, 1.0, 1.1, 3.0], size=(40, 4)).T
    >>> result = rank(dict(zip("abcd", runs)))
    >>> result.tiers, [(one.best_rank, one.worst_rank) for one in result.options]
    ([['d'], ['b', 'c'], ['a']], [(1, 1), (2, 3), (2, 3), (4, 4)])
    """
    require_choice("pairs", pairs, get_args(ShownPairs))
    asked = prepared("rank", data, {"tolerance": tolerance, **settings})
    num_options = len(asked.table.names)
    if num_options > MOST_OF_ALL_PAIRS:
        hint = ": race names the best of more"
        raise BadArgument("runs", f"at most {MOST_OF_ALL_PAIRS} options", f"{num_options:,}", hint)
    if tiers is not None:
        require_integer("tiers", tiers, 2, most=num_options)
    costs = None if cost is None else numbers_by_name("cost", cost, asked.table.names)
    found = _answer(asked, tiers, pairs, costs)
    return asked.answered(with_one_look(*asked[:4], found))


def _answer(
    asked: Prepared, wanted: int | None, shown: ShownPairs, costs: list[float] | None
) -> RankOfTable:
    question, table, _, pairs = asked[:4]
    names, others = table.names, ~np.eye(len(table.names), dtype=bool)
    level = question.levels(len(names))
    evidence = Evidence(np.zeros(others.shape), question.null)
    evidence.look_at(pairs, others)
    seen = decision.seen_of(evidence.plain, evidence.mean, level.verdict, level.strong)
    board = board_of(seen.over, seen.strong, evidence.mean)
    # Neither is better by the tolerance, if there is one.
    near = (evidence.highest >= level.strong) & (evidence.mean >= question.null)
    is_tied = near & near.T & others & (question.tolerance > 0)
    is_open = ~(seen.strong | seen.strong.T | is_tied | evidence.whole) & others
    refused = contradiction(question, table, seen, level.verdict, others)
    ahead: NextRuns = {}
    if not refused and asked.may_go_on:
        served = _served(question, evidence, seen, board, is_open, wanted)
        ahead = next_runs(question, table, pairs, to_run(question, table, pairs, served))
    answered = RankOfTable(
        delta=question.delta,
        by=question.by,
        kind=question.kind_of_runs,
        tolerance=question.tolerance,
        wanted=wanted,
        options=_options(asked, board, ahead, costs),
        pairs=_pairs(asked, board, seen, is_tied, evidence) if shown == "all" else (),
        pairs_error=float(others.sum() * math.exp(-level.strong)),
        tied=[[names[option] for option in group] for group in tied_groups(is_tied, board.ranking)],
        next_runs=ahead,
        undecided=int(np.triu(is_open).sum()),
        notes=(*asked.notes, *_notes(asked)),
        better=question.better(table),
        of=question.of,
        one_look=question.order_by_lot is not None,
        whole=bool(evidence.whole[others].all()),
        refused=refused,
    )
    if refused:
        return answered.without_tiers()
    if costs is None:
        return answered
    worse = seen.strong.any(0)
    if question.tolerance:
        first, second = np.nonzero(others)
        by_more = pairs.process(first, second, -question.null).highest >= level.strong
        worse = np.isin(np.arange(len(names)), second[by_more])
    left = [option for option in board.ranking.tolist() if not worse[option]]
    return dataclasses.replace(answered, cheapest=names[min(left, key=costs.__getitem__)])


def _notes(asked: Prepared) -> list[str]:
    """By wins an option has as many runs against all others as the one with the fewest."""
    done = progress(asked.table, asked.pairs)
    if asked.question.by == "mean" or done.min() == done.max():
        return []
    fewest = asked.table.names[int(done.argmin())]
    return [f"wins and their intervals are of the first runs, as many as {fewest} has"]


def _served(
    question: Question,
    evidence: Evidence,
    seen: decision.Seen,
    board: Board,
    is_open: BoolArray,
    wanted: int | None,
) -> BoolArray:
    """Pairs to run for, [K, K]: all that are open within a tolerance, else those of a boundary."""
    nothing = np.zeros_like(is_open)
    slack = decision.SHARED_SLACK if question.shared else decision.SLACK
    if wanted is None and question.tolerance:
        tie = np.minimum(evidence.highest, evidence.highest.T)
        nearest = np.maximum(np.maximum(evidence.plain, evidence.plain.T), tie)
        return is_open & (nearest <= nearest.min(where=is_open, initial=np.inf) + slack)
    if wanted is not None and len(board.ends) + 1 >= wanted:
        return nothing
    # The boundary whose weakest pair has the most evidence.
    best, leads = -np.inf, np.zeros(len(nothing), bool)
    for end in np.setdiff1d(np.arange(1, len(leads)), board.ends):
        ahead = np.isin(np.arange(len(leads)), board.ranking[:end])
        lacking = ahead[:, None] & ~ahead & ~seen.over
        is_lost = (lacking & (evidence.whole | seen.over.T)).any()
        weakest = -np.inf if is_lost else seen.highest.min(where=lacking, initial=np.inf)
        if weakest > best:
            best, leads = weakest, ahead
    if not leads.any():
        return nothing
    level = question.levels(len(leads)).verdict
    return decision.in_doubt(seen, leads, level, slack, by_counts=False).served


def _pairs(
    asked: Prepared, board: Board, seen: decision.Seen, is_tied: BoolArray, evidence: Evidence
) -> tuple[RankedPair, ...]:
    """Any two options, in the order of the ranking."""
    question, names, ranking = asked.question, asked.table.names, board.ranking
    first, second = np.triu_indices(len(names), 1)
    first, second = at = ranking[first], ranking[second]
    strong = question.levels(len(names)).strong
    ends, level = intervals(asked.pairs, *at, strong), 1 - 2 * len(first) * math.exp(-strong)
    effects = np.stack([question.effect(x) for x in (evidence.mean[at], *ends)], -1).tolist()
    verdicts = np.select(
        [seen.strong[at], seen.strong.T[at], is_tied[at]], ["better", "worse", "tied"], "?"
    )
    return tuple(
        RankedPair(names[i], names[j], mean, low, high, level, verdict)
        for i, j, (mean, low, high), verdict in zip(*at, effects, verdicts.tolist(), strict=True)
    )


def _options(
    asked: Prepared, board: Board, ahead: NextRuns, costs: list[float] | None
) -> tuple[RankedOption, ...]:
    question, table = asked.question, asked.table
    names = table.names
    is_mean = question.by == "mean"
    padded = scores.padded(asked.columns) if is_mean and table.tasks is None else None
    level = math.log(2 * len(names) / question.delta)  # of both ends of all intervals
    own = question.scores_of(table, *own_scores(asked.pairs, padded, level))
    # Bets on differences do not know the range of scores.
    least, most = (question.low, question.high) if is_mean else (0.0, 1.0)
    own[1:] = np.clip(own[1:], least, most)
    found = []
    for option in board.ranking.tolist():
        mean, low, high = (None if math.isnan(x) else x for x in own[:, option].tolist())
        found.append(
            RankedOption(
                name=names[option],
                runs=len(table.values[option]),
                score=mean,
                low=low,
                high=high,
                level=1 - question.delta,
                tier=int(board.tier[option]) + 1,
                best_rank=int(board.lowest[option]),
                worst_rank=int(board.highest[option]),
                next=number_of(ahead, names[option]),
                cost=None if costs is None else costs[option],
            )
        )
    return tuple(found)
