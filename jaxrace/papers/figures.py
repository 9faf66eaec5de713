"""The figures by name, and where they are made. Imports nothing heavy, for the command's help."""

from typing import NamedTuple


class Figure(NamedTuple):
    """Figures and tables that are made together."""

    about: str  # what they show, and of which paper
    maker: str  # of ``jaxrace.papers``: the module, and its function of a ``Workbench``


# What ``all`` makes; the others take up to hours.
IN_ALL = (
    *("pbr-synthetic", "bf13-variants", "medical-outcomes", "medical-convergence"),
    *("racing-pays", "medical-grid", "hcpi-bounds"),
)

FIGURES = {
    "pbr-synthetic": Figure(
        "races on synthetic tasks (2014, figure 2)", "preference_racing.synthetic:run"
    ),
    "bf13-variants": Figure(
        "Borda and random-walk races (2013, figure 2)", "preference_racing.variants:run"
    ),
    "medical-outcomes": Figure(
        "tumour size and toxicity (2014, figures 3 and 5)", "preference_racing.medical_outcomes:run"
    ),
    "medical-convergence": Figure(
        "learning curves of all learners (2014, figures 4, 6)",
        "preference_racing.medical_convergence:run",
    ),
    "medical-choices": Figure(
        "their claims, where the sources leave a choice", "preference_racing.medical_choices:run"
    ),
    "racing-pays": Figure(
        "does racing help PB-EDPS? Other sizes and races", "preference_racing.racing_pays:run"
    ),
    "medical-grid": Figure(
        "the grid of sigma and delta (2014, section 6.2)", "preference_racing.medical_grid:run"
    ),
    "savage-bandits": Figure(
        "SAVAGE on arms that pay (Urvoy 2013, figure 3)", "savage.bandits:run"
    ),
    "savage-dueling": Figure("SAVAGE on duels (Urvoy 2013, figures 4 to 6)", "savage.dueling:run"),
    "sup-klucb": Figure(
        "Sup-KLUCB, RUCB and DTS (Agrawal 2019, both figures)", "sup_klucb.regret:run"
    ),
    "hcpi-bounds": Figure(
        "errors of lower bounds of a mean (Thomas 2015, figure 1)", "policy_improvement.bounds:run"
    ),
    "hcpi-mountain-car": Figure(
        "policy improvement from one batch (the same, figure 3)",
        "policy_improvement.mountain_car:run",
    ),
    "hcpi-daedalus": Figure(
        "Daedalus2 in three domains (the same, figure 4)", "policy_improvement.daedalus:run"
    ),
    "thurstone-topk": Figure(
        "top 4 and 1 of 10 by scores (Groves, figure 2 a and b)", "top_k.thurstone_topk:run"
    ),
    "thurstone-large": Figure(
        "top 40 and 1 of 100 by scores (Groves, figures 2c and 3)", "top_k.thurstone_topk:run_large"
    ),
    "thurstone-noise": Figure(
        "scores that are not transitive (Groves, figures 5 and 6)", "top_k.thurstone_noise:run"
    ),
    "topk-batches": Figure(
        "top 4 of 10, several comparisons chosen at once", "top_k.variants:run_batches"
    ),
    "topk-pooled": Figure(
        "top 4 of 10, variances mixed with those of all pairs", "top_k.variants:run_pooled"
    ),
    "topk-shootout": Figure(
        "races, duels and selection: who needs the fewest samples?", "top_k.shootout:run"
    ),
    "poker-topk": Figure(
        "the best 4 of 10 hold'em players (Groves, figures 7, 8)", "top_k.poker_topk:run"
    ),
    "savage-dueling-400": Figure(
        "figure 5 of Urvoy 2013 at its full horizon", "savage.dueling:run_400"
    ),
    "thurstone-topk-4": Figure(
        "figure 2 a and b of Groves by the paper's methods alone",
        "top_k.thurstone_topk:run_published",
    ),
    "sup-klucb-25": Figure("the first figure of Agrawal 2019 alone", "sup_klucb.regret:run_first"),
}
