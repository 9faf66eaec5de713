"""Games of engines as programs write them: which two are of one opening, and who has won."""

import itertools
import math
import random
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.games import in_rounds
from jaxrace.tables import read_scores, read_votes
from jaxrace.tables.votes import NO_ROUNDS

DATA = Path(__file__).parent / "data" / "games"
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
        # One number a game, and ended in another order: by position, which may come again.
        (
            [
                *[("x", "y", "1-0", {"Round": "3", "FEN": FENS[0]})],
                *[("y", "x", "1-0", {"Round": "2", "FEN": FENS[1]})],
                *[("x", "y", "1-0", {"Round": "1", "FEN": FENS[1]})],
                *[("y", "x", "1-0", {"Round": "6", "FEN": FENS[0]})],
                *[("x", "y", "1-0", {"Round": "5", "FEN": FENS[0]})],
                *[("y", "x", "1-0", {"Round": "4", "FEN": FENS[0]})],
                *[("x", "z", "1-0", {"Round": "7", "FEN": FENS[0]})],
            ],
            [0, 2, 2, 0, 1, 1, -1],
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


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        ("1234", "as each Round occurs once"),
        ("1111", "as neither Round nor FEN tells pairs"),
        ("1122", ""),
    ],
)
def test_pairs_by_order_are_said(rounds, expected, tmp_path):
    games = [(*two, "1-0", {"Round": n}) for two, n in zip(["xy", "yx"] * 2, rounds, strict=True)]
    (tmp_path / "g.pgn").write_text(pgn(games))
    said = " ".join(read_votes(tmp_path / "g.pgn").said)
    assert ("pairs by order of games: openings not matched" in said) == bool(expected)
    assert expected in said


def test_positions_that_are_played_once_are_said(tmp_path):
    """A side that has the better ones may lead by nothing else."""
    rounds = {"Round": "1"}
    games = [
        (*two, "1-0", {"FEN": fen, **rounds}) for two, fen in zip(["xy", "yx"], "pq", strict=True)
    ]
    (tmp_path / "g.pgn").write_text(pgn(games))
    assert (
        "each of 2 FENs was played once, with one colour" in read_votes(tmp_path / "g.pgn").said[0]
    )
    again = [(*two, "1-0", {"FEN": "p", **rounds}) for two in ("xy", "yx")]
    (tmp_path / "g.pgn").write_text(pgn(again))
    assert "FENs" not in " ".join(read_votes(tmp_path / "g.pgn").said)


@pytest.mark.parametrize(
    ("rounds", "others", "lacking"),
    [
        (range(1, 13), (), []),
        ([1, 2, 3, 4, 6, 7, 8, 10, 11, 12], (), [5, 9]),
        ([1, 2, 3, 4, 6, 7, 8, 10, 11, 12], range(1, 13), [5, 9]),  # where others have met
        ([3, 4, 5, 6, 7, 8, 10, 11, 12], (), [1, 2, 9]),
        ([1, 3, 5, 7, 11, 13, 15, 17, 19], range(2, 20), [9]),  # they meet in every other one
        ([1, 3, 5, 7, 11, 13, 15, 17, 19], range(2, 20, 2), [9]),  # pairs of all are numbered
        ([5, 7, 8, 9], (), []),  # they may have met by chance
        ([*range(1, 9), *range(109, 118)], (), []),  # two matches
        ([*range(1, 160), *range(1, 40), *range(41, 60)], (), [40]),
        ([*range(1, 61), *range(1, 30), *range(41, 61)], (), range(30, 41)),
        ([20260101, 20260102, *range(20260105, 20260110), *range(20260112, 20260117)], (), []),
        ([*"123456", "?", "9" * 5000, "9999", *"89", "10"], (), [7]),
    ],
)
def test_pairs_of_rounds_that_are_not_there_are_as_games_without_an_end(
    rounds, others, lacking, tmp_path
):
    games = [
        (*two, "1-0", {"Round": n, "FEN": f"{place} {n}"})
        for place, n in enumerate(rounds)
        for two in ("xy", "yx")
    ]
    more = [(*two, "1-0", {"Round": n, "FEN": n}) for n in others for two in ("xz", "zx")]
    (tmp_path / "g.pgn").write_text(pgn(games + more))
    found = read_votes(tmp_path / "g.pgn")
    unended = [one for one in found.unended if {one.first, one.second} == {0, 1}]
    assert [one.round for one in unended] == [n for n in lacking for _ in "xy"]
    assert [(one.first, one.second) for one in unended] == [(0, 1), (1, 0)] * len(lacking)
    said = [one for one in found.said if "not there" in one and "has lost their" in one]
    assert bool(said) == bool(found.unended)
    assert not lacking or found.said[0] == (
        f"rounds that are not there: {len(lacking)} ({', '.join(map(str, lacking[:5]))}"
        f"{', ...' * (len(lacking) > 5)}); a verdict "
        "must stand if who is ahead has lost their games"
    )


def test_a_league_lacks_no_rounds(tmp_path):
    """Two legs in each of fourteen seasons, in rounds by lot: no two have a step."""
    lot, games = random.Random(0), []
    for _ in range(14):
        for two in itertools.combinations("abcdef", 2):
            legs = sorted(lot.sample(range(1, 39), 2))
            games += [(*two, "1-0", {"Round": legs[0]}), (*two[::-1], "0-1", {"Round": legs[1]})]
    (tmp_path / "g.pgn").write_text(pgn(games))
    assert read_votes(tmp_path / "g.pgn").unended == ()


def test_rounds_that_are_not_there_are_said(tmp_path):
    """Numbers of games, and numbers that leap."""
    for numbers, expected, rounds in (
        ([*range(1, 9), *range(11, 15)], "2 (9, 10); a verdict must stand", (9, 10)),
        ([*range(1, 61), *range(101, 161)], "40 (61, 62, 63, 64, 65, ...); were their", ()),
    ):
        games = [("xy"[n % 2], "yx"[n % 2], "1-0", {"Round": n}) for n in numbers]
        (tmp_path / "g.pgn").write_text(pgn(games))
        found = read_votes(tmp_path / "g.pgn")
        assert tuple(one.round for one in found.unended) == rounds
        assert any(one.startswith(f"rounds that are not there: {expected}") for one in found.said)


def test_a_reason_beside_white_and_black_says_how_a_game_ended():
    games = {"white": ["x", "y"], "black": ["y", "x"], "result": ["1-0", "0-1"]}
    reason = {"reason": ["Black loses on time", "mate"]}
    endings = read_votes(games | reason).endings
    assert endings is not None
    assert endings.tolist() == ["out of time", ""]
    judged = {"model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["x", "x"]}
    assert read_votes(judged | reason).endings is None


def test_one_number_a_game_out_of_order(tmp_path):
    """Sixteen at once: the same pairs as of a log that numbers them."""
    rng, kinds, kept = np.random.default_rng(0), ["1-0", "1/2-1/2", "0-1"], []
    for number in range(200):
        p = rng.dirichlet([0.5] * 3)
        for game, two in enumerate(("xy", "yx")):
            kept.append((*two, rng.choice(kinds, p=p), number, 2 * number + game))
    late = np.argsort(np.arange(400) + rng.uniform(0, 16, 400))
    counts = []
    for place in (3, 4):
        games = [
            (*game[:3], {"Round": game[place], "FEN": f"f{game[3]} w"})
            for game in (kept[row] for row in late)
        ]
        (tmp_path / "g.pgn").write_text(pgn(games))
        answer: Any = jaxrace.gate(tmp_path / "g.pgn", baseline="y")
        counts.append(answer.candidates[0].results)
    assert counts[0] == counts[1]


def test_names_of_one_player(tmp_path):
    """A space at the end makes no other player; another case may, and is said."""
    games = [
        ("Engine", "old", "1-0", {}),
        ("engine ", "old", "1-0", {}),
        ("Engine ", "old", "1-0", {}),
    ]
    (tmp_path / "g.pgn").write_text(pgn(games))
    found = read_votes(tmp_path / "g.pgn")
    assert found.names == ("Engine", "old", "engine")
    assert "spaces at the ends of names, left out: 'engine ', 'Engine '" in found.said
    assert any("options that differ by case" in text for text in found.said)
    votes = {"first": ["x", "x "], "second": ["y", "y"], "winner": ["x ", " x"]}
    found = read_votes(votes)
    assert (found.names, found.scores.tolist()) == (("x", "y"), [1, 1])
    scores = read_scores({"a": [1.0, 2.0], "a ": [2.0, 3.0]})
    assert any("options that differ by case, spaces" in text for text in scores.said)


def test_pairs_of_a_folder(tmp_path):
    """Rounds of one file are not those of another."""
    games = [("x", "y", "1-0", {"Round": "1"}), ("y", "x", "1-0", {"Round": "1"})]
    (tmp_path / "a.pgn").write_text(pgn(games))
    (tmp_path / "b.pgn").write_text(pgn(games[::-1]))
    pairs = np.array(read_votes(tmp_path).pairs)
    assert pairs[0] == pairs[1] != pairs[2] == pairs[3]


def test_a_folder_is_read_by_number(tmp_path):
    for night in (1, 2, 10):
        (tmp_path / f"night{night}.pgn").write_text(pgn([(f"x{night}", "y", "1-0", {})]))
    assert read_votes(tmp_path).names == ("x1", "y", "x2", "x10")


def test_labels_that_are_not_used_are_said(tmp_path):
    """Once they are, earlier pairs are others."""
    rounds = "1", "1", "2", "3", "4", "4"
    games = [(*two, "1-0", {"Round": n}) for two, n in zip(["xy", "yx"] * 3, rounds, strict=True)]
    (tmp_path / "a.pgn").write_text(pgn(games[:4]))
    found = read_votes(tmp_path / "a.pgn")
    assert found.pairs is None
    assert "pair only 2 of 4 games: not used" in " ".join(found.said)
    (tmp_path / "b.pgn").write_text(pgn(games))
    assert "not used" not in " ".join(read_votes(tmp_path / "b.pgn").said)
    found = read_votes(tmp_path)
    assert found.pairs is None
    assert "in 1 of 2 files: not used" in " ".join(found.said)


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
    assert pair.games == 300
    assert pair.score == pytest.approx(0.5 + sum("0-1" in g for g in games) / 300)
    assert math.isclose(sum(one.score for one in found.options), 1, abs_tol=1e-9)


def rows(votes):
    games = zip(votes.first, votes.second, votes.scores, strict=True)
    return [(votes.names[i], votes.names[j], score) for i, j, score in games]


def test_games_that_are_printed():
    found = read_votes(DATA / "fastchess.log")
    expected = [("main", "new", 0), ("new", "main", 0.5), ("new", "main", 1), ("main", "new", 1)]
    assert rows(found) == expected
    assert np.array(found.pairs).tolist() == [0, 0, 1, 1]
    assert (found.sided, found.ordered) == (True, True)
    assert "games that have not ended, left out: 1 (new against main 1)" in found.said
    found = read_votes(DATA / "cutechess.log")
    assert rows(found) == [("old", "new", 0), ("new", "old", 0.5)]
    assert np.array(found.pairs).tolist() == [0, 0]


def test_totals_that_are_printed():
    """The last ones; their order is not known, and pairs are where they are counted."""
    found = read_votes(DATA / "totals.txt")
    shares = [one for *two, one in rows(found) if two == ["old", "new"]]
    assert [shares.count(share) for share in (1, 0, 0.5)] == [12, 7, 21]
    assert [share for *two, share in rows(found) if two == ["old", "dev"]] == [1, 0, 0, 0]
    assert not found.ordered
    assert "which were pairs, are unknown" in found.said[0]
    found = read_votes(DATA / "pairs.txt")
    assert [found.scores.tolist().count(n / 4) for n in range(5)] == [1, 1, 3, 4, 1]
    assert found.names == ("new", "main")
    assert not found.ordered
    assert "each pair of games counts as one comparison" in found.said[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Finished game 1 (a vs b vs c): 1-0 {x}\n", r"'A vs B', in .* line 1, got 'a vs b vs c'"),
        (
            "Finished game 1 (a vs b): 1-0 {x}\nScore of b vs a: 1 - 0 - 0  [1.000] 1\n",
            r"\[0, 1, 0\] wins, losses and draws of 'b', .* line 2, got \[1, 0, 0\]",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(text, message, tmp_path):
    (tmp_path / "match.log").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_votes(tmp_path / "match.log")


def test_the_end_of_a_log_alone(tmp_path):
    """Its totals are more than the games that it lists."""
    end = "Finished game 40 (b vs a): 1-0 {x}\nScore of a vs b: 12 - 7 - 21  [0.562] 40\n"
    (tmp_path / "tail.log").write_text(end)
    assert len(rows(read_votes(tmp_path / "tail.log"))) == 40


def test_a_crosstable_of_results(tmp_path):
    found = read_votes(DATA / "crosstable.csv")
    counted = {two: [0, 0, 0] for two in (("anand", "botvinnik"), ("botvinnik", "carlsen"))}
    for *two, share in rows(found):
        counted[tuple(two)][[1, 0.5, 0].index(share)] += 1
    assert [*counted.values()] == [[1, 2, 3], [0, 4, 1]]
    assert not found.ordered
    text = (DATA / "crosstable.csv").read_text().replace("+1 =4 -0", "+1 =5 -0")
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(ValueError, match=r"\+0 =5 -1, .* other cell of the two, .* '\+0 =4 -1'"):
        read_votes(tmp_path / "c.csv")


GAME = '[White "{}"]\n[Black "{}"]\n[Round "{}"]\n[Result "{}"]\n\n{} {}\n\n'
MOVES = " ".join(f"{number}. Nf3 Nf6" for number in range(1, 9))


def played(*games):
    """A PGN of games: White, Black, round, result, and the result after the moves."""
    ends = [(*game[:4], MOVES, game[-1]) for game in games]
    return "".join(GAME.format(*one) for one in ends)


def test_a_game_that_is_still_written_is_left_out_and_said(tmp_path):
    whole = played(("a", "b", 1, "1-0"), ("b", "a", 1, "0-1"))
    for rest in (
        '[White "a"]\n[Black "b"]\n',
        '[White "a"]\n[Bla',
        played(("a", "b", 2, "*"))[:40],
    ):
        (tmp_path / "t.pgn").write_text(whole + rest)
        votes = read_votes(tmp_path / "t.pgn")
        assert len(votes.first) == 2
        assert "the last game, in line 15, is cut off, and is left out" in votes.said


def test_a_game_that_is_cut_in_its_moves_is_left_out_and_said(tmp_path):
    """Its header has a result; a comment may stand behind the result; some write none at all."""
    games = [played((*two, number, "1/2-1/2")) for number in (1, 2) for two in ("ab", "ba")]
    whole = "".join(games)
    for cut in (8, 6, 5, 4, 3, 20, 60):  # the result and two line breaks are nine letters
        (tmp_path / "t.pgn").write_text(whole[:-cut])
        votes = read_votes(tmp_path / "t.pgn")
        assert len(votes.first) == 3
        assert "the last game, in line 22, is cut off, and is left out" in votes.said
    for text in (whole, whole.rstrip("\n"), whole.replace("1/2-1/2\n\n", "1/2-1/2 {agreed}\n\n")):
        (tmp_path / "t.pgn").write_text(text)
        votes = read_votes(tmp_path / "t.pgn")
        assert (len(votes.first), [note for note in votes.said if "cut" in note]) == (4, [])
    (tmp_path / "t.pgn").write_text(whole.replace(" 1/2-1/2\n", "\n"))
    assert len(read_votes(tmp_path / "t.pgn").first) == 4
    (tmp_path / "t.pgn").write_text(games[0].replace(" 1/2-1/2\n", "\n") + "".join(games[1:]))
    votes = read_votes(tmp_path / "t.pgn")
    assert len(votes.first) == 4
    assert "games whose moves do not end with their result: 1; each counts" in votes.said


def test_a_file_and_its_copy_are_refused_in_any_order(tmp_path):
    games = [("a", "b", number, "1-0") for number in range(1, 6)]
    (tmp_path / "t.pgn").write_text(played(*games) + played(*games[::-1]))
    refused = read_votes(tmp_path / "t.pgn").refused
    assert refused.startswith("the same games twice: 5 games, move by move")


def test_a_header_and_the_end_of_the_moves_agree(tmp_path):
    (tmp_path / "t.pgn").write_text(played(("a", "b", 1, "1-0"), ("a", "b", 2, "1-0", "0-1")))
    with pytest.raises(ValueError, match=r"result 1-0 of its header.* got 0-1 after its moves"):
        read_votes(tmp_path / "t.pgn")


@pytest.mark.parametrize(
    "heads", ["engine1,engine2", "engineA,engineB", "bot 1,bot 2", "engine,opponent"]
)
@pytest.mark.parametrize("results", [("1", "0", "1/2"), ("1-0", "0-1", "1/2-1/2")])
def test_two_columns_of_engines_know_no_colour(heads, results, tmp_path):
    """The patch is always the first that is named, against one or several: that is no White."""
    lot = random.Random(1)
    for names in (["main"], ["main", "old"]):
        rows = [
            f"patch,{lot.choice(names)},{lot.choices(results, (0.6, 0.2, 0.2))[0]}"
            for _ in range(200)
        ]
        (tmp_path / "t.csv").write_text("\n".join([f"{heads},result", *rows, ""]))
        votes = read_votes(tmp_path / "t.csv")
        assert (votes.names, votes.sided) == (("patch", *names), False)
        assert NO_ROUNDS in votes.said
        assert jaxrace.gate(tmp_path / "t.csv", baseline="main").passed == ["patch"]
        selected = jaxrace.select(tmp_path / "t.csv")
        assert (selected.status, selected.leads) == (0, ["patch"])


@pytest.mark.parametrize("heads", ["engine1,engine2", "a,b", "player1,player2", "model_a,model_b"])
def test_counts_of_pairs_of_games(heads, tmp_path):
    """Of fastchess's [8, 65, 142, 93, 22]; without players they are no scores, either."""
    counts = ",".join(f"ptnml_{number}" for number in range(5))
    (tmp_path / "t.csv").write_text(f"{heads},{counts}\npatch,main,8,65,142,93,22\n")
    found: Any = jaxrace.gate(tmp_path / "t.csv", baseline="main", want="better", tolerance=2)
    (patch,) = found.candidates
    assert (patch.results, patch.games, patch.verdict) == ((8, 65, 142, 93, 22), 660, "better")
    assert jaxrace.select(tmp_path / "t.csv").leads == ["patch"]
    (tmp_path / "t.csv").write_text(f"name,{counts}\npatch,8,65,142,93,22\n")
    with pytest.raises(ValueError, match="expected two columns of options, such as first"):
        jaxrace.gate(tmp_path / "t.csv", baseline="main", tolerance=2)


@pytest.mark.parametrize(
    "counts",
    [
        *("ll,ld,dd,wd,ww", "LL,LD,DD/WL,WD,WW", "LL,LD,WLDD,WD,WW", "0,0.5,1,1.5,2"),
        *("pent_0,pent_1,pent_2,pent_3,pent_4", "Ptnml0,Ptnml1,Ptnml2,Ptnml3,Ptnml4"),
    ],
)
def test_other_names_of_counts_of_pairs(counts, tmp_path):
    (tmp_path / "t.csv").write_text(f"engine1,engine2,{counts}\npatch,main,8,65,142,93,22\n")
    (patch,) = cast(Any, jaxrace.gate(tmp_path / "t.csv", baseline="main")).candidates
    assert (patch.name, patch.results) == ("patch", (8, 65, 142, 93, 22))
    assert jaxrace.select(tmp_path / "t.csv").leads == ["patch"]


@pytest.mark.parametrize("counts", ["wins,draws,losses", "W,D,L"])
def test_counts_of_the_first(counts, tmp_path):
    (tmp_path / "t.csv").write_text(f"engine1,engine2,{counts}\npatch,main,300,200,100\n")
    found: Any = jaxrace.gate(tmp_path / "t.csv", baseline="main")
    assert NO_ROUNDS in found.notes
    (patch,) = found.candidates
    assert (patch.name, patch.results) == ("patch", (100, 200, 300))


@pytest.mark.parametrize("counts", ["ll,ld,dd,wl,wd,ww", "n0,n1,n2,n3,n4,n5"])
def test_counts_that_are_not_known_name_those_that_are(counts, tmp_path):
    """Of six columns one would be left out, or none is known: these are no scores of options."""
    (tmp_path / "t.csv").write_text(f"engine1,engine2,{counts}\npatch,main,8,65,100,42,93,22\n")
    for judge in (jaxrace.select, lambda x: jaxrace.gate(x, baseline="main")):
        with pytest.raises(ValueError, match=r"pairs of games from ptnml_0 to ptnml_4, or ll, ld"):
            judge(tmp_path / "t.csv")


def test_games_without_a_result_in_several_files(tmp_path):
    """As in one file: their places, players and pairs."""
    games = [("a", "b", 1, "1-0"), ("b", "a", 1, "*"), ("c", "b", 2, "*"), ("b", "c", 2, "0-1")]
    (tmp_path / "both").mkdir()
    (tmp_path / "both/1.pgn").write_text(played(*games[:2]))
    (tmp_path / "both/2.pgn").write_text(played(*games[2:]))
    (tmp_path / "one.pgn").write_text(played(*games))
    found, one = read_votes(tmp_path / "both"), read_votes(tmp_path / "one.pgn")
    assert found.unended == one.unended == ((1, 1, 0, 0, -1), (1, 2, 1, 1, -1))
    assert found.pairs is not None
    assert found.pairs.tolist() == [0, 1]
    assert found.at([1]).unended == ((0, 1, 0, 0, -1), (0, 2, 1, 1, -1))


FASTCHESS = """Results of patch vs main (8+0.08, 1t, 16MB, UHO.epd):
Games: 660, Wins: {wins}, Losses: 173, Draws: {draws}, Points: 358.0 (54.24 %)
Ptnml(0-2): [8, 65, 142, 93, 22], WL/DD Ratio: 0.90
"""


def test_pairs_that_contradict_the_points_of_their_games(tmp_path):
    (tmp_path / "t.log").write_text(FASTCHESS.format(wins=229, draws=258))
    assert read_votes(tmp_path / "t.log").names == ("patch", "main")
    (tmp_path / "t.log").write_text(FASTCHESS.format(wins=200, draws=287))
    message = r"make up 660 games with 343.5 points of 'patch' .*, line 3, got 330 with 358 points"
    with pytest.raises(ValueError, match=message):
        read_votes(tmp_path / "t.log")


def test_endings_that_only_the_last_comment_of_a_game_tells(tmp_path):
    """As cutechess writes them: in the comment of the last move."""
    game = '[White "a"]\n[Black "b"]\n[Round "{}"]\n[Result "1-0"]\n'
    game += "\n1. e4 {{+0.1/9 0.3s}} c5 {{{}}} 1-0\n\n"
    said = (
        "-0.2/9 1s, Black forfeits on time",
        "illegal move",
        "Black disconnects",
        "in time trouble",
    )
    text = "".join(game.format(number, one) for number, one in enumerate(said, 1))
    (tmp_path / "t.pgn").write_text(text)
    found = read_votes(tmp_path / "t.pgn").endings
    assert found is not None
    assert found.tolist() == ["out of time", "illegal move", "lost connection", ""]


@pytest.mark.parametrize("head", ["ptnml", "Penta", "Ptnml(0-2)"])
def test_counts_of_pairs_in_one_cell(head, tmp_path):
    """As a program prints them."""
    text = f'engine1,engine2,{head}\npatch,main,"[8, 65, 142, 93, 22]"\n'
    (tmp_path / "t.csv").write_text(text)
    (patch,) = cast(Any, jaxrace.gate(tmp_path / "t.csv", baseline="main")).candidates
    assert (patch.name, patch.results) == ("patch", (8, 65, 142, 93, 22))
