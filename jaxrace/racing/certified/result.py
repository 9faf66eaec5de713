"""What races by e-values found. Axes: K options, L bets, Q nulls."""

import abc
import dataclasses
from typing import Any

import jax
import numpy as np

from jaxrace.evidence.decision import CERTIFICATES
from jaxrace.racing.result import FloatArray, RaceResult

TIE = 2.0**-23  # of the range: means so close are equal, as float32 rounds scores by half


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class CertifiedResult(RaceResult):
    """The result of a race by e-values; decided means that the first kappa are certified.

    Until then ``selected`` and ``discarded`` are right with probability 1 - delta, at all looks
    together: theorem 4 in docs/theory/tables.md says about what.
    """

    possible: jax.Array  # bool [K], who may be among the best; if certified, and exactly, who is
    tied: jax.Array  # bool [K], certified by counts, perhaps with scores equal across the boundary
    certificate_number: jax.Array  # int32 [], see ``certificate``
    wins: jax.Array  # int32 [K], first sort key: verdicts, or where there is none a mean above 0
    total: jax.Array  # int32 [K], second sort key: sum of the mean differences, in fixed point
    by: str = dataclasses.field(metadata={"static": True})

    @property
    def certificate(self) -> Any:
        """How the first kappa are certified, or that they are not; a batch has an array of strings.

        "dominance" (a): each of them is over (preferred to) each of the others. "counts" (b), by
        wins: certain wins and losses settle the Copeland scores. "running", "exhausted": not
        certified, and the race goes on, or has reached its last sample or task. "heuristic": one of
        the first two rules ended the race, and certifies nothing (see ``heuristic``).
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
        """Of "i is not over j", at any time: 1 / max E_ij, by Ville's inequality. [..., K, K]."""
        return np.exp(-np.maximum(self.log_highest, 0))
