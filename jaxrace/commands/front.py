"""A file that is answered at once: on the host, without JAX, and without a folder unless asked.

``jaxrace.commands.VERB`` has Config, made by ``config_of``; ``ask(config)``, which returns the
answer and a hint; FIGURE and ``write(folder, answer)``: what --out leaves beside config.json and
summary.json; and perhaps FILES: what writes the files of options.
"""

import contextlib
import dataclasses
import functools
import importlib
import inspect
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from rich.console import Console

from jaxrace import runs
from jaxrace.answers.answer import Answer
from jaxrace.commands.options import Decimal, Delimiter, described
from jaxrace.commands.printing import say
from jaxrace.commands.progress import waiting
from jaxrace.commands.report import (
    print_answer,
    require_figures,
    require_outputs,
    write_report,
)
from jaxrace.core.signals import StopOnSignals
from jaxrace.runs import plots, tables

_WIDEST = 1_000  # letters in a line that no terminal shows
_NO_OPTIONS = ("data", "source", "argument")
_DECIMAL = "The decimal sign. auto takes a comma where it can be nothing else."
_DELIMITER = "What separates the columns. auto takes what all lines allow."
_OF_TEXT = {
    "decimal": (Decimal, "auto", _DECIMAL),
    "delimiter": (Delimiter, "auto", _DELIMITER),
}


def config_of(
    about: str | None,
    file: tuple[str, str],
    *functions: Callable[..., Any],
    without: Sequence[str] = (),
    needs_file: bool = True,
    groups: Mapping[str, Sequence[str]] | None = None,
    **own: tuple[Any, Any, str],
) -> type:
    """The config of a command: a dataclass of the arguments of functions, and what they say.

    ``file`` is the name of the file and its help, ``own`` are other options: type, default, help.
    ``groups`` are options that the help lists below a head of their own.
    """
    found: dict[str, tuple[Any, Any, str]] = {}
    for function in functions:
        hints, texts = get_type_hints(function), described(function, "Args")[1]
        for name, parameter in inspect.signature(function).parameters.items():
            if name in texts and name not in (*found, *own, *without, *_NO_OPTIONS):
                default, hint = parameter.default, _option_type(hints[name])
                if default is parameter.empty:
                    hint, default = hint | None, None
                option = hint, "" if default == () else default, texts[name]
                found[name] = _OF_TEXT.get(name, option)
    found |= own
    texts = {file[0]: file[1]} | {name: text for name, (_, _, text) in found.items()}
    lines = [f"    {name}: {' '.join(text.split())}" for name, text in texts.items()]
    fields = [(name, hint, default) for name, (hint, default, _) in found.items()]
    inputs = property(lambda self: {file[0]: path} if (path := getattr(self, file[0])) else {})
    first: Any = (file[0], str) if needs_file else (file[0], str | None, None)
    config = dataclasses.make_dataclass(
        *("Config", [first, *fields]),
        frozen=True,
        namespace={"inputs": inputs, "HELP_GROUPS": groups or {}},
    )
    config.__doc__ = "\n".join([inspect.cleandoc(about or ""), "", "Attributes:", *lines])
    return config


def _option_type(hint: Any) -> Any:
    """The type of an option for an argument: a text, where that is allowed."""
    if get_origin(hint) is Literal or not (kinds := get_args(hint)):
        return hint
    kind = next(kind for kind in (str, int, float) if kind in kinds)
    return kind | None if type(None) in kinds else kind


def arguments(function: Callable[..., Any], config: Any) -> dict[str, Any]:
    """Those arguments of a function that a config has."""
    return {
        name: getattr(config, name)
        for name, parameter in inspect.signature(function).parameters.items()
        if hasattr(config, name) and parameter.kind is not parameter.VAR_KEYWORD
    }


def answer_file(verb: str, config: Any, given: dict[str, Any]) -> int:
    """Answer the file of a config, and print or write what it says; the exit status."""
    paths = [*config.inputs.values()]
    out, report = given["out"], given["report"]
    if out is not None:
        require_figures()
    asked = importlib.import_module(f"jaxrace.commands.{verb}")
    files = {name: getattr(config, name) for name in getattr(asked, "FILES", ())}
    require_outputs(paths, out, **files, report=report)
    with contextlib.ExitStack() as opened:
        opened.enter_context(StopOnSignals(at_once=True))  # what has begun is removed
        folder = None if out is None else opened.enter_context(runs.new_folder(out, verb))
        noted = warnings.catch_warnings(record=True, action="always", category=UserWarning)
        doing = f"judging {paths[0]}" if paths else "simulating"
        with waiting(Console(stderr=True), doing), noted as warned:
            found, hint = asked.ask(config)
        doubts = [str(one.message) for one in warned]
        if folder is not None:
            runs.write_config(folder, runs.asked_of(verb, config), has_device=False)
            asked.write(folder, found)
            plots.save_twice(found.plot(), folder / asked.FIGURE)
            runs.write_summary(folder, found.to_dict())
    show = functools.partial(_print, found, given["json"], doubts, hint, str(folder or ""))
    if not given["json"]:
        show()
    for name, written in files.items():
        if written is not None:
            asked.FILES[name](Path(written), found)
    if report is not None:
        made = " ".join(["jaxrace", verb, *(Path(path).name for path in paths)])
        write_report(Path(report), found, made, [f"WARNING: {doubt}" for doubt in doubts])
    if given["json"]:  # last: if a file cannot be written, the error is the only object
        show()
    return found.status


def _print(found: Answer, as_json: bool, doubts: list[str], hint: str, folder: str) -> None:
    if as_json:
        where = {"folder": folder} if folder else {}
        doubts = [*doubts, *filter(None, [found.refused])]
        print(json.dumps(found.to_dict() | {"doubts": doubts} | where, indent=1))
        return
    console = Console()
    if not console.is_terminal:  # a log or a pipe has room: no name folds
        console.width = _WIDEST
    print_answer(console, found)
    say(console, *(f"WARNING: {doubt}" for doubt in doubts), found.headline(), *found.meanings())
    hints = [] if doubts or found.is_answered or not hint else [hint]
    say(console, *hints, *([folder] if folder else []))


def write_rows(path: Path, rows: Sequence[Any], counted: str = "") -> None:
    """Write rows of a dataclass, perhaps with their number; without columns of nothing at all."""
    columns = {} if not counted else {counted: np.arange(1, len(rows) + 1)}
    for field in dataclasses.fields(rows[0]):
        values = [getattr(row, field.name) for row in rows]
        if any(isinstance(value, tuple) for value in values):
            values = [" ".join(map(str, value)) for value in values]
        if any(value is not None for value in values):
            column = np.array(values)
            columns[field.name] = column.astype(float) if column.dtype == object else column
    tables.write_table(path, columns)
