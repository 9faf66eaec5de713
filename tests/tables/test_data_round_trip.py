"""What R, Excel, pandas and NumPy write is read as it was, or refused: never as something else."""

import itertools

import numpy as np
import pytest

from jaxrace.tables import read_scores

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
VALUES = {
    "fractions": [[0.286, 0.5], [0.31, 0.25], [0.125, 1.5]],
    "whole ones": [[7, 5], [3, 7], [9, 2]],
    "mixed": [[0.5, 1], [2, 0.25], [1, 3]],
    "beyond thousands": [[1020.5, 850.25], [980.125, 1105.5], [1300.25, 760.75]],
    "three digits": [[1.25, 2.125], [1.375, 2.625], [1.125, 2.875]],
}
TITLES = {"none": "", "a word": "Results\n", "words": "Results of June 2026\n\n"}


def text_of(values, delimiter, decimal, rows, quotes, title, layout):
    """A table as a program writes it: ``rows`` are "none", "names" or "numbers", as in R."""

    def name(text):
        return f'"{text}"' if quotes else text

    def cell(number):
        return f"{number:g}".replace(".", decimal)

    if layout == "wide":
        heads, lines = ["a", "b"], [[cell(x) for x in row] for row in values]
    else:
        heads = ["option", "score"]
        lines = [[name(o), cell(x)] for row in values for o, x in zip("ab", row, strict=True)]
    if rows != "none":
        first = [f"r{i}" if rows == "names" else str(i) for i in range(1, len(lines) + 1)]
        lines = [[name(one), *line] for one, line in zip(first, lines, strict=True)]
    lines = [list(map(name, heads)), *lines]
    return title + "".join(delimiter.join(line) + "\n" for line in lines)


def is_clear(delimiter, decimal, rows, layout, title, values):
    """Is there one reading, so that a refusal would be a fault?"""
    if delimiter == decimal == ",":  # cells are cut in two
        return False
    if delimiter == " " and title:  # words of a title may be heads
        return False
    if rows != "none" and (layout == "long" or (delimiter == "," and values == "whole ones")):
        return False  # which column has no head is not clear
    # In such a table points may be those of thousands.
    return not (delimiter == ";" and decimal == "." and values == "three digits") and not (
        decimal == "," and values == "three digits"
    )


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("decimal", [",", "."])
def test_a_file_is_read_as_it_was_written_or_refused(delimiter, decimal, tmp_path):
    """By all kinds of row names, quotes, titles, layouts and numbers: 180 files each."""
    sign, wrong, refused = DELIMITERS[delimiter], [], []
    rows, quotes, layouts = ("none", "names", "numbers"), (False, True), ("wide", "long")
    for row, quote, title, layout, kind in itertools.product(
        rows, quotes, TITLES.values(), layouts, VALUES
    ):
        text = text_of(VALUES[kind], sign, decimal, row, quote, title, layout)
        (tmp_path / "s.csv").write_text(text)
        try:
            found = read_scores(tmp_path / "s.csv")
        except ValueError as error:
            if is_clear(sign, decimal, row, layout, title, kind):
                refused.append((text, str(error)))
            continue
        got = dict(zip(found.names, map(list, found.values), strict=True))
        if got != dict(zip("ab", np.transpose(VALUES[kind]).tolist(), strict=True)):
            wrong.append((text, got))
    assert (wrong, refused) == ([], [])


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("decimal", [",", "."])
def test_a_file_without_heads_is_read_as_it_was_written(delimiter, decimal, tmp_path):
    sign = DELIMITERS[delimiter]
    for kind, values in VALUES.items():
        text = text_of(values, sign, decimal, "none", False, "", "wide").split("\n", 1)[1]
        (tmp_path / "s.csv").write_text(text)
        if sign == decimal == "," and kind != "whole ones":
            continue  # whether a comma is decimal is seen in some of these only
        if is_clear(sign, decimal, "none", "wide", "", kind):
            found = read_scores(tmp_path / "s.csv", header=False)
            assert [x.tolist() for x in found.values] == np.transpose(values).tolist(), text


def test_commas_between_whole_numbers_without_heads_are_said(tmp_path):
    (tmp_path / "s.csv").write_text("0,5,0,7\n0,6,0,8\n")
    said = read_scores(tmp_path / "s.csv", header=False).said
    assert said == ("commas are between whole numbers, and none is decimal",)
