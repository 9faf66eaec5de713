"""What a preference-based race by Borda's score or by the random walk found. Axes: K options."""

import dataclasses
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import kernels
from jaxrace.racing import base, report
from jaxrace.racing.preference import random_walk, surrogates
from jaxrace.racing.preference.state import PreferenceState, SurrogateParams
from jaxrace.racing.results import PreferenceResult

if TYPE_CHECKING:
    from jaxrace.racing.preference.race import PreferenceRace

_TARGETS = {
    "borda": "their expected share of wins against all others",
    "random_walk": "the visits of a random walk that restarts in 2% of its steps",
}
_NAMES = {"borda": "Borda", "random_walk": "random walk"}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class SurrogateResult(PreferenceResult):
    """The result of a ``PreferenceRace`` with another ranking than "copeland".

    The first key of ``ranking`` is the standing (selected, undecided, discarded), the second
    ``scores``; ``copeland`` and ``borda`` are there to compare with.
    """

    scores: jax.Array = dataclasses.field(kw_only=True)  # float32 [K], by which options are ranked

    @property
    def heuristic(self) -> str | None:
        """Why the guarantee does not hold, or None where it does."""
        if self.race.ranking == "random_walk" and self.race.rule == "printed":
            return "the printed bound of the random walk has no proof"
        return super().heuristic

    @property
    def guarantee(self) -> str:
        """What holds with which probability, in words."""
        return f"{super().guarantee}; options are ranked by {_TARGETS[self.race.ranking]}"

    def __str__(self) -> str:
        title = (
            f"preference race ({_NAMES[self.race.ranking]}), bound {self.race.bound}, "
            f"rule {self.race.rule}, delta {report.span(self.params.delta)}"
        )
        if np.ndim(self.decided):
            return report.describe_batch(self, title)
        columns = {"score": np.asarray(self.scores, np.float64)}
        if self.race.ranking == "random_walk":
            others = self.race.num_options - 1
            columns["mean S"] = (self.win_matrix.sum(-1) - 0.5) / others
        return report.describe(
            self,
            title,
            columns,
            certain=self.heuristic is None,
            cost=f", {int(self.oracle_calls):,} comparisons",
        )


def conclude(
    race: "PreferenceRace", state: PreferenceState, params: SurrogateParams
) -> SurrogateResult:
    """The result of a race after any number of rounds."""
    borda = base.fixed_point_margins(state.net, state.rounds).sum(-1, dtype=jnp.int32)
    if race.ranking == "borda":
        scores, key = surrogates.borda_scores(state.net, state.rounds), borda
    else:
        scores = random_walk.walk_scores(state.net, state.rounds)
        key = kernels.visits_key(scores)
    # Estimates go on moving after a verdict, but the verdict stays.
    standing = state.selected.astype(jnp.int32) - state.discarded.astype(jnp.int32)
    known = state.rounds > 0
    threshold = params.thresholds[jnp.maximum(state.rounds, 1) - 1]
    return SurrogateResult(
        ranking=base.ranking_from_keys(standing, key),
        selected=state.selected,
        discarded=state.discarded,
        tied=jnp.zeros_like(state.selected),
        decided=(state.selected | state.discarded).all(),
        samples=state.samples,
        simulated=state.simulated,
        beats=known & (state.net >= threshold),
        copeland=(state.net > 0).sum(-1, dtype=jnp.int32),
        borda=borda,
        net=state.net,
        rounds=state.rounds,
        invalid=state.invalid,
        outcomes=state.outcomes if race.intersect else None,
        params=params,
        race=race,
        scores=scores,
    )
