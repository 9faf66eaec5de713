"""What a race of preferences found. Axes: K options, N = capacity."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace import kernels
from jaxrace.racing.preference.rounds import PreferenceState
from jaxrace.racing.result import FloatArray, RaceResult


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PreferenceResult(RaceResult):
    """The result of a ``PreferenceRace``; ``selected`` and ``discarded`` include the ``tied``."""

    tied: jax.Array  # bool [K], equal Copeland scores across the boundary of a decided race
    beats: jax.Array  # bool [K, K], i certainly beats j
    copeland: jax.Array  # int32 [K], first sort key: #{j : S_ij > 1/2}
    borda: jax.Array  # int32 [K], second sort key: sum of 2 S_ij - 1, in fixed point
    net: jax.Array  # int32 [K, K], wins minus losses over all pairs of samples
    rounds: jax.Array  # int32 [K, K], samples per option behind net
    scores: jax.Array | None  # float32 [K], by which options are ranked; None by Copeland
    outcomes: Any  # leaves [K, N, ...] where the race intersects intervals, else None
    compare: Any = dataclasses.field(metadata={"static": True})  # the preference
    bound: str = dataclasses.field(metadata={"static": True})
    rule: str = dataclasses.field(metadata={"static": True})
    ranked_by: str = dataclasses.field(metadata={"static": True})  # copeland, borda, random_walk

    _verdicts: ClassVar = (*RaceResult._verdicts, "tied")

    @property
    def win_matrix(self) -> FloatArray:
        """S_ij, float64 [..., K, K]; 1/2 on the diagonal and where nothing was compared."""
        self._require_host("win_matrix", "`net` and `rounds`: 1/2 + net / (2 rounds^2)")
        squares = np.maximum(np.asarray(self.rounds, np.float64), 1.0) ** 2
        return 0.5 + np.asarray(self.net) / (2 * squares)

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes that the race counted: sum of n_ij^2 over pairs."""
        self._require_host("oracle_calls", "`rounds`")
        squares = np.asarray(self.rounds, np.int64) ** 2
        return np.triu(squares, 1).sum((-2, -1))

    @property
    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper confidence bounds of s_ij of one race, float64 [K, K], two-sided.

        With ``intersect`` they are the intersection over all rounds of the pair; see
        ``empty_intersections``. The dynamic correction does not count.
        """
        self._require_host("intervals", "`net` and `rounds`")
        return self._report.intervals()[:2]

    @property
    def empty_intersections(self) -> NDArray[np.bool_]:
        """Was the intersection of a pair's intervals ever empty? bool [K, K] of one race.

        The newest interval was taken up then. It happens with probability at most delta. All
        False without ``intersect``.
        """
        self._require_host("empty_intersections", "`net` and `rounds`")
        return self._report.intervals()[2]

    @property
    def heuristic(self) -> str | None:
        if self.ranked_by == "random_walk" and self.rule == "printed":
            return "the printed bound of the random walk has no proof"
        return super().heuristic


def by_copeland(state: PreferenceState, borda: jax.Array, **held: Any) -> PreferenceResult:
    """The result by Copeland scores; ``held`` is what both kinds of results hold."""
    top = held["top"]
    undecided = ~(state.beats | state.beats.T)
    ahead = state.beats | (undecided & (state.net > 0))
    copeland = ahead.sum(-1, dtype=jnp.int32)  # #{j : S_ij > 1/2}
    ranking = kernels.ranking(copeland, borda)
    in_top = jnp.argsort(ranking) < top
    decided = ~state.active.any()
    # A decided race may leave a Copeland tie across the boundary; any kappa options by
    # score are optimal then, so the first kappa of the ranking are.
    ordered = copeland[ranking]
    boundary = ordered[top - 1]
    tied = decided & (boundary == ordered[top]) & (copeland == boundary)
    return PreferenceResult(
        ranking=ranking,
        selected=jnp.where(decided, in_top, state.selected),
        discarded=jnp.where(decided, ~in_top, state.discarded),
        tied=tied,
        decided=decided,
        beats=state.beats,
        copeland=copeland,
        scores=None,
        borda=borda,
        **held,
    )
