"""Games that are there twice, move by move, in one file or in several."""

import random

import pytest
from game_files import game, match, moves_of, write

import jaxrace
from jaxrace.tables import read_votes


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
    with pytest.raises(ValueError, match=rf"each game once in .*got {number} games twice, move by"):
        judge(tmp_path / "both/one.pgn")
    (tmp_path / "b.pgn").write_text(again(games[:number]))
    (tmp_path / "both/one.pgn").unlink()
    (tmp_path / "both").rmdir()
    with pytest.raises(ValueError, match=r"line 1 of 'a\.pgn' and line 1 of 'b\.pgn'"):
        judge(tmp_path)


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
    with pytest.raises(ValueError, match="got 200 games twice, move by move"):
        read_votes(tmp_path / "t.pgn")


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
