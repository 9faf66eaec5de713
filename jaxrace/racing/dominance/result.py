"""What a dominance race found, and how a person reads it. Axes: K options, L bets."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.compilation import bounded_jit
from jaxrace.racing import report
from jaxrace.racing.dominance import decision
from jaxrace.racing.dominance.forecast import further_samples
from jaxrace.racing.dominance.state import (
    CERTIFICATES,
    COUNTS,
    DOMINANCE,
    EXHAUSTED,
    GIVEN_UP,
)

if TYPE_CHECKING:
    from jaxrace.racing.dominance.race import DominanceRace
    from jaxrace.racing.dominance.state import DominanceParams

FloatArray = NDArray[np.float64]


# Results hold arrays: the comparison of a dataclass would raise.
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class DominanceResult:
    """The result of a ``DominanceRace``; under vmap every array has leading batch axes."""

    ranking: jax.Array  # int32 [K], options from best to worst
    selected: jax.Array  # bool [K], certainly in the top kappa; if certified, the first kappa
    discarded: jax.Array  # bool [K], certainly not in it; if certified, all others
    tied: jax.Array  # bool [K], certified by counts, perhaps with scores equal across the boundary
    decided: jax.Array  # bool [], the first kappa are certified
    certificate_number: jax.Array  # int32 [], see ``certificate``
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples drawn for options that had asked
    wins: jax.Array  # int32 [K], first sort key: verdicts, or where there is none S_ij > 1/2
    total: jax.Array  # int32 [K], second sort key: sum of 2 S_ij - 1, in fixed point
    log_bets: jax.Array  # float32 [K, K, L], ln of the products of block factors
    highest: jax.Array  # float32 [K, K], the largest ln E_ij in the course of the race
    margin: jax.Array  # int32 [K, K], see ``DominanceState``
    asked: jax.Array  # bool [K], who would be drawn next
    invalid: jax.Array  # int32 [K], first sample that counted and was not finite, or 0
    params: "DominanceParams"
    race: "DominanceRace" = dataclasses.field(metadata={"static": True})
    common_random_numbers: bool = dataclasses.field(default=False, metadata={"static": True})
    names: tuple[str, ...] | None = dataclasses.field(default=None, metadata={"static": True})

    @property
    def best(self) -> NDArray[np.int32]:
        """The first kappa of the ranking: int32 [..., kappa]."""
        return np.asarray(self.ranking)[..., : self.race.top]

    @property
    def best_names(self) -> list[str]:
        """The names of the first kappa, best first; of one race that was judged by names.

        Raises:
            ValueError: The options have no names.
        """
        if self.names is None:
            raise ValueError("names: expected a race that was judged by names, got numbers only")
        return [self.names[option] for option in self.best]

    @property
    def certificate(self) -> Any:
        """How the first kappa are certified, or that they are not.

        "dominance" (a): each of them is preferred to each of the others. "counts" (b): certain
        wins and losses settle the Copeland scores. "running", "exhausted": they are not
        certified, and the race goes on, or has reached its last sample. "given up": nor would they
        have been. "heuristic": one of the first two rules ended the race, and certifies nothing
        (see ``heuristic``). A string, or an array of them for a batch.
        """
        names = np.array(CERTIFICATES)[np.asarray(self.certificate_number)]
        if self.heuristic:
            names = np.where(self.decided, "heuristic", names)
        return str(names) if names.ndim == 0 else names

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """The pairs that a race was drawing for, bool [..., K, K]; none where it is certified.

        Mostly (i, j) with i in the first kappa and j outside that nothing decides yet; where all
        of these are decided, and not all for i, pairs of which a certain win is likeliest.
        """
        found = _doubtful(self.race, self.highest, self.margin, self.samples, self.params)
        return np.asarray(found) & ~np.asarray(self.decided)[..., None, None]

    @property
    def log_evidence(self) -> FloatArray:
        """ln E_ij after the blocks that i and j share, float64 [..., K, K]: the process itself.

        0 on the diagonal and where nothing was compared. What it was at its highest decides the
        race. No e-value: the race may have stopped because of samples of one option alone.
        """
        weighted = (
            np.asarray(self.log_bets, np.float64)
            + np.asarray(self.params.log_weights, np.float64)[..., None, None, :]
        )
        return np.logaddexp.reduce(weighted, axis=-1)

    @property
    def p_values(self) -> FloatArray:
        """Of "i is not preferred to j more often than not", float64 [..., K, K], at any time.

        1 / max E_ij, at most 1: by Ville's inequality, which speaks of the highest value.
        """
        return np.exp(-np.maximum(np.asarray(self.highest, np.float64), 0))

    @property
    def e_values(self) -> FloatArray:
        """The same as e-values, which may be averaged or multiplied: float64 [..., K, K].

        sqrt(max E_ij) / 2, the p-value p by the calibrator p^(-1/2) / 2 (Vovk and Wang 2021): its
        expectation is at most 1 if i is not preferred to j, whenever and why ever the race stopped.
        That of E_ij itself may be larger: where option i is ahead, its next block, known from
        other pairs, may tell the race to stop. E-values of independent experiments multiply; those
        of dependent ones average.
        """
        return 0.5 / np.sqrt(self.p_values)

    @property
    def further_samples(self) -> FloatArray:
        """How many more samples each option may need, of one race: float64 [K].

        A forecast from the gaps as they look (``dominance_forecast``); 0 where
        nothing is in doubt, infinity where it takes more than n_max.
        """
        return further_samples(self)

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes behind the e-values: within the blocks of every pair."""
        blocks, samples = self.race.blocks, np.asarray(self.samples, np.int64)
        shared = np.minimum(samples[..., :, None], samples[..., None, :])
        later = np.maximum(shared - blocks.first, 0) // blocks.later
        calls = np.where(shared < blocks.first, 0, blocks.first**2 + later * blocks.later**2)
        return np.triu(calls, 1).sum((-2, -1))

    @property
    def heuristic(self) -> str | None:
        """Why the guarantee does not hold, or None where it does."""
        if self.common_random_numbers:
            return "common random numbers make the options dependent"
        return None

    @property
    def guarantee(self) -> str:
        """What holds with which probability, in words."""
        if self.heuristic:
            return f"heuristic, no guarantee: {self.heuristic}"
        return (
            f"a wrong certificate has probability at most {report.span(self.params.delta)}, "
            "whatever the preferences"
        )

    def __str__(self) -> str:
        title = f"dominance race, delta {report.span(self.params.delta)}"
        if np.ndim(self.decided):
            return report.describe_batch(self, title)
        columns = {"beats": np.asarray(self.wins)}
        return report.describe(
            self,
            title,
            columns,
            certain=self.heuristic is None,
            tied=np.asarray(self.tied),
            tied_how="perhaps equally good, the first are taken",
            progress=self._progress(),
            notes=self._doubts(),
            cost=f", {int(self.oracle_calls):,} comparisons",
        )

    def _progress(self) -> str:
        number = int(self.certificate_number)
        verdict = "NOT certified, but ended by rule" if self.heuristic else "CERTIFIED"
        if number == DOMINANCE:
            return f"{verdict} (a): each of the first is preferred to each of the others"
        if number == COUNTS:
            return f"{verdict} (b): certain wins and losses settle the scores"
        limit = int(self.params.max_rounds)
        played = int(np.max(self.samples))
        room = "" if played == limit else f" ({limit} hold no more whole blocks)"
        ended = {
            EXHAUSTED: f"after {played} samples of an option{room}",
            GIVEN_UP: "and given up: the evidence would hardly be there in time",
        }
        how = ended.get(number, "yet")
        return f"NOT certified {how}; the first {self.race.top} are a guess"

    def _doubts(self) -> dict[str, str]:
        """Which pairs are in doubt, and which samples would help: lines of the report."""
        if self.decided:
            return {}
        level = float(self.params.level)
        # Of the two orders of a pair: the guess need not be the one that was drawn for.
        highest = np.asarray(self.highest, np.float64)
        highest = np.maximum(highest, highest.T)
        pairs = sorted(map(tuple, np.argwhere(self.doubtful)), key=lambda pair: highest[pair])
        shown = [
            f"{i} or {j} ({_share(float(highest[i, j]), level)})" for i, j in pairs[:_MOST_PAIRS]
        ]
        more = f" and {len(pairs) - _MOST_PAIRS} more" if len(pairs) > _MOST_PAIRS else ""
        asked = np.flatnonzero(self.asked)
        if int(self.certificate_number) == GIVEN_UP:
            help_text = "a larger give_up, or none: the race was ended early"
        elif not asked.size:
            full = int(self.params.max_rounds) >= self.race.capacity
            wider = "a race of larger capacity" if full else "a larger max_rounds"
            help_text = f"{wider}: the samples of the pairs in doubt are used up"
        else:
            rounds = f"{self.race.rounds_to_tell(self)} more samples of "
            help_text = rounds + ", ".join(map(str, asked[: report.MAX_LISTED]))
        return {"in doubt": ", ".join(shown) + more or "-", "would help": help_text}


@bounded_jit(1)
def _doubtful(
    race: "DominanceRace",
    highest: jax.Array,
    margin: jax.Array,
    samples: jax.Array,
    params: "DominanceParams",
) -> jax.Array:
    def of_race(evidence: decision.Evidence, params: "DominanceParams") -> jax.Array:
        most = race.blocks.complete(params.max_rounds)
        return decision.decide(evidence, params, most, race.top, race.blocks).doubtful

    evidence = decision.Evidence(highest, margin, race.blocks.complete(samples))
    for _ in range(samples.ndim - 1):
        of_race = jax.vmap(of_race)
    return of_race(evidence, params)


# Pairs in doubt that a report names.
_MOST_PAIRS = 5


def _share(log_e: float, level: float) -> str:
    """How far the evidence has come, on the scale of logarithms."""
    # Cut off: what is in doubt must not read like 100 %.
    return f"{math.floor(100 * max(log_e, 0) / level)} % of the evidence"
