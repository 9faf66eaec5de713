"""Pure, fused array functions: order relations, win counts, confidence bounds, race rules."""

from jaxrace.kernels.beta import above_half, sample_beta
from jaxrace.kernels.block_bets import BLOCK_SIZES, MAX_BET, log_block_factors
from jaxrace.kernels.bootstrap import (
    bootstrap_bound,
    bootstrap_bound_of_one,
    both_bootstrap_bounds,
    resampling_counts,
)
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
from jaxrace.kernels.correct_selection import (
    correct_selection_gains,
    in_top,
    log_correct_selection,
    relative_selection_gains,
    selection_threshold,
)
from jaxrace.kernels.devices import Sizes, made_for, sizes
from jaxrace.kernels.elimination import definite_inverse, inverse
from jaxrace.kernels.kl_ucb import bernoulli_kl, kl_upper
from jaxrace.kernels.knowledge_gradient import (
    knowledge_gradient,
    log_change_chance,
    relative_knowledge_gradient,
)
from jaxrace.kernels.listing import for_listed, listing_block, of_listed, with_operands_kept
from jaxrace.kernels.lower_bounds import (
    best_cap,
    betting_bound,
    capped_bound,
    mean_and_variance,
    predicted_betting_bound,
    student_bound,
)
from jaxrace.kernels.merging import in_blocks, map_blocks, merge_vmaps
from jaxrace.kernels.open_pairs import open_round_gains
from jaxrace.kernels.picking import first_best, leading, pick
from jaxrace.kernels.ragged_wins import ragged_net, sample_slices
from jaxrace.kernels.random_walk import long_run, transition_matrix, visits_key, walk_error
from jaxrace.kernels.relations import lexicographic, pareto, total_order
from jaxrace.kernels.rules import RULES, select_and_discard, settle_reduced
from jaxrace.kernels.student import student_quantile
from jaxrace.kernels.thurstone import (
    ThurstoneFit,
    fit_thurstone,
    pair_curvature,
    residual_variances,
    swept_qualities,
    thurstone_start,
    with_changed_pair,
)
from jaxrace.kernels.uniforms import draw_uniforms
from jaxrace.kernels.value_bounds import bernstein_radius, hoeffding_radius
from jaxrace.kernels.wins import MAX_ROUNDS, net_counts, prefix_wins, round_gains, total_wins

__all__ = [
    "BLOCK_SIZES",
    "BOUNDS",
    "MAX_BET",
    "MAX_ROUNDS",
    "MAX_TABLE_CAPACITY",
    "NEVER",
    "RULES",
    "Bound",
    "Sizes",
    "ThurstoneFit",
    "above_half",
    "bernoulli_divergence",
    "bernoulli_kl",
    "bernstein_radius",
    "best_cap",
    "betting_bound",
    "bootstrap_bound",
    "bootstrap_bound_of_one",
    "both_bootstrap_bounds",
    "bound_named",
    "capped_bound",
    "correct_selection_gains",
    "definite_inverse",
    "draw_uniforms",
    "first_best",
    "fit_thurstone",
    "for_listed",
    "hoeffding_radius",
    "in_blocks",
    "in_top",
    "intervals",
    "inverse",
    "kl_upper",
    "knowledge_gradient",
    "leading",
    "levels",
    "lexicographic",
    "listing_block",
    "log_block_factors",
    "log_change_chance",
    "log_correct_selection",
    "long_run",
    "made_for",
    "map_blocks",
    "mean_and_variance",
    "merge_vmaps",
    "net_counts",
    "of_listed",
    "open_round_gains",
    "pair_curvature",
    "pareto",
    "pick",
    "predicted_betting_bound",
    "prefix_wins",
    "ragged_net",
    "relative_knowledge_gradient",
    "relative_selection_gains",
    "resampling_counts",
    "residual_variances",
    "round_gains",
    "sample_beta",
    "sample_slices",
    "select_and_discard",
    "selection_threshold",
    "settle_reduced",
    "sizes",
    "student_bound",
    "student_quantile",
    "swept_qualities",
    "threshold_table",
    "thresholds",
    "thurstone_start",
    "total_order",
    "total_wins",
    "transition_matrix",
    "visits_key",
    "walk_error",
    "with_changed_pair",
    "with_operands_kept",
]
