"""Readers of lm-evaluation-harness, Inspect, hyperfine and pytest-benchmark."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from jaxrace.tables.files import File, loads, members
from jaxrace.tables.reading import are_objects, chosen, number_in, object_in
from jaxrace.tables.runs import Asked, SourceRuns
from jaxrace.tables.table import quoted
from jaxrace.tables.variants import settings_in

# Of a line of samples_*.jsonl; its metrics are beside these, and named by "metrics".
_HARNESS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
_HARNESS |= {"doc_hash", "prompt_hash", "target_hash"}
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # of Inspect: correct, partial, not, no answer


def harness(file: File, asked: Asked) -> SourceRuns | None:
    """Samples of lm-evaluation-harness, of one model and one filter: "exact_match,strict-match"."""
    if not file.has_lines or not are_objects(file.records[0], "doc_id"):
        return None
    records, lines = file.records
    if not all("resps" in one or "filtered_resps" in one for one in records):
        return None
    names = records[0].get("metrics")
    if not isinstance(names, list):
        names = [name for name in records[0] if name not in _HARNESS]
    if not all(isinstance(name, str) for name in names):
        raise file.wrong("names of metrics", repr(names), at=f", line {lines[0]}")
    metric, wanted = chosen(file, names, asked.score)
    filters = list(dict.fromkeys(str(one["filter"]) for one in records if "filter" in one))
    if wanted is None and len(filters) > 1:
        hint = f"--score-column {metric},{filters[0]} takes one"
        raise file.wrong("the scores of one filter", quoted(filters), hint=hint)
    if wanted is not None and wanted not in filters:
        raise file.wrong(f"a filter {wanted!r}", quoted(filters) or "none")
    task = file.path.stem.removeprefix("samples_")
    begin, _, date = task.rpartition("_")
    task = begin if begin and date[:2] == "20" else task  # the time of the evaluation
    scores, tasks = [], []
    for one, line in zip(records, lines, strict=True):
        if wanted is None or str(one.get("filter")) == wanted:
            scores.append(number_in(file, one.get(metric), f", line {line}"))
            tasks.append(f"{task} {one['doc_id']}")
    models = [file.path.resolve().parent.name] * len(scores)
    said = (f"samples of lm-evaluation-harness: {metric}, models by their folders",)
    return SourceRuns(
        *(file.argument, file.where, models, scores, tasks, said),
        groups=[task] * len(scores),
        grouped_by="the names of the harness's tasks",
        asked_alike=True,
        measures=(metric,),
    )


def hyperfine(file: File, asked: Asked) -> SourceRuns | None:
    """Times of commands, as ``--export-json`` writes them."""
    results = object_in(file).get("results")
    if isinstance(results, Mapping) and "configs" in file.content:
        hint = "lm_eval --log_samples writes them, as samples_*.jsonl"
        raise file.wrong("a score for each question", "means alone", hint=hint)
    if not are_objects(results, "command"):
        return None
    options, scores = [], []
    called = [str(result.get("name") or result["command"]) for result in results]
    for name, result in zip(called, results, strict=True):
        parameters = result.get("parameters")
        if called.count(name) > 1 and parameters:
            given = ", ".join(f"{key}={value}" for key, value in parameters.items())
            name = f"{name} ({given})"
        # From version 2.0 on, a measurement is an object of its own.
        measured = result.get("measurements", ())
        codes = result.get("exit_codes") or [one.get("exit_code") for one in measured]
        times = result.get("times") or [one["time_wall_clock"]["value"] for one in measured]
        if not times:
            raise file.wrong(f"the times of {name!r}", "none")
        if name in options:
            hint = "--command-name tells them apart"
            raise file.wrong("commands of different names", f"{name!r} twice", hint=hint)
        options += [name] * len(times)
        numbers = [number_in(file, time, f", {name!r}") for time in times]
        pairs = itertools.zip_longest(numbers, codes[: len(times)])
        scores += [x if code in (0, None) else math.nan for x, code in pairs]
    said = ("seconds of hyperfine: smaller is better",)
    failed = sum(score != score for score in scores)
    failures = f"exit codes other than 0: {failed:,}" if failed else ""
    about = file.argument, file.where, options, scores
    return SourceRuns(*about, said=said, smaller=True, failures=failures)


def pytest_benchmark(file: File, asked: Asked) -> SourceRuns | None:
    """Times of one group of benchmarks, as ``--benchmark-json`` writes them."""
    found = object_in(file).get("benchmarks")
    if not are_objects(found, "stats"):
        return None
    groups = list(dict.fromkeys(str(one.get("group")) for one in found))
    if asked.score is not None or len(groups) > 1:
        group, _ = chosen(file, groups, asked.score, "group of benchmarks")
        found = [one for one in found if str(one.get("group")) == group]
    names = [str(one.get("name")) for one in found]
    if len(set(names)) < len(names):
        names = [str(one.get("fullname")) for one in found]
    options, scores = [], []
    for name, one in zip(names, found, strict=True):
        times = one["stats"].get("data") if isinstance(one["stats"], Mapping) else None
        if not times:
            hint = "--benchmark-save-data keeps them with --benchmark-save"
            raise file.wrong(f"the times of {name!r}", "statistics alone", hint=hint)
        options += [name] * len(times)
        scores += [number_in(file, time, f", {name!r}") for time in times]
    said = ("seconds of pytest-benchmark: smaller is better",)
    return SourceRuns(file.argument, file.where, options, scores, said=said, smaller=True)


def inspect(file: File, asked: Asked) -> SourceRuns | None:
    """Samples of a log of Inspect: runs of one model."""
    is_archive = file.ending == ".eval"
    log = _archive(file) if is_archive else object_in(file)
    about = log.get("eval")
    if not (isinstance(about, Mapping) and "model" in about):
        if is_archive:
            raise file.wrong("a log of Inspect", "another archive")
        return None
    samples, status = log.get("samples"), log.get("status") or "success"
    if not are_objects(samples, "id"):
        hint = "a header alone has none; `inspect log convert --to json` writes whole logs"
        raise file.wrong("the samples of an Inspect log", "none", hint=hint)
    # Logs have them as they ended, .eval and .json in two ways; the data set had one order.
    ids = (about.get("dataset") or {}).get("sample_ids") or ()
    order = {str(one): place for place, one in enumerate(ids)}
    samples = sorted(
        samples, key=lambda one: (one.get("epoch", 1), order.get(str(one["id"]), len(order)))
    )
    scorers = list(dict.fromkeys(name for one in samples for name in one.get("scores") or ()))
    has_ended = status == "success"
    if not (scorers or has_ended):
        got = f"none, as the evaluation has status {status!r}"
        raise file.wrong("scores", got, hint="leave this log out")
    name, part = chosen(file, scorers, asked.score)
    scores = [_inspected(file, one, name, part) for one in samples]
    said = [f"an Inspect log: scores of {name!r}"]
    said += [] if has_ended else [f"{file.where} is of an evaluation with status {status!r}"]
    task = str(about.get("task", ""))
    tasks = [f"{task} {one['id']}" if "task" in about else str(one["id"]) for one in samples]
    failed = sum(score != score for score in scores)
    plan = log.get("plan") or {}
    steps = [one.get("params") for one in plan.get("steps") or () if isinstance(one, Mapping)]
    set_for = (about.get("task_args"), about.get("model_args"), steps, plan.get("config"))
    models, groups = [str(about["model"])] * len(scores), [task] * len(scores)
    return SourceRuns(
        *(file.argument, file.where, models, scores, tasks, tuple(said)),
        groups=groups,
        grouped_by="the names of Inspect's tasks",
        again_by="epoch",
        again=[str(one.get("epoch", 1)) for one in samples],
        asked_alike=True,
        measures=(f"{name} {part or ''}",),
        settings=settings_in(*set_for),
        failures=f"samples without a score: {failed:,}" if failed else "",
    )


def _inspected(file: File, sample: Mapping[str, Any], name: str, part: str | None) -> float:
    """The score of a sample, NaN if it lacks one, as where a limit ended it."""
    if name not in (sample.get("scores") or {}):
        return math.nan
    value, at = sample["scores"][name].get("value"), f", sample {sample['id']!r}"
    if isinstance(value, Mapping):
        if part not in value:
            hint = f"--score-column {name},{next(iter(value), '')} takes one of them"
            raise file.wrong("one score", quoted(list(value)), hint=hint, at=at)
        value = value[part]
    value = _GRADES.get(value, value) if isinstance(value, str) else value
    is_failed = isinstance(value, float) and not math.isfinite(value)
    return math.nan if is_failed else number_in(file, value, at)


def _archive(file: File) -> dict[str, Any]:
    """What a .eval file of Inspect holds, an archive of JSON files, as its .json log has it."""
    hint = "`inspect log convert --to json` makes a .json log of one that has ended"
    try:
        files = members(file.path, ("header.json", "samples/"))
        header = files.pop("header.json")
    except ModuleNotFoundError:
        hint = "pip install 'jaxrace[tables]', or `inspect log convert --to json`"
        raise file.wrong("zstandard, to read such a log", "none", hint=hint) from None
    except Exception as error:  # archives have many ways to be damaged
        raise file.wrong("a log of Inspect", f"another ({error})", hint=hint) from None
    found = []
    for name, content in (("header.json", header), *files.items()):
        at = f", {name}"
        try:
            found.append(loads(file, content.decode(), at))
        except UnicodeDecodeError as error:
            raise file.wrong("text in UTF-8", error.reason, at=at) from None
        if not isinstance(found[-1], dict):
            raise file.wrong("an object", f"a {type(found[-1]).__name__}", at=at)
    return found[0] | {"samples": found[1:]}
