"""PGN files of matches that are made up: players, results and moves by lot."""

import random

SQUARES = [file + str(rank) for file in "abcdefgh" for rank in range(1, 9)]


def game(white, black, result, number, moves, **headers):
    """One game as a PGN has it."""
    told = {"White": white, "Black": black, "Round": str(number), "Result": result} | headers
    return "".join(f'[{head} "{one}"]\n' for head, one in told.items()) + f"\n{moves} {result}\n\n"


def moves_of(lot, number):
    """So many moves of either side, by lot."""
    two = [(lot.choice(SQUARES), lot.choice(SQUARES)) for _ in range(number)]
    return " ".join(f"{n}. N{one} N{other}" for n, (one, other) in enumerate(two, 1))


def match(seed, rounds, chances=(0.3, 0.4, 0.3), length=40):
    """Two games of an opening with sides reversed in each round, as (White, Black, result, ...).

    ``chances`` are those of new to win, draw and lose.
    """
    lot, found = random.Random(seed), []
    for number in range(1, rounds + 1):
        for white, black, ends in (
            ("new", "old", ("1-0", "1/2-1/2", "0-1")),
            ("old", "new", ("0-1", "1/2-1/2", "1-0")),
        ):
            (result,) = lot.choices(ends, chances)
            found.append((white, black, result, number, moves_of(lot, length)))
    return found


def has_lost(name, one):
    """Has a player lost a game?"""
    return one[2] == ("0-1" if one[0] == name else "1-0")


def write(path, games, endings=None):
    """Write a PGN, perhaps with how each game ended."""
    ends = [{}] * len(games) if endings is None else [{"Termination": one} for one in endings]
    path.write_text("".join(game(*one, **how) for one, how in zip(games, ends, strict=True)))
    return path
