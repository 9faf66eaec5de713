"""Readers of what benchmarks of programs leave: Google Benchmark, JMH, criterion, asv."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from jaxrace.tables.files import File
from jaxrace.tables.reading import (
    are_objects,
    chosen,
    content_in,
    number_in,
    object_in,
    score_in,
)
from jaxrace.tables.runs import Asked, SourceRuns
from jaxrace.tables.table import Table, quoted

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_FASTER = "smaller is better"


def google_benchmark(file: File, asked: Asked) -> SourceRuns | None:
    """Repetitions of Google Benchmark, ``--benchmark_out_format=json``."""
    found = object_in(file).get("benchmarks")
    if not are_objects(found, "name") or not any("real_time" in one for one in found):
        return None
    runs = [one for one in found if one.get("run_type", "iteration") == "iteration"]
    if not runs:
        hint = "--benchmark_report_aggregates_only=false keeps the repetitions"
        raise file.wrong("repetitions", "aggregates alone", hint=hint)
    time = chosen(file, ["real_time", "cpu_time"], asked.score or "real_time", "time")[0]
    options, scores = [], []
    for one in runs:
        name = str(one.get("run_name") or one["name"])
        failed = one.get("error_occurred", False)
        at = f", {name!r}"
        value = math.nan if failed else number_in(file, one.get(time), at)
        options.append(name)
        scores.append(value * _SECONDS[one.get("time_unit", "ns")])
    options, tasks = _sizes(options)
    count, errors = len(scores), sum(score != score for score in scores)
    if tasks:
        options, scores, tasks = _means(options, scores, tasks)
    left = len(found) - len(runs)
    said = [f"seconds of Google Benchmark ({time}): {_FASTER}"]
    said += [f"left out, as they are made of repetitions: {left:,} aggregates"] if left else []
    if tasks:
        said.append(
            f"sizes of benchmarks are tasks, scores the means of repetitions: {len(tasks):,} of "
            f"{count:,} runs; of one size (--benchmark_filter) each repetition is a run"
        )
    about = file.argument, file.where, options, scores, tasks
    failures = f"benchmarks with an error: {errors:,}" if errors else ""
    about_tasks = {"failures": failures, "asked_alike": tasks is not None}
    return SourceRuns(*about, said=tuple(said), smaller=True, **about_tasks)


def _means(
    options: Sequence[str], scores: Sequence[float], tasks: Sequence[str]
) -> tuple[list[str], list[float], list[str]]:
    """The mean of each option on each task, as they come, NaN with a NaN among them."""
    found: dict[tuple[str, str], list[float]] = {}
    for option, score, task in zip(options, scores, tasks, strict=True):
        found.setdefault((option, task), []).append(score)
    means = [sum(own) / len(own) for own in found.values()]
    return [option for option, _ in found], means, [task for _, task in found]


def _sizes(names: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Several benchmarks of several sizes, as "sort/64": options, and tasks; else as they are."""
    parts = [name.partition("/") for name in names]
    bases, sizes = {base for base, *_ in parts}, {size for *_, size in parts}
    if len(bases) < 2 or len(sizes) < 2 or "" in sizes:
        return [*names], None
    return [base for base, *_ in parts], [size for *_, size in parts]


def jmh(file: File, asked: Asked) -> SourceRuns | None:
    """Measurements of JMH, ``-rf json``: a run is a fork, or an iteration of the only one."""
    content = content_in(file)
    if not are_objects(content, "primaryMetric") or "mode" not in content[0]:
        return None
    modes = [*dict.fromkeys(str(one["mode"]) for one in content)]
    mode, _ = chosen(file, modes, asked.score, "mode")
    found = [one for one in content if str(one["mode"]) == mode]
    units = [*dict.fromkeys(str(one["primaryMetric"]["scoreUnit"]) for one in found)]
    if len(units) > 1:
        raise file.wrong("scores in one unit", quoted(units), hint="jmh -tu sets it for all")
    short = Counter(
        _method(one["benchmark"], 2) for one in {x["benchmark"]: x for x in found}.values()
    )
    options, scores, tasks, are_forks = [], [], [], True
    for one in found:
        name = _method(one["benchmark"], 2)
        name = str(one["benchmark"]) if short[name] > 1 else name
        given = ", ".join(f"{key}={value}" for key, value in (one.get("params") or {}).items())
        several = len({str(x.get("params")) for x in found}) > 1 and len(short) > 1
        name += f" ({given})" if given and not several else ""
        forks = one["primaryMetric"].get("rawData") or []
        numbers = [[number_in(file, x, f", {name!r}") for x in fork] for fork in forks]
        if not any(numbers):
            raise file.wrong(f"the raw data of {name!r}", "none")
        are_forks &= len(numbers) > 1
        own = [sum(x) / len(x) for x in numbers if x] if len(numbers) > 1 else numbers[0]
        options += [name] * len(own)
        tasks += [given] * len(own)
        scores += own
    several = len({*tasks}) > 1 and len({*options}) > 1 and "" not in tasks
    is_rate = mode == "thrpt"
    run = "each fork is a run" if are_forks else "iterations of one fork are runs"
    if several:
        options, scores, tasks = _means(options, scores, tasks)
        run = f"parameters are tasks, scores the means of {'forks' if are_forks else 'iterations'}"
    said = f"JMH, {units[0]}: {'larger' if is_rate else 'smaller'} is better; {run}"
    about = file.argument, file.where, options, scores, tasks if several else None
    return SourceRuns(*about, said=(said,), smaller=not is_rate, asked_alike=several)


def _method(name: object, parts: int) -> str:
    return ".".join(str(name).split(".")[-parts:])


def pyperf(file: File, asked: Asked) -> SourceRuns | None:
    """Benchmarks of pyperf, ``-o FILE.json``: a run is a process, by the mean of its values."""
    content = object_in(file)
    found = content.get("benchmarks")
    if not are_objects(found, "runs"):
        return None
    options, scores, units = [], [], set()
    for one in found:
        about = {**(content.get("metadata") or {}), **(one.get("metadata") or {})}
        name = str(about.get("name", file.path.stem))
        units.add(str(about.get("unit", "second")))
        for run in one["runs"]:  # those that calibrate have no values
            if values := [number_in(file, x, f", {name!r}") for x in run.get("values") or ()]:
                options.append(name)
                scores.append(sum(values) / len(values))
    if len(units) > 1:
        raise file.wrong("values in one unit", quoted(sorted(units)))
    said = f"pyperf: {', '.join(units)}, each process is a run; {_FASTER}"
    return SourceRuns(file.argument, file.where, options, scores, said=(said,), smaller=True)


_GO = re.compile(r"(Benchmark\S*?)(-\d+)?\s+\d+\s+([\d.]+) ns/op\b")


def go_bench(file: File, asked: Asked) -> SourceRuns | None:
    """What ``go test -bench`` prints: a line of a benchmark is a run."""
    if file.ending not in (".txt", ".out", ".log", ".bench", ""):
        return None
    found = [match for line in file.text.splitlines() if (match := _GO.match(line))]
    if not found:
        return None
    several = len({match[2] for match in found}) > 1  # numbers of processors
    options = [match[1] + (match[2] or "") * several for match in found]
    scores = [float(match[3]) for match in found]
    said = f"go test -bench: ns/op, {_FASTER}"
    return SourceRuns(file.argument, file.where, options, scores, said=(said,), smaller=True)


_NET = ("Target_Method", "Measurement_IterationStage", "Measurement_Value")


def benchmark_dotnet(table: Table, asked: Asked) -> SourceRuns | None:
    """Measurements of BenchmarkDotNet: iterations that count, as they are and without overhead."""
    if not {*_NET} <= {*table.heads}:
        return None
    methods, stages, values = map(table.labels, _NET)
    stage = "Result" if "Result" in stages else "Actual"
    params = table.labels("Params") if "Params" in table.heads else [""] * len(methods)
    rows = [row for row, own in enumerate(stages) if own == stage]
    if "Measurement_IterationMode" in table.heads:
        modes = table.labels("Measurement_IterationMode")
        rows = [row for row in rows if not modes[row].startswith("Overhead")]
    options = [methods[row] + (f" ({params[row]})" if params[row] else "") for row in rows]
    scores = [score_in(table, values[row]) for row in rows]
    said = f"BenchmarkDotNet: ns of an operation, iterations of stage {stage}; {_FASTER}"
    return SourceRuns(table.argument, table.where, options, scores, said=(said,), smaller=True)


def asv(file: File, asked: Asked) -> SourceRuns | None:
    """Results of one commit as airspeed velocity keeps them; options are commits."""
    content = object_in(file)
    results, heads = content.get("results"), content.get("result_columns")
    if not (isinstance(results, Mapping) and isinstance(heads, list) and "commit_hash" in content):
        return None
    scores, tasks = [], []
    for name, cells in results.items():
        row = dict(zip(heads, cells or [], strict=False))
        values = row.get("result")
        if not isinstance(values, list):  # failed or skipped
            continue
        params = _combinations(row.get("params") or [])
        for which, value in zip(params, values, strict=True):
            scores.append(math.nan if value is None else number_in(file, value, f", {name!r}"))
            tasks.append(f"{name}({which})" if which else str(name))
    options = [str(content["commit_hash"])[:8]] * len(scores)
    failed = sum(score != score for score in scores)
    return SourceRuns(
        *(file.argument, file.where, options, scores, tasks),
        said=(f"airspeed velocity: options are commits, tasks benchmarks; {_FASTER}",),
        smaller=True,
        failures=f"benchmarks without a result: {failed:,}" if failed else "",
    )


def _combinations(params: list[list[object]]) -> list[str]:
    found = [""]
    for values in params:
        found = [f"{one}, {value}".removeprefix(", ") for one in found for value in values]
    return found


_CRITERION = ("group", "function", "value", "iteration_count")


def criterion(table: Table, asked: Asked) -> SourceRuns | None:
    """Samples of criterion.rs, its raw.csv: the time of an iteration; older ones say no unit."""
    times = {"sample_measured_value", "sample_time_nanos"} & {*table.heads}
    if len(times) != 1 or not {*_CRITERION} <= {*table.heads}:
        return None
    group, function, value, count = map(table.labels, _CRITERION)
    measured = table.labels(times.pop())
    units = [*dict.fromkeys(table.labels("unit"))] if "unit" in table.heads else ["ns"]
    if len(units) > 1:
        raise table.wrong("measurements in one unit", quoted(units), hint="take the rows of one")
    rows = zip(group, function, value, strict=True)
    options = ["/".join(filter(None, row)) for row in rows]
    scores = []
    for row, (total, number) in enumerate(zip(measured, count, strict=True)):
        try:
            scores.append(float(total) / float(number))
        except (ValueError, ZeroDivisionError):
            got = f"{total!r} of {number!r} iterations"
            raise table.wrong("a measurement", got, row) from None
    said = f"criterion: {units[0]} of an iteration; {_FASTER}"
    return SourceRuns(table.argument, table.where, options, scores, said=(said,), smaller=True)
