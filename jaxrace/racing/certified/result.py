"""What races by e-values found. Axes: K options, L bets, Q nulls."""

import abc
import dataclasses
from typing import Any, ClassVar, Self

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
    certificate_number: jax.Array  # int32 []: 0 asks on, 1 dominance, 2 counts, 3 has no more room
    wins: jax.Array  # int32 [K], first sort key: verdicts, or where there is none a mean above 0
    total: jax.Array  # int32 [K], second sort key: sum of the mean differences, in fixed point
    by: str = dataclasses.field(metadata={"static": True})

    _verdicts: ClassVar = (*RaceResult._verdicts, "tied")

    def _if_valid(self) -> Self:
        possible = self.possible | self.invalid.any()
        return dataclasses.replace(super()._if_valid(), possible=possible)

    @property
    def certificate(self) -> Any:
        """How the first kappa are certified, or None; a batch has an array of strings, "" for None.

        "dominance" (a): each of them is over (preferred to) each of the others. "counts" (b), by
        wins: certain wins and losses settle the Copeland scores. What is ``heuristic`` certifies
        nothing.
        """
        self._require_host("certificate", "`decided` or `certificate_number`")
        is_certain = np.asarray(self.decided) & (self.heuristic is None)
        words = np.array([word or "" for word in CERTIFICATES])
        names = np.where(is_certain, words[np.asarray(self.certificate_number)], "")
        return names if names.ndim else str(names) or None

    @property
    @abc.abstractmethod
    def log_highest(self) -> FloatArray:
        """ln of the largest E_ij in the course of the race, float64 [..., K, K]."""

    @property
    def p_values(self) -> FloatArray:
        """Of "i is not over j", at any time: 1 / max E_ij, by Ville's inequality. [..., K, K]."""
        self._require_host("p_values", "`highest`, the logarithms of their reciprocals")
        return np.exp(-np.maximum(self.log_highest, 0))
