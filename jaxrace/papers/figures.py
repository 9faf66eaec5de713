"""The figures by name, and where they are made. Imports nothing heavy, for the command's help."""

from typing import NamedTuple


class Figure(NamedTuple):
    """Figures and tables that are made together."""

    about: str  # what they show, and of which paper
    module: str  # of ``jaxrace.papers``
    function: str = "run"  # of the module, which makes them in a ``Workbench``
    on_demand: bool = False  # they take too long to be made with all others


FIGURES = {
    "pbr-synthetic": Figure(
        "races on synthetic tasks (2014, figure 2)", "preference_racing.synthetic"
    ),
    "bf13-variants": Figure(
        "Borda and random-walk races (2013, figure 2)", "preference_racing.variants"
    ),
    "medical-outcomes": Figure(
        "tumour size and toxicity (2014, figures 3 and 5)", "preference_racing.medical_outcomes"
    ),
    "medical-convergence": Figure(
        "learning curves of all learners (2014, figures 4, 6)",
        "preference_racing.medical_convergence",
    ),
    "medical-choices": Figure(
        "their claims, where the sources leave a choice",
        "preference_racing.medical_choices",
        on_demand=True,
    ),
    "racing-pays": Figure(
        "does racing help PB-EDPS? Other sizes and races", "preference_racing.racing_pays"
    ),
    "medical-grid": Figure(
        "the grid of sigma and delta (2014, section 6.2)", "preference_racing.medical_grid"
    ),
    "savage-bandits": Figure(
        "SAVAGE on arms that pay (Urvoy 2013, figure 3)", "savage.bandits", on_demand=True
    ),
    "savage-dueling": Figure(
        "SAVAGE on duels (Urvoy 2013, figures 4 to 6)", "savage.dueling", on_demand=True
    ),
    "sup-klucb": Figure(
        "Sup-KLUCB, RUCB and DTS (Agrawal 2019, both figures)", "sup_klucb.regret", on_demand=True
    ),
    "hcpi-bounds": Figure(
        "errors of lower bounds of a mean (Thomas 2015, figure 1)", "policy_improvement.bounds"
    ),
    "hcpi-mountain-car": Figure(
        "policy improvement from one batch (the same, figure 3)",
        "policy_improvement.mountain_car",
        on_demand=True,
    ),
    "hcpi-daedalus": Figure(
        "Daedalus2 in three domains (the same, figure 4)",
        "policy_improvement.daedalus",
        on_demand=True,
    ),
    "thurstone-topk": Figure(
        "top 4 and 1 of 10 by scores (Groves, figure 2 a and b)",
        "top_k.thurstone_topk",
        on_demand=True,
    ),
    "thurstone-large": Figure(
        "top 40 and 1 of 100 by scores (Groves, figures 2c and 3)",
        "top_k.thurstone_topk",
        "run_large",
        on_demand=True,
    ),
    "thurstone-noise": Figure(
        "scores that are not transitive (Groves, figures 5 and 6)",
        "top_k.thurstone_noise",
        on_demand=True,
    ),
    "topk-batches": Figure(
        "top 4 of 10, several comparisons chosen at once",
        "top_k.variants",
        "run_batches",
        on_demand=True,
    ),
    "topk-pooled": Figure(
        "top 4 of 10, variances mixed with those of all pairs",
        "top_k.variants",
        "run_pooled",
        on_demand=True,
    ),
    "topk-shootout": Figure(
        "races, duels and selection: who needs the fewest samples?",
        "top_k.shootout",
        on_demand=True,
    ),
    "poker-topk": Figure(
        "the best 4 of 10 hold'em players (Groves, figures 7, 8)",
        "top_k.poker_topk",
        on_demand=True,
    ),
    "savage-dueling-400": Figure(
        "figure 5 of Urvoy 2013 at its full horizon", "savage.dueling", "run_400", on_demand=True
    ),
    "thurstone-topk-4": Figure(
        "figure 2 a and b of Groves by the paper's methods alone",
        "top_k.thurstone_topk",
        "run_published",
        on_demand=True,
    ),
    "sup-klucb-25": Figure(
        "the first figure of Agrawal 2019 alone", "sup_klucb.regret", "run_first", on_demand=True
    ),
}
