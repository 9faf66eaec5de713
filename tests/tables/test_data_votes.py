"""Comparisons of two: who has won is read in the one way that is meant, or refused."""

import numpy as np
import pytest
from refusals import assert_refused

from jaxrace.tables import read_votes

# x has won against y, lost against z, and tied with y.
WON = [("x", "y", 1.0), ("x", "z", 0.0), ("y", "x", 0.5)]

VOTES = {
    "score": "first,second,score\nx,y,1\nx,z,0\ny,x,.5\n",
    "other order": "Score,second,First\n1,y,x\n0,z,x\n0.5,x,y\n",
    "arena": "id,model_a,model_b,winner,judge\n"
    "1,x,y,model_a,j\n2,x,z,model_b,j\n3,y,x,tie (bothbad),j\n",
    "names": "a,b,winner\nx,y,x\nx,z,z\ny,x,both bad\n",
    "chess": "white,black,result,moves\nx,y,1-0,40\nx,z,0-1,20\nu,v,*,1\ny,x,1/2-1/2,9\n",
    "lichess": "white_id,black_id,white_rating,black_rating,winner\n"
    "x,y,1500,1400,white\nx,z,1500,1600,black\ny,x,1400,1500,draw\n",
    "one of three": "model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    "x,y,1,0,0\nx,z,0,1,0\ny,x,0,0,1\n",
    "points": "white,black,result\nx,y,1\nx,z,0\ny,x,0.5\n",
    "football": "Div,HomeTeam,AwayTeam,FTHG,FTAG,FTR,HTR,Referee\n"
    "E0,x,y,2,0,H,D,m\nE0,x,z,0,3,A,A,m\nE0,y,x,1,1,D,H,m\n",
    "pools": "home_team,away_team,result\nx,y,1\nx,z,2\ny,x,X\n",
    "anonymous": "model_a,model_b,winner,judge,turn,anony,language,tstamp\n"
    "x,y,model_a,u1,1,True,English,1.5\nx,z,model_b,u2,2,True,German,2.5\n"
    "z,y,model_b,u3,1,False,English,3.5\ny,x,tie (bothbad),u1,1,True,English,4.5\n",
    "numbered sides": "team 1,team 2,winner\nx,y,1\nx,z,2\ny,x,draw\n",
}
MARGINS = {
    "margins": ("first,second,score\nx,y,2\nx,z,-3,\n", [2.0, -3.0]),
    "signs": ("first,second,score\nx,y,1\nx,z,-1\n", [1.0, -1.0]),
    "goals": ("home,away,home_goals,away_goals\nx,y,3,1\nx,z,0,3\n", [2.0, -3.0]),
    "decimal commas": ("a;b;margin\nx;y;0,5\nx;z;-1,25\n", [0.5, -1.25]),
}


def rows(votes):
    pairs = zip(votes.first, votes.second, votes.scores, strict=True)
    return [(votes.names[i], votes.names[j], score) for i, j, score in pairs]


def read(text, tmp_path, name="v.csv", **given):
    (tmp_path / name).write_text(text)
    return read_votes(tmp_path / name, **given)


def test_lists_of_pairs_are_read():
    """As choix has them, too: the first one has won."""
    for pairs in ([(0, 1), (2, 1)], [["winner", "loser"], [0, 1], [2, 1]]):
        votes = read_votes(pairs)
        assert votes.names == ("0", "1", "2")
        assert (votes.first.tolist(), votes.second.tolist()) == ([0, 2], [1, 1])
        assert votes.scores.tolist() == [1, 1]
    votes = read_votes([("x", "y", 0.5), ("x", "y", 0)])
    assert (votes.kind, votes.scores.tolist()) == ("win", [0.5, 0])


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("Winner ", "Loser"), ("x", "y"), ("z", "x")], [("x", "y", 1), ("z", "x", 1)]),
        ([("LOSER", "winner"), ("x", "y"), ("z", "x")], [("y", "x", 1), ("x", "z", 1)]),
        # Options that are called as sides are.
        ([("a", "b"), ("b", "c")], [("a", "b", 1), ("b", "c", 1)]),
        ([("player_a", "player_b"), ("player_b", "player_a")], None),
        ([("white", "black")], [("white", "black", 1)]),
        ([(1, 2), (3, 4)], [("1", "2", 1), ("3", "4", 1)]),
        ([("winner", "loser"), ("a", "b"), ("c", "d")], [("a", "b", 1), ("c", "d", 1)]),
        ([("x", "y", np.float32(1)), ("x", "z", np.float32(0)), ("y", "x", np.float32(0.5))], WON),
        ([("x", "y", np.int64(1)), ("z", "x", np.int64(0))], [("x", "y", 1), ("z", "x", 0)]),
        ([("First", "second", "Score "), ("x", "y", 1)], [("x", "y", 1)]),
    ],
)
def test_heads_of_a_list_are_no_options(pairs, expected):
    expected = expected or [("player_a", "player_b", 1), ("player_b", "player_a", 1)]
    assert rows(read_votes(pairs)) == expected


def test_columns_of_a_list_are_asked_for():
    given = {"first_column": "a", "second_column": "b"}
    table = [("a", "b", "winner"), ("x", "y", "a"), ("x", "y", "b")]
    assert rows(read_votes(table, **given)) == [("x", "y", 1), ("x", "y", 0)]
    with pytest.raises(ValueError, match="a column score, winner or result in a list, got 'a', 'b"):
        read_votes([("a", "b"), ("x", "y")], **given)
    assert rows(read_votes([("x", "y", 1)], score_column="score")) == [("x", "y", 1)]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("player_a", "player_b"), ("x", "y"), ("y", "x")], "1, got heads 'player_a', 'player_b'"),
        ([["Model A", "Model B "], ["x", "y"]], "got heads 'Model A', 'Model B '"),
        ([("white", "black"), ("x", "y")], "got heads 'white', 'black': (winner, loser) as the"),
        ([[0.5, 0.7], [0.3, 0.5]], "record 1, got 0.5: a matrix of who beats whom"),
        ([[0, 1], [np.float32(1), 0]], "record 2, got 1.0: a matrix of who beats whom"),
        ([[False, True], [True, False]], "record 1, got False: a matrix of who beats whom"),
    ],
)
def test_pairs_that_are_no_games_are_refused(pairs, message):
    with pytest.raises(ValueError, match=r"^votes: expected pairs of names, \(winner, l") as error:
        read_votes(pairs)
    assert message in str(error.value)


@pytest.mark.parametrize("name", VOTES)
def test_votes_are_read(name, tmp_path):
    votes = read(VOTES[name], tmp_path)
    assert rows(votes) == WON
    assert votes.kind == "win"
    assert votes.margins.tolist() == [1, -1, 0]
    assert votes.ordered
    said = "".join(votes.said)
    assert ("as both are bad, read as ties: 1" in said) == (name in ("arena", "names", "anonymous"))
    assert ("games that have not ended, left out: 1" in said) == (name == "chess")
    assert ("votes that are not anonymous, left out: 1" in said) == (name == "anonymous")
    assert ("are won, drawn and lost by" in said) == (name in ("football", "pools"))


@pytest.mark.parametrize("name", MARGINS)
def test_margins_are_read(name, tmp_path):
    text, expected = MARGINS[name]
    votes = read(text, tmp_path)
    assert votes.scores.tolist() == votes.margins.tolist() == expected
    assert votes.kind == "margin"
    assert "margins" in "".join(votes.said)


def test_winners_and_counts_are_read(tmp_path):
    assert rows(read("winner,loser\nx,y\nz,x\n", tmp_path)) == [("x", "y", 1), ("z", "x", 1)]
    votes = read("a,b,wins_a,wins_b,ties\nx,y,2,1,0\nx,z,0,0,1\n", tmp_path)
    assert rows(votes) == [("x", "y", 1), ("x", "y", 1), ("x", "y", 0), ("x", "z", 0.5)]
    assert rows(read("a,b,wins_a,wins_b\nx,y,0,1\nx,z,0,0\n", tmp_path)) == [("x", "y", 0)]


def test_frames_and_games_are_read(tmp_path):
    import pandas as pd

    columns = {"first": ["x", "x", "y"], "second": ["y", "z", "x"], "score": [1, 0, 0.5]}
    assert rows(read_votes(pd.DataFrame(columns))) == rows(read_votes(columns)) == WON
    games = "".join(
        f'[Event "e"]\n[White "{i}"]\n[Black "{j}"]\n[Result "{r}"]\n\n1. e4 {{[%clk 1]}} {r}\n\n'
        for i, j, r in (("x", "y", "1-0"), ("x", "z", "0-1"), ("y", "x", "1/2-1/2"))
    )
    assert rows(read(games, tmp_path, "games.pgn")) == WON
    with pytest.raises(ValueError, match=r"a header \[White \.\.\.\] in '.*', the game in line 1"):
        read('[Event "e"]\n\n1. e4 *\n', tmp_path, "games.pgn")


def test_what_is_asked_for_settles_it(tmp_path):
    text = "x1,x2,note,points\nu,v,0,.75\n"
    given = {"first_column": "x1", "second_column": "x2", "score_column": "points"}
    votes = read(text, tmp_path, score="win", **given)
    assert (rows(votes), votes.kind) == ([("u", "v", 0.75)], "win")
    assert read(text, tmp_path, score="margin", **given).kind == "margin"


REFUSED = [
    ("first,second\n0,1\n", {}, "a column score, winner or result in 'v.csv', got 'first',"),
    ("mine,yours,score\n0,1,1\n", {}, "two columns of options, such as first and second in"),
    ("first,second,score\na,a,1\n", {}, "two different options in 'v.csv', line 2, got 'a' twice"),
    ("first,second,score\na,b,1\na,b,nan\n", {}, "line 3, column 'score', got 'nan'"),
    ("first,second,score\na,b,True\n", {}, "line 2, column 'score', got 'True': 1, 0 or .5"),
    ("first,second,score\na,b,1\nb,a,5\n", {}, "line 3, column 'score', got 5: no score is neg"),
    ("first,second,score\na,b,.75\n", {}, "expected win or margin as --score"),
    ("first,second,score\na,b,-1\nb,a,.5\n", {}, "one way to write votes in 'v.csv', line 2"),
    ("first,second,score\na,b,-1\n", {"score": "win"}, "shares of a win, from 0"),
    ("a,b,winner\nx,y,z\n", {}, "expected a, b, one of the two options, or tie in 'v.csv', line 2"),
    ("a,b,winner\nx,y,0\n", {}, "whom numbers are for in 'v.csv', line 2, column 'winner'"),
    ("a,b,winner\nx,y,x\nx,y,\n", {}, "line 3, column 'winner', got '': leave the row out, or"),
    # An option is called like the other side, or like a tie.
    ("a,b,winner\nb,a,b\nx,b,b\n", {}, "expected one winner in 'v.csv', line 2"),
    ("a,b,result,winner\nx,y,1-0,x\n", {}, "--score-column says which it is"),
    (
        "winner,loser,margin\nx,y,3\n",
        {},
        "got 'margin': --score-column margin --score margin takes it",
    ),
    ("model_a,model_b,model_1,model_2,score\nx,y,z,u,1\n", {}, "--first-column and --second-col"),
    (
        "a,b,wins_a,wins_b\nx,y,1.5,1\n",
        {},
        "a whole number of games in 'v.csv', line 2, got",
    ),
    (",x,y\nx,,.7\ny,.3,\n", {}, "expected points, a draw half a point, in 'v.csv', line 2"),
    (",x,y,z\nx,,60,70\ny,40,,55\nz,30,45,\n", {}, "got 100 for both together in every pair, as"),
    (",x,y\nx,,1\ny,,\n", {}, "points of both, of a whole number of games, in 'v.csv', got 1 and"),
    ("white,black,result\nx,y,*\n", {}, "at least one comparison that has ended"),
    ("a,b,winner\nx,y,x\n", {"score": "margin"}, "expected margins in 'v.csv', got words"),
    ("a,b,score\nx,y,1\n", {"first_column": "a"}, "--first-column and --second-column in 'v.csv'"),
]


@pytest.mark.parametrize(("text", "given", "message"), REFUSED)
def test_what_is_refused(text, given, message, tmp_path):
    assert_refused(read_votes, "votes", tmp_path, "v.csv", text, message, **given)


CROSSTABLE = "#,player,1,2,3,points\n1,x,*,1½,0,1.5\n2,y,½,*,,0.5\n3,z,1,,*,1\n"


@pytest.mark.parametrize(
    "text",
    [
        CROSSTABLE,
        ",x,y,z\nx,,1.5,0\ny,.5,,\nz,1,,\n",
        "a,b,wins_a,wins_b\nx,y,1.5,.5\nx,z,0,1\n",
        "a;b;wins_a;wins_b\nx;y;1,5;0,5\nx;z;0;1\n",
    ],
)
def test_points_are_games(text, tmp_path):
    """x has a win and a draw against y, and has lost against z."""
    (tmp_path / "v.csv").write_text(text)
    votes = read_votes(tmp_path / "v.csv")
    names = [
        (votes.names[i], votes.names[j]) for i, j in zip(votes.first, votes.second, strict=True)
    ]
    assert sorted(zip(names, votes.scores.tolist(), strict=True)) == [
        (("x", "y"), 0.5),
        (("x", "y"), 1.0),
        (("x", "z"), 0.0),
    ]


def test_a_folder_is_one_log(tmp_path):
    """As if its files were one; copies and other kinds are refused."""
    rows = {"june": ["z,w,z", "w,x,x"], "may": ["x,y,x", "y,z,tie"]}
    for name, own in rows.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,winner", *own]))
    together = ["a,b,winner", *rows["june"], *rows["may"]]
    (tmp_path / "all.txt").write_text("\n".join(together))
    found, one = read_votes(tmp_path), read_votes(tmp_path / "all.txt")
    assert found.names == one.names
    for name in ("first", "second", "scores"):
        assert getattr(found, name).tolist() == getattr(one, name).tolist()
    assert found.said[0].startswith("2 files as one, in the order of their names: ")
    assert found.said[1:] == one.said
    (tmp_path / "above" / "below").mkdir(parents=True)  # as annotations of alpaca_eval lie
    for name in rows:
        (tmp_path / f"{name}.csv").rename(tmp_path / "above" / "below" / f"{name}.csv")
    assert read_votes(tmp_path / "above").scores.tolist() == one.scores.tolist()
    for name in rows:
        (tmp_path / "above" / "below" / f"{name}.csv").rename(tmp_path / f"{name}.csv")
    (tmp_path / "margins.csv").write_text("a,b,score\nx,y,1.5\ny,x,-2\n")
    with pytest.raises(ValueError, match=r"one kind.*may.csv', margins in .*: take the files of"):
        read_votes(tmp_path)
    (tmp_path / "margins.csv").write_text((tmp_path / "may.csv").read_text())
    assert "may.csv' are alike: leave one out" in read_votes(tmp_path).refused


def test_who_has_won_as_tables_of_sports_say_it(tmp_path):
    """H, D and A of football; names of winners beside a score in sets."""
    text = "HomeTeam,AwayTeam,FTR\nx,y,H\ny,z,D\nz,x,A\n"
    (tmp_path / "f.csv").write_text(text)
    assert read_votes(tmp_path / "f.csv", score_column="FTR").scores.tolist() == [1, 0.5, 0]
    text = "winner_id,winner_name,loser_id,loser_name,score\n1,x,2,y,6-4 6-2\n2,y,3,z,7-5 6-0\n"
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "r.csv").write_text("prompt,chosen_model,rejected_model\nu,x,y\nv,y,z\n")
    assert read_votes(tmp_path / "r.csv").names == ("x", "y", "z")
    votes = read_votes(tmp_path / "t.csv")
    assert (votes.names, votes.scores.tolist()) == (("x", "y", "z"), [1, 1])


def test_columns_of_any_name_with_the_same_options_below(tmp_path):
    for text in (
        "img,left_method,right_method,choice\n1,x,y,left\n2,y,x,right\n",
        "topic,debater_a,debater_b,winner\nu,x,y,a\nv,y,x,b\n",
    ):
        (tmp_path / "v.csv").write_text(text)
        votes = read_votes(tmp_path / "v.csv")
        assert (votes.names, votes.scores.tolist()) == (("x", "y"), [1, 0])
    (tmp_path / "v.csv").write_text("place_a,place_b,winner\nu,v,a\nu,w,b\n")
    with pytest.raises(ValueError, match="two columns of options"):
        read_votes(tmp_path / "v.csv")


def test_games_of_a_folder(tmp_path):
    for number, result in enumerate(("1-0", "0-1", "1/2-1/2")):
        text = f'[White "ann"]\n[Black "bob"]\n[Result "{result}"]\n\n1. e4 *\n'
        (tmp_path / f"{number}.pgn").write_text(text)
    found = read_votes(tmp_path)
    assert (found.names, found.scores.tolist()) == (("ann", "bob"), [1, 0, 0.5])
    assert found.sided


ONE_HOT = "model_a,model_b,winner_model_a,winner_model_b"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("x,y,1,0,0\nx,y,1,1,0\n", "one winner, or a tie, in .*, line 3, got 1 and 1 and 0"),
        ("x,y,1,0,0\nx,y,1,0,1\n", "line 3, got 1 and 0 and 1"),
        ("x,y,1,0,0\nx,y,0,0,0\n", "line 3, got none"),
    ],
)
def test_one_winner_is_marked(rows, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read(f"{ONE_HOT},winner_tie\n{rows}", tmp_path)


def test_marks_of_both_and_of_a_tie(tmp_path):
    votes = read(f"{ONE_HOT},winner_tie\nx,y,1,0,0\nx,y,1,1,1\nx,y,0,0,1\n", tmp_path)
    assert (votes.scores.tolist(), votes.ordered) == ([1, 0.5, 0.5], True)
    with pytest.raises(ValueError, match="line 2, got 1 and 1"):
        read(f"{ONE_HOT}\nx,y,1,1\n", tmp_path)
    assert read(f"{ONE_HOT}\nx,y,0,1\nx,y,.5,.5\n", tmp_path).scores.tolist() == [0, 0.5]
    # Counts are another thing.
    votes = read("a,b,wins_a,wins_b,ties\nx,y,1,1,0\nx,y,1,0,0\n", tmp_path)
    assert (votes.scores.tolist(), votes.ordered) == ([1, 0, 1], False)
