"""Games that are there twice, move by move or in counts, in one file or in several."""

import random

import numpy as np
import pytest
from game_files import game, match, moves_of, write

import jaxrace
from jaxrace.tables import read_votes
from jaxrace.tables.so_far import held_rows


def again(games):
    """The same games with other headers."""
    return "".join(
        game(
            *(white, black, end, 900 + number),
            moves.replace("5. ", "5. {0.31/12 0.5s} "),
            Date="2026.11.28",
        )
        for white, black, end, number, moves in games
    )


@pytest.mark.parametrize("judge", [jaxrace.select, lambda x: jaxrace.gate(x, baseline="old")])
@pytest.mark.parametrize("number", [1, 14, 120])
def test_copies_with_other_headers_are_refused(judge, number, tmp_path):
    """Of few or all games, below each other or in two files of a folder."""
    games = match(1, 60)
    write(tmp_path / "a.pgn", games)
    assert judge(tmp_path).refused == ""
    text = (tmp_path / "a.pgn").read_text() + again(games[:number])
    (tmp_path / "both").mkdir()
    (tmp_path / "both/one.pgn").write_text(text)
    found = judge(tmp_path / "both/one.pgn")
    assert (found.headline(), found.status) == ("DATA REFUSED: the same games twice", 4)
    assert f"{number} games, move by move, such as those in line" in found.meaning()
    (tmp_path / "b.pgn").write_text(again(games[:number]))
    (tmp_path / "both/one.pgn").unlink()
    (tmp_path / "both").rmdir()
    found = judge(tmp_path)
    assert found.status == 4
    assert "line 1 of 'a.pgn' and line 1 of 'b.pgn'" in found.meaning()
    (tmp_path / "b.pgn").write_bytes((tmp_path / "a.pgn").read_bytes())
    found = judge(tmp_path)
    assert found.status == 4
    assert "b.pgn' are alike: leave one out" in found.meaning()


def test_short_games_may_agree(tmp_path):
    """Draws that are forced, with the same moves: a few are said, many are refused."""
    lot = random.Random(0)
    draw, games = moves_of(lot, 12), match(2, 100)
    for number in (10, 31, 50, 121):
        games[number] = (*games[number][:2], "1/2-1/2", games[number][3], draw)
    votes = read_votes(write(tmp_path / "t.pgn", games))
    assert len(votes.first) == 200
    assert "short games with the moves of an earlier one, which may be chance: 2; each counts" in (
        votes.said
    )
    short = match(3, 100, length=20)
    write(tmp_path / "t.pgn", [*short, *[(*one[:3], 900, one[4]) for one in short]])
    refused = read_votes(tmp_path / "t.pgn").refused
    assert refused.startswith("the same games twice: 200 games, move by move")


def test_the_same_moves_of_others_or_from_another_start_are_other_games(tmp_path):
    moves = moves_of(random.Random(0), 40)
    games = [
        game("a", "b", "1-0", 1, moves),
        game("b", "a", "1-0", 1, moves),
        game("a", "c", "1-0", 2, moves),
        game("a", "b", "1-0", 3, moves, FEN="4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
    ]
    (tmp_path / "t.pgn").write_text("".join(games))
    assert len(read_votes(tmp_path / "t.pgn").first) == 4


PENTANOMIAL = "engine1,engine2,ptnml_0,ptnml_1,ptnml_2,ptnml_3,ptnml_4"
COUNTS = {5: PENTANOMIAL, 3: "engine1,engine2,wins1,wins2,draws"}


def counted(path, kinds, rows, names="patch,main"):
    """A file of rows of counts, whose sides are reversed in every second row."""
    lines = [COUNTS[kinds]]
    for number, row in enumerate(rows):
        told = row
        both = names
        if number % 2:
            both = ",".join(names.split(",")[::-1])
            told = row[::-1] if kinds == 5 else [row[1], row[0], row[2]]
        lines.append(",".join([both, *map(str, told)]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("judge", [jaxrace.select, lambda x: jaxrace.gate(x, baseline="main")])
@pytest.mark.parametrize("kinds", [3, 5])
def test_counts_so_far_are_refused(judge, kinds, tmp_path):
    """States of one match, in one file or in several; batches of their own are added up."""
    rng = np.random.default_rng(kinds)
    law = [0.6, 0.2, 0.2] if kinds == 3 else [0.02, 0.1, 0.38, 0.3, 0.2]
    batches = rng.multinomial(60, law, 6)
    path = tmp_path / "games.csv"
    found = judge(counted(path, kinds, batches.tolist()))
    assert (found.refused, found.status) == ("", 0)
    so_far = batches.cumsum(0).tolist()
    larger = rng.multinomial(200, law, 12).cumsum(0)
    two = [*larger, *rng.multinomial(200, law, 12).cumsum(0)]  # one match after the other
    for rows in (larger, larger[::-1], rng.permutation(larger), two):
        found = judge(counted(path, kinds, np.array(rows).tolist()))
        assert (found.headline(), found.status) == ("DATA REFUSED: counts so far, row by row", 4)
    # Of few rows it cannot be told: the last state counts alone, in any order.
    for rows in (so_far[:3], so_far[2::-1], [so_far[1], so_far[0], so_far[2]], so_far[:3:2]):
        votes = read_votes(counted(path, kinds, rows))
        assert (len(votes.first), votes.refused) == (180, "")
        said = "rows of counts of patch and main may be states of one match, as each has at least"
        assert any(note.startswith(said) for note in votes.said)
    # A row that is the sum of the others, first or last.
    batches = batches.tolist()
    for rows in ([*batches, so_far[-1]], [so_far[-1], *batches]):
        found = judge(counted(path, kinds, rows))
        assert (found.headline(), found.status) == ("DATA REFUSED: the same games twice", 4)
        assert "is the sum of all others: leave it out" in found.meaning()
    twice = judge(counted(path, kinds, [so_far[-1]] * 2))
    assert twice.status == 4
    assert "rows of counts of patch and main are the same" in twice.refused
    path.unlink()
    for number, row in enumerate(larger.tolist()):
        counted(tmp_path / f"{number:02}.csv", kinds, [row])
    assert judge(tmp_path).status == 4
    for number in range(2, 12):
        (tmp_path / f"{number:02}.csv").unlink()
    assert len(read_votes(tmp_path).first) == 400
    for number, row in enumerate(batches):
        counted(tmp_path / f"{number:02}.csv", kinds, [row])
    assert (judge(tmp_path).refused, judge(tmp_path).status) == ("", 0)


def test_a_row_for_each_game_is_no_count_so_far(tmp_path):
    rows = np.eye(3, dtype=int)[np.random.default_rng(0).integers(0, 3, 60)]
    assert read_votes(counted(tmp_path / "t.csv", 3, rows.tolist())).refused == ""


def test_rows_of_their_own_are_seldom_refused():
    """Batches of equal sizes, of any sizes, and growing ones, drawn by lot; and states of one."""
    rng, law = np.random.default_rng(0), [0.05, 0.22, 0.42, 0.25, 0.06]
    sizes = [
        *([200] * rng.integers(2, 9) for _ in range(100)),
        *(rng.integers(20, 2000, rng.integers(2, 9)) for _ in range(60)),
        *([100, 400, 2000] for _ in range(40)),
    ]

    def held(rows):
        first = np.zeros(len(rows), int)
        return held_rows("ab", first, first + 1, np.array(rows), sided=False)

    found = [held([rng.multinomial(n, law) for n in of]) for of in sizes]
    assert sum(one.refused != "" for one in found) <= 2  # at most 1 of 100 is expected
    assert all(one.kept.all() for one in found[:100])
    # Of many rows of three kinds two may be equal by chance: they count once.
    rows = rng.multinomial(200, [0.25, 0, 0.5, 0, 0.25], 10)
    found = [held([*rows, rows[0]]), held(rows)]
    assert [(one.refused, one.kept.sum()) for one in found] == [("", 10)] * 2
    assert found[0].said[0].startswith("rows of counts of a and b are the same, and count once (1 ")
    states = [held(rng.multinomial(200, law, 10).cumsum(0)) for _ in range(20)]
    assert sum(one.refused.startswith("counts so far") for one in states) >= 19
