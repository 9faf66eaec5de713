"""Games of chess and the like: the headers of PGN."""

import re

from jaxrace.data.table import Table, wrong

_HEADER = re.compile(r'\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*')
_NEEDED = ("White", "Black", "Result")


def games_in(argument: str, where: str, text: str) -> Table:
    r"""The players and the result of each game, as columns white, black and result.

    >>> text = '[Event "x"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n1. e4 1-0\n'
    >>> games_in("votes", "'g.pgn'", text).columns
    (['Ann'], ['Bob'], ['1-0'])
    """
    games: list[tuple[int, dict[str, str]]] = []
    is_open = False  # among the headers of a game
    for number, line in enumerate(text.split("\n"), 1):
        found = _HEADER.fullmatch(line.strip())
        if found and not is_open:
            games.append((number, {}))
        if found:
            games[-1][1][found[1]] = re.sub(r"\\(.)", r"\1", found[2])
        is_open = found is not None
    for number, game in games:
        missing = [name for name in _NEEDED if not game.get(name)]
        if missing:
            place = f"{where}, the game in line {number}"
            raise wrong(argument, f"a header [{missing[0]} ...]", place, "none")
    columns = tuple([game[name] for _, game in games] for name in _NEEDED)
    return Table(argument, where, ("white", "black", "result"), columns, [n for n, _ in games])
