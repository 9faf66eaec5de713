"""Before a release links of README.md are made absolute: each leads to what is in the checkout."""

import importlib.util
import re
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
WHERE, TAG = "https://example.org/owner/jaxrace", "v0.1.0"


def addresses():
    loader = SourceFileLoader("addresses", str(CHECKOUT / ".ci" / "addresses"))
    spec = importlib.util.spec_from_loader("addresses", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_links_of_the_readme_become_absolute():
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    before = re.findall(r"\]\(([^)\s]+)\)", readme)
    after = re.findall(r"\]\(([^)\s]+)\)", addresses().absolute(readme, WHERE, TAG))
    assert len(before) == len(after) > 20
    for old, new in zip(before, after, strict=True):
        if old.startswith("http"):
            assert new == old
        else:
            assert new in (f"{WHERE}/blob/{TAG}/{old}", f"{WHERE}/raw/{TAG}/{old}")
            assert (CHECKOUT / new.split(f"/{TAG}/")[1].partition("#")[0]).exists()


def test_a_page_and_a_figure():
    text = "[a [b] c](docs/x.md#y), ![d](e.png), [f](https://g.org), [h](#i)"
    expected = f"[a [b] c]({WHERE}/blob/{TAG}/docs/x.md#y), ![d]({WHERE}/raw/{TAG}/e.png), "
    assert addresses().absolute(text, WHERE, TAG) == f"{expected}[f](https://g.org), [h](#i)"


def test_the_project_has_its_addresses():
    project = (CHECKOUT / "pyproject.toml").read_text("utf-8") + addresses().urls(WHERE, TAG)
    assert tomllib.loads(project)["project"]["urls"]["Issues"] == f"{WHERE}/issues"
