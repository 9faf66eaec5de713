"""The job `jaxrace race`: which options of a table of scores are the best?"""

import json
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console

from jaxrace.commands.printing import say
from jaxrace.commands.progress import waiting
from jaxrace.commands.race.config import OF_COLUMNS, OF_QUESTION, ScoresConfig
from jaxrace.commands.report import NOT_YET, print_answer, require_outputs, write_report
from jaxrace.judging import RaceOfTable, race
from jaxrace.runs import tables
from jaxrace.tables import read_scores


def race_scores(console: Console, config: ScoresConfig) -> int:
    """Judge a table of scores, and print what it says; 0 if the best are certified, else 3."""
    require_outputs([config.scores], next=config.next, report=config.report)
    seen = Console(stderr=True)
    with waiting(seen, f"reading {config.scores}"):
        columns = {name: getattr(config, name) for name in OF_COLUMNS}
        table = read_scores(config.scores, header=not config.no_header, **columns)
    kept = warnings.catch_warnings(record=True, action="always", category=UserWarning)
    with waiting(seen, "judging"), kept as warned:
        try:
            about = {name: getattr(config, name) for name in OF_QUESTION}
            result = race(table, failed=config.failed, **about)
        except ValueError as error:
            if str(error).startswith("runs: expected independent"):
                raise ValueError(
                    f"{error}; --dependent looks at them, and certifies nothing"
                ) from error
            raise
    doubts = [str(one.message) for one in warned]
    shown = [f"WARNING: {text}" for text in doubts]
    if config.json:
        found = result.to_dict() | {"doubts": doubts}
        console.file.write(json.dumps(found, indent=1, ensure_ascii=True) + "\n")
    else:
        print_answer(console, result)
        say(console, *shown)
        if config.no_header:
            say(console, "options are called by their columns, from left to right")
        say(console, result.headline(), result.meaning())
        if not (config.shared or result.certified or doubts) and table.fits_shared:
            hint = "if every row is a task on which all options ran: --shared compares them by it"
            say(console, hint)
    if config.next is not None:
        _write_next(config.next, result)
    if config.report is not None:
        write_report(Path(config.report), result, shown)
    return 0 if result.certified else NOT_YET


def _write_next(path: str, result: RaceOfTable) -> None:
    """A row for each option and number of runs, or for each option and task."""
    rows: list[tuple[str, str]] = []
    for name, wanted in result.next_runs.items():
        rows += [(name, str(one)) for one in (wanted if isinstance(wanted, list) else [wanted])]
    options, others = zip(*rows, strict=True) if rows else ((), ())
    second = "runs" if result.kind == "independent" else "task"
    tables.write_table(Path(path), {"option": np.array(options), second: np.array(others)})
