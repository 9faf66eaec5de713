"""A file that is answered at once: on the host, without JAX, and without a folder unless asked."""

import contextlib
import importlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from jaxrace import runs
from jaxrace.answers.answer import Answer
from jaxrace.commands.printing import say
from jaxrace.commands.progress import waiting
from jaxrace.commands.report import (
    NOT_YET,
    print_answer,
    require_figures,
    require_outputs,
    write_report,
)
from jaxrace.runs import plots


def answer_file(verb: str, config: Any, given: dict[str, Any]) -> int:
    """Answer the file of a config, and print or write what it says; the exit status.

    ``jaxrace.commands.VERB.of_file`` has ``ask(config)``, which returns the answer, and FIGURE and
    ``write(folder, answer)``: what --out leaves beside config.json and summary.json.
    """
    (path,) = config.inputs.values()
    out, report = given["out"], given["report"]
    if out is not None:
        require_figures()
    require_outputs([path], out, report=report)
    asked = importlib.import_module(f"jaxrace.commands.{verb}.of_file")
    with contextlib.ExitStack() as opened:
        opened.enter_context(_interrupting())
        folder = None if out is None else opened.enter_context(runs.new_folder(out, verb))
        with waiting(Console(stderr=True), f"judging {path}"):
            found: Answer = asked.ask(config)
        if folder is not None:
            runs.write_config(folder, runs.asked_of(verb, config), has_device=False)
            asked.write(folder, found)
            plots.save_twice(found.plot(), folder / asked.FIGURE)
            runs.write_summary(folder, found.to_dict())
        where = "" if folder is None else str(folder)
    console = Console(quiet=given["json"])
    if given["json"]:
        print(json.dumps(found.to_dict() | ({"folder": where} if where else {}), indent=1))
    print_answer(console, found)
    say(console, found.headline(), *found.meaning().split("; "), *([where] if where else []))
    if report is not None:
        write_report(Path(report), found)
    return 0 if found.is_answered else NOT_YET


@contextlib.contextmanager
def _interrupting() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt as Ctrl-C does: what has begun is removed."""

    def interrupt(number: int, _: Any) -> None:
        raise KeyboardInterrupt(number)

    before = {}
    with contextlib.suppress(ValueError):  # not in the main thread
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # Not where nohup ignores it.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
