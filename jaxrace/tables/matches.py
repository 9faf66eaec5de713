"""Games of two as chess programs leave them: PGN, and what they print. Axes: n games."""

import dataclasses
import re
from collections.abc import Mapping, Sequence

import numpy as np

from jaxrace.tables.copies import COPIES, ENDS, digests
from jaxrace.tables.endings import ending_of, ending_said
from jaxrace.tables.files import File
from jaxrace.tables.sides import PENTANOMIAL
from jaxrace.tables.table import Table

_HEADER = re.compile(r'\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*')
_NEEDED = ("White", "Black", "Result")
_OPENINGS, _ENDED = ("Round", "FEN", "ECO", "Opening"), "Termination"
_UNKNOWN = ("", "?", "-", "None")

_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".pgn")  # not what a program prints
_MATCH = re.compile(r"(.+) \([^()]*,.*\)")  # and how it was played
_GAME = re.compile(r"Finished game (\d+) \((.+)\): (1-0|0-1|1/2-1/2|\*)(?:\s*\{(.*)\})?")
_SCORE = re.compile(r"Score of (.+): (\d+) - (\d+) - (\d+)")
_RESULTS = re.compile(r"Results of (.+):\s*$")
_COUNTS = re.compile(r"Games: \d+, Wins: (\d+), Losses: (\d+), Draws: (\d+)")
_PAIRS = re.compile(r"Ptnml\(0-2\): \[(\d+), (\d+), (\d+), (\d+), (\d+)\]")

_PAIRS_HEAD = re.compile(r"(?:ptnml|penta|pentanomial)(?:\(0-2\))?", re.IGNORECASE)
_PAIRS_CELL = re.compile(r"\[?" + r"[, ]\s*".join([r"(\d+)"] * 5) + r"\]?")


def games(file: File) -> Table | None:
    """A PGN file as columns white, black, result; round, fen, ... where it has them."""
    if file.ending != ".pgn":
        return None
    found: list[tuple[int, dict[str, str]]] = []
    moves: list[str] = []  # of each game, as text
    is_open = False  # among the headers of a game
    for number, line in enumerate(file.text.split("\n"), 1):
        header = _HEADER.fullmatch(line.strip())
        if header and not is_open:
            found.append((number, {}))
            moves.append("")
        if header:
            found[-1][1][header[1]] = re.sub(r"\\(.)", r"\1", header[2])
        elif moves:
            moves[-1] += line.strip() + " "
        is_open = header is not None
    moves = [text.strip() for text in moves]
    ends = [_end_of(text, game) for text, (_, game) in zip(moves, found, strict=True)]
    said, are_ended = list[str](), any(ends[:-1])
    # The rest of a header; or no moves, or no result after them, where others have some: there are
    # files of headers alone, and programs that write no result below them.
    if len(moves) > 1 and (
        moves[-1].startswith("[")
        or (not ends[-1] and (are_ended or (not moves[-1] and any(moves))))
    ):
        number, _ = found.pop()
        said.append(f"the last game, in line {number}, is cut off, and is left out")
    open_ended = sum(not end for end in ends[: len(found)])
    if are_ended and open_ended:
        said.append(f"games whose moves do not end with their result: {open_ended:,}; each counts")
    for number, game in found:
        for name in _NEEDED:
            if not game.get(name):
                at = f", the game in line {number}"
                raise file.wrong(f"a header [{name} ...]", "none", at=at)
    for (number, game), end in zip(found, ends, strict=False):
        if end in ENDS and game["Result"] in ENDS and end != game["Result"]:
            at, got = f", the game in line {number}", f"{end} after its moves"
            raise file.wrong(f"the result {game['Result']} of its header", got, at=at)
    for (_, game), text in zip(found, moves, strict=False):
        if not ending_of(game.get(_ENDED, "")) and (ending := ending_said(text)):
            game[_ENDED] = ending
    also = [name for name in (*_OPENINGS, _ENDED) if any(name in game for _, game in found)]
    names = (*_NEEDED, *also)
    columns = tuple([game.get(name, "") for _, game in found] for name in names)
    copies = [digests(game, text) for (_, game), text in zip(found, moves, strict=False)]
    columns += tuple(zip(*copies, strict=True)) if copies else ((), ())
    heads, lines = (*map(str.lower, names), *COPIES), [number for number, _ in found]
    return Table(file.argument, file.where, heads, columns, lines, said=(*said,))


def _end_of(moves: str, game: Mapping[str, str]) -> str:
    """The result after the moves of a game, and perhaps a comment; "" if there is none."""
    last = re.sub(r"\s*\{[^{}]*\}$", "", moves).split()[-1:]
    return last[0] if last and last[0] in (*ENDS, "*", game.get("Result")) else ""


def match_log(file: File) -> Table | None:
    """What cutechess-cli, fastchess or c-chess-cli print: each game that has ended, else totals."""
    if file.ending in _TABLES or not any(
        mark in file.text for mark in ("Finished game ", "Score of ", "Results of ")
    ):
        return None
    ended: list[tuple[int, str, str, str, str, str]] = []  # line, players, result, pair, how
    totals: dict[tuple[str, str], tuple[int, dict[int, list[int]]]] = {}
    seen: set[int] = set()
    run, players = 0, ("", "")
    for number, line in enumerate(file.text.split("\n"), 1):
        if game := _GAME.search(line):
            place, players = int(game[1]), _players(file, game[2], number)
            if place in seen:  # another match, or the same one gone on
                run, seen = run + 1, set()
            seen.add(place)
            ended.append((number, *players, game[3], f"{run}/{(place + 1) // 2}", game[4] or ""))
        elif score := _SCORE.search(line):
            players = _players(file, score[1], number)
            totals[players] = number, {3: [*map(int, score.groups()[1:])]}
        elif results := _RESULTS.search(line):
            match = _MATCH.fullmatch(results[1])
            players = _players(file, match[1] if match else results[1], number)
        elif found := _COUNTS.search(line) or _PAIRS.search(line):
            counts = [*map(int, found.groups())]
            kept = totals.get(players, (0, {}))[1] if len(counts) == 5 else {}
            totals[players] = number, {**kept, len(counts): counts}
    if not (ended or totals):
        return None
    _require_alike(file, ended, totals)
    if len(ended) >= sum(sum(counts.get(3, ())) for _, counts in totals.values()):
        lines, *columns = zip(*ended, strict=True)
        said = (
            "games as they ended; numbers 2n - 1 and 2n are pairs, as -games 2 -repeat plays them"
        )
        heads = "white", "black", "result", "round", "termination"
        return Table(file.argument, file.where, heads, tuple(columns), [*lines], said=(said,))
    size = 5 if all(sum(counts.get(5, ())) for _, counts in totals.values()) else 3
    heads, what = ("wins_a", "wins_b", "draws"), "the order of games, and which were pairs, are"
    if size == 5:
        heads, what = PENTANOMIAL, "each pair of games counts as one comparison; their order is"
    rows = [(*players, *counts[size]) for players, (_, counts) in totals.items()]
    lines = [number for number, _ in totals.values()]
    said = f"totals alone: {what} unknown"
    columns = tuple(zip(*rows, strict=True))
    heads = "player_a", "player_b", *heads
    return Table(file.argument, file.where, heads, columns, lines, said=(said,))


def parted_pairs(table: Table) -> Table:
    """The same table, with counts of pairs of games that are in one cell in five columns.

    >>> heads, cells = ("engine1", "engine2", "Ptnml"), (["a"], ["b"], ["[8, 65, 142, 93, 22]"])
    >>> parted_pairs(Table("table", "a table", heads, cells, [1])).heads[2:]
    ('ptnml_0', 'ptnml_1', 'ptnml_2', 'ptnml_3', 'ptnml_4')
    """
    for place, (head, cells) in enumerate(zip(table.heads, table.columns, strict=True)):
        if _PAIRS_HEAD.fullmatch(head) and not {*PENTANOMIAL} & {*table.heads}:
            found = [_PAIRS_CELL.fullmatch(str(cell).strip()) for cell in cells]
            counts = [[*map(int, one.groups())] for one in found if one]
            if counts and len(counts) == len(cells):
                own = tuple(zip(*counts, strict=True))
                heads = *table.heads[:place], *PENTANOMIAL, *table.heads[place + 1 :]
                columns = *table.columns[:place], *own, *table.columns[place + 1 :]
                return dataclasses.replace(table, heads=heads, columns=columns)
    return table


def _players(file: File, text: str, line: int) -> tuple[str, str]:
    names = text.split(" vs ")
    if len(names) != 2:
        raise file.wrong("two names, 'A vs B',", repr(text), at=f", line {line}")
    return names[0], names[1]


def _require_alike(
    file: File,
    ended: Sequence[tuple[int, str, str, str, str, str]],
    totals: Mapping[tuple[str, str], tuple[int, Mapping[int, Sequence[int]]]],
) -> None:
    """Raise unless the games of two make up their score, where as many are listed.

    And unless pairs of games have the points of the games, but for some that are in no whole pair.
    """
    listed: dict[tuple[str, str], list[int]] = {players: [0, 0, 0] for players in totals}
    for _, white, black, result, *_ in ended:
        place = (*ENDS, "*").index(result)
        for players, at in (((white, black), place), ((black, white), (1, 0, 2, 3)[place])):
            if players in listed and at < 3:
                listed[players][at] += 1
    for players, (line, counts) in totals.items():
        own, told = listed[players], [*counts.get(3, ())]
        if sum(own) == sum(told) and own != told:
            expected = f"{own} wins, losses and draws of {players[0]!r}, as its games say,"
            raise file.wrong(expected, str(told), at=f", line {line}")
        if told and (pairs := counts.get(5)):
            of_games = told[0] + told[2] / 2
            of_pairs = sum(half * number / 2 for half, number in enumerate(pairs))
            if not 0 <= of_games - of_pairs <= sum(told) - 2 * sum(pairs):
                what = f"{sum(told):,} games with {of_games:g} points"
                expected = f"pairs of games (Ptnml) that make up {what} of {players[0]!r}"
                got = f"{sum(pairs):,} with {of_pairs:g} points"
                raise file.wrong(expected, got, at=f", line {line}")


def pairs_of_games(
    table: Table, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray | None, list[str]]:
    """``labelled_pairs``, by rounds or else by FEN alone; None, and a note, if most have none."""
    named, most = {head.lower(): head for head in table.heads}, 0
    for by_round in (True, False) if "fen" in named else (True,):
        labels = labelled_pairs(table, first, second, by_round=by_round)
        number = 0 if labels is None else int((labels >= 0).sum())
        if 2 * number > len(first):
            if by_round:
                return labels, []
            told = "round" not in named
            return labels, [] if told else ["pairs of games by FEN: each Round is of one game"]
        most = max(number, most)
    if most:
        said = (
            f"labels of pairs, such as rounds, pair only {most:,} of {len(first):,} games: not "
            "used, so games of two are paired as they come; labels that pair more than half of the "
            "games are used, and then earlier pairs change"
        )
        return None, [said]
    games = [*zip(first.tolist(), second.tolist(), strict=True)]
    if not {"white", "black"} <= {*named} or {*games}.isdisjoint((j, i) for i, j in games):
        return None, []
    rounds = table.labels(named["round"]) if "round" in named else [""] * len(games)
    met = {(*sorted(two), of) for two, of in zip(games, rounds, strict=True)}
    once = (
        "each Round occurs once" if len(met) == len(games) else "neither Round nor FEN tells pairs"
    )
    fens = [fen for fen in table.labels(named["fen"]) if fen] if "fen" in named else []
    if 2 * len(fens) > len(games) and len({*fens}) == len(fens):
        once = (
            f"each of {len(fens):,} FENs was played once, with one colour: better positions may be "
            "all there is to a lead; play each twice (-repeat)"
        )
    return None, [f"pairs by order of games: openings not matched, as {once}"]


def labelled_pairs(
    table: Table, first: np.ndarray, second: np.ndarray, *, by_round: bool = True
) -> np.ndarray | None:
    """The two games of one opening, sides reversed, that each row is of: int64 [n], -1 for none.

    They are of one round, such as 12, or 12.1 and 12.2, and of one FEN. Where a round has more than
    one game of either side and no FEN, they are of one ECO code and opening there, or of none. None
    if the table has no such columns. Without ``by_round`` they are of one FEN, the k-th with i
    first and the k-th with j first: the pairs of earlier games stay what they are.
    """
    named = {head.lower(): head for head in table.heads}
    if not {"round", "fen"} & {*named}:
        return None
    rounds, fens, codes, openings = (
        table.labels(named[name.lower()]) if name.lower() in named else [""] * len(table.lines)
        for name in _OPENINGS
    )
    groups: dict[tuple[object, ...], list[int]] = {}
    players = zip(first.tolist(), second.tolist(), strict=True)
    for row, (two, of_round, fen) in enumerate(zip(players, rounds, fens, strict=True)):
        known = of_round.split(".")[0] if by_round and of_round not in _UNKNOWN else ""
        if known or fen:
            groups.setdefault((*sorted(two), known, fen), []).append(row)
    found, number = np.full(len(first), -1), 0
    for (low, *_, fen), rows in groups.items():
        named_alike: dict[tuple[str, str], list[int]] = {}
        is_clear = fen or len(rows) <= 2
        for row in rows:
            called = ("", "") if is_clear else (codes[row], openings[row])
            named_alike.setdefault(called, []).append(row)
        for alike in named_alike.values():
            sides = [[row for row in alike if (first[row] == low) == own] for own in (True, False)]
            if fen or (len(alike) == 2 and len(sides[0]) == 1):
                for pair in zip(*sides, strict=False):
                    found[list(pair)] = number
                    number += 1
    return found
