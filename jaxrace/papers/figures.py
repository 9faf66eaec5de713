"""The figures by name, and where they are made. Imports nothing heavy, for the command's help."""

from typing import NamedTuple


class Figure(NamedTuple):
    """Figures and tables that are made together."""

    about: str  # what they show, and of which paper
    module: str  # of ``jaxrace.papers``
    function: str = "run"  # of the module, which makes them in a ``Workbench``
    on_demand: bool = False  # they take too long to be made with all others


# A line each: name and what is shown; module and function; * if only on demand.
_TABLE = """
pbr-synthetic | races on synthetic tasks (2014, figure 2) | preference_racing.synthetic
bf13-variants | Borda and random-walk races (2013, figure 2) | preference_racing.variants
medical-outcomes | tumour size and toxicity (2014, figures 3 and 5) | preference_racing.medical_outcomes
medical-convergence | learning curves of all learners (2014, figures 4, 6) | preference_racing.medical_convergence
medical-choices | their claims, where the sources leave a choice | preference_racing.medical_choices *
racing-pays | does racing help PB-EDPS? Other sizes and races | preference_racing.racing_pays
medical-grid | the grid of sigma and delta (2014, section 6.2) | preference_racing.medical_grid
savage-bandits | SAVAGE on arms that pay (Urvoy 2013, figure 3) | savage.bandits *
savage-dueling | SAVAGE on duels (Urvoy 2013, figures 4 to 6) | savage.dueling *
sup-klucb | Sup-KLUCB, RUCB and DTS (Agrawal 2019, both figures) | sup_klucb.regret *
hcpi-bounds | errors of lower bounds of a mean (Thomas 2015, figure 1) | policy_improvement.bounds
hcpi-mountain-car | policy improvement from one batch (the same, figure 3) | policy_improvement.mountain_car *
hcpi-daedalus | Daedalus2 in three domains (the same, figure 4) | policy_improvement.daedalus *
thurstone-topk | top 4 and 1 of 10 by scores (Groves, figure 2 a and b) | top_k.thurstone_topk *
thurstone-large | top 40 and 1 of 100 by scores (Groves, figures 2c and 3) | top_k.thurstone_large *
thurstone-noise | scores that are not transitive (Groves, figures 5 and 6) | top_k.thurstone_noise *
topk-batches | top 4 of 10, several comparisons chosen at once | top_k.batches *
topk-pooled | top 4 of 10, variances mixed with those of all pairs | top_k.pooled *
topk-shootout | races, duels and selection: who needs the fewest samples? | top_k.shootout *
poker-topk | the best 4 of 10 hold'em players (Groves, figures 7, 8) | top_k.poker_topk *
savage-dueling-400 | figure 5 of Urvoy 2013 at its full horizon | savage.dueling:run_400 *
thurstone-topk-4 | figure 2 a and b of Groves by the paper's methods alone | top_k.thurstone_topk:run_published *
sup-klucb-25 | the first figure of Agrawal 2019 alone | sup_klucb.regret:run_first *
"""  # noqa: E501


def _figure(about: str, place: str) -> Figure:
    module, _, function = place.removesuffix(" *").partition(":")
    return Figure(about, module, function or "run", place.endswith(" *"))


FIGURES = {
    name: _figure(about, place)
    for name, about, place in (line.split(" | ") for line in _TABLE.strip().splitlines())
}
