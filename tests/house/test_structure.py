"""The source tree keeps its structure: import arrows, packages, file sizes, quiet imports."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import jaxrace
import jaxrace.envs
import jaxrace.kernels

CHECKOUT = Path(__file__).parents[2]
FOLDERS = {"jaxrace": "jaxrace", "jaxrace.envs": "envs", "jaxrace.kernels": "kernels"}
PAPERS = CHECKOUT / "papers"  # they import jaxrace, and nothing that is installed imports them
MAX_LINES = 400

# A room is what follows `jaxrace.` in a module's name. Each may import the rooms listed for it.
FLOOR = {"envs", "kernels"}
HOST = {"answers", "evidence", "judging", "runs", "tables"}  # these import no JAX
BASE = FLOOR | {"agents", "core", "evidence"}
ARROWS = {
    "kernels": {"kernels"},
    "core": {"core", "kernels"},
    "envs": {"core", "envs"},
    "agents": BASE,
    "answers": {"answers"},
    "evidence": {"core", "evidence"},
    "tables": {"core", "tables"},
    "judging": HOST | {"core"},
    "runs": BASE | {"answers", "runs"},
    "racing": BASE | {"answers", "judging", "racing"},
    **{room: BASE | {room, "answers", "judging", "tables"} for room in ("dueling", "selection")},
    "improvement": BASE | {"answers", "improvement", "judging", "search", "tables"},
    "search": BASE | {"answers", "racing", "search"},
    "sweep": BASE | {"runs", "sweep"},
}
SEE_EVERYTHING = {"__init__", "__main__", "commands"}
ERRORS = "jaxrace.core.validation"  # every room may import it
TELLS = {"tell", "checked_tell", "_checked_tell"}


def modules_in(folders: dict[str, Path]) -> dict[str, Path]:
    """The source file of every module, by dotted name, given the folder of each root package."""
    modules = {}
    for root, folder in folders.items():
        for path in folder.resolve().rglob("*.py"):
            parts = path.relative_to(folder.resolve()).with_suffix("").parts
            name = ".".join((root, *parts)).removesuffix(".__init__")
            modules[name] = path
    return modules


# What is installed: the checkout itself, or, away from it, a wheel.
ROOTS = (jaxrace, jaxrace.envs, jaxrace.kernels)
INSTALLED = modules_in({package.__name__: Path(package.__path__[0]) for package in ROOTS})
TREE = modules_in({name: CHECKOUT / folder for name, folder in FOLDERS.items()})


def room_of(name: str) -> str:
    """The room of a dotted name inside jaxrace; `jaxrace` itself is the room `__init__`."""
    return name.split(".")[1] if "." in name else "__init__"


def imported_names(source: str) -> list[str]:
    """What a source text imports, in full: `from a import b` is `a.b`; relative ones keep dots."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (f"{node.module}." if node.module else "")
            names += [prefix + alias.name for alias in node.names]
    return names


def violations(module: str, source: str) -> list[str]:
    """The imports in the source text of a module that break the rules of the house."""
    room = room_of(module)
    if room not in ARROWS.keys() | SEE_EVERYTHING:
        return [f"{module}: give the room {room} a line in ARROWS"]
    found = []
    for name in imported_names(source):
        top = name.split(".")[0]
        outside = top == "jaxrace" and room in ARROWS and room_of(name) not in ARROWS[room]
        outside = outside and not f"{name}.".startswith(f"{ERRORS}.")
        if name.startswith(".") or top in FLOOR | {PAPERS.name} or outside:
            found.append(f"{module} imports {name}")
    return found


def test_import_arrows():
    assert [
        v for name, path in INSTALLED.items() for v in violations(name, path.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("jaxrace.kernels.wins", "import jaxrace"),
        ("jaxrace.kernels", "def late():\n    from jaxrace.racing import run"),
        ("jaxrace.kernels.wins", "from jaxrace.core import protocol, validation"),
        ("jaxrace.envs.medical.env", "from jaxrace.kernels import wins"),
        ("jaxrace.racing.run", "from jaxrace import dueling, search"),
        ("jaxrace.search.edps", "from jaxrace.selection.pocba import POCBA"),
        ("jaxrace.runs.folder", "from jaxrace import *"),
        ("jaxrace.commands.cli", "from . import runs"),
        ("jaxrace.commands.cli", "from papers import figures"),
        ("jaxrace.attic", "import jax"),
    ],
)
def test_a_wrong_import_is_found(module, source):
    assert violations(module, source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("jaxrace.kernels.wins", "import jax\nfrom jaxrace.kernels.relations import compare"),
        ("jaxrace.kernels.wins", "from jaxrace.core.validation import BadArgument"),
        (
            "jaxrace.racing.run",
            "from jaxrace import agents, kernels\nimport jaxrace.racing.result",
        ),
        ("jaxrace.commands.cli", "from jaxrace import dueling, search"),
        ("jaxrace", "from jaxrace import racing"),
    ],
)
def test_a_right_import_passes(module, source):
    assert violations(module, source) == []


def test_what_every_room_may_import_imports_numpy_alone():
    """But for JAX inside of a function, which needs it only for keys."""
    loaded = ast.parse(INSTALLED[ERRORS].read_text("utf-8")).body
    tops = {
        name.split(".")[0]
        for node in loaded
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_names(ast.unparse(node))
    }
    assert tops - set(sys.stdlib_module_names) == {"numpy"}


def untyped_errors(source: str) -> list[str]:
    """Messages "name: expected ..." of errors that are plain ValueErrors, not BadArguments."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        if ast.unparse(node.exc.func) == "ValueError":
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}"
                for argument in node.exc.args
                for part in (argument.values if isinstance(argument, ast.JoinedStr) else [argument])
            )
            found += [text] if re.match(r"[^:]+(: [^:]+)?: expected ", text) else []
    return found


def test_errors_about_an_argument_have_a_type():
    found = {path: untyped_errors(path.read_text("utf-8")) for path in sources()}
    assert {path: messages for path, messages in found.items() if messages} == {}


@pytest.mark.parametrize(
    "message",
    ['"top: expected 1, got 2"', 'f"{name}: expected {x}, got {y}"', 'f"{p}: rows: expected 1"'],
)
def test_an_untyped_error_is_found(message):
    assert untyped_errors(f"def f():\n    raise ValueError({message}) from None")
    assert not untyped_errors(f"def f():\n    raise RuntimeError({message})")


def told_out_of_order(source: str) -> tuple[int, list[str]]:
    """How many methods tell, and which do not take (state, ..., params, key, example)."""
    methods = [
        (f"{kind.name}.{node.name}", [one.arg for one in (*node.args.args, *node.args.kwonlyargs)])
        for kind in ast.walk(ast.parse(source))
        if isinstance(kind, ast.ClassDef) and kind.name != "Tournament"  # which has its state
        for node in kind.body
        if isinstance(node, ast.FunctionDef) and node.name in TELLS
    ]
    order = re.compile(
        r"self state (?!key |example )\w+ (?:(?!key |example )\w+ )*?params( key)?( example)?"
    )
    return len(methods), [name for name, given in methods if not order.fullmatch(" ".join(given))]


def test_every_tell_takes_its_arguments_in_one_order():
    found = [told_out_of_order(path.read_text("utf-8")) for path in sources()]
    assert sum(count for count, _ in found) > 20
    assert [name for _, names in found for name in names] == []


@pytest.mark.parametrize(
    "given",
    [
        "key, state, data, params",
        "state, params, outcomes",
        "outcomes, state, params",
        "state, params",
        "state, key, outcomes, params",
        "state, outcomes, params, example, key",
    ],
)
def test_a_tell_out_of_order_is_found(given):
    source = "class Race:\n    def {}(self, {}): ..."
    assert told_out_of_order(source.format("tell", given)) == (1, ["Race.tell"])
    told = "state, pair, score, params, key, example"
    assert told_out_of_order(source.format("_checked_tell", told)) == (1, [])


def dependencies() -> dict[str, set[str]]:
    """Which modules each one imports, anywhere in it."""
    found = {}
    for name, path in INSTALLED.items():
        found[name] = set()
        for imported in imported_names(path.read_text("utf-8")):
            # A name in a module, or the module.
            home = imported if imported in INSTALLED else imported.rpartition(".")[0]
            if home in INSTALLED and home != name:
                found[name].add(home)
    return found


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that import each other, directly or not."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            new = imports[ahead.pop()] - seen
            seen |= new
            ahead += new
        return seen

    reach = {name: reached(name) for name in imports}
    found = ({other for other in reach[name] if name in reach[other]} for name in imports)
    return [set(circle) for circle in {frozenset(circle) for circle in found} if circle]


def test_no_imports_go_round():
    assert circles(dependencies()) == []


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [{"b", "c"}]


def test_pyproject_lists_every_package():
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    packages = {
        name if path.name == "__init__.py" else name.rpartition(".")[0]
        for name, path in TREE.items()
    }
    assert sorted(settings["packages"]) == sorted(packages)


def test_every_module_is_installed():
    assert sorted(INSTALLED) == sorted(TREE)


@pytest.mark.parametrize("package", ROOTS)
def test_types_are_installed(package):
    assert (Path(package.__path__[0]) / "py.typed").is_file()


def sources() -> list[Path]:
    """The files of what is installed, and of the papers."""
    return [*INSTALLED.values(), *PAPERS.rglob("*.py")]


def test_no_file_is_too_long():
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in sources()}
    assert {path: n for path, n in lengths.items() if n > MAX_LINES} == {}


def test_every_module_has_a_docstring():
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sources()}
    assert [path for path, tree in trees.items() if not ast.get_docstring(tree)] == []


QUIET_IMPORT = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
    for name in ("evosax", "matplotlib"):
        assert name not in sys.modules, f"{module} imports {name}"
    from jax._src import xla_bridge
    assert not xla_bridge.backends_are_initialized(), f"{module} starts a JAX backend"
"""


def test_imports_are_quiet(tmp_path):
    """One after the other, in one process: the first that is not is named."""
    rest = ("jaxrace.racing", "jaxrace.search", "jaxrace.commands.cli")
    names = [root.__name__ for root in reversed(ROOTS)]
    done = subprocess.run(
        [sys.executable, "-c", QUIET_IMPORT, *names, *rest],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# What everything that can be run to its end calls that.
VERBS = {"run"}


def public_names() -> dict[str, set[str]]:
    """Where each name that a package passes on was defined."""
    homes = {
        (module, alias.name): node.module
        for module, path in TREE.items()
        if path.name == "__init__.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module != module
        for alias in node.names
        if alias.asname == alias.name
    }
    found: dict[str, set[str]] = {}
    for module, name in homes:
        at = module
        while (at, name) in homes:
            at = homes[at, name]
        found.setdefault(name, set()).add(at)
    return found


def test_a_public_name_means_one_thing():
    names = public_names()
    assert len(names) > 200
    assert names["run"] > {"jaxrace.racing.driver", "jaxrace.dueling.driver"}
    assert {name: at for name, at in names.items() if len(at) > 1 and name not in VERBS} == {}


def test_a_class_has_a_name_of_its_own():
    homes: dict[str, list[str]] = {}
    for module, path in TREE.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert homes["RaceOfTable"] == ["jaxrace.judging.result"]
    assert {name: at for name, at in homes.items() if len(at) > 1} == {}
