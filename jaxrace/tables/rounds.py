"""Rounds of games that are not there, by the numbers of those that are. Axes: n games."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxrace.tables.table import Table

_FEWEST = 8  # rounds of two, from which on it is known how far apart they are
_LONGEST = 30  # steps; after a longer one another match begins
_LATEST = 100  # steps by which a game may end after others; later it is of another match
# A share of the rounds, of which the step is to be known; the second of rounds of one game:
# those of a league have none.
_OFTEN, _OFTEN_ALONE = 0.25, 0.5
_AT_ONCE, _SELDOM = 8, 0.05  # steps that one game may take longer than others; of the rounds
_MOST_NOTED = 10_000  # rounds of one leap
_MOST_DIGITS = 7  # else it is a date
_SHOWN = 5


class Missing(NamedTuple):
    """Rounds that are not there."""

    games: list[tuple[int, int, int, int, int]]  # place, first, second, pair and round of each
    said: list[str]  # notes


def missing_rounds(
    table: Table, first: np.ndarray, second: np.ndarray, pairs: np.ndarray | None
) -> Missing:
    """Pairs of games of rounds that are not there, and notes; ``pairs`` as in ``Votes``.

    The rounds of two players are mostly one step apart: 1, or more where those between are of
    others. So they lack what is on the way from one to the next, and from 1 to the first, if that
    is at most 30 steps: else another match begins. Where most of their rounds are of nobody else,
    as numbers of all pairs of a tournament are, they do not lack those of others. Where each round
    is of one game, two of these are a pair. Of others, as of seasons of a league, nothing is known.
    """
    named, found = {head.lower(): head for head in table.heads}, Missing([], [])
    if "round" not in named:
        return found
    told: dict[tuple[int, int, str], list[tuple[int, int]]] = {}  # round and row of each game
    players = zip(first.tolist(), second.tolist(), strict=True)
    for row, ((i, j), label) in enumerate(zip(players, table.labels(named["round"]), strict=True)):
        match, _, number = label.split(".")[0].rpartition("/")
        if number.isdecimal() and len(number) <= _MOST_DIGITS:
            told.setdefault((min(i, j), max(i, j), match), []).append((int(number), row))
    met = Counter((match, n) for (*_, match), own in told.items() for n in {n for n, _ in own})
    lost, alone, pair = list[int](), list[int](), 0 if pairs is None else int(pairs.max()) + 1
    for (i, j, match), own in told.items():
        rounds = {number for number, _ in own}
        if len(rounds) < _FEWEST:
            continue
        steps = Counter(high - low for low, high in itertools.pairwise(sorted(rounds)))
        step = min(steps, key=lambda step: (-steps[step], step))
        of_two = pairs is not None and _are_pairs(own, pairs)
        if steps[step] < (_OFTEN if of_two else _OFTEN_ALONE) * len(rounds):
            continue
        are_shared = 2 * sum(met[match, number] > 1 for number in rounds) > len(rounds)
        lacking = [
            (place, number)
            for place, number in _on_the_way(own, step, 1 + of_two)
            if are_shared or met[match, number] == (number in rounds)
        ]
        if not (of_two or (len(own) == len(rounds) and _go_up(own, step))):
            continue
        alone += [number for place, number in lacking if place < 0]
        known = [game for game in lacking if game[0] >= 0]
        if len(known) % 2 and not of_two:
            alone.append(known.pop()[1])
        lost += [number for _, number in known]
        two = (known, known) if of_two else (known[::2], known[1::2])
        for one, other in zip(*two, strict=True):
            found.games.append((one[0], i, j, pair, one[1]))
            found.games.append((other[0], j, i, pair, other[1]))
            pair += 1
    found.games.sort(key=lambda game: game[0])
    for numbers, then in (
        (lost, "a verdict must stand if who is ahead has lost their games"),
        (alone, "were their games left out, nothing here is certain"),
    ):
        if numbers:
            found.said.append(f"rounds that are not there: {rounds_in_words(numbers)}; {then}")
    return found


def rounds_in_words(rounds: Sequence[int]) -> str:
    """How many, and the first ones.

    >>> rounds_in_words([7, 8, 9])
    '3 (7, 8, 9)'
    """
    different = sorted({*rounds})
    shown = ", ".join(f"{number}" for number in different[:_SHOWN])
    return f"{len(rounds):,} ({shown}{', ...' * (len(different) > _SHOWN)})"


def _on_the_way(own: list[tuple[int, int]], step: int, games: int) -> list[tuple[int, int]]:
    """Rounds between those of two, and its place: -1 of one before what may be another match.

    Another match begins after a leap or a fall, also where a round has its ``games`` and more come.
    """
    found, last, count = list[tuple[int, int]](), dict[int, int](), Counter[int]()

    def close() -> None:
        rounds = sorted(last)
        if rounds[0] <= _LONGEST * step:
            earlier = range(rounds[0] - step, 0, -step)
            found.extend((min(last.values()), number) for number in earlier[::-1])
        for low, high in itertools.pairwise(rounds):
            found.extend((last[low] + 1, number) for number in range(low + step, high, step))

    top = own[0][0]
    for number, row in _without_strays(own, _LONGEST * step):
        latest = _LONGEST if count[number] >= games else _LATEST
        if not -latest * step <= number - top <= _LONGEST * step:
            close()
            last, count = {}, Counter()
            if 0 < number - top <= _MOST_NOTED * step:
                found.extend((-1, between) for between in range(top + step, number, step))
            top = number
        last[number] = row
        count[number] += 1
        top = max(top, number)
    close()
    return found


def _without_strays(own: list[tuple[int, int]], far: int) -> list[tuple[int, int]]:
    """Without rounds that are far from those before and after, which are near each other."""
    parts = [[*part] for _, part in itertools.groupby(own, key=lambda game: game[0])]
    numbers = [part[0][0] for part in parts]
    kept = parts[:1]
    for place, part in enumerate(parts[1:-1], 1):
        before, number, after = numbers[place - 1 : place + 2]
        is_stray = min(abs(number - before), abs(number - after)) > far >= abs(before - after)
        kept += [] if is_stray else [part]
    return [*itertools.chain(*kept, *parts[1:][-1:])]


def _go_up(own: list[tuple[int, int]], step: int) -> bool:
    """Do rounds go up but for games at once, as those of one match do, not of many seasons?"""
    falls = sum(low - high > _AT_ONCE * step for (low, _), (high, _) in itertools.pairwise(own))
    return falls <= _SELDOM * len(own)


def _are_pairs(own: list[tuple[int, int]], pairs: np.ndarray) -> bool:
    """Are two games of one pair in most rounds?"""
    labels: dict[int, list[int]] = {}
    for number, row in own:
        labels.setdefault(number, []).append(int(pairs[row]))
    of_two = [max(Counter(x for x in one if x >= 0).values(), default=0) for one in labels.values()]
    return 2 * sum(count > 1 for count in of_two) > len(labels)
