"""Words for right and wrong are read as 1 and 0, in every layout, and nothing else is."""

import pytest

import jaxrace
from jaxrace.tables import read_scores

PAIRS = ["C I", "pass fail", "Passed FAILED", "correct incorrect", "yes no", "right wrong", "✓ ✗"]
PAIRS += ["WAHR FALSCH", "VRAI FAUX", "VERDADERO FALSO", "Sí No", "ja nein"]  # as Excel has them
RIGHT = {"main": [1, 0, 0, 1, 0, 0, 1, 0], "cand": [1, 1, 0, 1, 1, 0, 1, 1]}


def wide(pair, **more):
    words = pair.split()[::-1]
    return {"id": list(range(8)), **{m: [words[x] for x in xs] for m, xs in RIGHT.items()}, **more}


def long(pair, head="result"):
    marks, words = ("main", "cand"), wide(pair)
    return [{"model": m, "id": n, head: words[m][n]} for n in range(8) for m in marks]


def by_model(pair):
    words = wide(pair)
    return [{"model": m, **{f"q{n}": x for n, x in enumerate(words[m])}} for m in RIGHT]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("layout", [wide, long, by_model])
def test_words_of_one_pair_are_right_and_wrong(pair, layout):
    found = read_scores(layout(pair))
    assert {n: x.tolist() for n, x in zip(found.names, found.values, strict=True)} == RIGHT
    right, wrong = pair.lower().split()
    said = f"words read as numbers: {right!r} is 1 and {wrong!r} is 0, in "
    assert any(note.startswith(said) for note in found.said)


def test_a_column_of_another_name_is_read_where_it_is_named():
    with pytest.raises(ValueError, match="--score-column says which"):
        read_scores(long("C I", "grade"))
    assert read_scores(long("C I", "grade"), score_column="grade").names == ("main", "cand")


def test_all_right_is_read_beside_others():
    table = wide("C I", cand=["C"] * 8)
    assert read_scores(table).values[1].tolist() == [1] * 8


@pytest.mark.parametrize(
    ("more", "cell", "column"),
    [
        ({"cand": ["C", "P", "I", "C", "C", "I", "C", "C"]}, "P", "cand"),
        ({"cand": ["pass"] * 5 + ["fail"] * 3}, "pass", "cand"),
        ({"flagged": ["no"] * 8}, "no", "flagged"),
    ],
)
def test_other_words_are_refused_and_named(more, cell, column):
    table = wide("C I", **more)
    message = f"expected words of one pair, as 'c' and 'i' in .*column '{column}', got '{cell}'"
    with pytest.raises(ValueError, match=message):
        read_scores(table)


def test_options_leaves_out_other_words():
    assert read_scores(wide("C I", flagged=["no"] * 8), options="main,cand").names[1] == "cand"


def test_words_beside_numbers_are_no_scores():
    words = {"easy": ["yes", "no"] * 4, "safe": ["no", "yes"] * 4}
    table = {"id": [*range(8)], **RIGHT, "third": [0, 1] * 4, **words}
    assert read_scores(table).names == ("main", "cand", "third")


def test_a_run_that_failed_is_still_asked_about():
    table = wide("C I", cand=["C", "timeout", "I", "C", "C", "I", "C", "C"])
    with pytest.raises(ValueError, match="--failed worst"):
        read_scores(table)
    assert read_scores(table, failed=0).values[1].tolist() == [1, 0, 0, 1, 1, 0, 1, 1]


def test_what_is_right_for_all_is_no_option():
    with pytest.raises(ValueError, match="'label', which may be what the others are compared with"):
        read_scores(wide("yes no", label=["yes", "no"] * 4))


def test_the_answer_is_that_of_numbers():
    numbers = {"id": list(range(8)), **RIGHT}
    found = [jaxrace.race(x, shared=True).options for x in (wide("C I"), numbers)]
    assert found[0] == found[1]
