"""What races by e-values found. Axes: K options, L bets, Q nulls."""

import abc
import dataclasses
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.evidence.decision import CERTIFICATES
from jaxrace.racing.result import FloatArray, RaceResult

# Means that are as close as this, in units of the range, are equal: float32 rounds scores by half.
TIE = 2.0**-23


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CertifiedResult(RaceResult):
    """The result of a race by e-values; decided means that the first kappa are certified.

    Until then ``selected`` and ``discarded`` are right with probability 1 - delta, at all looks
    together. By mean: the others hold the best kappa. By wins they are about kappa options that are
    over all others, if there are such (docs/tables.md, theorem 4).
    """

    possible: jax.Array  # bool [K], who may be among the best; if certified, and exactly, who is
    tied: jax.Array  # bool [K], certified by counts, perhaps with scores equal across the boundary
    certificate_number: jax.Array  # int32 [], see ``certificate``
    wins: jax.Array  # int32 [K], first sort key: verdicts, or where there is none a mean above 0
    total: jax.Array  # int32 [K], second sort key: sum of the mean differences, in fixed point
    by: str = dataclasses.field(metadata={"static": True})

    @property
    def certificate(self) -> Any:
        """How the first kappa are certified, or that they are not.

        "dominance" (a): each of them is over (preferred to) each of the others. "counts" (b), by
        wins: certain wins and losses settle who beats how many, the Copeland scores. "running",
        "exhausted": they are not certified, and the race goes on, or has reached its last sample or
        task. "given up": nor would they have been. "heuristic": one of the first two rules ended
        the race, and certifies nothing (see ``heuristic``). A string, or an array of them for a
        batch.
        """
        names = np.array(CERTIFICATES)[np.asarray(self.certificate_number)]
        if self.heuristic:
            names = np.where(self.decided, "heuristic", names)
        return str(names) if names.ndim == 0 else names

    @property
    @abc.abstractmethod
    def log_highest(self) -> FloatArray:
        """ln of the largest E_ij in the course of the race, float64 [..., K, K]."""

    @property
    def p_values(self) -> FloatArray:
        """Of "i is not over j", float64 [..., K, K], at any time.

        1 / max E_ij, at most 1: by Ville's inequality, which speaks of the highest value. By wins
        i is over j if it is preferred more often than not; within a tolerance, if j is not better
        by it.
        """
        return np.exp(-np.maximum(self.log_highest, 0))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DominanceResult(CertifiedResult):
    """The result of a ``DominanceRace``."""

    log_bets: jax.Array  # float32 [K, K, L], ln of the products of block factors
    highest: jax.Array  # float32 [K, K], the largest ln E_ij in the course of the race
    margin: jax.Array  # int32 [K, K], see ``DominanceState``
    # bool [K, K], pairs that the race was drawing for; none where it is certified. Mostly (i, j)
    # with i in the first kappa and j outside that nothing decides yet; where all of these are
    # decided, and not all for i, pairs of which a certain win is likeliest
    doubtful: jax.Array
    asked: jax.Array  # bool [K], who would be drawn next
    blocks: Any = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})
    names: tuple[str, ...] | None = dataclasses.field(default=None, metadata={"static": True})

    @property
    def best_names(self) -> list[str]:
        """The names of the first kappa, best first; ValueError if the options have none."""
        if self.names is None:
            raise ValueError("names: expected a race that was judged by names, got numbers only")
        return [self.names[option] for option in self.best]

    @property
    def log_highest(self) -> FloatArray:
        return np.asarray(self.highest, np.float64)

    @property
    def log_evidence(self) -> FloatArray:
        """ln E_ij after the blocks that i and j share, float64 [..., K, K]; 0 without any.

        The process itself; its highest value decides the race. No e-value: the race may have
        stopped because of samples of one option alone.
        """
        weighted = (
            np.asarray(self.log_bets, np.float64)
            + np.asarray(self.params.log_weights, np.float64)[..., None, None, :]
        )
        return np.logaddexp.reduce(weighted, axis=-1)

    @property
    def e_values(self) -> FloatArray:
        """The same as e-values, which may be averaged or multiplied: float64 [..., K, K].

        sqrt(max E_ij) / 2, the p-value p by the calibrator p^(-1/2) / 2 (Vovk and Wang 2021): its
        expectation is at most 1 if i is not preferred to j, why ever the race stopped. That of E_ij
        itself may be larger: blocks that are known from other pairs may tell the race to stop.
        Multiply e-values of independent experiments, average dependent ones.
        """
        return 0.5 / np.sqrt(self.p_values)

    @property
    def further_samples(self) -> FloatArray:
        """How many more samples each option may need, of one race: float64 [K]. A forecast.

        Gaps are taken to be what they look like, and blocks to be filled. 0 where nothing is in
        doubt; infinity where it takes more than n_max. Without a common block what fills one.
        """
        return self._report.further_samples()

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes behind the e-values: within the blocks of every pair."""
        blocks, samples = self.blocks, np.asarray(self.samples, np.int64)
        shared = np.minimum(samples[..., :, None], samples[..., None, :])
        later = np.maximum(shared - blocks.first, 0) // blocks.later
        calls = np.where(shared < blocks.first, 0, blocks.first**2 + later * blocks.later**2)
        return np.triu(calls, 1).sum((-2, -1))
