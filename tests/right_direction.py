"""Right answers where smaller may be better, runs failed, or rows are several measures."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np

import jaxrace
from jaxrace.commands.cli import main
from jaxrace.data.directions import names_smaller


def names(text):
    return text.split("|")


SMALLER = names(
    "loss|val_loss|valLoss|train/loss|metrics.val_loss|MSELoss|rmse_test|testRMSE|MAPE (%)|time_s|"
    "time [s]|latency [ms]|p95LatencyMs|latency (ms)|x [s]|\u00b5s|mean [ms]|fit_s|time_total_s|"
    "ms/token|s/it|seconds per step|GPU time|seconds|Sekunden|Laufzeit [s]|Rechenzeit|secondes|"
    "Dur\u00e9e (s)|tiempo|dura\u00e7\u00e3o|Kosten|erreur|word_perplexity|bits_per_byte|rank|nll|"
    "error_rate|err@1|top1_error|number_of_errors|total cost|cumulative_regret|CER|log_loss|"
    "negative log-likelihood|brier_score|false_positive_rate|cross_entropy|hallucination_rate|"
    "mean_rank"
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
        lambda: jaxrace.race(timings(), larger=True).notes[-1],
        "larger scores are better, as asked for, not smaller ones",
    ),
    (
        "both directions",
        lambda: best(wide("loss"), smaller=True, larger=True),
        ValueError("larger: expected one of smaller and larger, got both"),
    ),
    ("losses in a file", lambda: command(lossy()), 2),
    ("smaller losses in a file", lambda: command(lossy(), "--smaller"), 0),
    ("larger losses in a file", lambda: command(lossy(), "--larger"), 0),
]
