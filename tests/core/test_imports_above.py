"""``import jaxrace`` finds the package, and ``dir`` says what is in it."""

import subprocess
import sys
from pathlib import Path

import jaxrace

ROOT = Path(__file__).parents[2]


def test_dir_lists_what_there_is():
    folders = {path.parent.name for path in (ROOT / "jaxrace").glob("*/__init__.py")}
    assert folders <= {*dir(jaxrace)}
    for name in dir(jaxrace):
        assert getattr(jaxrace, name) is not None


def test_a_clone_is_found_from_the_folder_above_it(tmp_path):
    (tmp_path / "jaxrace").symlink_to(ROOT)
    code = "import jaxrace; print(jaxrace.race({'a': [1, 2], 'b': [3, 4.5]}).best, jaxrace.tables)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("['b'] <module 'jaxrace.tables'")
