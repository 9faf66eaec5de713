"""Options of the command: made from a config, and those of every run or answer."""

import dataclasses
import functools
import inspect
import itertools
import re
import textwrap
from argparse import ArgumentTypeError
from typing import Any, Literal, get_args, get_origin, get_type_hints

from jaxrace.core.inputs import is_address

Decimal = Literal["auto", "comma", "point"]
Delimiter = Literal["auto", "comma", "semicolon", "tab", "bar", "space"]
Device = Literal["auto", "cpu", "gpu"]
LOCAL = "local"  # what ``--ray`` is without an address

_SEVERAL, _SEVERAL_OR_NONE = float | tuple[float, ...], float | tuple[float, ...] | None

# By the type of an option: its placeholder in the help, and what it expects.
_TYPES: dict[Any, tuple[str, str]] = {
    int: ("N", "an integer"),
    int | None: ("N", "an integer, or null"),
    float: ("X", "a number"),
    float | None: ("X", "a number, or null"),
    _SEVERAL: ("X[,X]", "a number, or several with commas between them"),
    _SEVERAL_OR_NONE: ("X[,X]", "a number, several with commas between them, or null"),
    str: ("NAME", "a text"),
    str | None: ("NAME", "a text, or null"),
}
_OPTION = re.compile(r"`(\w+)`")  # an argument, in a docstring
# Of texts whose placeholder says more than NAME.
_PLACEHOLDERS = {
    **dict.fromkeys(("next", "report", "looks", "cost", "to"), "FILE"),
    **{"of": "N", "failed": "SCORE", "where": "COLUMN=VALUE", "weights": "WEIGHTS"},
    **{"options": "NAME[,NAME]", "columns": "NAME[,NAME]"},
}
POSITIONAL = (
    *("env", "tasks", "task", "log", "scores", "votes", "problem", "matrix", "name", "pilot"),
)
OF_RUNS = ("out", "resume", "lanes", "ray", "device", "no_compilation_cache")
OF_ANSWERS = ("json", "report")


def expected(hint: Any) -> str:
    """What an option of a type expects, in words."""
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    return _TYPES[hint][1]


def spelt(name: str) -> str:
    """An option as it is spelt in the command."""
    return f"--{name.replace('_', '-')}"


def with_local_cluster(argv: list[str]) -> list[str]:
    """The words of a command, where ``--ray`` does not take a next word that is not an address."""
    pairs = itertools.pairwise([*argv, ""])
    return [
        f"--ray={LOCAL}" if word == "--ray" and not is_address(after) else word
        for word, after in pairs
    ]


def described(told: Any, head: str = "Attributes") -> tuple[str, dict[str, str]]:
    """What a docstring says of a config or function, and of what is below ``head``, by names."""
    about, _, rest = (inspect.getdoc(told) or "").partition(f"\n\n{head}:\n")
    # Each one begins a line, and its further lines are indented more.
    parts = re.split(r"^    (\*{0,2}\w+): ", rest.partition("\n\n")[0], flags=re.MULTILINE)[1:]
    texts = (" ".join(text.split()).replace("``", "`") for text in parts[1::2])
    return about, dict(zip(parts[::2], texts, strict=True))


def filled(about: str, width: int) -> str:
    """Paragraphs in lines of some width; those with indented lines, as commands, stay."""
    parts = [x if "\n  " in x else textwrap.fill(x, width) for x in about.split("\n\n")]
    return "\n\n".join(parts)


def paragraphs(**subjects: dict[str, str]) -> str:
    """Names and a line on each, by subject: for the list, and for the end of a help."""
    lines = []
    for subject, entries in subjects.items():
        width = max(map(len, entries))
        lines += [f"{subject}:", *(f"  {name:{width}}  {text}" for name, text in entries.items())]
    return "\n".join(lines)


def add_options(parser: Any, config: type) -> None:
    """An option for every field but the positional one, with the help of the docstring."""
    texts, hints = described(config)[1], get_type_hints(config)
    names = hints.keys() - {*POSITIONAL}
    heads = getattr(config, "HELP_GROUPS", {})
    groups = {name: head for head, names in heads.items() for name in names}
    parsers = {head: parser.add_argument_group(head) for head in heads}
    every = parser

    def as_spelt(quoted: re.Match[str]) -> str:
        return spelt(quoted[1]) if quoted[1] in names else quoted[0]

    for field in dataclasses.fields(config):
        parser = parsers.get(groups.get(field.name, ""), every)
        hint, text = hints[field.name], _OPTION.sub(as_spelt, texts[field.name])
        if field.name in POSITIONAL:
            number = "?" if field.default is None else None  # a file that may be left out
            about = {"metavar": field.name.upper(), "type": hint, "help": text, "nargs": number}
            parser.add_argument(field.name, **about)
            continue
        if hint is bool:
            parser.add_argument(spelt(field.name), action="store_true", help=text)
            continue
        several = hint in (_SEVERAL, _SEVERAL_OR_NONE)
        if get_origin(hint) is Literal:
            placeholder = f"{{{','.join(get_args(hint))}}}"
        elif hint in (str, str | None) and field.name in _PLACEHOLDERS:
            placeholder = _PLACEHOLDERS[field.name]
        else:
            placeholder = "COLUMN" if field.name.endswith("_column") else _TYPES[hint][0]
        parser.add_argument(
            spelt(field.name),
            type=functools.partial(_parse_several, hint) if several else hint,
            default=field.default,
            metavar=placeholder,
            help=text if field.default in (None, "") else f"{text} (default: {field.default})",
        )


def _parse_several(hint: Any, given: Any) -> Any:
    """Numbers with commas between them, or a single one, or null if the hint allows it."""
    if given is None or not isinstance(given, str):  # a default
        return given
    if given == "null" and hint == _SEVERAL_OR_NONE:
        return None
    try:
        first, *more = (float(number) for number in given.split(","))
    except ValueError as error:
        raise ArgumentTypeError(f"expected {expected(hint)}, got {given!r}") from error
    return (first, *more) if more else first


def add_answer_options(parser: Any) -> None:
    """How the answer of a file is shown, and where it is kept."""
    text = "Print everything as JSON, also the exit status, and the level beside each interval."
    parser.add_argument("--json", action="store_true", help=text)
    text = "A Markdown or HTML file to write, with its figure as PNG and SVG beside it. Without "
    text += "matplotlib Markdown has no figure."
    parser.add_argument("--report", metavar="FILE", help=text)
    text = "A new or empty folder for tables, a figure and summary.json."
    parser.add_argument("--out", metavar="DIR", help=text)


def add_run_options(parser: Any, default: str) -> None:
    """Where a run goes, whether it goes on, and how its sweeps are done."""
    text = f"A new or empty folder for what the run leaves. (default: {default})"
    parser.add_argument("--out", metavar="DIR", help=text)
    text = "Go on with the interrupted run in --out. Give the other options as before."
    parser.add_argument("--resume", action="store_true", help=text)
    text = "Jobs that advance together on a device. Rounding depends on it. "
    text += "(default: by memory and device)"
    parser.add_argument("--lanes", type=int, metavar="W", help=text)
    text = (
        "Do the jobs on a cluster of Ray: auto, HOST:PORT or ray://HOST:PORT. Without an address: "
        "in several processes of this machine."
    )
    parser.add_argument("--ray", nargs="?", const=LOCAL, metavar="ADDRESS", help=text)
    text = (
        "Where to compute. auto: where a job of this size ends sooner, or where its run began. "
        "(default: auto)"
    )
    shown = "{auto,cpu,gpu}"
    parser.add_argument("--device", type=Device, default="auto", metavar=shown, help=text)
    text = "Neither read nor write compiled programs in the user's cache folder."
    parser.add_argument("--no-compilation-cache", action="store_true", help=text)
