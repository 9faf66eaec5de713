"""What one reads to follow one race: the files that it imports, wherever in them they import."""

import ast
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
MOST_FILES, MOST_LINES = 20, 3_000


def file_of(module: str) -> Path | None:
    """The source of `jaxrace.x.y`, if that is a module or a package."""
    parts = module.split(".")
    if parts[0] != "jaxrace":
        return None
    root = CHECKOUT if parts[1:2] in (["kernels"], ["envs"]) else CHECKOUT / "jaxrace"
    path = root.joinpath(*parts[1:])
    found = [path.with_suffix(".py"), path / "__init__.py"]
    return next((one for one in found if one.is_file()), None)


def reexports(package: Path) -> dict[str, str]:
    """Where the names that a package passes on come from."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(package.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def homes(name: str, attributes: set[str]) -> set[Path]:
    """The files behind an imported name, of a package those behind the attributes that are read."""
    path = file_of(name)
    if path is None:
        package, _, last = name.rpartition(".")
        path = file_of(package)
        if path is None:
            return set()
        if path.name == "__init__.py" and last in (passed := reexports(path)):
            return homes(passed[last], set())
        return {path}
    if path.name != "__init__.py":
        return {path}
    return set().union(*(homes(f"{name}.{one}", set()) for one in attributes))


def imports(path: Path) -> set[Path]:
    tree = ast.parse(path.read_text("utf-8"))
    read: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            read.setdefault(node.value.id, set()).add(node.attr)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found |= homes(name, read.get(alias.asname or alias.name, set()))
    return found - {path}


def walk(*starts: str) -> dict[Path, int]:
    """The lines of each file that these modules need, themselves included."""
    files, todo = set(), {path for name in starts if (path := file_of(name)) is not None}
    while todo:
        files |= todo
        todo = {one for path in todo for one in imports(path)} - files
    return {path: len(path.read_text("utf-8").splitlines()) for path in sorted(files)}


@pytest.mark.parametrize("kind", ["preference.race", "certified.dominance", "certified.shared"])
def test_one_race_is_read_in_an_hour(kind):
    lines = walk("jaxrace.racing.driver", f"jaxrace.racing.{kind}")
    assert len(lines) <= MOST_FILES
    assert sum(lines.values()) <= MOST_LINES
