"""The figures by name, and where they are made. Imports nothing heavy, for the command's help."""

# What they show, and of which paper.
FIGURES = {
    "pbr-synthetic": "races on synthetic tasks (2014, figure 2)",
    "bf13-variants": "Borda and random-walk races (2013, figure 2)",
    "medical-outcomes": "tumour size and toxicity (2014, figures 3 and 5)",
    "medical-convergence": "learning curves of all learners (2014, figures 4, 6)",
    "medical-choices": "their claims, where the sources leave a choice",
    "racing-pays": "does racing help PB-EDPS? Other sizes and races",
    "medical-limits": "what can be survived, exactly, and how near six methods come",
    "near-limit": "sizes and strategies of searches with shared patients",
    "medical-grid": "the grid of sigma and delta (2014, section 6.2)",
    "savage-bandits": "SAVAGE on arms that pay (Urvoy 2013, figure 3)",
    "savage-dueling": "SAVAGE on duels (Urvoy 2013, figures 4 to 6)",
    "sup-klucb": "Sup-KLUCB, RUCB and DTS (Agrawal 2019, both figures)",
    "hcpi-bounds": "errors of lower bounds of a mean (Thomas 2015, figure 1)",
    "hcpi-mountain-car": "policy improvement from one batch (the same, figure 3)",
    "hcpi-daedalus": "Daedalus2 in three domains (the same, figure 4)",
    "thurstone-topk": "top 4 and 1 of 10 by scores (Groves, figure 2 a and b)",
    "thurstone-large": "top 40 and 1 of 100 by scores (Groves, figures 2c and 3)",
    "thurstone-noise": "scores that are not transitive (Groves, figures 5 and 6)",
    "topk-batches": "top 4 of 10, several comparisons chosen at once",
    "topk-pooled": "top 4 of 10, variances mixed with those of all pairs",
    "topk-shootout": "races, duels and selection: who needs the fewest samples?",
    "poker-topk": "the best 4 of 10 hold'em players (Groves, figures 7, 8)",
    "savage-dueling-400": "figure 5 of Urvoy 2013 at its full horizon",
    "thurstone-topk-4": "figure 2 a and b of Groves by the paper's methods alone",
    "sup-klucb-25": "the first figure of Agrawal 2019 alone",
}

# What ``all`` makes; the others take up to hours.
IN_ALL = (
    *("pbr-synthetic", "bf13-variants", "medical-outcomes", "medical-convergence"),
    *("racing-pays", "medical-grid", "hcpi-bounds"),
)

# Of ``papers``: the module that makes them, and its function of a ``Workbench``.
MAKERS = {
    "pbr-synthetic": "preference_racing.synthetic:run",
    "bf13-variants": "preference_racing.variants:run",
    "medical-outcomes": "preference_racing.medical_outcomes:run",
    "medical-convergence": "preference_racing.medical_convergence:run",
    "medical-choices": "preference_racing.medical_choices:run",
    "racing-pays": "preference_racing.racing_pays:run",
    "medical-limits": "preference_racing.six_methods:run",
    "near-limit": "preference_racing.near_limit:run",
    "medical-grid": "preference_racing.medical_grid:run",
    "savage-bandits": "savage.bandits:run",
    "savage-dueling": "savage.dueling:run",
    "sup-klucb": "sup_klucb.regret:run",
    "hcpi-bounds": "policy_improvement.bounds:run",
    "hcpi-mountain-car": "policy_improvement.mountain_car:run",
    "hcpi-daedalus": "policy_improvement.daedalus:run",
    "thurstone-topk": "top_k.thurstone_topk:run",
    "thurstone-large": "top_k.thurstone_topk:run_large",
    "thurstone-noise": "top_k.thurstone_noise:run",
    "topk-batches": "top_k.variants:run_batches",
    "topk-pooled": "top_k.variants:run_pooled",
    "topk-shootout": "top_k.shootout:run",
    "poker-topk": "top_k.poker_topk:run",
    "savage-dueling-400": "savage.dueling:run_400",
    "thurstone-topk-4": "top_k.thurstone_topk:run_published",
    "sup-klucb-25": "sup_klucb.regret:run_first",
}
