"""Games of engines as programs write them: which two are of one opening, and who has won."""

import math

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.games import in_rounds
from jaxrace.tables import read_votes

FENS = "r1bqkbnr/pppp1ppp/2n5/4p3 w KQkq -", "rnbqkb1r/pppppppp/5n2/8 w KQkq -"


def pgn(games):
    """Games of (white, black, result, further headers)."""
    return "\n".join(
        "\n".join(
            f'[{name} "{text}"]'
            for name, text in {
                "Event": "e",
                "White": white,
                "Black": black,
                "Result": result,
                **more,
            }.items()
        )
        + f"\n\n1. e4 e5 {result}\n"
        for white, black, result, more in games
    )


def pairs(games, tmp_path):
    (tmp_path / "g.pgn").write_text(pgn(games))
    found = read_votes(tmp_path / "g.pgn").pairs
    return None if found is None else found.tolist()


@pytest.mark.parametrize(
    ("games", "expected"),
    [
        # As fastchess writes them, ended in another order, the last one without its partner.
        (
            [
                *[("x", "y", "1-0", {"Round": "1"}), ("x", "y", "0-1", {"Round": "2"})],
                *[("y", "x", "1-0", {"Round": "2"}), ("y", "x", "1/2-1/2", {"Round": "1"})],
                ("x", "y", "1-0", {"Round": "3"}),
            ],
            [0, 1, 1, 0, -1],
        ),
        # As cutechess-cli and c-chess-cli do; other players of the round are another pair.
        (
            [
                *[("x", "y", "1-0", {"Round": "1.1"}), ("x", "z", "1-0", {"Round": "1.1"})],
                *[("z", "x", "1-0", {"Round": "1.2"}), ("y", "x", "1-0", {"Round": "1.2"})],
            ],
            [0, 1, 1, 0],
        ),
        # Twice the same colours are no pair, nor are two openings of one round.
        (
            [
                *[("x", "y", "1-0", {"Round": "1"}), ("x", "y", "1-0", {"Round": "1"})],
                *[("x", "y", "1-0", {"Round": n}) for n in "234"],
                *[("y", "x", "1-0", {"Round": n}) for n in "234"],
                *[("x", "y", "1-0", {"Round": "5", "FEN": FENS[0]})],
                *[("y", "x", "1-0", {"Round": "5", "FEN": FENS[1]})],
            ],
            [-1, -1, 0, 1, 2, 0, 1, 2, -1, -1],
        ),
        # Four games of a round: by position, else by the name of the opening.
        (
            [
                ("x", "y", "1-0", {"Round": "1", "FEN": FENS[0]}),
                ("y", "x", "1-0", {"Round": "1", "FEN": FENS[1]}),
                ("x", "y", "1-0", {"Round": "1", "FEN": FENS[1]}),
                ("y", "x", "1-0", {"Round": "1", "FEN": FENS[0]}),
                ("x", "y", "1-0", {"Round": "2", "ECO": "B20", "Opening": "Sicilian"}),
                ("x", "y", "1-0", {"Round": "2", "ECO": "C00", "Opening": "French"}),
                ("y", "x", "1-0", {"Round": "2", "ECO": "C00", "Opening": "French"}),
                ("y", "x", "1-0", {"Round": "2", "ECO": "B20", "Opening": "Sicilian"}),
            ],
            [0, 1, 1, 0, 2, 3, 3, 2],
        ),
        # Four games of a round, and nothing that tells two openings apart; rounds of people.
        (
            [(*two, "1-0", {"Round": "1"}) for two in ("xy", "yx", "yx", "xy")],
            None,
        ),
        ([(*two, "1-0", {"Round": n}) for n, two in enumerate(("xy", "yx", "xy"))], None),
        ([(*two, "1-0", {"Round": "-", "ECO": "B20"}) for two in ("xy", "yx")], None),
        ([(*two, "1-0", {}) for two in ("xy", "yx")], None),
    ],
)
def test_games_of_one_opening(games, expected, tmp_path):
    assert pairs(games, tmp_path) == expected


def test_a_pair_is_one_task():
    """Not the k-th of either side: here that would pair a won opening with a lost one."""
    log = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([1.0, -1.0, 1.0, -1.0])
    assert in_rounds(*log)[2].tolist() == [0, 0]
    kept, _, d, left = in_rounds(*log, np.array([0, 1, 1, 0]))
    assert (kept.tolist(), d.tolist(), left) == ([1, 1], [1, -1], 0)
    assert in_rounds(*log, np.array([-1, 0, 0, -1]))[2:][1] == 2


def test_what_pairs_prove(tmp_path):
    """White wins by the opening; x wins both games of every fourth pair, y of none."""
    rng, games = np.random.default_rng(0), []
    for number in range(150):
        is_won = rng.random() < 0.25
        games.append(("x", "y", "1-0", {"Round": f"{number}.1"}))
        games.append(("y", "x", "0-1" if is_won else "1-0", {"Round": f"{number}.2"}))
    (tmp_path / "g.pgn").write_text(pgn(games))
    found = jaxrace.select(tmp_path / "g.pgn")
    assert found.certificate == "dominance"
    assert "two games of one opening with sides reversed count as one" in " ".join(found.notes)
    pair = found.proven[0]
    assert pair.games == 150
    assert pair.score == pytest.approx(0.5 + sum("0-1" in g for g in games) / 300)
    assert math.isclose(sum(one.score for one in found.options), 1, abs_tol=1e-9)
