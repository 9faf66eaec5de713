"""Right answers where smaller may be better, runs failed, or rows are several measures."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from right_answers import check, params

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.judging import DependentRunsWarning
from jaxrace.tables import read_scores
from jaxrace.tables.heads import names_smaller


def names(text):
    return text.split("|")


SMALLER = names(
    "loss|val_loss|valLoss|train/loss|metrics.val_loss|MSELoss|rmse_test|testRMSE|MAPE (%)|time_s|"
    "time [s]|latency [ms]|p95LatencyMs|latency (ms)|x [s]|\u00b5s|mean [ms]|fit_s|time_total_s|"
    "ms/token|s/it|seconds per step|GPU time|seconds|Sekunden|Laufzeit [s]|Rechenzeit|secondes|"
    "Dur\u00e9e (s)|tiempo|dura\u00e7\u00e3o|Kosten|erreur|word_perplexity|bits_per_byte|rank|nll|"
    "error_rate|err@1|top1_error|number_of_errors|total cost|cumulative_regret|CER|log_loss|"
    "negative log-likelihood|brier_score|false_positive_rate|cross_entropy|hallucination_rate|"
    "mean_rank|incorrect|is_wrong|hallucinated|unsafe|attack_success_rate|ASR|harmfulness|leaks"
)
NO_DIRECTION = names(
    "accuracy|acc_norm|exact_match,strict-match|episode_return|success_rate|win_rate|elo|score|"
    "Elo rating|points|f1|auroc|steps/s|tokens_per_second|samples/sec|throughput [req/s]|s||#|1|"
    "error_free_rate|neg_log_loss|neg_root_mean_squared_error|mean_reciprocal_rank|recall@fpr|"
    "tpr_at_fpr|time_to_failure|survival_time|loss_reduction|cost_savings|log_likelihood|glossary|"
    "terror|value|objective|profit|mean|lr=0.1|loss=hinge|lossless|hit@10|f_measure|"
    "rank_correlation"
)
SHARED = [("a_loss", "b_loss"), ("loss_a", "loss_b"), ("a [s]", "b [s]"), ("timeA", "timeB")]
NOT_SHARED = [
    ("baseline", "no_loss"),
    ("mse", "mae"),
    ("yolo_s", "vit_s"),
    ("s1", "s2"),
    ("loss=hinge", "loss=squared"),
]

rng = np.random.default_rng(3)
LOW, HIGH = rng.normal([0.2, 0.8], 0.1, (20, 2)).T.round(3).tolist()


PAIRS = list(zip(LOW, HIGH, strict=True))


def wide(measure):
    return {f"{measure}_a": LOW, f"{measure}_b": HIGH}


def rows(measure):
    return [
        {"model": name, measure: score}
        for pair in zip(LOW, HIGH, strict=True)
        for name, score in zip("ab", pair, strict=True)
    ]


def best(data, **given):
    return jaxrace.race(data, **given).best


@functools.cache
def folder():
    return Path(tempfile.mkdtemp())


def written(name, content):
    path = folder() / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def timings(codes=()):
    results = [
        {"command": name, "times": times, "exit_codes": list(codes) or [0] * len(times)}
        for name, times in (("a", LOW), ("b", HIGH))
    ]
    return written(f"times{len(codes)}.json", {"results": results})


def samples():
    for model, scores in (("a", LOW), ("b", HIGH)):
        lines = [
            {"doc_id": number, "resps": [], "metrics": ["word_perplexity"], "word_perplexity": x}
            for number, x in enumerate(scores)
        ]
        written(f"{model}/samples_wiki.jsonl", "\n".join(map(json.dumps, lines)))
    return [folder() / model / "samples_wiki.jsonl" for model in "ab"]


def command(*argv):
    return main(["race", *map(str, argv)])


def lossy():
    lines = [f"{x},{y}" for x, y in zip(LOW, HIGH, strict=True)]
    return written("lossy.csv", "\n".join(["val_loss a,val_loss b", *lines]))


def table(text):
    number = f"{abs(hash(text))}.csv"
    return written(number, text)


def states(word, n=20, measure="score", head="status"):
    """Of "a" the better half of the runs ended, of "b" all did."""
    lines = [f"a,{0.9 + x / 100},done" if x % 2 else f"a,,{word}" for x in range(n)]
    lines += [f"b,{0.5 + x / 100},done" for x in range(n)]
    order = rng.permutation(len(lines))
    return table("\n".join([f"model,{measure},{head}", *(lines[x] for x in order)]))


def survivors(**given):
    """Who is best where half of the runs of "a" were pruned."""
    result = jaxrace.race(states("PRUNED", 40), **given)
    return result.best if result.certified else []


def cell(text):
    return "a,b\n" + "\n".join(f"{x},{text if row == 3 else y}" for row, (x, y) in enumerate(PAIRS))


def codes():
    text = states("137", head="exit_code").read_text()
    return table(text.replace("done", "0"))


def scores(text):
    read_scores(table(text))


def said(path):
    return "; ".join(read_scores(path).said)


def values(path, failed=None):
    """The scores of the second option."""
    return read_scores(path, failed=failed).values[1].tolist()


def runs_of_b(data, **given):
    return next(x.runs for x in jaxrace.race(data, **given).options if x.name == "b")


def looked(given):
    """How many looks there were at runs of which some failed."""
    data, path = {"a": LOW, "b": [np.inf, *HIGH]}, folder() / f"looks{len(given)}.json"
    for more in ([], [0.5]):
        jaxrace.race({**data, "a": LOW + more}, failed="worst", looks=path, **given)
    return 2


def mean_of_b(**given):
    data = {"a": LOW, "b": [np.nan] * 5}
    result = jaxrace.race(data, by="mean", low=-1, high=1, failed="worst", **given)
    return next(x.score for x in result.options if x.name == "b")


def melted(head, values, seed=False):
    """Of each run a row for each value; by the first of two "a" is better, by the second "b"."""
    return [
        {"model": name, "seed": run, head: value, "score": score}
        if seed
        else {"model": name, head: value, "score": score}
        for run, pair in enumerate(PAIRS)
        for value in values
        for name, score in zip("ba" if value == "auc" else "ab", pair, strict=True)
    ]


def melted_file():
    return table(
        "\n".join(["model,metric,score", *(",".join(map(str, x.values())) for x in MELTED)])
    )


def rows_of_one():
    return [{"experiment_id": 0, **row} for row in rows("score")]


def runs_file():
    return table("run,score\n" + "\n".join(f"{run},{x}" for run, x in enumerate(LOW)))


def numbered(head):
    """A row for each run, with its number below a head, option by option."""
    pairs = [(name, run, x) for name, xs in (("a", LOW), ("b", HIGH)) for run, x in enumerate(xs)]
    return table(
        "\n".join([f"{head},model,score", *(f"{run},{name},{x}" for name, run, x in pairs)])
    )


def shared(data, **given):
    return best(data, shared=True, **given)


BLANK = ValueError(
    r"what blank cells between the runs .* got some of b 1: --failed drop .*--shared"
)
NAN = ValueError(r"a number as score, got NaN for run 2 of a.*failed=")
ONE = ValueError(r"rows of one quantity.* got 'auc', 'acc' in column 'metric': --where metric=auc")
MELTED = melted("metric", ("auc", "acc"))
METRICS = {"metric": ["auc", "acc", "f1"], "a": [0.5, 0.6, 0.7], "b": [0.6, 0.7, 0.8]}
GRADES = "a,b\n7,8\n9,-1\n8,9.5\n"
ENDS = "1,2\n2,\n3,\n"
FAILED = ValueError(r"what a failed run counts as.*--failed worst \(failed='worst'\)")
WORDS = ["FAILED", "PRUNED", "TrialState.FAIL", "timeout", "KILLED", "crashed", "Error", "OOM"]
TOLD = ValueError(r"whether smaller .* got .*: --smaller \(smaller=True\).*--larger")

CASES = [
    ("smaller is better", lambda: [x for x in SMALLER if not names_smaller(x)], []),
    ("no direction", lambda: [x for x in NO_DIRECTION if names_smaller(x)], []),
    ("heads in common", lambda: [x for x in SHARED if not names_smaller(*x)], []),
    ("heads apart", lambda: [x for x in NOT_SHARED if names_smaller(*x)], []),
    ("columns of losses", lambda: best(wide("loss")), TOLD),
    ("columns of losses, shared", lambda: best(wide("loss"), shared=True), TOLD),
    ("smaller losses", lambda: best(wide("loss"), smaller=True), ["loss_a"]),
    ("larger losses", lambda: best(wide("loss"), larger=True), ["loss_b"]),
    ("columns of scores", lambda: best(wide("score")), ["score_b"]),
    ("next losses", lambda: jaxrace.compare_next(wide("rmse")), TOLD),
    ("rows of costs", lambda: best(rows("cost")), TOLD),
    ("rows of costs, smaller", lambda: best(rows("cost"), smaller=True), ["a"]),
    ("rows of returns", lambda: best(rows("return")), ["b"]),
    ("metrics of mlflow", lambda: best(rows("metrics.val_loss")), TOLD),
    ("samples of perplexities", lambda: best(samples()), TOLD),
    ("timings are smaller", lambda: best(timings()), ["a"]),
    ("timings, larger", lambda: best(timings(), larger=True), ["b"]),
    (
        "larger timings are said",
        lambda: "larger scores are better" in " ".join(jaxrace.race(timings(), larger=True).notes),
        True,
    ),
    (
        "both directions",
        lambda: best(wide("loss"), smaller=True, larger=True),
        ValueError("larger: expected one of smaller and larger, got both"),
    ),
    ("losses in a file", lambda: command(lossy()), 2),
    ("smaller losses in a file", lambda: command(lossy(), "--smaller"), 0),
    ("larger losses in a file", lambda: command(lossy(), "--larger"), 0),
    *((f"runs that are {word}", lambda w=word: best(states(w)), FAILED) for word in WORDS),
    ("an exit code", lambda: best(codes()), FAILED),
    ("runs that all ended", lambda: best(states("done")), ValueError("a number as score of a")),
    ("survivors", lambda: survivors(failed="drop"), ["a"]),
    ("survivors and others", lambda: survivors(failed="worst"), []),
    ("others score 0", lambda: survivors(failed=0), []),
    ("runs that run", lambda: "not ended, left out: 10" in said(states("RUNNING")), True),
    ("a status of none", lambda: scores(states("x").read_text().replace("a,,x", "a,1,x")), None),
    ("infinite", lambda: best(table(cell("inf"))), FAILED),
    ("minus infinite", lambda: best(table(cell("-inf"))), FAILED),
    ("not a number", lambda: best(table(cell("nan"))), FAILED),
    ("a word", lambda: best(table(cell("timeout"))), FAILED),
    ("a word, another", lambda: best(table(cell("n.d."))), ValueError("expected a number")),
    ("infinite is worst", lambda: values(table(cell("inf")), "worst")[3], -np.inf),
    ("infinite is 0", lambda: values(table(cell("inf")), 0)[3], 0.0),
    ("infinite is left out", lambda: len(values(table(cell("inf")), "drop")), 19),
    ("a word is worst", lambda: values(table(cell("timeout")), "worst")[3], -np.inf),
    ("a grade of -1", lambda: best(table(GRADES)), ValueError("got '-1': .*; --failed -1 keeps")),
    ("a grade of -1 in memory", lambda: best({"a": [7, 9, -1, 8], "b": [9, 8, 7, 7]}), FAILED),
    ("a grade of -1 is one", lambda: best(table(GRADES), failed=-1) is None, False),
    ("lost, drawn, won", lambda: values(table("a,b\n-1,1\n0,0\n1,-1\n")), [1.0, 0.0, -1.0]),
    ("returns", lambda: values(table("a,b\n-1,15\n20,30\n")), [15.0, 30.0]),
    ("a time of -1", lambda: best(table("time a,time b\n-1,15\n20,30\n"), smaller=True), FAILED),
    ("a blank between", lambda: best(table(cell(""))), BLANK),
    ("a blank between, dropped", lambda: best(table(cell("")), failed="drop"), ["b"]),
    ("a blank between, worst", lambda: runs_of_b(table(cell("")), failed="worst"), 20),
    ("a blank between, left out", lambda: runs_of_b(table(cell("")), failed="drop"), 19),
    ("a blank task", lambda: runs_of_b(table(cell("")), shared=True), 19),
    ("a blank at the end", lambda: runs_of_b(table("a,b\n" + ENDS)), 1),
    ("NaN in memory", lambda: best({"a": [1.0, np.nan, 2.0], "b": [3.0, 4.0, 5.0]}), NAN),
    ("None in memory", lambda: best({"a": [1.0, None, 2.0], "b": [3.0, 4.0, 5.0]}), NAN),
    ("None is left out", lambda: runs_of_b({"a": LOW, "b": [None, *HIGH]}, failed="drop"), 20),
    ("NaN is worst", lambda: runs_of_b({"a": LOW, "b": [np.nan, *HIGH]}, failed="worst"), 21),
    ("NaN is left out", lambda: runs_of_b({"a": LOW, "b": [np.nan, *HIGH]}, failed="drop"), 20),
    ("infinite in memory", lambda: best({"a": LOW, "b": [np.inf, *HIGH]}), FAILED),
    ("infinite, shared", lambda: best(np.array([LOW, [np.inf, *LOW[1:]]]).T, shared=True), FAILED),
    ("worst by mean", mean_of_b, -1.0),
    ("worst of what is small", lambda: mean_of_b(smaller=True), 1.0),
    ("worst at two looks", lambda: looked({}), 2),
    ("worst of small ones at two looks", lambda: looked({"smaller": True}), 2),
    ("failed", lambda: best(wide("score"), failed="x"), ValueError("failed: expected 'worst'")),
    ("metrics", lambda: best(MELTED), ONE),
    ("metrics, one", lambda: best(MELTED, where="metric=auc"), ["a"]),
    ("metrics, another", lambda: best(MELTED, where={"metric": "acc"}), ["b"]),
    (
        "metrics, none",
        lambda: best(MELTED, where="metric=f1"),
        ValueError("'f1'.* got 'auc', 'acc'"),
    ),
    ("no column", lambda: best(MELTED, where="m=f1"), ValueError("expected a column 'm'")),
    ("no value", lambda: best(MELTED, where="auc"), ValueError("where: expected COLUMN=VALUE")),
    ("splits", lambda: best(melted("split", ("train", "test"))), ValueError("--where split=train")),
    (
        "any crossed column",
        lambda: best(melted("kind", "xy", seed=True)),
        ValueError("--where kind=x"),
    ),
    ("a column of some", lambda: shared(melted("kind", "x", seed=True)), ["b"]),
    ("crossed tasks", lambda: shared(melted("language", "xy", True), task_column="seed"), ["b"]),
    ("a row for each metric", lambda: best(METRICS), ValueError("--where metric=auc")),
    ("a folded split", lambda: read_scores(numbered("split")).task_names[:2], ("0", "1")),
    ("runs are no tasks", lambda: read_scores(numbered("run")).tasks, None),
    ("indexes are no tasks", lambda: read_scores(numbered("Unnamed: 0")).tasks, None),
    ("seeds are tasks", lambda: read_scores(numbered("seed")).fits_shared, True),
    ("questions are tasks", lambda: read_scores(numbered("question_id")).fits_shared, True),
    ("runs in common", lambda: best(numbered("run")), ["b"]),
    ("one experiment", lambda: read_scores(rows_of_one()).tasks, None),
    ("runs of files", lambda: read_scores({"a": runs_file(), "b": runs_file()}).tasks, None),
    ("seeds in common", lambda: best(numbered("seed")), DependentRunsWarning("tasks in common")),
    ("runs, shared", lambda: shared(numbered("run")), ValueError("--task-column")),
    ("runs are named", lambda: shared(numbered("run"), task_column="run"), ["b"]),
    ("a metric of a file", lambda: command(melted_file()), 2),
    ("a metric of a file, one", lambda: command(melted_file(), "--where", "metric=auc"), 0),
    ("a file", lambda: command(states("PRUNED")), 2),
    ("a file, worst", lambda: command(states("PRUNED"), "--failed", "worst"), 3),
    ("a file, dropped", lambda: command(states("PRUNED"), "--failed", "drop"), 0),
    ("a file, a number", lambda: command(states("PRUNED"), "--failed", "-1"), 3),
    ("exit codes", lambda: best(timings((1,) * 20)), FAILED),
]


@pytest.mark.parametrize(("act", "right"), params(CASES))
def test_right_answers(act, right):
    check(act, right)
