"""Is the default test run sharp? Faults of single operators, and whether it finds each.

    python tests/house/mutants.py                    60 of them, by lot, two at a time
    python tests/house/mutants.py kernels/ --number 20 --seed 3
    python tests/house/mutants.py jaxrace/evidence/levels.py --number 999    all of a file

A fault is one operator, number or branch of evidence, kernels and races that becomes another. Each
is made in a copy of the checkout, where the tests of that place run without the slow ones, up to
the first failure. Exit status 1 if more than one in five survives: some change nothing, as where
two branches agree at their border, or only the speed.
"""

import argparse
import ast
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
COPIED = (
    *("jaxrace", "kernels", "envs", "papers", "tests", "docs", "bench"),
    *("pyproject.toml", "README.md"),
)
# The rooms that decide, and the folders of the tests that look at them.
ROOMS = {
    "jaxrace/evidence": ("judging", "racing"),
    "jaxrace/racing": ("racing",),
    "kernels": ("kernels", "racing", "selection"),
}
MOST_SURVIVORS = 1 / 5
MOST_SECONDS = 240
MOST_FILES = 6  # of tests that a mutant meets, those that name most of its place first

OPERATORS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.And: "or",
    ast.Or: "and",
}
CALLS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all"}


class Mutant(NamedTuple):
    """A fault: in ``file``, ``new`` in place of the characters from ``start`` to ``end``."""

    file: str
    line: int
    start: int
    end: int
    new: str
    function: str  # that it stands in


def mutants_of(file: str) -> list[Mutant]:
    """Every fault of a file, from the first."""
    source = (CHECKOUT / file).read_text("utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        # Columns of `ast` are bytes, and the source may have letters of two.
        text = source[starts[line - 1] : starts[line]].encode()
        return starts[line - 1] + len(text[:column].decode())

    found = []

    def between(left: ast.expr, right: ast.expr, operator: ast.AST, function: str) -> None:
        """The operator stands between two operands, perhaps with brackets and ends of lines."""
        if type(operator) not in OPERATORS:
            return
        first = at(*end_of(left))
        gap = source[first : at(right.lineno, right.col_offset)]
        sign = re.search(r"[<>=!]=?|[-+*/&|]+|\b(and|or)\b", re.sub(r"#.*", "", gap))
        if sign:
            place, new = first + sign.start(), OPERATORS[type(operator)]
            found.append(Mutant(file, left.lineno, place, first + sign.end(), new, function))

    for node, function in walk(ast.parse(source), ""):
        if isinstance(node, ast.Compare):
            for left, operator, right in zip(
                [node.left, *node.comparators], node.ops, node.comparators, strict=False
            ):
                between(left, right, operator, function)
        elif isinstance(node, ast.BinOp):
            between(node.left, node.right, node.op, function)
        elif isinstance(node, ast.BoolOp):
            between(node.values[0], node.values[1], node.op, function)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            if isinstance(node.value, bool):
                continue
            place = (
                at(node.lineno, node.col_offset),
                at(node.end_lineno or 0, node.end_col_offset or 0),
            )
            new = str(node.value + 1) if isinstance(node.value, int) else str(node.value * 2 or 1.0)
            found.append(Mutant(file, node.lineno, *place, new, function))
        elif isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in CALLS:
                end = at(*end_of(node))
                found.append(Mutant(file, node.lineno, end - len(name), end, CALLS[name], function))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert | ast.USub):
            place = at(node.lineno, node.col_offset)
            found.append(Mutant(file, node.lineno, place, place + 1, "", function))
    return found


def end_of(node: ast.expr) -> tuple[int, int]:
    """Line and column behind an expression."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def walk(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """Nodes of what computes, and the function of each; not of types, texts, checks and errors."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.ClassDef | ast.FunctionDef):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            return
        parts: list[ast.AST] = list(node.body)
        function = node.name if isinstance(node, ast.FunctionDef) else function
    elif isinstance(node, ast.AnnAssign):
        parts = [node.value] if node.value else []
    else:
        parts = list(ast.iter_child_nodes(node))
    yield node, function
    for part in parts:
        yield from walk(part, function)


def tests_of(mutant: Mutant) -> list[str]:
    """The files of tests that a mutant meets: of its room, those that name its place most first."""
    folders = next(folders for room, folders in ROOMS.items() if mutant.file.startswith(f"{room}/"))
    function, module = mutant.function, Path(mutant.file).stem
    ranked = []
    for folder in folders:
        for path in sorted((CHECKOUT / "tests" / folder).glob("test_*.py")):
            text = path.read_text("utf-8")
            is_other = module not in path.stem, not function or function not in text
            ranked.append(((*is_other, -text.count(module)), str(path.relative_to(CHECKOUT))))
    return [path for _, path in sorted(ranked)[:MOST_FILES]]


def chosen(which: list[str], number: int, seed: int) -> list[Mutant]:
    """Faults by lot of the files whose names start with one of ``which``; of all without any."""
    files = [
        str(path.relative_to(CHECKOUT))
        for room in ROOMS
        for path in sorted((CHECKOUT / room).rglob("*.py"))
        if path.name != "__init__.py"
    ]
    asked = [name for name in files if not which or name.startswith(tuple(which))]
    everything = [mutant for name in asked for mutant in mutants_of(name)]
    return random.Random(seed).sample(everything, min(number, len(everything)))


def main() -> int:
    """Run what was asked for, print a line per mutant, and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("which", nargs="*", help="starts of the names of files")
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    mutants = chosen(arguments.which, arguments.number, arguments.seed)
    with concurrent.futures.ThreadPoolExecutor(arguments.processes) as pool:
        survivors = 0
        for mutant, (is_killed, seconds) in zip(mutants, pool.map(verdict, mutants), strict=True):
            survivors += not is_killed
            word = "killed  " if is_killed else "SURVIVED"
            print(f"{word} {seconds:4.0f} s  {shown(mutant)}", flush=True)
    print(f"{len(mutants) - survivors} of {len(mutants)} mutants were killed")
    return int(survivors > MOST_SURVIVORS * len(mutants))


def shown(mutant: Mutant) -> str:
    """Where it is, and how the line reads with it."""
    source = (CHECKOUT / mutant.file).read_text("utf-8")
    line = source[: mutant.start].count("\n")
    return f"{mutant.file}:{line + 1}: {mutated(source, mutant).splitlines()[line].strip()}"


def mutated(source: str, mutant: Mutant) -> str:
    """The source with the fault."""
    return source[: mutant.start] + mutant.new + source[mutant.end :]


def verdict(mutant: Mutant) -> tuple[bool, float]:
    """Is it killed, and the seconds that took."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="jaxrace-mutant-") as name:
        folder = Path(name)
        copy(folder)
        path = folder / mutant.file
        path.write_text(mutated(path.read_text("utf-8"), mutant), "utf-8")
        return fails(tests_of(mutant), folder), time.monotonic() - start


def copy(folder: Path) -> None:
    """What the tests need of the checkout; the links to kernels and envs stay links."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in COPIED:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, folder / name)


def fails(tests: list[str], folder: Path) -> bool:
    """Does a test fail? ValueError if pytest itself does, such as over a name that is wrong."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-n0", *tests]
    cache = CHECKOUT / ".pytest_cache" / "mutants"  # programs are shared among mutants
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, "-o", f"cache_dir={cache}"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:  # a loop that no longer ends
        return True
    # 1: a test failed. 2: a file could not be imported, say, which stops a run as well.
    if done.returncode not in (0, 1, 2):
        raise ValueError(f"pytest {' '.join(tests)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
