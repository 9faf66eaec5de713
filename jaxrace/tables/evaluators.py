"""Runs from the files that evaluators and timers leave."""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, TypeGuard

from jaxrace.tables.archives import members
from jaxrace.tables.failures import settled
from jaxrace.tables.runs import Failed, Runs
from jaxrace.tables.sources import loads
from jaxrace.tables.table import listed, wrong

# Of a line of samples_*.jsonl; its metrics are beside these, and named by "metrics".
_HARNESS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
_HASHES = {"doc_hash", "prompt_hash", "target_hash"}
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # of Inspect: correct, partial, not, no answer


def runs_in(
    argument: str, where: str, content: Any, score: str | None, failed: Failed = None
) -> Runs | None:
    """The runs in JSON that an evaluator has written, None if it is none that is known.

    Known are hyperfine's ``--export-json``, pytest-benchmark's ``--benchmark-json`` and logs of
    Inspect.
    """
    if not isinstance(content, Mapping):
        return None
    results, benchmarks = content.get("results"), content.get("benchmarks")
    try:
        if _are_objects(results, "command"):
            return _hyperfine(argument, where, results, failed)
        if _are_objects(benchmarks, "stats"):
            return _pytest_benchmark(argument, where, benchmarks, score)
        if isinstance(content.get("eval"), Mapping) and "model" in content["eval"]:
            return _inspect(argument, where, content, score, failed)
    except (AttributeError, KeyError, TypeError) as error:
        got = f"something else ({type(error).__name__}: {error})"
        raise wrong(argument, "what hyperfine, Inspect or others write", where, got) from error
    if isinstance(results, Mapping) and "configs" in content:
        hint = "lm_eval --log_samples writes them, as samples_*.jsonl"
        raise wrong(argument, "a score for each question", where, "means alone", hint)
    return None


def _are_objects(content: Any, key: str) -> TypeGuard[list[Mapping[str, Any]]]:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(one, Mapping) and key in one for one in content)
    )


def _number(argument: str, place: str, value: Any) -> float:
    if isinstance(value, int | float) and abs(value) <= sys.float_info.max:
        return float(value)
    raise wrong(argument, "a number", place, repr(value)[:60])


def _hyperfine(
    argument: str, where: str, results: Sequence[Mapping[str, Any]], failed: Failed
) -> Runs:
    options, scores, is_failed = [], [], []
    called = [str(result.get("name") or result["command"]) for result in results]
    for name, result in zip(called, results, strict=True):
        parameters = result.get("parameters")
        if called.count(name) > 1 and parameters:
            given = ", ".join(f"{key}={value}" for key, value in parameters.items())
            name = f"{name} ({given})"
        # From version 2.0 on, a measurement is an object of its own.
        measured = [one["time_wall_clock"]["value"] for one in result.get("measurements", ())]
        times = result.get("times") or measured
        codes = result.get("exit_codes") or [
            m.get("exit_code") for m in result.get("measurements", ())
        ]
        if not times:
            raise wrong(argument, f"the times of {name!r}", where, "none")
        if name in options:
            hint = "--command-name tells them apart"
            raise wrong(argument, "commands of different names", where, f"{name!r} twice", hint)
        options += [name] * len(times)
        scores += [_number(argument, f"{where}, {name!r}", time) for time in times]
        bad = [code not in (0, None) for code in codes]
        is_failed += [*bad, *[False] * len(times)][: len(times)]
    said = ("seconds of hyperfine: smaller is better",)
    runs = Runs(where, options, scores, said=said, smaller=True)
    got = f"exit codes other than 0: {sum(is_failed):,}"
    return settled(runs, is_failed, failed, got)


def _pytest_benchmark(
    argument: str, where: str, found: Sequence[Mapping[str, Any]], group: str | None
) -> Runs:
    groups = list(dict.fromkeys(str(one.get("group")) for one in found))
    if group is not None or len(groups) > 1:
        group, _ = _chosen(argument, where, groups, group, "group of benchmarks")
        found = [one for one in found if str(one.get("group")) == group]
    names = [str(one.get("name")) for one in found]
    if len(set(names)) < len(names):
        names = [str(one.get("fullname")) for one in found]
    options, scores = [], []
    for name, one in zip(names, found, strict=True):
        times = one["stats"].get("data") if isinstance(one["stats"], Mapping) else None
        if not times:
            hint = "--benchmark-save-data keeps them with --benchmark-save"
            raise wrong(argument, f"the times of {name!r}", where, "statistics alone", hint)
        options += [name] * len(times)
        scores += [_number(argument, f"{where}, {name!r}", time) for time in times]
    said = ("seconds of pytest-benchmark: smaller is better",)
    return Runs(where, options, scores, said=said, smaller=True)


def _inspect(
    argument: str, where: str, log: Mapping[str, Any], score: str | None, failed: Failed
) -> Runs:
    about, samples = log["eval"], log.get("samples")
    if not _are_objects(samples, "id"):
        hint = "a header alone has none; `inspect log convert --to json` writes whole logs"
        raise wrong(argument, "the samples of an Inspect log", where, "none", hint)
    # Logs have them as they ended, .eval and .json in two ways; the data set had one order.
    ids = (about.get("dataset") or {}).get("sample_ids") or ()
    order = {str(one): place for place, one in enumerate(ids)}
    samples = sorted(
        samples, key=lambda one: (one.get("epoch", 1), order.get(str(one["id"]), len(order)))
    )
    scorers = list(dict.fromkeys(name for one in samples for name in one.get("scores") or ()))
    if not scorers and log.get("status") not in (None, "success"):
        got = f"none, as the evaluation has status {log['status']!r}"
        raise wrong(argument, "scores", where, got, "leave this log out")
    name, part = _chosen(argument, where, scorers, score)
    scores, tasks, is_failed = [], [], []
    for one in samples:
        place = f"{where}, sample {one['id']!r}"
        tasks.append(str(one["id"]) if "task" not in about else f"{about['task']} {one['id']}")
        is_failed.append(name not in (one.get("scores") or {}))
        if is_failed[-1]:  # or a limit ended it
            scores.append(math.nan)
            continue
        value = one["scores"][name].get("value")
        if isinstance(value, Mapping):
            if part not in value:
                hint = f"--score-column {name},{next(iter(value), '')} takes one of them"
                raise wrong(argument, "one score", place, listed(list(value)), hint)
            value = value[part]
        value = _GRADES.get(value, value) if isinstance(value, str) else value
        is_failed[-1] = isinstance(value, float) and not math.isfinite(value)
        scores.append(math.nan if is_failed[-1] else _number(argument, place, value))
    said = [f"an Inspect log: scores of {name!r}"]
    if log.get("status") not in (None, "success"):
        said.append(f"{where} is of an evaluation with status {log['status']!r}")
    models, groups = [str(about["model"])] * len(scores), [str(about.get("task", ""))] * len(scores)
    by = "the names of Inspect's tasks"
    about = {"groups": groups, "grouped_by": by, "measures": (f"{name} {part or ''}",)}
    runs = Runs(where, models, scores, tasks, tuple(said), **about)
    got = f"samples without a score: {sum(is_failed):,}"
    return settled(runs, is_failed, failed, got)


def _chosen(
    argument: str, where: str, names: Sequence[str], asked: str | None, what: str = "score"
) -> tuple[str, str | None]:
    """The name of a score and, after a comma, of its part."""
    if asked is None and len(names) != 1:
        hint = f"--score-column {quote(names[0])} takes one" if names else ""
        raise wrong(argument, f"one {what}", where, listed(names) or "none", hint)
    if asked is None:
        return names[0], None
    if asked in names:
        return asked, None
    name, _, part = asked.partition(",")
    if name not in names:
        raise wrong(argument, f"a {what} {asked!r}", where, listed(names) or "none")
    return name, part


def eval_log(argument: str, path: Path) -> dict[str, Any]:
    """What a .eval file of Inspect holds, as its .json log has it: an archive of JSON files."""
    where = repr(str(path))
    hint = "`inspect log convert --to json` makes a .json log of one that has ended"
    try:
        files = members(path, ("header.json", "samples/"))
        header = files.pop("header.json")
    except ModuleNotFoundError:
        hint = "pip install 'jaxrace[tables]', or `inspect log convert --to json`"
        raise wrong(argument, "zstandard, to read such a log", where, "none", hint) from None
    except Exception as error:  # archives have many ways to be damaged
        raise wrong(argument, "a log of Inspect", where, f"another ({error})", hint) from None
    log = _from_json(argument, where, "header.json", header)
    samples = [_from_json(argument, where, name, content) for name, content in files.items()]
    return log | {"samples": samples}


def _from_json(argument: str, where: str, name: str, content: bytes) -> dict[str, Any]:
    """The object in a file of an archive."""
    try:
        found = loads(argument, f"{where}, {name}", content.decode())
    except UnicodeDecodeError as error:
        raise wrong(argument, "text in UTF-8", f"{where}, {name}", error.reason) from None
    if not isinstance(found, dict):
        raise wrong(argument, "an object", f"{where}, {name}", f"a {type(found).__name__}")
    return found


def is_harness(records: Sequence[Any]) -> bool:
    """Are lines of JSON samples of lm-evaluation-harness?"""
    return bool(records) and all(
        isinstance(one, Mapping) and "doc_id" in one and ("resps" in one or "filtered_resps" in one)
        for one in records
    )


def harness_runs(
    argument: str,
    path: Path,
    records: Sequence[Mapping[str, Any]],
    lines: Sequence[int],
    score: str | None,
) -> Runs:
    """The runs of one model, which its folder is called after, in a file samples_*.jsonl.

    Where there are several filters, the score is called as in the harness's own results, such as
    "exact_match,strict-match".
    """
    where = repr(str(path))
    named = records[0].get("metrics")
    names = (
        list(named)
        if isinstance(named, list)
        else [h for h in records[0] if h not in _HARNESS | _HASHES]
    )
    if not all(isinstance(name, str) for name in names):
        raise wrong(argument, "names of metrics", f"{where}, line {lines[0]}", repr(named))
    metric, wanted = _chosen(argument, where, names, score)
    filters = list(dict.fromkeys(str(one["filter"]) for one in records if "filter" in one))
    if wanted is None and len(filters) > 1:
        hint = f"--score-column {metric},{filters[0]} takes one"
        raise wrong(argument, "the scores of one filter", where, listed(filters), hint)
    if wanted is not None and wanted not in filters:
        raise wrong(argument, f"a filter {wanted!r}", where, listed(filters) or "none")
    task = path.stem.removeprefix("samples_")
    begin, _, date = task.rpartition("_")
    task = begin if begin and date[:2] == "20" else task  # the time of the evaluation
    scores, tasks = [], []
    for one, line in zip(records, lines, strict=True):
        if wanted is None or str(one.get("filter")) == wanted:
            scores.append(_number(argument, f"{where}, line {line}", one.get(metric)))
            tasks.append(f"{task} {one['doc_id']}")
    model = path.resolve().parent.name
    said = (f"samples of lm-evaluation-harness: {metric}, models by their folders",)
    groups, by = [task] * len(scores), "the names of the harness's tasks"
    about = {"groups": groups, "grouped_by": by, "measures": (metric,)}
    return Runs(where, [model] * len(scores), scores, tasks, said, **about)
