"""The tables that README's commands read are there, are those of their script, and can be read."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from jaxrace.improvement import ReturnRange
from jaxrace.judging.policies.loading import load
from jaxrace.judging.rating.front import read_comparisons
from jaxrace.tables import read_scores

DATA = Path(__file__).parents[2] / "docs" / "data"
FILES = ("answers.csv", "games.csv", "log.csv", "scores.csv")


def test_the_readme_names_them():
    readme = (DATA.parents[1] / "README.md").read_text("utf-8")
    assert set(re.findall(r"docs/data/(\S+\.csv)", readme)) == set(FILES)


def test_they_are_what_the_script_makes(tmp_path):
    spec = spec_from_file_location("make", DATA / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = module_from_spec(spec)
    spec.loader.exec_module(make)
    make.main(tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_they_are_read():
    assert len(read_scores(DATA / "scores.csv").names) == 6
    assert len(read_scores(DATA / "answers.csv").names) == 5
    assert len(read_comparisons(DATA / "games.csv").first) == 4 * 28
    found = load(str(DATA / "log.csv"), ReturnRange(0, 20))
    assert found.data.actions.shape == (500, 2)
