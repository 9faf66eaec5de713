"""Readers of evaluations of models: promptfoo, OpenAI evals, DeepEval, HELM, SWE-bench."""

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any

from jaxrace.tables.files import File
from jaxrace.tables.heads import names_score
from jaxrace.tables.reading import are_objects, chosen, content_in, number_in, object_in
from jaxrace.tables.runs import Asked, SourceRuns
from jaxrace.tables.table import Table

_CELL = re.compile(r"\[(PASS|FAIL|ERROR)\](?:\s*\(([\d.]+)\))?(?:\s|$)")
_MODEL = re.compile(r"(?:^|[,:])model(?:_deployment)?=([^,]+)")


def promptfoo(file: File, asked: Asked) -> SourceRuns | None:
    """Results of promptfoo, ``-o FILE.json``: an option is a provider, and a prompt of several."""
    outer = object_in(file).get("results")
    found = outer.get("results") if isinstance(outer, Mapping) else None
    if not are_objects(found, "provider"):
        return None
    prompts = [_prompt(one) for one in found]
    several = len({*prompts}) > 1
    begins = {prompt: _beginning(prompt) for prompt in prompts}
    if len({*begins.values()}) == len(begins):
        prompts = [begins[prompt] for prompt in prompts]
    options, scores, tasks = [], [], []
    for one, prompt in zip(found, prompts, strict=True):
        provider = one["provider"]
        name = (
            str(provider.get("label") or provider["id"])
            if isinstance(provider, Mapping)
            else str(provider)
        )
        options.append(f"{name}, {prompt}" if several else name)
        is_error = one.get("failureReason") == 2 or (one.get("error") and one.get("score") is None)
        scores.append(math.nan if is_error else number_in(file, one.get("score"), f", {name!r}"))
        tasks.append(f"test {one.get('testIdx', one.get('rowIndex', len(tasks)))}")
    return _judged(file, options, scores, tasks, "promptfoo: scores of providers, tests are tasks")


def _prompt(one: Mapping[str, Any]) -> str:
    prompt = one.get("prompt") or {}
    is_object = isinstance(prompt, Mapping)
    return str(prompt.get("label") or prompt.get("raw") or "") if is_object else str(prompt)


def _beginning(prompt: str) -> str:
    """About 40 letters of a prompt, with the whole name of a variable, as {{question}}."""
    begin = prompt.rfind("{{", 0, 40)
    end = prompt.find("}}", begin) + 2 if begin >= 0 else 0
    return prompt[: max(40, end)]


def promptfoo_table(table: Table, asked: Asked) -> SourceRuns | None:
    """The same as CSV: a column of "[PASS] (1.00) text" for each provider."""
    cells = {head: [_CELL.match(str(cell)) for cell in table.column(head)] for head in table.heads}
    graded = {head: found for head, found in cells.items() if found and all(found)}
    if len(graded) < 2:
        return None
    options, scores, tasks = [], [], []
    for head, found in graded.items():
        for row, cell in enumerate(filter(None, found), 1):
            grade, score = cell.groups()
            number = {"PASS": 1.0, "FAIL": 0.0, "ERROR": math.nan}[grade]
            options.append(head)
            scores.append(float(score) if score and grade != "ERROR" else number)
            tasks.append(f"test {row}")
    return _judged(table, options, scores, tasks, "promptfoo: grades in brackets, rows are tasks")


def openai_evals(file: File, asked: Asked) -> SourceRuns | None:
    """Events of one run of OpenAI evals: the model's, by sample."""
    if not file.has_lines:
        return None
    records = [one for one in file.records[0] if isinstance(one, Mapping)]
    spec = next((one["spec"] for one in records if isinstance(one.get("spec"), Mapping)), None)
    if spec is None:
        return None
    events = [one for one in records if one.get("type") in ("match", "metrics")]
    events = [one for one in events if isinstance(one.get("data"), Mapping)]
    if not events:
        raise file.wrong("events of type match or metrics", "none")
    names = [key for key, x in events[0]["data"].items() if isinstance(x, bool | int | float)]
    score, _ = chosen(file, names, asked.score or ("correct" if "correct" in names else None))
    models = spec.get("completion_fns") or [spec.get("model_name", file.path.stem)]
    scores = [number_in(file, one["data"].get(score), f", {one['sample_id']!r}") for one in events]
    tasks = [str(one["sample_id"]) for one in events]
    options = [", ".join(map(str, models))] * len(scores)
    return _judged(file, options, scores, tasks, f"OpenAI evals: {score} of samples")


def deepeval(file: File, asked: Asked) -> SourceRuns | None:
    """A test run of DeepEval: the scores of one metric; the option is its model, or the file."""
    content = object_in(file)
    cases = content.get("testCases") or content.get("test_cases")
    key = "metricsData" if are_objects(cases, "metricsData") else "metrics_data"
    if not are_objects(cases, key):
        return None
    names = [*dict.fromkeys(str(one["name"]) for case in cases for one in case[key] or ())]
    metric, _ = chosen(file, names, asked.score)
    settings = content.get("hyperparameters") or {}
    option = str(settings.get("model") or file.path.stem)
    scores, tasks = [], []
    for number, case in enumerate(cases, 1):
        found = [one for one in case[key] or () if one["name"] == metric]
        is_error = not found or found[0].get("error") or found[0].get("score") is None
        name = str(case.get("name") or f"test case {number}")
        scores.append(math.nan if is_error else number_in(file, found[0]["score"], f", {name!r}"))
        tasks.append(name)
    return _judged(file, [option] * len(scores), scores, tasks, f"DeepEval: {metric} of test cases")


def helm(file: File, asked: Asked) -> SourceRuns | None:
    """per_instance_stats.json of HELM: one metric of one run; its folder names the model."""
    content = content_in(file)
    if not are_objects(content, "instance_id") or "stats" not in content[0]:
        return None
    kept = [one for one in content if not one.get("perturbation")]
    values: dict[str, set[Any]] = {}
    for stat in (stat for one in kept for stat in one["stats"]):
        values.setdefault(_stat(stat), set()).add(stat.get("mean"))
    # Scores first, and what is the same for all last.
    names = sorted(values, key=lambda name: (not names_score(name), len(values[name]) < 2))
    metric, _ = chosen(file, names, asked.score, "metric")
    folder = file.path.resolve().parent.name
    model = _MODEL.search(folder)
    scenario = _MODEL.sub("", folder).strip(",:") or "scenario"
    scores, tasks, trials = [], [], []
    for one in kept:
        found = [stat for stat in one["stats"] if _stat(stat) == metric]
        name = f"{scenario} {one['instance_id']}"
        tasks.append(name)
        trials.append(str(one.get("train_trial_index", 0)))
        mean = found[0].get("mean") if found else None
        scores.append(math.nan if mean is None else number_in(file, mean, f", {name!r}"))
    left = len(content) - len(kept)
    said = f"HELM: {metric}" + (f"; perturbed instances left out: {left:,}" if left else "")
    options = [model[1] if model else folder] * len(scores)
    found = _judged(file, options, scores, tasks, said, metric)
    assert found is not None
    return dataclasses.replace(found, again=trials, again_by="trial")


def _stat(stat: Mapping[str, Any]) -> str:
    name = stat.get("name")
    return str(name.get("name")) if isinstance(name, Mapping) else str(name)


def swe_bench(file: File, asked: Asked) -> SourceRuns | None:
    """Lists of instances of SWE-bench, of one system: 1 for those resolved, 0 for others."""
    content = object_in(file)
    lists = {key: x for key, x in content.items() if isinstance(x, list)}
    key = next((key for key in ("resolved_ids", "resolved") if key in lists), None)
    if key is None or not all(isinstance(one, str) for x in lists.values() for one in x):
        return None
    tasks = sorted({one for own in lists.values() for one in own})
    folder = file.path.resolve().parent
    folder = folder.parent if folder.name in ("results", "logs") else folder
    model = file.path.stem.split(".")[0] if file.path.stem not in ("results", "report") else ""
    resolved = {*lists[key]}
    scores = [float(task in resolved) for task in tasks]
    options = [model or folder.name] * len(tasks)
    said = "SWE-bench: 1 for an instance that is resolved, 0 for all others that a file lists"
    found = _judged(file, options, scores, tasks, said)
    return dataclasses.replace(found, unlisted=0.0)


def human_eval(file: File, asked: Asked) -> SourceRuns | None:
    """Samples of HumanEval with their results: 1 if one has passed; the file names the model."""
    records = file.records[0] if file.has_lines else None
    if not (are_objects(records, "task_id") and are_objects(records, "passed")):
        return None
    scores = [float(one["passed"] is True) for one in records]
    tasks = [str(one["task_id"]) for one in records]
    name = re.sub(r"(_?samples)?(\.jsonl)?(_?results)?$", "", file.path.stem) or file.path.stem
    said = "HumanEval: 1 if a sample has passed, models by their files"
    return _judged(file, [name] * len(scores), scores, tasks, said)


def eval_plus(file: File, asked: Asked) -> SourceRuns | None:
    """Samples of EvalPlus with the results of its tests, ``plus``, or of those before, ``base``."""
    found = object_in(file).get("eval")
    samples = [*found.values()] if isinstance(found, Mapping) else []
    if not samples or not all(are_objects(own, "plus_status") for own in samples):
        return None
    tests, _ = chosen(file, ["plus", "base"], asked.score or "plus", "kind of tests")
    every = [one for own in samples for one in own]
    passed = [
        one["base_status"] == "pass" and (tests == "base" or one["plus_status"] == "pass")
        for one in every
    ]
    folder, stem = file.path.resolve().parent.name, re.sub(r"_?eval_results$", "", file.path.stem)
    tasks = [str(one.get("task_id")) for one in every]
    said = f"EvalPlus: 1 if a sample has passed the tests ({tests}); models by folders or files"
    return _judged(file, [stem or folder] * len(every), [*map(float, passed)], tasks, said)


def _judged(
    place: Any,
    options: list[str],
    scores: list[float],
    tasks: list[str],
    said: str,
    metric: str = "",
) -> SourceRuns:
    failed = sum(score != score for score in scores)
    return SourceRuns(
        *(place.argument, place.where, options, scores, tasks, (said,)),
        measures=(metric,) if metric else (),
        failures=f"cases with an error: {failed:,}" if failed else "",
        asked_alike=True,
    )
