"""The notebooks run from top to bottom, and are committed with what they show.

At their smallest they run in this process: kernels of their own took twice the time. The slow tests
run them at full size, as people do, and compare what is printed with what is committed.
"""

import base64
import contextlib
import io
import subprocess
import sys
import types
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import pytest
import shown
from nbclient import NotebookClient
from without_cache import without_cache

from jaxrace.commands import cli

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_cells(path):
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def printed(cell):
    """In one piece, as a cell's output may come in several."""
    outputs = [output.text for output in cell.outputs if output.get("name") == "stdout"]
    return "".join(outputs)


def assert_prints(cells, fresh):
    """What is stored is what comes out again, within its errors."""
    for old, new in zip(cells, fresh, strict=True):
        assert shown.differences(printed(old), printed(new)) == []


def show():
    """Draw all open figures, as a notebook does."""
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


def run(command, cwd=".", real=subprocess.run, **options):
    """``subprocess.run``, but of the command ``jaxrace`` in this process, which has imported it."""
    if command[:3] != [sys.executable, "-m", "jaxrace"]:
        return real(command, cwd=cwd, **options)
    with contextlib.chdir(cwd), contextlib.redirect_stdout(io.StringIO()) as said:
        assert cli.main(without_cache(command[3:])) in (
            0,
            3,
        )  # 3: not likely enough yet
    return types.SimpleNamespace(stdout=said.getvalue())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_at_its_smallest(path, tmp_path, monkeypatch):
    monkeypatch.setenv("JAXRACE_QUICK", "1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", show)
    monkeypatch.setattr(subprocess, "run", run)
    namespace = {"__name__": path.stem}
    with matplotlib.rc_context({"backend": "agg"}):
        for cell in code_cells(path):
            name = f"{path.name}, cell {cell.execution_count}"
            exec(compile(cell.source, name, "exec"), namespace)
    assert not list(tmp_path.iterdir())  # nothing is left behind


@pytest.mark.slow
@pytest.mark.usefixtures("shared_programs")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_a_kernel(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=900, resources={"metadata": {"path": tmp_path}})
    client.execute()
    assert not list(tmp_path.iterdir())  # nothing is left behind
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.get("name") != "stderr", output["text"]
    fresh = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert_prints(code_cells(path), fresh)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_as_it_was_run(path):
    """From top to bottom, in one go, without an error, and its pictures are there."""
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 3


def test_the_film_of_a_race_can_be_seen():
    """Viewers show no output that is nothing but a GIF."""
    cells = code_cells(FOLDER / "01_preference_based_racing.ipynb")
    outputs = [output.get("data", {}) for cell in cells for output in cell.outputs]
    assert not any("image/gif" in data for data in outputs)
    films = [data["text/html"] for data in outputs if "text/html" in data]
    assert len(films) == 1
    encoded = films[0].split("data:image/gif;base64,")[1].split('"')[0]
    assert base64.b64decode(encoded).startswith(b"GIF89a")
