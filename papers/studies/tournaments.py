"""Games until the best of a tournament are certain, by its own rule and by round robin.

Players are apart by so many Elo each, in a random order; a round is ten games of each two.

    python -m papers.studies.tournaments           20 tournaments a line: some minutes
    python -m papers.studies.tournaments 5         5 tournaments a line
"""

import sys

import numpy as np

from jaxrace import Tournament

# Players, Elo between neighbours, the chance of a draw, and how many of the best are wanted.
CASES = ((3, 40, 0.3, 1), (6, 20, 0.5, 1), (6, 40, 0.5, 1), (6, 40, 0.5, 3))
CASES += ((12, 40, 0.5, 1), (6, 40, 0.7, 1))
_BATCH = 5  # games of a match


def play(elo: np.ndarray, draws: float, top: int, rng: np.random.Generator, asked: bool):
    """Games of one tournament, and is its certificate right?"""
    count = len(elo)
    tournament = Tournament(map(str, range(count)), top)
    every = [(str(i), str(j), _BATCH) for i in range(count) for j in range(count) if i != j]
    while tournament.certificate is None:
        for first, second, games in tournament.ask() if asked else every:
            share = 1 / (1 + 10 ** ((elo[int(second)] - elo[int(first)]) / 400))
            u, wins = rng.random(games), share - draws / 2
            tournament.tell(
                first, second, np.where(u < wins, 1, np.where(u < wins + draws, 0.5, 0))
            )
    right = {*map(int, tournament.best)} == {*np.argsort(-elo)[:top].tolist()}
    return tournament.games, right


def main():
    """Print a line for each case: games asked for, those of round robin, wrong ones of each."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for count, gap, draws, top in CASES:
        row = []
        for asked in (True, False):
            rng = np.random.default_rng(0)
            ladder = -gap * np.arange(count, dtype=float)
            found = [play(rng.permutation(ladder), draws, top, rng, asked) for _ in range(number)]
            games = np.array([games for games, _ in found])
            error = games.std(ddof=1) / number**0.5
            row += [f"{games.mean():,.0f} ± {error:,.0f}", sum(not right for _, right in found)]
        print(count, gap, draws, top, *row, flush=True)


if __name__ == "__main__":
    main()
