"""What is published has a name of `python -m papers`, and each name makes its figures."""

import re
from pathlib import Path

import pytest

from papers.__main__ import main
from papers.figures import FIGURES, MAKERS

CHECKOUT = Path(__file__).parents[2]


def test_the_page_of_reproductions_has_every_name():
    page = (CHECKOUT / "docs" / "papers" / "reproductions.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z0-9-]+)`", page))
    assert FIGURES.keys() == MAKERS.keys()
    assert FIGURES.keys() - named == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_a_name_makes_its_figures_and_its_report(name, tmp_path):
    """A quick look: few repetitions, whose numbers the documents do not show."""
    folder = tmp_path / name
    assert main(["--no-compilation-cache", name, "--quick", "--out", str(folder)]) == 0
    assert "| nan" not in (folder / "report.md").read_text("utf-8")
    assert list(folder.glob("*.png"))
    assert list(folder.glob("*.csv"))
