"""What games or votes prove by themselves, without a model: certificates, tiers, and pairs.

Better is: expects more than half of the points against another option. Axes: K options, P pairs.
"""

import dataclasses
import itertools
import math
from shlex import quote
from typing import NamedTuple

import numpy as np

from jaxrace.evidence import decision, table_decision
from jaxrace.evidence.boundaries import board_levels, board_of
from jaxrace.evidence.games import GamePairs, balanced, by_item, in_mirrors, in_rounds, lower_first
from jaxrace.evidence.levels import FloatArray, levels
from jaxrace.evidence.process import Evidence, confidence, intervals
from jaxrace.evidence.table_decision import Certificate
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.alike_games import (
    doubt_about_copies,
    doubt_about_judges,
    doubt_of,
    first_doubt,
)
from jaxrace.judging.lost_games import (
    doubtful_absence,
    doubtful_failures,
    failures_said,
    has_one_side,
    one_colour,
    sides_said,
)
from jaxrace.tables import Votes

_MOST_PAIRS = 20  # with an interval
_NO_RANGE = (
    "nothing is certified: margins have no known range; a column winner in their place proves who "
    "wins more often, and jaxrace.Tournament(margin=) takes a range"
)


@dataclasses.dataclass(frozen=True)
class ProvenPair:
    """One of those that lead against one of the others."""

    better: str
    worse: str
    games: int  # that counted; two with sides reversed are two
    score: float  # mean share of the points
    low: float  # of its expectation, at all looks together
    high: float
    level: float  # that of the interval, by itself
    elo: float | None  # of the score; None of 0 or 1
    certain: bool  # is the evidence enough?


class Proof(NamedTuple):
    """What the games alone say of the best k."""

    certificate: Certificate | None
    leads: list[str]  # by the games, best first
    possible: list[str]  # who may be among the best
    tiers: list[list[str]]
    proven: tuple[ProvenPair, ...]  # across the boundary that met, the closest first
    proven_confidence: float  # of the interval of each pair
    notes: tuple[str, ...]
    refused: str  # why nothing can be, as data contradict what is assumed; nothing if not


class Results(NamedTuple):
    """What is taken as one result each, for what is proven."""

    games: GamePairs
    said: list[str]
    wrong: str  # why nothing can be proven by them; nothing if it can
    refused: str  # why they are no results to prove anything by, whatever they say; nothing if not


def games_of(votes: Votes, level: float) -> Results:
    """The games of a log: one result of each item, and of two with sides reversed.

    The latter where a side may be an advantage.
    """
    d, wrong = votes.margins, ""
    if votes.kind == "margin" and not np.isin(d, (-1, 0, 1)).all():
        d, wrong = d / np.abs(d).max(), _NO_RANGE
    first, second, said = votes.first.astype(int), votes.second.astype(int), []
    pairs, judges, items = votes.pairs, votes.judges, votes.items
    alike = f"with the same {votes.cluster!r}" if votes.cluster else "about the same item"
    is_once = items is None or len(np.unique(items[items >= 0])) == (items >= 0).sum()
    if votes.ordered and not votes.sided and is_once and not votes.cluster:
        mirrors = in_mirrors(first, second, d)
        if mirrors is not None:
            items, how = mirrors
            alike = f"that mirror each other ({how})"
    if items is not None:
        rows, d = by_item(first, second, d, items, sided=votes.sided)
        first, second = first[rows], second[rows]
        pairs, judges = (None if x is None else x[rows] for x in (pairs, judges))
        if len(rows) < len(items):
            said.append(
                f"for what is proven, votes of two {alike} count as one, by their mean: "
                f"{len(items):,} votes are {len(rows):,} results; the estimate takes each"
            )
    refused = votes.refused
    if votes.ordered and not refused:
        refused = doubt_about_copies(first, second, d)
        if not (refused or votes.sided):  # copies may be reversed
            refused = doubt_about_copies(*lower_first(first, second, d))
    if judges is not None:
        said.append(_judges_said(votes))
        if not (refused or wrong or votes.cluster):
            games = GamePairs(len(votes.names), first, second, d, shared_bets(level))
            refused = doubt_about_judges(games, judges, votes.judged_by)
    if votes.sided:
        if votes.ordered:
            first, second, d, left = in_rounds(first, second, d, pairs)
            two = "two games" if pairs is None else "two games of one opening"
            said.append(f"for what is proven, {two} with sides reversed count as one")
            more = "games without their reverse, left out there"
        else:
            kept = balanced(first, second, d)
            left = len(d) - len(kept)
            first, second, d = first[kept], second[kept], d[kept]
            said.append("for what is proven, each of two is first in as many games as the other")
            more = "further games, left out there by lot"
        sides = sides_said(votes) if left and votes.items is None else ""
        said += [f"{more}: {left:,}{sides}"] if left else []
        if not len(first) and not refused and has_one_side(votes):
            refused = one_colour(votes)
        elif not len(first):
            said.append(one_colour(votes))
    elif votes.ordered and has_one_side(votes) and not (votes.margins > 0).all():
        said.append(
            "the same one is nearly always first: if that is where it was shown, a judge who likes "
            "one side is not told from a better option; show each pair both ways"
        )
    said += failures_said(votes)
    games = GamePairs(len(votes.names), first, second, d, shared_bets(level), votes.ordered)
    return Results(games, said, wrong, refused)


def _judges_said(votes: Votes) -> str:
    """Whose votes these are, where judges are named who have voted several times."""
    assert votes.judges is not None
    head, number = votes.judged_by, len(np.unique(votes.judges[votes.judges >= 0]))
    if votes.cluster == head:
        return f"each of {number:,} judges counts once: the votes of other judges are as likely"
    said = f"votes of {number:,} judges, by column {head!r}: what is certain is about these judges"
    how = f"; --cluster-column {quote(head)} counts each once, for what holds of others as well"
    return said + how * (not votes.cluster)


def games_in_one(games: GamePairs, votes: Votes) -> int:
    """How many games a result is: two with sides reversed, or one."""
    d = games.differences
    of_two = np.isin(d, np.linspace(-1, 1, 5)).all() and (np.abs(d) == 0.5).any()
    return 2 if (of_two and votes.items is None) or (votes.sided and votes.ordered) else 1


def prove(votes: Votes, top: int, delta: float) -> Proof:
    """Certify the best ``top``, cut the list into tiers, and say who may be among the best.

    Nothing is certain that rests on games which were not played out, or on lost ones.
    """
    proof, mean = _proof(votes, top, delta)
    if proof.refused:
        return proof
    for doubt in filter(None, (doubtful_failures(votes), doubtful_absence(votes, mean > 0))):
        again = None if doubt.others is None else _proof(doubt.others, top, delta, is_told=False)[0]
        if again is not None and _holds(proof, again):
            continue
        if doubt.refuses and _holds(proof, _unproven(proof)):
            continue  # nothing is claimed that could rest on it
        if doubt.refuses:
            return proof._replace(refused=doubt.why)
        proof = _unproven(proof)._replace(notes=(*proof.notes, f"not certain yet: {doubt.why}"))
    return proof


def _unproven(proof: Proof) -> Proof:
    """The same in which nothing is certain."""
    options = [name for tier in proof.tiers for name in tier]
    return proof._replace(certificate=None, possible=options, tiers=[options], proven=())


def _holds(proof: Proof, other: Proof) -> bool:
    """Is all that is certain in a proof certain in another one, too?"""
    if proof.certificate and not (other.certificate and {*other.leads} == {*proof.leads}):
        return False
    tier = {name: place for place, names in enumerate(other.tiers) for name in names}
    kept = all(
        max(tier[name] for name in above) < min(tier[name] for name in below)
        for above, below in itertools.pairwise(proof.tiers)
    )
    sides = {(x.better, x.worse): _side_of(x) for x in other.proven}
    sure = all(_side_of(x) in (0, sides.get((x.better, x.worse))) for x in proof.proven)
    return kept and sure and {*other.possible} <= {*proof.possible}


def _side_of(pair: ProvenPair) -> int:
    """1 if the interval is above one half, -1 if it is below, else 0."""
    return int(pair.low > 0.5) - int(pair.high < 0.5)


def _proof(
    votes: Votes, top: int, delta: float, *, is_told: bool = True
) -> tuple[Proof, FloatArray]:
    """What the games say if they are all, and the mean of each two, [K, K].

    Games that may be are not doubted: those that are told have been.
    """
    names, count = np.array(votes.names), len(votes.names)
    level, of_tiers = levels("wins", count, top, delta), board_levels("wins", count, delta)
    games, said, wrong, odd = games_of(votes, level.verdict)
    evidence = Evidence(np.zeros((count, count)), 0.0)
    evidence.look_at(games, games.met > 0)
    highest, mean = evidence.plain, evidence.mean
    said += [wrong] if wrong else []
    refused = ""
    if is_told and not wrong:
        refused = first_doubt(doubt_of(games, level.verdict), odd)
    if wrong or refused:
        highest = np.full_like(highest, -np.inf)
    seen = decision.seen_of(highest, mean, level.verdict, level.strong)
    found = table_decision.decide(seen, top, level.verdict, decision.SHARED_SLACK)
    beats = decision.seen_of(highest, mean, level.possible, level.possible).over
    possible = found.leads if found.certificate else decision.perhaps_best(beats, top)[0]
    if found.certificate == "counts":
        possible = possible | decision.perhaps_tied(seen.strong, found.leads)
    of_board = decision.seen_of(highest, mean, of_tiers.verdict, of_tiers.strong)
    board = board_of(of_board.over, of_board.strong, mean)
    proof = Proof(
        found.certificate,
        names[found.ranking[:top]].tolist(),
        names[[option for option in found.ranking if possible[option]]].tolist(),
        [names[part].tolist() for part in np.split(board.ranking, board.ends)],
        () if wrong or refused else _pairs(votes, games, found, seen, level.verdict),
        confidence(level.verdict),
        tuple(said),
        refused,
    )
    return proof, mean


def _pairs(
    votes: Votes,
    games: GamePairs,
    found: table_decision.TableDecision,
    seen: decision.Seen,
    level: float,
) -> tuple[ProvenPair, ...]:
    cross = found.leads[:, None] & ~found.leads[None, :] & (games.met > 0)
    first, second = np.nonzero(cross)
    order = np.argsort(seen.mean[first, second], kind="stable")[:_MOST_PAIRS]
    first, second = first[order], second[order]
    low, high = intervals(games, first, second, level)
    in_one = games_in_one(games, votes)
    return tuple(
        ProvenPair(
            better=votes.names[i],
            worse=votes.names[j],
            games=int(games.met[i, j]) * in_one,
            score=float((1 + seen.mean[i, j]) / 2),
            low=float((1 + a) / 2),
            high=float((1 + b) / 2),
            level=confidence(level),
            elo=elo_of(float(seen.mean[i, j])),
            certain=bool(seen.over[i, j]),
        )
        for i, j, a, b in zip(first.tolist(), second.tolist(), low, high, strict=True)
    )


def elo_of(mean: float) -> float | None:
    """Elo of a mean difference in (-1, 1): 400 log10(p / (1 - p)), p the share of the points.

    >>> round(elo_of(0.5), 1), elo_of(1.0)
    (190.8, None)
    """
    return 400 * math.log10((1 + mean) / (1 - mean)) if abs(mean) < 1 else None
