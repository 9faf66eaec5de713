"""Scores of options from what people have: a file, a folder, a data frame, a mapping."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxrace.tables.cells import decimal_called
from jaxrace.tables.delimited import read_text, require_file
from jaxrace.tables.evaluators import eval_log, harness_runs, is_harness, runs_in
from jaxrace.tables.failures import failed_called
from jaxrace.tables.frames import of_records, paired, table_of
from jaxrace.tables.layout import Asked, Wide, layout_of, runs_of
from jaxrace.tables.names import with_visible_names
from jaxrace.tables.optuna_runs import JOURNAL, MAGIC, is_trials, read_study, trial_runs
from jaxrace.tables.runs import Runs, Scores, joined, scores_of
from jaxrace.tables.selection_of_rows import selected, where_called
from jaxrace.tables.sources import LINES, json_lines, loads, read_table, table_in
from jaxrace.tables.table import Table, listed, wrong

_GUESSED = Asked()


def read_scores(
    source: Any,
    *,
    option_column: str | None = None,
    score_column: str | None = None,
    task_column: str | Sequence[str] | None = None,
    group_column: str | None = None,
    options: str | Sequence[str] = (),
    failed: str | float | None = None,
    where: str | Sequence[str] | Mapping[str, Any] = (),
    header: bool = True,
    decimal: str = "auto",
    delimiter: str = "auto",
) -> Scores:
    r"""The scores of each option.

    A table has a column for each option, or a row for each run with columns of options and scores.
    Which it is, and which column says on which task a run was (a seed, a fold, a question), is
    guessed by names and types, and said. What cannot be guessed safely is refused, with the
    argument that settles it.

    Args:
        source: A path to CSV or other text with delimiters, JSON, JSON lines, Parquet or Excel; to
            what hyperfine, pytest-benchmark, Inspect, lm-evaluation-harness or Optuna have left; a
            folder of such files, or a list of paths; paths by the name of their option; a data
            frame of pandas, polars or pyarrow; columns by name, or rows.
        option_column: Of a row for each run: the column that names the option.
        score_column: The column of its score, or of several scores in a log, the one to take.
        task_column: The column that names the task, or several that do so together.
        group_column: The column that names the benchmark, subject or the like of each task.
        options: Of a column for each option: these, in a list or with commas between; others are
            left out.
        failed: What a run that failed counts as: "worst", below all others (-inf here, which a race
            takes to be the worst in its direction); "drop", left out; or a score.
        where: Which rows to take: "metric=auc", or several such, or values by column.
        header: Are there names of columns in the first row of a text?
        decimal: "comma" or "point", or "auto" for what the cells allow.
        delimiter: Between the columns of a text: "comma", "semicolon", "tab", "bar" or "space",
            or "auto" for what the lines allow.

    Returns:
        ``Scores``, options and tasks in the order in which they come.

    Raises:
        ValueError: The source is none of these, a cell is no number, or columns may be read in
            more than one way.

    >>> _ = Path("scores.csv").write_text("seed;ppo;sac\n1;0,5;0,75\n2;0,25;1,0\n")
    >>> scores = read_scores("scores.csv")
    >>> scores.names, [x.tolist() for x in scores.values], scores.task_names
    (('ppo', 'sac'), [[0.5, 0.25], [0.75, 1.0]], ('1', '2'))
    >>> scores.said
    ('semicolons between the columns', "tasks from column 'seed'", 'decimal commas')
    """
    columns = option_column, score_column, task_column, group_column, options
    asked = asked_for(*columns, failed, where)
    asked = dataclasses.replace(asked, decimal=decimal_called(decimal), header=header)
    found = scores_of("scores", _runs(source, asked, delimiter))
    return dataclasses.replace(found, failed=asked.failed)


def columns_of(
    argument: str, columns: Mapping[str, np.ndarray], asked: Asked = _GUESSED
) -> Runs | Wide:
    """What columns of numbers in memory are, as those of a file: options, or tasks, or runs.

    Args:
        argument: What messages begin with.
        columns: By name, real numbers [n_i] or [n_i, R].
        asked: What is known of them.
    """
    height = max(map(len, columns.values()), default=0)
    cells = tuple(
        [*_first(column), *[None] * (height - len(column))] for column in columns.values()
    )
    heads = tuple(columns)
    table = with_visible_names(
        Table(argument, "a table in memory", heads, cells, range(height), "row")
    )
    numbers = {
        head: columns[name].astype(float).ravel()
        for head, name in zip(table.heads, heads, strict=True)
    }
    return layout_of(table, asked, numbers=numbers)


def _first(column: np.ndarray) -> list[Any]:
    cells = (column if column.ndim == 1 else column[:, 0]).tolist()
    return [None if cell != cell else cell for cell in cells]


def asked_for(
    option_column: str | None = None,
    score_column: str | None = None,
    task_column: str | Sequence[str] | None = None,
    group_column: str | None = None,
    options: str | Sequence[str] = (),
    failed: str | float | None = None,
    where: str | Sequence[str] | Mapping[str, Any] = (),
) -> Asked:
    """What the arguments of ``read_scores`` say of columns."""
    tasks = (task_column,) if isinstance(task_column, str) else tuple(task_column or ())
    named = options.split(",") if isinstance(options, str) else options
    kept = tuple(name.strip() for name in named) if options else ()
    if kept and (option_column or score_column):
        got = "option_column or score_column (--option-column, --score-column), too"
        raise ValueError(f"options: expected columns of scores, one for each option, got {got}")
    if len(set(kept)) < len(kept) or "" in kept:
        raise ValueError(f"options: expected different names of columns, got {listed(kept)}")
    about = {"group": group_column, "options": kept, "failed": failed_called(failed)}
    return Asked(option_column, score_column, tasks, where=where_called(where), **about)


def _runs(source: Any, asked: Asked, delimiter: str) -> Runs:
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return _folder(path, asked, delimiter) if path.is_dir() else _file(path, asked, delimiter)
    if isinstance(source, Mapping) and source and all(map(_is_path, source.values())):
        parts = source.items()
        return joined([_file(Path(path), asked, delimiter, str(name)) for name, path in parts])
    if isinstance(source, Sequence) and source and all(map(_is_path, source)):
        return _files([Path(path) for path in source], asked, delimiter)
    if isinstance(source, Mapping):
        source = paired("scores", source)
    return _of_table(table_of("scores", source), asked)


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _folder(folder: Path, asked: Asked, delimiter: str) -> Runs:
    samples = sorted(folder.rglob("samples_*.jsonl"))
    files = samples or sorted(folder.rglob("*.json")) or sorted(folder.rglob("*.eval"))
    if not files:
        expected = "a file, or a folder with samples_*.jsonl, .json or .eval logs"
        raise ValueError(f"scores: expected {expected}, got '{folder}'")
    return _files(files, asked, delimiter)


def _files(paths: Sequence[Path], asked: Asked, delimiter: str) -> Runs:
    """Several files; those of the same model must be of different tasks."""
    parts = [_file(path, asked, delimiter) for path in paths]
    if len({path.stem for path in paths}) == len(paths) > 1:
        parts = [_with_rows_of(path.stem, part) for path, part in zip(paths, parts, strict=True)]
    seen: dict[tuple[str, str], str] = {}
    for part in parts:
        for option, task in dict.fromkeys(zip(part.options, part.tasks or (), strict=False)):
            other = seen.setdefault((option, task), part.source)
            if other != part.source:
                raise ValueError(
                    f"scores: expected one evaluation of {option!r} on {task!r}, got two, in "
                    f"{other} and {part.source}: leave one out"
                )
    if any(part.groups for part in parts) or not _have_options_in_common(parts):
        return joined(parts)
    stems = [path.stem for path in paths]
    grouped = [
        dataclasses.replace(
            part, groups=[stem] * len(part.options), grouped_by="the names of files"
        )
        for part, stem in zip(parts, stems, strict=True)
    ]
    found = joined(grouped)
    if found.tasks is not None:
        return found
    said = f"runs of {len(stems)} files together: {listed(stems)}"
    return dataclasses.replace(found, said=(*found.said, said))


def _with_rows_of(name: str, runs: Runs) -> Runs:
    """The same, the numbers of its rows beside its name: rows of other files are others."""
    if not runs.numbered or runs.tasks is None:
        return runs
    return dataclasses.replace(runs, tasks=[f"{name} {task}" for task in runs.tasks])


def _have_options_in_common(parts: Sequence[Runs]) -> bool:
    options = [name for part in parts for name in set(part.options)]
    return len(set(options)) < len(options)


def _file(path: Path, asked: Asked, delimiter: str, option: str | None = None) -> Runs:
    """The runs in one file, all of them of one ``option`` if that is given."""
    found = _read(path, asked, delimiter)
    if isinstance(found, Table):
        return _of_table(found, asked, option)
    if asked.where:
        raise ValueError(f"where: expected a table with columns, got {found.source}")
    if option is None:
        return found
    return dataclasses.replace(found, options=[option] * len(found.options))


def _of_table(table: Table, asked: Asked, option: str | None = None) -> Runs:
    table = selected(table, asked.where)
    if is_trials(table):
        return trial_runs(table, asked.score, asked.failed)
    return runs_of(table, asked, option)


def _read(path: Path, asked: Asked, delimiter: str) -> Runs | Table:
    require_file("scores", path)
    where, ending = repr(str(path)), path.suffix.lower()
    with path.open("rb") as file:
        begin = file.read(max(len(MAGIC), len(JOURNAL)))
    if begin.startswith(MAGIC):
        return read_study("scores", path, asked.score, asked.failed)
    if begin.startswith(JOURNAL):
        hint = "study.trials_dataframe().to_csv(FILE) writes one that is read"
        raise wrong("scores", "a study in SQLite or a table", where, "a journal of Optuna", hint)
    if ending in LINES:
        records, lines = json_lines("scores", where, read_text("scores", path))
        if is_harness(records):
            return harness_runs("scores", path, records, lines, asked.score)
        return of_records("scores", where, records, lines)
    if ending in (".json", ".eval"):
        is_eval = ending == ".eval"
        text = "" if is_eval else read_text("scores", path)
        content = eval_log("scores", path) if is_eval else loads("scores", where, text)
        runs = runs_in("scores", where, content, asked.score, asked.failed)
        return table_in("scores", where, content) if runs is None else runs
    return read_table("scores", path, asked.header, delimiter)
