"""Every page of docs/how-to runs, prints what it shows, and is in the index."""

import contextlib
import importlib.metadata
import re
import textwrap

import how_to
import jax
import numpy as np
import pytest
import shown
from PIL import Image

# What a page needs that the tests do not; its numbers are those of one version.
NEEDED = {"01-scikit-learn-models": "scikit-learn 1.9", "08-optuna-study": "optuna 5.0"}
# JAX computes what these show: near enough will do, as devices and modes round differently.
ROUNDED = {
    *("04-votes-with-ties", "07-bandit-log", "09-chess-players", "20-an-arena"),
    *("16-a-person-as-judge", "17-a-judge-who-errs", "18-your-environment"),
    "25-a-preference-of-your-own",
}
WITHOUT_PICTURE = {"17-a-judge-who-errs", "22-fastchess-plays", "25-a-preference-of-your-own"}
DRAWN_BY = "3.11."  # matplotlib; other versions set letters a little differently
ALIKE = 1  # mean difference of greys of 256: a mean that moves by .02 makes 2.5
MOST_LINES, MOST_BYTES = 64, 40_000  # of a page with its picture, of a picture


def _difference(one, other):
    """The mean difference of two pictures, in greys of 256."""
    assert one.size == other.size
    one, other = (np.asarray(each.convert("L").reduce(4), float) for each in (one, other))
    return np.abs(one - other).mean()


@pytest.mark.parametrize("name", how_to.PAGES)
def test_a_page_runs(name, tmp_path, monkeypatch):
    library, _, version = NEEDED.get(name, "").partition(" ")
    if library:
        pytest.importorskip({"scikit-learn": "sklearn"}.get(library, library))
    monkeypatch.chdir(tmp_path)
    is_gymnax = name == "18-your-environment"  # which leaves promotions of dtypes unsaid
    with jax.numpy_dtype_promotion("standard") if is_gymnax else contextlib.nullcontext():
        blocks = list(how_to.ran(name))
    assert any(block.printed for block in blocks)
    if library and not importlib.metadata.version(library).startswith(f"{version}."):
        pytest.skip(f"it ran; its numbers are those of {library} {version}")
    for block in blocks:
        text = (block.shown or "").rstrip()
        if name in ROUNDED:
            assert shown.differences(text, block.printed) == []
        else:
            assert text == block.printed.rstrip()
    if name not in WITHOUT_PICTURE:
        drawn = how_to.picture(tmp_path)
        if importlib.metadata.version("matplotlib").startswith(DRAWN_BY):
            assert _difference(drawn, Image.open(how_to.picture_file(name))) < ALIKE


@pytest.mark.parametrize("name", how_to.PAGES)
def test_a_page_is_short_and_all_of_it_is_run(name):
    text = how_to.page(name)
    assert text.count("\n") <= MOST_LINES
    rest = how_to.BLOCK.sub("", text)
    assert rest != text
    assert not re.search(r"^(?: {4}|```)", rest, re.MULTILINE)


@pytest.mark.parametrize("name", how_to.PAGES)
def test_a_page_shows_its_picture(name):
    found = [match["file"] for match in how_to.PICTURE.finditer(how_to.page(name))]
    path = how_to.picture_file(name)
    assert found == ([] if name in WITHOUT_PICTURE else [f"figures/{path.name}"])
    assert path.exists() == bool(found)
    if found:
        assert path.stat().st_size <= MOST_BYTES


def test_the_index_has_every_page_once():
    index = how_to.page("README")
    assert re.findall(r"\]\((\d\d-[a-z-]+)\.md\)", index) == list(how_to.PAGES)


def test_files_are_small_and_the_same_each_time(tmp_path):
    make = how_to.make_module()
    for name in make.FILES:
        make.make(name, tmp_path)
        first = (tmp_path / name).read_bytes()
        make.make(name, tmp_path)
        assert (tmp_path / name).read_bytes() == first
        assert len(first) < 100_000


def test_another_number_on_a_page_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    right = how_to.page("05-hyperfine-timings")
    monkeypatch.setattr(how_to, "page", lambda name: right.replace("0.787", "0.788"))
    (block,) = how_to.ran("05-hyperfine-timings")
    assert block.shown is not None
    assert textwrap.dedent(block.shown) == block.shown != block.printed


def test_the_first_page_stays_short():
    readme = how_to.FOLDER.parents[1] / "README.md"
    assert readme.read_text("utf-8").count("\n") <= 120
