"""Candidates against a baseline by games or votes, in Elo: what ``gate`` does with these.

A difference d in [-1, 1] is that of a game, or the mean of two with sides reversed. Axes: C
candidates, n games.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxrace.answers.answer import listed
from jaxrace.core.validation import BadArgument, require_number
from jaxrace.evidence.games import GamePairs, gap_bets
from jaxrace.evidence.levels import FloatArray, IntArray
from jaxrace.evidence.process import lower_ends
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.judging.alike_games import doubt_of, first_doubt
from jaxrace.judging.claims import Want, certain_of, shares
from jaxrace.judging.engine_result import Engine, GateOfGames
from jaxrace.judging.gate_result import CLAIMS, FALLS
from jaxrace.judging.lost_games import (
    ONE_COLOUR,
    doubtful_absence,
    doubtful_failures,
)
from jaxrace.judging.rating.certified import elo_of, games_in_one, games_of
from jaxrace.tables import Votes

_MOST_ELO, _LEAST_GAP = 2_000, 0.01
_NELO = 800 / math.log(10)  # of a mean of one standard deviation: at zero as many as Elo
_OF_SPREAD = 0.1  # the share of the error of an end of nElo that the standard deviation has


def gate_games(
    votes: Votes,
    baseline: str,
    *,
    tolerance: float,
    gap: float | None,
    want: Want,
    errors: tuple[float, float],
    at_most: int | None,
) -> GateOfGames:
    """The answer of ``gate`` to games or votes; ``errors`` are delta and delta_reject.

    Nothing is certain that rests on games which were not played out, or on lost ones.
    """
    require_number("tolerance", tolerance, least=0, below=_MOST_ELO)
    if gap is not None:
        require_number("gap", gap, least=_LEAST_GAP, below=_MOST_ELO)
        if not votes.ordered:
            hint = ": leave out gap (--gap), which needs game by game what came before"
            raise BadArgument("gap", "games in their order", "counts of them", hint)
    require_baseline(baseline, votes.names)
    place = votes.names.index(baseline)
    candidates = [name for name in votes.names if name != baseline]
    if at_most is not None and len(candidates) > at_most:
        raise BadArgument("at_most", f"{len(candidates):,} or more, as so many came", f"{at_most}")
    asked = _Asked(baseline, tolerance, gap, want, errors, at_most or len(candidates))
    found, notes = _judged(votes, asked), list[str]()
    rows = list(found.candidates)
    for option, one in enumerate(rows):
        if one.verdict not in CLAIMS:
            continue
        player, fell = votes.names.index(one.name), one.verdict in FALLS["either"]
        both = player, place
        two = votes.at(np.isin(votes.first, both) & np.isin(votes.second, both))
        two = dataclasses.replace(
            two, unended=tuple(x for x in two.unended if {x.first, x.second} == {*both})
        )
        ahead = np.zeros((len(votes.names),) * 2, bool)
        ahead[both[::-1] if fell else both] = True
        for doubt in filter(None, (doubtful_failures(two), doubtful_absence(two, ahead))):
            again = None if doubt.others is None else _judged(doubt.others, asked, is_told=False)
            other = None if again is None else _named(again, one.name)
            if other is not None and other.verdict == one.verdict:
                continue
            if other is None or doubt.refuses:
                return dataclasses.replace(found.without_verdicts(), refused=doubt.why)
            rows[option] = _less_certain(rows[option], other)
            notes.append(f"not certain yet: {doubt.why}")
    return dataclasses.replace(found, candidates=tuple(rows), notes=(*found.notes, *notes))


def _named(found: GateOfGames, name: str) -> Engine:
    return next(one for one in found.candidates if one.name == name)


def _less_certain(one: Engine, other: Engine) -> Engine:
    """A candidate without a verdict: what is certain of it must be so by other games, too."""
    lows = [
        -math.inf if x is None else x for x in (one.low, other.low, one.nelo_low, other.nelo_low)
    ]
    highs = [
        math.inf if x is None else x for x in (one.high, other.high, one.nelo_high, other.nelo_high)
    ]
    ends = [*map(_known, (min(lows[:2]), max(highs[:2]), min(lows[2:]), max(highs[2:])))]
    low, high, nelo_low, nelo_high = ends
    return dataclasses.replace(
        *(one,),
        **{"low": low, "high": high, "nelo_low": nelo_low, "nelo_high": nelo_high},
        verdict="too few",
        further=other.further,
    )


def require_baseline(baseline: str | None, names: Sequence[str]) -> None:
    """Raise unless it is one of the options."""
    if baseline is None:
        expected = f"the option that the others are compared with, one of {listed(names)}"
        raise BadArgument("baseline", expected, "none")
    if baseline not in names:
        raise BadArgument("baseline", f"one of {listed(names)}", repr(baseline))


class _Asked(NamedTuple):
    """What is asked of games, checked."""

    baseline: str
    tolerance: float
    gap: float | None
    want: Want
    errors: tuple[float, float]
    reserved: int  # candidates that share the errors


def _judged(votes: Votes, asked: _Asked, *, is_told: bool = True) -> GateOfGames:
    """The answer, if all games that were played to their end are there.

    Games that may be are not doubted: those that are told have been.
    """
    baseline, tolerance, gap, want, errors, reserved = asked
    place = votes.names.index(baseline)
    candidates = [name for name in votes.names if name != baseline]
    levels = -np.log(np.outer(errors, shares(len(candidates), reserved)))
    with_baseline = votes.at((votes.first == place) | (votes.second == place))
    games, said, wrong, odd = games_of(with_baseline, float(levels[0, 0]))
    if unused := len(votes.first) - len(with_baseline.first):
        said.append(f"games without {baseline}, which are not used: {unused:,}")
    if wrong:
        raise BadArgument("data", "games or votes", "margins", f": {wrong}")
    if gap is not None:
        likely = mean_of(gap)
        games = dataclasses.replace(games, bets=gap_bets(likely, games.bets), gap=likely)
    first = np.array([votes.names.index(name) for name in candidates])
    second, margin = np.full(len(first), place), mean_of(tolerance)
    found = certain_of(games, first, second, margin, levels)
    mean, common = found.processes[0].mean, found.processes[0].common
    verdicts, further = found.verdicts(want, games.bets.weights)
    ends = found.ends(games, first, second, margin)
    refused = first_doubt(doubt_of(games, float(levels.min())), odd) if is_told else ""
    if len(games.first):
        said += _one_sided(with_baseline, games, place)
    in_one = games_in_one(games, votes)
    if in_one == 2 and not votes.sided:
        said.append("quarters of the points: each result is taken to be that of two games")
    of_spread = normalized(games, first, second, levels, in_one)
    of_elo = np.stack([mean, *ends], 1)  # [C, 3]
    each = zip(candidates, verdicts.tolist(), further.tolist(), strict=True)
    rows = []
    for option, (name, verdict, more) in enumerate(each):
        count = int(common[option])
        elo, low, high = map(elo_of, of_elo[option].tolist())
        nelo, nelo_low, nelo_high = map(_known, of_spread[:, option].tolist())
        row = Engine(
            name=name,
            games=count * in_one,
            results=_counts(games.of_pair(int(first[option]), place), in_one),
            score=(1 + float(mean[option])) / 2 if count else None,
            elo=elo if count else None,
            low=low,
            high=high,
            level=1 - sum(errors),
            nelo=nelo,
            nelo_low=nelo_low,
            nelo_high=nelo_high,
            verdict=verdict,
            further=int(more) * in_one if 0 < more < math.inf else None,
        )
        rows.append(row)
    answered = GateOfGames(
        delta=errors[0],
        delta_reject=errors[1],
        tolerance=tolerance,
        gap=gap,
        wanted=want,
        baseline=baseline,
        candidates=tuple(rows),
        at_most=reserved,
        in_pairs=in_one == 2,
        notes=(*votes.said, *said),
        refused=refused,
    )
    return answered.without_verdicts() if refused else answered


def mean_of(elo: float) -> float:
    """The mean difference of so many Elo: p - (1 - p), p = 1 / (1 + 10^(-Elo / 400)).

    >>> round(mean_of(elo_of(0.25)), 6)
    0.25
    """
    return math.tanh(elo * math.log(10) / 800)


def normalized(
    games: GamePairs, first: IntArray, second: IntArray, levels: FloatArray, in_one: int
) -> FloatArray:
    """Normalized Elo and its interval, [3, C]: 800 / ln 10 m / sigma, m the mean of d.

    sigma is the standard deviation of a game; of ``in_one`` games in one d, the root of that number
    times the standard deviation of d, as fishtest has it. The interval is that of m and one end of
    that of E d^2: m / sqrt(E d^2 - m^2) grows with m, and away from 0 as E d^2 falls. Of the error
    of an end m has nine tenths. If m > 0 only the upper end of E d^2 can be to blame for a lower
    end that is too high, if m <= 0 only the lower one: so one tenth for each will do.
    """
    mean, square = np.zeros((2, len(first)))
    for place, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if len(d := games.of_pair(*pair)):
            mean[place], square[place] = d.mean(), (d**2).mean()
    squares = dataclasses.replace(
        games,
        differences=np.where(np.isin(games.first, second), -1, 1) * (2 * games.differences**2 - 1),
        bets=shared_bets(float(levels.min())),
        gap=0.0,
    )
    of_mean, of_square = levels - math.log(1 - _OF_SPREAD), levels - math.log(_OF_SPREAD)
    found = [_ratio(mean, square, in_one)]
    for side, (one, other) in enumerate(((first, second), (second, first))):
        sign = 1 - 2 * side
        end = sign * lower_ends(games, one, other, of_mean[side])
        upper = sign * end > 0
        ways = np.where(upper, second, first), np.where(upper, first, second)
        square = (1 + np.where(upper, -1, 1) * lower_ends(squares, *ways, of_square[side])) / 2
        found.append(_ratio(end, square, in_one))
    return np.stack(found)


def _ratio(mean: FloatArray, square: FloatArray, in_one: int) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _NELO * mean / np.sqrt(in_one * (square - mean**2).clip(0))


def _one_sided(votes: Votes, games: GamePairs, place: int) -> list[str]:
    """A note on candidates that have games, and no pair of them."""
    met = {*votes.first.tolist(), *votes.second.tolist()} - {place}
    alone = [votes.names[player] for player in sorted(met) if not games.met[player, place]]
    return [f"{ONE_COLOUR}, of {listed(alone)}: more such games do not help"] if alone else []


def _counts(d: FloatArray, in_one: int) -> tuple[int, ...]:
    """How many results there are of each kind, from the worst on; none if there are others."""
    kinds = np.linspace(-1, 1, 1 + 2 * in_one)
    if not np.isin(d, kinds).all():
        return ()
    return tuple(int((d == kind).sum()) for kind in kinds)


def _known(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
