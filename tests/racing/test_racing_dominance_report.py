"""What `print(result)` says of a dominance race: a guess must not read like a certificate."""

import dataclasses

import dominance_cases as cases
import numpy as np
import pytest

RACE = cases.make_race("circles", 4, 1, 100)


def params_of(**numbers):
    return RACE.params(**{"bets": cases.BETS, **numbers})


def tell_faces(faces, params, max_tells=1000):
    """Options that show one face each, told block by block until the race has ended."""
    state = RACE.init(np.int32(0), params)
    for _ in range(max_tells):
        if not np.asarray(RACE.ask(state, params)).any():
            break
        rounds = RACE.rounds_to_tell(state)
        state = RACE.tell(state, np.tile(np.array(faces, np.int32)[:, None], rounds), params)
    return RACE.result(state, params)


def rows_of(text):
    """The report's lines between the guarantee and the table, by their names."""
    lines = text.splitlines()
    return {line[2:17].strip(): line[17:].strip() for line in lines[3 : lines.index("")]}


def table_of(text):
    """Rank, option, wins, samples and verdict of each line of the table."""
    lines = text.splitlines()
    return [line.split() for line in lines[lines.index("") + 2 :]]


def assert_uncertified(text, out=""):
    """None is in, none but ``out`` is out, and the first line after the title says so."""
    assert "NOT certified" in text.splitlines()[1]
    assert "the first one is a guess" in text.splitlines()[1]
    rows = rows_of(text)
    assert rows["certainly in"] == "-"
    assert sorted(rows["certainly out"].split(", ")) == sorted(out or "-")
    assert {row[1] for row in table_of(text) if row[-1] == "out"} == set(out)
    assert {row[-1] for row in table_of(text)} <= {"?", "out"}
    assert "CERTIFIED" not in text.replace("NOT certified", "")


def test_certified_by_dominance():
    result = tell_faces([3, 0, 4, 5], params_of(delta=0.1))
    assert result.certificate == "dominance"
    assert result.heuristic is None
    text = str(result)
    lines = text.splitlines()
    assert lines[0] == "Top 1 of 4 options: dominance race, delta 0.1"
    assert lines[1].strip().startswith("CERTIFIED (a): ")
    assert "wrong certificate has probability at most 0.1" in lines[2]
    rows = rows_of(text)
    assert (rows["certainly in"], rows["undecided"]) == ("1", "-")
    assert sorted(rows["certainly out"].split(", ")) == ["0", "2", "3"]
    # 6 pairs with 11 samples of either option.
    assert rows["cost"] == "44 samples counted, 44 simulated, 726 comparisons"
    assert {"in doubt", "would help"}.isdisjoint(rows)
    rank, option, wins, samples, verdict = table_of(text)[0]
    assert (rank, option, wins, samples, verdict) == ("1", "1", "3", "11", "in")
    assert [row[-1] for row in table_of(text)[1:]] == ["out"] * 3


def test_certified_by_counts():
    """Three in a circle that beat the fourth: each of them is a right answer, and one is taken."""
    result = tell_faces([5, 0, 1, 2], params_of(delta=0.1))
    assert result.certificate == "counts"
    assert result.wins.tolist() == [0, 2, 2, 2]
    assert result.best.tolist() == [1]
    text = str(result)
    assert text.splitlines()[1].strip().startswith("CERTIFIED (b): ")
    assert "NOT" not in text
    # Each of the circle beats one of the others and the last: nobody can say who is better.
    rows = rows_of(text)
    assert (rows["certainly in"], rows["certainly out"], rows["undecided"]) == ("-", "0", "-")
    assert rows["tied"] == "1, 2, 3: perhaps equally good, and the first is taken"
    assert result.selected.tolist() == [False, True, False, False]
    assert result.tied.tolist() == [False, True, True, True]
    assert {"in doubt", "would help"}.isdisjoint(rows_of(text))


@pytest.mark.parametrize("max_rounds", [100, 60, 7])
def test_an_exhausted_race(max_rounds):
    result = tell_faces([3, 0, 0, 3], params_of(delta=0.1, max_rounds=max_rounds))
    assert result.certificate is None
    text = str(result)
    # Whoever loses to somebody is not the one that all others lose to.
    assert_uncertified(text, "03" if max_rounds > 7 else "")
    rows = rows_of(text)
    assert sorted(rows["undecided"].split(", ")) == [*("12" if max_rounds > 7 else "0123")]
    if max_rounds > 7:
        assert rows["so far"] == (
            "only 1, 2 can be better than each of the others; wrong with probability at most 0.1"
        )
        assert rows["in doubt"] == "1 or 2 (0 % of the evidence)"
    assert ("larger capacity" if max_rounds == 100 else "larger max_rounds") in text
    ends = {100: "96 of 100 samples used, the next block needs 5; the first one is a guess"}
    ends |= {60: "56 of 60 samples used, the", 7: "0 of 7 samples used, the next block needs 11;"}
    assert f"  NOT certified, out of room: {ends[max_rounds]}" in text
    # What is not certified is ranked by wins, and ties by the index.
    assert [row[1] for row in table_of(text)] == ["1", "2", "0", "3"]
    assert result.wins.tolist() == [0, 2, 2, 0]
    # And only what is decided counts as beaten.
    assert [row[2] for row in table_of(text)] == (
        ["2", "2", "0", "0"] if max_rounds > 7 else ["0"] * 4
    )


def test_a_race_that_is_not_over():
    params = params_of(delta=0.01)
    nothing = tell_faces([3, 0, 0, 5], params, max_tells=0)
    assert nothing.certificate is None
    assert "NOT certified yet" in str(nothing)
    assert_uncertified(str(nothing))
    assert rows_of(str(nothing))["would help"] == "11 more samples of 0, 1, 2, 3"
    result = tell_faces([3, 0, 0, 5], params, max_tells=1)
    assert result.certificate is None
    assert_uncertified(str(result), "03")
    rows = rows_of(str(result))
    # What is in doubt, and whose samples would help.
    assert rows["in doubt"] == "1 or 2 (0 % of the evidence)"
    assert rows["would help"] == "5 more samples of 1, 2"
    assert result.asked.tolist() == [False, True, True, False]


def test_certain_losses_of_an_uncertified_race_are_said():
    """By the rule that all races share: an option is out once another is over it."""
    result = tell_faces([0, 5, 0, 5], params_of(delta=0.5))
    assert result.certificate is None
    rows = rows_of(str(result))
    beaten = np.asarray(result.highest) > float(result.params.possible_level)
    out = [str(option) for option in np.flatnonzero(beaten.any(0))]
    assert out == ["1", "3"]
    assert rows["certainly in"] == "-"
    assert sorted(rows["certainly out"].split(", ")) == out
    assert sorted(rows["undecided"].split(", ")) == ["0", "2"]


def assert_heuristic(result):
    """No guarantee is claimed for common random numbers, whatever the race ended with."""
    assert result.heuristic == "common random numbers make the options dependent"
    text = str(result)
    assert "heuristic, no guarantee: common random numbers" in text
    assert "certainly" not in text
    assert "CERTIFIED" not in text.replace("NOT certified", "")
    assert "probability" not in text
    assert {"perhaps in", "perhaps out"} <= rows_of(text).keys()
    if result.decided:
        assert result.certificate is None
        assert "NOT certified, but ended by rule (a)" in text.splitlines()[1]


def test_what_common_random_numbers_would_certify_is_a_heuristic():
    params = params_of(delta=0.1)
    ended = tell_faces([3, 0, 4, 5], params)
    assert ended.decided
    for result in (ended, tell_faces([3, 0, 0, 3], params)):
        assert_heuristic(dataclasses.replace(result, common_random_numbers=True))
