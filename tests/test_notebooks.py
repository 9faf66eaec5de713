"""The notebooks run from top to bottom, and are committed with what they show."""

import base64
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.usefixtures("shared_programs")
@pytest.mark.parametrize(
    "path",
    # The others take twenty seconds each.
    [pytest.param(path, marks=pytest.mark.slow if n else ()) for n, path in enumerate(NOTEBOOKS)],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("JAXRACE_QUICK", "1")
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}})
    client.execute()
    assert not list(tmp_path.iterdir())  # nothing is left behind
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.get("name") != "stderr", output["text"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_as_it_was_run(path):
    """From top to bottom, in one go, without an error, and its pictures are there."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 3


def test_the_film_of_a_race_can_be_seen():
    """Viewers show no output that is nothing but a GIF."""
    notebook = nbformat.read(FOLDER / "01_preference_based_racing.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.outputs]
    assert not any("image/gif" in data for data in outputs)
    films = [data["text/html"] for data in outputs if "text/html" in data]
    assert len(films) == 1
    encoded = films[0].split("data:image/gif;base64,")[1].split('"')[0]
    assert base64.b64decode(encoded).startswith(b"GIF89a")
