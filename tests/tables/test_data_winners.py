"""Who has won, in columns of votes: said by the file, or asked for."""

import pytest
from right_answers import check, params

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.tables import read_votes


def table(head, numbers, first="model_a", second="model_b"):
    """x against y, so often."""
    count = len(numbers)
    return {first: ["x"] * count, second: ["y"] * count, head: numbers}


def wins(head, numbers, sides=("model_a", "model_b"), **asked):
    """The share of x, as it is read."""
    votes = read_votes(table(head, numbers, *sides), **asked)
    shares = votes.scores if votes.kind == "win" else votes.margins
    is_x = [votes.names[place] == "x" for place in votes.first]
    return [float(s if x else 1 - s) for s, x in zip(shares, is_x, strict=True)]


TURNED = {"first_column": "model_b", "second_column": "model_a", "score": "win"}
WHO = (
    "expected to be told whom numbers are for .*: --score win if 1 says that model_a has "
    "won, and with --first-column 'model_b' --second-column 'model_a' if 1 says that model_b has"
)


# Two rows, won by x and by y, the same whichever column is asked for as the first.
SAME = {
    "results of chess": "white,black,result\nx,y,1-0\nx,y,0-1\nx,y,1-0\n",
    "letters of football": "home,away,FTR\nx,y,H\nx,y,A\nx,y,H\n",
    "pools": "home,away,result\nx,y,1\nx,y,2\nx,y,1\nx,y,X\n",
    "winners by number": "team_1,team_2,winner\nx,y,1\nx,y,2\nx,y,1\n",
    "winners by side": "model_a,model_b,winner\nx,y,model_a\nx,y,model_b\nx,y,a\n",
    "of an arena": "model_a,model_b,winner\nx,y,leftvote\nx,y,rightvote\nx,y,leftvote\n",
    "of Arena-Hard": "model_a,model_b,verdict\nx,y,A>>B\nx,y,B>A\nx,y,A>B\n",
    "results beside a and b": "player_a,player_b,result\nx,y,1-0\nx,y,0-1\nx,y,1-0\n",
    "goals": "home,away,home_goals,away_goals\nx,y,3,1\nx,y,0,1\nx,y,5,1\n",
    "halves": "player_a,player_b,ptnml_0,ptnml_1,ptnml_2,ptnml_3,ptnml_4\nx,y,1,0,0,4,2\n",
    "counts": "player_a,player_b,wins_a,wins_b\nx,y,2,1\n",
    "places": "model_a,model_b,winner\nx,y,Left\nx,y,right\nx,y,first\n",
    "outputs": "model_1,model_2,preferred\nx,y,output_1\nx,y,output_2\nx,y,output_1\n",
    "sentences": "first,second,judgement\nx,y,A is better\nx,y,Response B\nx,y,A wins\n",
    "losers": "model_a,model_b,worse\nx,y,B\nx,y,model_a\nx,y,b\n",
    "losers and rejected": "model_a,model_b,rejected\nx,y,y\nx,y,x\nx,y,y\n",
}


def test_places_are_no_sides_where_an_option_may_be_called_so():
    """Output 1 won in both rows: once as the first, once as the second."""
    first, second = ["output 1", "output 2"], ["output 2", "output 1"]
    votes = {"model_a": first, "model_b": second, "winner": ["output_1", "output_1"]}
    with pytest.raises(ValueError, match="one of the two options"):
        read_votes(votes)
    votes["winner"] = ["output 1", "output 1"]
    assert read_votes(votes).scores.tolist() == [1, 0]


@pytest.mark.parametrize("heads", [("chosen", "rejected"), ("better", "worse")])
def test_names_below_chosen_and_rejected_are_winners_and_losers(heads):
    votes = read_votes(dict(zip(heads, (["x", "y", "x"], ["y", "x", "z"]), strict=True)))
    assert [votes.names[place] for place in votes.first] == ["x", "y", "x"]
    assert votes.scores.tolist() == [1, 1, 1]
    texts = dict(zip(heads, (["a text", "one"], ["another", "two"]), strict=True))
    with pytest.raises(ValueError, match="two columns of options"):
        read_votes(texts)


@pytest.mark.parametrize("name", SAME)
def test_asking_for_the_other_first_turns_no_result(name, tmp_path):
    (tmp_path / "v.csv").write_text(SAME[name])
    first, second = SAME[name].split("\n")[0].split(",")[:2]
    plain = read_votes(tmp_path / "v.csv")
    turned = read_votes(tmp_path / "v.csv", first_column=second, second_column=first)
    of_x = [
        [
            m if votes.names[f] == "x" else -m
            for f, m in zip(votes.first, votes.margins, strict=True)
        ]
        for votes in (plain, turned)
    ]
    assert sorted(of_x[0]) == sorted(of_x[1])
    assert sum(of_x[0]) > 0
    assert turned.sided == plain.sided


def test_words_of_arenas():
    words = ["leftvote", "rightvote", "tievote", "bothbad_vote"]
    assert wins("winner", words) == [1, 0, 0.5, 0.5]
    words = ["A>>B", "A>B", "A=B", "B>A", "B>>A", "[[A>B]]"]
    assert wins("verdict", words) == [1, 1, 0.5, 0, 0, 1]
    assert "wins by far (>>) read as wins: 2" in read_votes(table("verdict", words)).said


def test_pairs_of_games_are_kept_where_black_is_asked_for_as_first(tmp_path):
    rows = "x,y,1-0,1\ny,x,0-1,1\nx,y,1-0,2\ny,x,0-1,2\n"
    (tmp_path / "v.csv").write_text("white,black,result,round\n" + rows)
    votes = read_votes(tmp_path / "v.csv", first_column="black", second_column="white")
    assert votes.pairs is not None
    assert votes.pairs.tolist() == [0, 0, 1, 1]
    assert [votes.names[place] for place in votes.first] == ["x", "y", "x", "y"]  # with White
    assert votes.scores.tolist() == [1, 0, 1, 0]


CASES = [
    # 0 and 1 of a classifier's table: either of the two may be 1.
    *(
        (f"0 and 1 in {head}", lambda head=head: wins(head, [1, 0, 1]), ValueError(WHO))
        for head in ("label", "winner", "outcome", "preference", "vote", "verdict", "result")
    ),
    ("halves in label", lambda: wins("label", [1, 0.5, 0]), ValueError(WHO)),
    ("-1 and 1 in outcome", lambda: wins("outcome", [1, -1]), ValueError("--score margin if")),
    ("0 and 1 in target", lambda: wins("target", [1, 0], score_column="target"), ValueError(WHO)),
    ("in words of numbers", lambda: wins("label", ["1", "0", "tie"]), ValueError("whom numbers")),
    ("in words of signs", lambda: wins("label", ["1", "-1", "tie"]), ValueError("a tie is 0: wr")),
    ("1 is the first", lambda: wins("label", [1, 0, 1], score="win"), [1, 0, 1]),
    ("a winner of 1, the first", lambda: wins("winner", [1, 0, 0.5], score="win"), [1, 0, 0.5]),
    ("the same as floats", lambda: wins("winner", [1.0, 0.0], score="win"), [1, 0]),
    ("1 is the second", lambda: wins("label", [1, 0, 1], **TURNED), [0, 1, 0]),
    ("signs, for the first", lambda: wins("outcome", [1, -1], score="margin"), [1, -1]),
    # Heads that say whose it is.
    ("a score", lambda: wins("score", [1, 0]), [1, 0]),
    ("a score of a", lambda: wins("score_a", [1, 0], score_column="score_a"), [1, 0]),
    ("a wins", lambda: wins("a_wins", [1, 0], score_column="a_wins"), [1, 0]),
    ("points of chess", lambda: wins("result", [1, 0, 0.5], ("white", "black")), [1, 0, 0.5]),
    (
        "b wins",
        lambda: wins("b_wins", [1, 0], score_column="b_wins"),
        ValueError(
            "got 'b_wins', of the second: --first-column 'model_b' --second-column 'model_a'"
        ),
    ),
    (
        "b wins, and b is the first",
        lambda: wins("b_wins", [1, 0], score_column="b_wins", **TURNED),
        [0, 1],
    ),
    # Who has lost.
    ("names of losers", lambda: wins("loser", ["x", "y"], score_column="loser"), [0, 1]),
    ("sides of losers", lambda: wins("loser", ["model_b", "tie"], score_column="loser"), [1, 0.5]),
    (
        "losers by number",
        lambda: wins("loser", [1, 0], score_column="loser", score="win"),
        ValueError("one of the two options, or tie"),
    ),
    # Options that are called 0 and 1.
    (
        "winners called 0 and 1",
        lambda: [*read_votes([("0", "1"), ("1", "0")]).scores],
        [1, 1],
    ),
    (
        "names that are numbers",
        lambda: [*read_votes({"a": [0, 0], "b": [1, 1], "winner": [0, 1]}).scores],
        [1, 0],
    ),
    (
        "select refuses as well",
        lambda: jaxrace.select(table("label", [1, 0])),
        ValueError("^data: expected to be told whom"),
    ),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)


@pytest.mark.parametrize("half", ["1/2", "½", "0.5"])
@pytest.mark.parametrize(
    "heads",
    [("engine1", "engine2"), ("engine", "opponent"), ("player", "opponent"), ("white", "black")],
)
def test_points_of_chess_are_those_of_the_first(heads, half, tmp_path, capsys):
    """1, 0 and a half below result: told, and read the same with --score win."""
    rows = [("x", "y", "1"), ("y", "x", "0"), ("y", "x", half), ("x", "y", "1")]
    lines = [(*heads, "result"), *rows]
    (tmp_path / "g.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    votes = read_votes(tmp_path / "g.csv")
    assert [votes.names[one] for one in votes.first] == ["x", "y", "y", "x"]
    assert votes.scores.tolist() == [1, 0, 0.5, 1]
    told = any("1, 0 and 1/2 are read as points of the first" in note for note in votes.said)
    assert told == (heads[0] != "white")
    assert read_votes(tmp_path / "g.csv", score="win").scores.tolist() == [1, 0, 0.5, 1]
    turned = {"first_column": heads[1], "second_column": heads[0], "score_column": "result"}
    votes = read_votes(tmp_path / "g.csv", score="win", **turned)
    if heads[0] != "white":
        assert [votes.names[one] for one in votes.first] == ["y", "x", "x", "y"]
    for verb in ("select", "gate"):
        baseline = ["--baseline", "y"] if verb == "gate" else []
        assert main([verb, str(tmp_path / "g.csv"), *baseline]) == 3
    assert "error" not in capsys.readouterr().err


def test_an_opponent_beside_a_score_of_a_player_alone_is_no_comparison(tmp_path):
    """Points of a player against teams: scores, as names on both sides differ."""
    rows = "".join(f"{'ab'[n % 2]},team{n % 3},{20 + n * 7 % 9}\n" for n in range(12))
    (tmp_path / "s.csv").write_text("player,opponent,points_made\n" + rows)
    assert {*jaxrace.race(tmp_path / "s.csv").names} == {"a", "b"}


def test_numbers_beside_a_2_are_names():
    one = {"engine1": ["x", "y", "x"], "engine2": ["y", "x", "y"], "winner": ["1", "2", "tie"]}
    assert read_votes(one, score="win").scores.tolist() == [1, 0, 0.5]
