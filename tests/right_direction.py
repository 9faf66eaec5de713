"""Right answers where smaller may be better, runs failed, or rows are several measures."""

from jaxrace.data.directions import names_smaller

SMALLER = (
    "loss|val_loss|valLoss|train/loss|metrics.val_loss|MSELoss|rmse_test|testRMSE|MAPE (%)|time_s|"
    "time [s]|latency [ms]|p95LatencyMs|latency (ms)|x [s]|\u00b5s|mean [ms]|fit_s|time_total_s|"
    "ms/token|s/it|seconds per step|GPU time|seconds|Sekunden|Laufzeit [s]|Rechenzeit|Dur\u00e9e (s)|"
    "secondes|tiempo|dura\u00e7\u00e3o|Kosten|erreur|word_perplexity|bits_per_byte|rank|mean_rank|"
    "error_rate|err@1|top1_error|number_of_errors|total cost|cumulative_regret|CER|log_loss|nll|"
    "negative log-likelihood|brier_score|false_positive_rate|cross_entropy|hallucination_rate"
).split("|")
NO_DIRECTION = (
    "accuracy|acc_norm|exact_match,strict-match|episode_return|success_rate|win_rate|elo|Elo rating|"
    "score|points|f1|auroc|steps/s|tokens_per_second|samples/sec|throughput [req/s]|error_free_rate|"
    "neg_log_loss|neg_root_mean_squared_error|mean_reciprocal_rank|rank_correlation|recall@fpr|"
    "tpr_at_fpr|time_to_failure|survival_time|loss_reduction|cost_savings|log_likelihood|glossary|"
    "terror|value|objective|profit|mean|lr=0.1|loss=hinge|lossless|hit@10|f_measure|s||#|1"
).split("|")
SHARED = [("a_loss", "b_loss"), ("loss_a", "loss_b"), ("a [s]", "b [s]"), ("timeA", "timeB")]
NOT_SHARED = [
    ("baseline", "no_loss"),
    ("mse", "mae"),
    ("yolo_s", "vit_s"),
    ("s1", "s2"),
    ("loss=hinge", "loss=squared"),
]

CASES = [
    ("smaller is better", lambda: [x for x in SMALLER if not names_smaller(x)], []),
    ("no direction", lambda: [x for x in NO_DIRECTION if names_smaller(x)], []),
    ("heads in common", lambda: [x for x in SHARED if not names_smaller(*x)], []),
    ("heads apart", lambda: [x for x in NOT_SHARED if names_smaller(*x)], []),
]
