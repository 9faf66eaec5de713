"""Scores of options from what people have: a file, a folder, a data frame, a mapping."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from jaxrace.core.validation import BadArgument
from jaxrace.tables.comparisons import comparisons
from jaxrace.tables.environments import grouped_by_environment, placed, taken
from jaxrace.tables.failures import settled
from jaxrace.tables.files import file_at, files_in
from jaxrace.tables.frames import paired, table_of
from jaxrace.tables.layout import layout_of, runs_of
from jaxrace.tables.readers import of_others, runs_in, runs_of_program
from jaxrace.tables.refusals import selected
from jaxrace.tables.repeats import Repeats, notes_on
from jaxrace.tables.runs import Asked, Scores, SourceRuns, asked_for, in_clusters, joined, scores_of
from jaxrace.tables.sources import read_table
from jaxrace.tables.table import Place, quoted, with_visible_names
from jaxrace.tables.variants import require_one_scorer, told_apart
from jaxrace.tables.wide import Wide

# What is looked for in a folder, the first that is there; what lies beside results of asv.
_IN_FOLDERS = ("samples_*.jsonl", "per_instance_stats.json", "results/results.json")
_IN_FOLDERS += ("evaluations.npz", "*monitor.csv", "progress.csv", "progress.txt", "new/raw.csv")
_IN_FOLDERS += ("*.json", "*.eval", "*.jsonl", "*.csv")
_OF_SEVERAL = (
    "if they are of two environments, give the folder of one, or end the names of their folders "
    "as ids do, such as CartPole-v1; if they are two runs of one, name their folders seed_1, seed_2"
)
_NAMED = "{'new': 'new.json', 'old': 'old.json'}"
_NO_RUNS = ("machine.json", "benchmarks.json")


def read_scores(
    source: Any,
    *,
    option_column: str | None = None,
    score_column: str | None = None,
    task_column: str | Sequence[str] | None = None,
    group_column: str | None = None,
    cluster_column: str | None = None,
    options: str | Sequence[str] = (),
    failed: str | float | None = None,
    where: str | Sequence[str] | Mapping[str, Any] = (),
    header: bool = True,
    decimal: str = "auto",
    delimiter: str = "auto",
    argument: str = "scores",
) -> Scores:
    r"""The scores of each option.

    A table has a column for each option, or a row for each run with columns of options and scores.
    Names and types decide which layout it is, and which column names the tasks (seeds, folds,
    questions); ``said`` has these guesses. What cannot be guessed safely is refused, with the
    argument that settles it.

    Args:
        source: As for all doors (``jaxrace.tables``). Also what hyperfine, pytest-benchmark,
            Inspect, lm-evaluation-harness or Optuna have left; a folder of such files, or a list of
            paths; or paths by the name of their option.
        option_column: The column that names the option, in a table with a row for each run.
        score_column: The column of the score. Of a log with several scores: the score to take.
        task_column: The column that names the task, or several that do so together:
            a list, or in the command the option once for each.
        group_column: The column that names the group of each task, such as a benchmark or subject.
        cluster_column: The column of what belongs together, such as a passage of questions or an
            item of judges. Each counts once, as a task or a run, by the mean of its rows.
        options: The options to read, in a list or with commas between: columns, or names in the
            column of options.
        failed: What a failed run counts as: "worst", below all others; "drop", left out; or a
            score.
        where: The rows to take: "metric=auc", or "metric=auc,split=test", or values by column.
        header: Does the first row of a text name the columns?
        decimal: As for all doors, and so are ``delimiter`` and ``argument``.
        delimiter: What separates the columns of a text.
        argument: What messages begin with.

    Returns:
        ``Scores``, options and tasks in the order in which they come. A failed run that counts as
        worst scores -inf, which a race takes for the worst in its direction.

    Raises:
        BadArgument: The source is something else, a cell has no number, or columns may be read in
            more than one way.

    >>> _ = Path("scores.csv").write_text("seed;ppo;sac\n1;0,5;0,75\n2;0,25;1,0\n")
    >>> scores = read_scores("scores.csv")
    >>> scores.names, [x.tolist() for x in scores.values], scores.task_names
    (('ppo', 'sac'), [[0.5, 0.25], [0.75, 1.0]], ('1', '2'))
    >>> scores.said
    ('semicolons between the columns', "tasks from column 'seed'", 'decimal commas')
    """
    names = option_column, score_column, task_column, group_column, cluster_column
    columns = *names, options, failed, where
    written = {"header": header, "decimal": decimal, "delimiter": delimiter, "argument": argument}
    asked = asked_for(*columns, **written)
    found = scores_of(_runs(source, asked))
    found = dataclasses.replace(found, failed=asked.failed, chosen=bool(asked.options))
    return in_clusters(found, asked.cluster) if asked.cluster else found


def columns_of(argument: str, columns: Mapping[str, np.ndarray], asked: Asked) -> SourceRuns | Wide:
    """What columns of real numbers [n_i] or [n_i, R] are, as those of a file."""
    cells = {}
    for name, column in columns.items():
        first = (column if column.ndim == 1 else column[:, 0]).tolist()
        cells[name] = [None if cell != cell else cell for cell in first]
    table = with_visible_names(table_of(argument, cells, "a table in memory"))
    pairs = zip(table.heads, columns.values(), strict=True)
    numbers = {head: column.astype(float).ravel() for head, column in pairs}
    return layout_of(dataclasses.replace(table, numbers=numbers), asked)


def _runs(source: Any, asked: Asked) -> SourceRuns:
    """The runs in a source of any kind."""
    is_mapping = isinstance(source, Mapping)
    if is_mapping and source and all(map(_is_path, source.values())):
        return joined([_file(Path(path), asked, str(name)) for name, path in source.items()])
    if _is_path(source):
        path = Path(source)
        found = _folder(path, asked) if path.is_dir() else _file(path, asked)
    elif isinstance(source, Sequence) and source and all(map(_is_path, source)):
        found = _files([Path(path) for path in source], asked)
    else:
        source = paired(asked.argument, source) if is_mapping else source
        found = _table(source, asked)
    return _among(found, asked.options)


def _among(runs: SourceRuns, options: Sequence[str]) -> SourceRuns:
    """The runs of some options: of what programs leave, as tables have taken theirs before."""
    made = {*runs.options}
    if not options or made == {*options}:
        return runs
    if lacking := [name for name in options if name not in made]:
        raise BadArgument("options", f"some of {quoted(sorted(made), 12)}", quoted(lacking))
    kept = [place for place, name in enumerate(runs.options) if name in options]
    left = [name for name in dict.fromkeys(runs.options) if name not in options]
    columns = "options", "scores", "tasks", "groups", "gaps", "again"
    lists = {name: getattr(runs, name) for name in columns}
    about: Any = {name: [own[x] for x in kept] for name, own in lists.items() if own}
    said = *runs.said, f"left out, as --options does not name them: {quoted(left, 12)}"
    return dataclasses.replace(runs, **about, said=said)


def _folder(folder: Path, asked: Asked) -> SourceRuns:
    patterns = [f"**/{name}" for name in _IN_FOLDERS]
    of_scores = any(True for pattern in patterns for _ in folder.glob(pattern))
    if any(True for _ in folder.glob("**/*.pgn" if not of_scores else "*.pgn")):
        raise comparisons(Place(asked.argument, f"'{folder}'"), "games, as PGN")
    return _files(files_in(asked.argument, folder, patterns, _NO_RUNS), asked)


def _files(paths: Sequence[Path], asked: Asked) -> SourceRuns:
    """Several files; those of the same model must be of different tasks."""
    parts = told_apart(placed([_file(path, asked, whole=False) for path in paths]))
    require_one_scorer(parts)
    if any(part.folder for part in parts):
        places = taken(parts, asked.where)
        paths = [paths[place] for place in places]
        parts = grouped_by_environment([parts[place] for place in places])
    stems = [path.stem for path in paths]
    if len(set(stems)) == len(stems) > 1:  # rows with the same numbers are not the same tasks
        for place, (stem, part) in enumerate(zip(stems, parts, strict=True)):
            if part.numbered and part.tasks is not None:
                tasks = [f"{stem} {task}" for task in part.tasks]
                parts[place] = dataclasses.replace(part, tasks=tasks, clusters={})
    seen: dict[tuple[str, str], str] = {}
    for part in parts:
        tasks = part.tasks or ([part.folder.run] * len(part.scores) if part.folder else ())
        for option, task in dict.fromkeys(zip(part.options, tasks, strict=False)):
            other = seen.setdefault((option, task), part.where)
            if other != part.where:
                expected = f"one evaluation of {option!r} on {task!r}"
                got = f"two, in {other} and {part.where}: leave one out"
                if part.settings is not None:
                    got += f"; in Python a mapping names them apart: {_NAMED}"
                if part.folder:
                    expected = f"one {task or 'run'} of {option!r}"
                    got += f"; {_OF_SEVERAL}"
                raise BadArgument(asked.argument, expected, got)
    parts = _complete(parts)
    different = {part.measures for part in parts if part.tasks is None}
    if len(different) > 1:
        got = quoted([*dict.fromkeys(name for one in sorted(different) for name in one)])
        expected = "independent runs that measure the same"
        raise BadArgument(asked.argument, expected, f"{got}: take the files of one")
    options = [name for part in parts for name in set(part.options)]
    have_options_in_common = len(set(options)) < len(options)
    if any(part.groups for part in parts) or not have_options_in_common:
        return joined(parts)
    groups = [[stem] * len(part.options) for stem, part in zip(stems, parts, strict=True)]
    parts = [
        dataclasses.replace(part, groups=own, grouped_by="the names of files")
        for part, own in zip(parts, groups, strict=True)
    ]
    found = joined(parts)
    said = f"runs of {len(stems)} files together: {quoted(_names_of(paths))}"
    more = () if found.tasks is not None else (said,)
    return dataclasses.replace(found, said=(*found.said, *more))


def _names_of(paths: Sequence[Path]) -> list[str]:
    """The names of files, without their endings, behind the folders that tell them apart."""
    stems = [path.stem for path in paths]
    if len({*stems}) == len(stems):
        return stems
    shared = os.path.commonpath([path.parent for path in paths])
    return [path.relative_to(shared).with_suffix("").as_posix() for path in paths]


def _complete(parts: Sequence[SourceRuns]) -> list[SourceRuns]:
    """The parts with all tasks that any lists, where one that lists no failures says so."""
    tasks = dict.fromkeys(task for part in parts for task in part.tasks or ())
    found = []
    for part in parts:
        if part.unlisted is not None and part.tasks is not None:
            own = {*part.tasks}
            more = [task for task in tasks if task not in own]
            part = dataclasses.replace(
                part,
                options=[*part.options, *[part.options[0]] * len(more)],
                scores=[*part.scores, *[part.unlisted] * len(more)],
                tasks=[*part.tasks, *more],
            )
        found.append(part)
    return found


def _file(path: Path, asked: Asked, option: str | None = None, whole: bool = True) -> SourceRuns:
    """The runs in one file, the ``whole`` source or not, all of one ``option`` if that is given."""
    file = file_at(asked.argument, path, asked.header, asked.delimiter)
    found = runs_in(file, asked)
    if found is None:
        source = of_others(path)
        return _table(file if source is None else source, asked, option)
    if asked.where and (whole or found.folder is None):
        raise BadArgument("where", "a table with columns", found.where)
    found = settled(_of_items(found), asked.failed)
    options = found.options if option is None else [option] * len(found.options)
    return dataclasses.replace(found, options=options)


def _table(source: Any, asked: Asked, option: str | None = None) -> SourceRuns:
    table = read_table(asked.argument, source, decimal=asked.decimal)
    table = selected(table, asked.where)
    found = runs_of_program(table, asked)
    if found is not None:
        return settled(_of_items(found), asked.failed)
    return runs_of(table, asked, option)


def _of_items(runs: SourceRuns) -> SourceRuns:
    """What a program has left; it says which rows are of one item."""
    if runs.tasks is None:
        return runs
    about = Repeats("task", (runs.again_by,) if runs.again else (), runs.again)
    said = notes_on(runs, runs.options, runs.tasks, about)
    return dataclasses.replace(runs, said=(*runs.said, *said), again=None)


def _is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(source, str | os.PathLike)
