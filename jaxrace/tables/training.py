"""Readers of what training leaves: Stable-Baselines3, rliable, and tables of runs with settings.

Tables of runs: ``cv_results_`` of scikit-learn, MLflow, Ray Tune, curves of Weights & Biases.
"""

import dataclasses
import io
import math
import re
from collections.abc import Mapping

import numpy as np

from jaxrace.tables.delimited import parse
from jaxrace.tables.environments import placed
from jaxrace.tables.files import File, members
from jaxrace.tables.heads import names_clock
from jaxrace.tables.reading import chosen, content_in, number_in, score_in
from jaxrace.tables.run_folders import COUNTED, RUN, run_folder
from jaxrace.tables.runs import Asked, SourceRuns
from jaxrace.tables.table import Table, is_blank, label_of, quoted

_EPISODES = 100  # the last of a training run, whose mean is its score
# What is logged of training, the likeliest first.
_RETURNS = (
    *("eval/mean_reward", "rollout/ep_rew_mean", "AverageTestEpRet", "AverageEpRet"),
    *("env_runners/episode_return_mean", "episode_reward_mean", "eprewmean"),
)
_SEED = re.compile(r"[ _,-]*\bseed[_= -]?\d+|_+seed[_= -]?\d+", re.IGNORECASE)
_CURVE = re.compile(r".+ - .+")
_AGAIN = re.compile(r"\.\d+$")
_OWN = (" - _step", " - _runtime", " - _timestamp")  # columns of Weights & Biases itself
_CLEANRL = re.compile(r".+?__(?P<name>.+)__\d+__\d+")  # environment, program, seed, time
_SPLIT = re.compile(r"split(\d+)_test_(.+)")
_SETTINGS = ("params.", "config/", "config.")  # MLflow, Ray Tune, Weights & Biases
_OF_RUN = ("seed", "random_state", "fold", "rep", "run")


def monitor(file: File, asked: Asked) -> SourceRuns | None:
    """Episodes of Stable-Baselines3's Monitor: the score of a run is the mean of its last ones."""
    if not file.path.name.endswith("monitor.csv") or not file.text.startswith("#{"):
        return None
    rows = []
    # Of several environments at once, those of one run; the first file stands for all.
    every = sorted(file.path.parent.glob("*monitor.csv"))
    for path in every if file.path == every[0] else ():
        part = dataclasses.replace(file, path=path, where=repr(str(path)))
        head, *lines = part.text.splitlines()[1:] or [""]
        if head.split(",")[:2] != ["r", "l"]:
            raise part.wrong("columns r, l, t below the first line", repr(head))
        for number, line in enumerate(filter(None, lines), 3):
            cells = line.split(",")
            try:
                rows.append((float(cells[2]), float(cells[0])))
            except (IndexError, ValueError):
                raise part.wrong("numbers r, l, t", repr(line), at=f", line {number}") from None
    last = [reward for _, reward in sorted(rows)][-_EPISODES:]
    about = file.text.partition("\n")[0]
    env = re.search(r'"env_id":\s*"([^"]+)"', about)
    said = f"a run of Stable-Baselines3 counts by the mean return of its last {_EPISODES} episodes"
    scores = [sum(last) / len(last)] if last else []
    return _of_folder(file, scores, env[1] if env else None, said)


def evaluations(file: File, asked: Asked) -> SourceRuns | None:
    """Evaluations of Stable-Baselines3: a run counts by the mean of its last one."""
    if file.ending != ".npz":
        return None
    try:
        found = {
            name.removesuffix(".npy"): np.load(io.BytesIO(content), allow_pickle=False)
            for name, content in members(file.path).items()
        }
    except Exception as error:  # damaged bytes raise many kinds
        said = " ".join(str(error).split())[:200]
        raise file.wrong("arrays of NumPy", f"something else ({said})") from None
    if {"timesteps", "results"} <= {*found} and found["results"].ndim == 2:
        last = found["results"][-1].astype(float)
        if not np.isfinite(last).all():
            raise file.wrong("finite returns", "others")
        said = (
            "a run of Stable-Baselines3 counts by the mean return of its last evaluation, of "
            f"{len(last)} episodes"
        )
        return _of_folder(file, [float(last.mean())], None, said)
    return _by_games(file, found, asked)


def progress(file: File, asked: Asked) -> SourceRuns | None:
    """A log of training, progress.csv or .txt: a run counts by the last value of its return.

    As Stable-Baselines3, Spinning Up and RLlib write it, in a folder for each run.
    """
    if file.path.stem != "progress" or file.ending not in (".csv", ".txt"):
        return None
    table = parse(file, file.text)
    known = [head for head in table.heads if head in _RETURNS]
    names = [asked.score] if asked.score in table.heads else known[:1] or table.heads
    score, _ = chosen(file, list(map(str, names)), asked.score, "return")
    values = [cell for cell in table.column(score) if not is_blank(cell)]
    scores = [score_in(table, cell) for cell in values[-1:]]
    said = f"a run of training counts by the last value of {score!r}"
    return dataclasses.replace(_of_folder(file, scores, None, said), measures=(score,))


_TENSORBOARD = re.compile(r"(?:run-)?(?P<run>.+?)-tag-(?P<tag>.+)")


def tensorboard(file: File, asked: Asked) -> SourceRuns | None:
    """A curve that TensorBoard has written: a run counts by its last value, its file names it."""
    if file.ending != ".csv" or not file.text.startswith("Wall time,Step,Value"):
        return None
    table = parse(file, file.text)
    scores = [score_in(table, cell) for cell in table.column("Value")[-1:]]
    match = _TENSORBOARD.fullmatch(file.path.stem)
    run, tag = match.group("run", "tag") if match else (file.path.stem, "")
    seeded = RUN.fullmatch(run) or COUNTED.fullmatch(run)
    option = [seeded["name"] if seeded else run] * len(scores)
    said = "a run of TensorBoard counts by the last value of its curve; options by their files"
    return SourceRuns(file.argument, file.where, option, scores, said=(said,), measures=(tag,))


def _of_folder(file: File, scores: list[float], env: str | None, said: str) -> SourceRuns:
    """One run, its option, environment and number by the names of its folders."""
    known = "" if env in (None, "None") else env  # Monitor writes None of one without a name
    about = file.argument, file.where, [""] * len(scores), scores
    runs = SourceRuns(*about, said=(f"{said}; options by their folders",), measures=("return",))
    return placed([dataclasses.replace(runs, folder=run_folder(file.path, known))])[0]


def games(file: File, asked: Asked) -> SourceRuns | None:
    """Scores by algorithm, [runs, games] each, as rliable takes them, in JSON."""
    content = content_in(file)
    if not isinstance(content, Mapping) or len(content) < 2:
        return None
    are_tables = all(
        isinstance(rows, list) and rows and all(isinstance(row, list) for row in rows)
        for rows in content.values()
    )
    if not are_tables:
        return None
    found = {}
    for name, rows in content.items():
        if len({len(row) for row in rows}) > 1:
            raise file.wrong(f"runs of {name!r} of the same games", "rows of other lengths")
        numbers = [[number_in(file, x, f", {name!r}") for x in row] for row in rows]
        found[str(name)] = np.array(numbers)
    return _by_games(file, found, asked)


def _by_games(file: File, found: Mapping[str, np.ndarray], asked: Asked) -> SourceRuns | None:
    """Runs and games of algorithms, [runs, games] each; the caller says which are the tasks."""
    shapes = {x.shape[1:] for x in found.values()}
    are_numbers = all(x.ndim == 2 and x.dtype.kind in "biuf" for x in found.values())
    if len(found) < 2 or not are_numbers or len(shapes) > 1:
        return None
    means = {"game": 0, "run": 1}
    if asked.tasks not in (("game",), ("run",), ("both",)):
        hint = (
            "--task-column game takes games as tasks, by the mean over runs; --task-column run "
            "takes runs, by the mean over games, as independent ones; --task-column both takes "
            "each run of each game, in groups by game"
        )
        got = f"{next(iter(shapes))[0]} games and runs of {quoted([*found])}"
        raise file.wrong("to be told what is a task", got, hint=hint)
    task = asked.tasks[0]
    options, scores, tasks = [], [], []
    if task == "both":
        return _by_run_and_game(file, found)
    for name, x in found.items():
        own = x.astype(float).mean(means[task])
        options += [name] * len(own)
        scores += own.tolist()
        tasks += [f"{task} {number}" for number in range(1, len(own) + 1)]
    if not np.isfinite(scores).all():
        raise file.wrong("finite scores", "others")
    said = f"scores [runs, games] of algorithms: a {task} counts by the mean of its scores"
    about = file.argument, file.where, options, scores
    return SourceRuns(*about, tasks if task == "game" else None, (said,))


def _by_run_and_game(file: File, found: Mapping[str, np.ndarray]) -> SourceRuns:
    """Each run of each game as a task of its own, game by game: runs are matched by numbers."""
    options, scores, tasks, groups = [], [], [], []
    for name, x in found.items():
        for game, run in np.ndindex(x.shape[::-1]):
            options.append(name)
            scores.append(float(x[run, game]))
            tasks.append(f"game {game + 1} run {run + 1}")
            groups.append(f"game {game + 1}")
    if not np.isfinite(scores).all():
        raise file.wrong("finite scores", "others")
    said = "scores [runs, games] of algorithms: tasks from columns 'game', 'run' together"
    about = file.argument, file.where, options, scores, tasks, (said,)
    return SourceRuns(*about, groups=groups, grouped_by="the games")


def curves(table: Table, asked: Asked) -> SourceRuns | None:
    """Curves of Weights & Biases: a run counts by the last value of its curve."""
    heads = [head for head in table.heads if _CURVE.fullmatch(head)]
    bounds = [head for head in heads if head.endswith(("__MIN", "__MAX"))]
    heads = [head for head in heads if head not in bounds]
    if not heads or len(heads) + len(bounds) < len(table.heads) - 1:
        return None
    heads = [head for head in heads if not head.endswith(_OWN)] or heads
    # pandas numbers runs that are called the same.
    known = {*heads}
    again = {h for h in heads if (plain := _AGAIN.sub("", h)) != h and plain in known}
    called = [_AGAIN.sub("", head) if head in again else head for head in heads]
    names, metrics = zip(*(head.rsplit(" - ", 1) for head in called), strict=True)
    metric, _ = chosen(table, [*dict.fromkeys(metrics)], asked.score, "metric")
    options, scores = [], []
    for head, name, own in zip(heads, names, metrics, strict=True):
        values = [cell for cell in table.column(head) if not is_blank(cell)]
        if own == metric and values:
            match = _CLEANRL.fullmatch(name)
            options.append(match["name"] if match else _SEED.sub("", name).strip(" _-,") or name)
            scores.append(score_in(table, values[-1]))
    said = [f"a run of Weights & Biases counts by the last value of its curve of {metric!r}"]
    said += [f"left out, as bounds of curves: {len(bounds)} columns"] if bounds else []
    said += ["options are the names of runs without a seed"]
    said += [f"another run of the same name each: {quoted(sorted(again))}"] if again else []
    about = table.argument, table.where, options, scores
    return SourceRuns(*about, said=tuple(said), measures=(metric,))


def cross_validated(table: Table, asked: Asked) -> SourceRuns | None:
    """``cv_results_`` of a search of scikit-learn: settings are options, splits are tasks."""
    splits = [(head, match) for head in table.heads if (match := _SPLIT.fullmatch(head))]
    if not splits:
        return None
    metrics = [*dict.fromkeys(match[2] for _, match in splits)]
    metric, _ = chosen(table, metrics, asked.score, "metric")
    names = _settings(table, [head for head in table.heads if head.startswith("param_")], "param_")
    if "params" in table.heads and not any(names):
        names = table.labels("params")
    runs = [
        (name, cell, f"split {match[1]}")
        for head, match in splits
        if match[2] == metric
        for name, cell in zip(names, table.column(head), strict=True)
    ]
    scores = [score_in(table, cell) for _, cell, _ in runs]
    failed = sum(score != score for score in scores)
    metric = "" if metric == "score" else metric
    return SourceRuns(
        *(table.argument, table.where, [name for name, *_ in runs], scores),
        [split for *_, split in runs],
        ("scikit-learn: options are settings, tasks splits; a scorer's larger values are better",),
        measures=(metric.removeprefix("neg_"),) if metric and not metric.startswith("neg_") else (),
        failures=f"fits that failed: {failed:,}" if failed else "",
    )


def tracked(table: Table, asked: Asked) -> SourceRuns | None:
    """A row for each run with columns of settings, as of MLflow and Ray Tune."""
    prefix = next((p for p in _SETTINGS if any(h.startswith(p) for h in table.heads)), None)
    if prefix is None or (asked.option and asked.score):
        return None
    heads = [head for head in table.heads if head.startswith(prefix)]
    own = [head for head in heads if head.removeprefix(prefix).lower() in _OF_RUN]
    names = _settings(table, [head for head in heads if head not in own], prefix)
    metrics = [head for head in table.heads if head.startswith("metrics.")] or [
        head
        for head in table.heads
        if head not in heads and table.kind(head) == "number" and not names_clock(head)
    ]
    wanted = asked.score if asked.score in table.heads else f"metrics.{asked.score}"
    score, _ = chosen(table, metrics, None if asked.score is None else wanted)
    states = next((table.labels(h) for h in table.heads if h.lower() in ("status", "state")), None)
    has_failed = [state.upper() in ("FAILED", "KILLED", "ERROR") for state in states or ()]
    cells = table.column(score)
    scores = [
        math.nan if has_failed and has_failed[row] else score_in(table, cell)
        for row, cell in enumerate(cells)
    ]
    failed = sum(x != x for x in scores)
    said = f"options are settings ({quoted([h for h in heads if h not in own])})"
    tasks = table.labels(own[0]) if own else None
    said += f", tasks {own[0]!r}" if own else ""
    return SourceRuns(
        *(table.argument, table.where, names, scores, tasks, (f"{said}, scores {score!r}",)),
        measures=(score,),
        failures=f"runs without a score: {failed:,}" if failed else "",
    )


def _settings(table: Table, heads: list[str], prefix: str) -> list[str]:
    """A name of each row by its settings, without those that are the same in all."""
    columns = {head: table.column(head) for head in heads}
    differ = {h: c for h, c in columns.items() if len({*map(label_of, c)}) > 1} or columns
    return [
        ", ".join(
            f"{head.removeprefix(prefix)}={label_of(column[row])}"
            for head, column in differ.items()
            if not is_blank(column[row])
        )
        for row in range(len(table.lines))
    ]
