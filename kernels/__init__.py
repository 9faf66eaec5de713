"""Pure, fused array functions: order relations, win counts, confidence bounds, race rules."""

from jaxrace.kernels.beta import above_half, sample_beta
from jaxrace.kernels.block_bets import BLOCK_SIZES, MAX_BET, log_block_factors
from jaxrace.kernels.bootstrap import bootstrap_bound, resampling_counts
from jaxrace.kernels.bounds import (
    BOUNDS,
    MAX_TABLE_CAPACITY,
    NEVER,
    Bound,
    bernoulli_divergence,
    bound_named,
    intervals,
    levels,
    threshold_table,
    thresholds,
)
from jaxrace.kernels.kl_ucb import bernoulli_kl, kl_upper
from jaxrace.kernels.listing import for_listed
from jaxrace.kernels.lower_bounds import (
    best_cap,
    betting_bound,
    capped_bound,
    mean_and_variance,
    predicted_betting_bound,
    student_bound,
)
from jaxrace.kernels.open_pairs import open_round_gains
from jaxrace.kernels.ragged_wins import ragged_net
from jaxrace.kernels.relations import lexicographic, pareto, total_order
from jaxrace.kernels.rules import RULES, select_and_discard
from jaxrace.kernels.student import student_quantile
from jaxrace.kernels.uniforms import draw_uniforms
from jaxrace.kernels.value_bounds import bernstein_radius, hoeffding_radius
from jaxrace.kernels.wins import (
    MAX_ROUNDS,
    extend_wins,
    prefix_wins,
    round_gains,
    sorted_wins,
    total_wins,
)

__all__ = [
    "BLOCK_SIZES",
    "BOUNDS",
    "MAX_BET",
    "MAX_ROUNDS",
    "MAX_TABLE_CAPACITY",
    "NEVER",
    "RULES",
    "Bound",
    "above_half",
    "bernoulli_divergence",
    "bernoulli_kl",
    "bernstein_radius",
    "best_cap",
    "betting_bound",
    "bootstrap_bound",
    "bound_named",
    "capped_bound",
    "draw_uniforms",
    "extend_wins",
    "for_listed",
    "hoeffding_radius",
    "intervals",
    "kl_upper",
    "levels",
    "lexicographic",
    "log_block_factors",
    "mean_and_variance",
    "open_round_gains",
    "pareto",
    "predicted_betting_bound",
    "prefix_wins",
    "ragged_net",
    "resampling_counts",
    "round_gains",
    "sample_beta",
    "select_and_discard",
    "sorted_wins",
    "student_bound",
    "student_quantile",
    "threshold_table",
    "thresholds",
    "total_order",
    "total_wins",
]
