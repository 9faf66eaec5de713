"""Matrices of who beats whom, with names, gaps on the diagonal, and counts."""

import json

import numpy as np
import pandas
import pytest
from refusals import assert_refused

from jaxrace.tables import read_matrix

P = [[0.5, 0.75, 0.25], [0.25, 0.5, 1], [0.75, 0, 0.5]]

READ = {
    "blank diagonal": (",.75,.25\n.25,,1\n.75,0,\n", "0 1 2", ""),
    "heads": ("a,b,c\n.5,.75,.25\n.25,.5,1\n.75,0,.5\n", "a b c", ""),
    "names": (",a,b,c\na,.5,.75,.25\nb,.25,.5,1\nc,.75,0,.5\n", "a b c", ""),
    "another order": ("x,a,b,c\nc,.75,0,-\na,-,.75,.25\nb,.25,-,1\n", "a b c", ""),
    "percents": ("a;b;c\n-;75%;25%\n25%;-;100%\n75%;0%;-\n", "a b c", "percents divided by 100"),
    "decimal commas": ("a;b;c\n;0,75;0,25\n0,25;;1\n0,75;0;\n", "a b c", "decimal commas"),
    "counts": (",a,b,c\na,,3,1\nb,1,,2\nc,3,0,\n", "a b c", "wins of the row against the column"),
    "a crosstable": (",1,2,3\na,*,3,1\nb,1,*,2\nc,3,0,*\n", "a b c", "wins of the row"),
    "totals": ("#,who,1,2,3,sum\n1,a,*,3,1,4\n2,b,1,*,2,3\n3,c,3,0,*,3\n", "a b c", "'sum'"),
    "numbers as names": (",1,2,3\n1,,.75,.25\n2,.25,,1\n3,.75,0,\n", "1 2 3", ""),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name, tmp_path):
    text, names, said = READ[name]
    (tmp_path / "m.csv").write_text(text)
    found = read_matrix(tmp_path / "m.csv")
    assert found.names == tuple(names.split())
    assert found.probabilities.tolist() == P
    assert said in "; ".join(found.said)


def test_a_game_of_each_pair_is_read(tmp_path):
    (tmp_path / "m.csv").write_text("who,1,2,3\nann,x,1,½\nbob,0,x,1\ncy,½,0,x\n")
    found = read_matrix(tmp_path / "m.csv")
    assert found.names == ("ann", "bob", "cy")
    assert found.probabilities.tolist() == [[0.5, 1, 0.5], [0, 0.5, 1], [0.5, 0, 0.5]]


def test_frames_are_read():
    import pandas as pd
    import polars as pl

    named = pd.DataFrame(P, index=list("abc"), columns=list("abc"))
    columns = dict(zip("abc", zip(*P, strict=True), strict=True))
    for frame in (named, named.loc[list("cab")], pl.DataFrame(columns, strict=False), columns):
        found = read_matrix(frame)
        assert found.names == ("a", "b", "c")
        assert found.probabilities.tolist() == P


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a table with something in it"),
        ("a,b\n.5,.5\n.5,.5\n.5,.5\n", "expected a square in 'm.csv', got shape [3, 2]"),
        ("a,b\nc,d\ne,f\n", "expected a number in 'm.csv', line 2, column 'a', got 'c'"),
        (",a,b\na,,.5\nc,.5,\n", "rows of the same names as columns in 'm.csv', got 'a', 'c' bes"),
        ("a,a\n.5,.5\n.5,.5\n", "different names in 'm.csv', got 'a' twice"),
        ("a,b\n.5,.7\n.4,.5\n", "expected p_ij + p_ji = 1 in 'm.csv', got 0.7 + 0.4 for a and b"),
        ("a,b\n,1.2\n-.2,\n", "probabilities, or counts of wins in 'm.csv', got 1.2 for a"),
        ("a,b,c\n,1,\n0,,1\n1,0,\n", "expected a number in 'm.csv', line 2, column 'c', got ''"),
        ("a,b\n,0\n0,\n", "a comparison of every pair in 'm.csv', got none of a and b"),
        ("a,b\n2,3\n1,0\n", "no wins of an option against itself in 'm.csv', got 2 for a"),
    ],
)
def test_what_is_refused(text, message, tmp_path):
    assert_refused(read_matrix, "matrix", tmp_path, "m.csv", text, message)


def test_counts_and_probabilities_are_not_mixed_up():
    """Halves are points of games; shares that do not sum to 1 are a mistake, not counts."""
    assert read_matrix({"a": [0, 0.5], "b": [2.5, 0]}).probabilities[0, 1] == 2.5 / 3
    with pytest.raises(ValueError, match=r"p_ij \+ p_ji = 1"):
        read_matrix({"a": [0.5, 0.5], "b": [1, 0.5]})
    assert np.isclose(read_matrix({"a": [0, 4], "b": [3, 0]}).probabilities[0, 1], 3 / 7)


def test_a_mapping_of_mappings_has_its_rows_outside(tmp_path):
    """As people write who has beaten whom; it was read with rows and columns changed."""
    wins = {"ann": {"bob": 3, "cid": 2}, "bob": {"ann": 1}, "cid": {"ann": 2, "bob": 4}}
    (tmp_path / "w.json").write_text(json.dumps(wins))
    for source in (wins, tmp_path / "w.json"):
        found = read_matrix(source)
        assert found.names == ("ann", "bob", "cid")
        np.testing.assert_array_equal(found.wins, [[0, 3, 2], [1, 0, 0], [2, 4, 0]])
    shares = pandas.DataFrame([[0.5, 0.75], [0.25, 0.5]], ["a", "b"], ["a", "b"])
    shares.to_json(tmp_path / "p.json")  # with columns outside
    with pytest.raises(ValueError, match="whether the outer names are rows"):
        read_matrix(tmp_path / "p.json")
