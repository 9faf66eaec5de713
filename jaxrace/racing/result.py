"""What every race finds. Axes: K options."""

import abc
import dataclasses
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class RaceResult(abc.ABC):
    """The result of a race; under vmap every array has leading batch axes. Print it."""

    ranking: jax.Array  # int32 [K], options from best to worst
    selected: jax.Array  # bool [K], certainly in the top kappa; if decided, the first kappa
    discarded: jax.Array  # bool [K], certainly not needed for it; if decided, all others
    decided: jax.Array  # bool [], by the race's rule; certified if that is a proof
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples drawn for options that had asked
    invalid: jax.Array  # int32 [K], first round with a counted outcome not finite, or 0
    params: Any  # the numbers of the race
    top: int = dataclasses.field(metadata={"static": True})  # kappa
    dynamic_delta: bool = dataclasses.field(default=False, metadata={"static": True})
    common_random_numbers: bool = dataclasses.field(default=False, metadata={"static": True})

    @property
    def num_options(self) -> int:
        """K."""
        return self.ranking.shape[-1]

    @property
    def best(self) -> NDArray[np.int32]:
        """The first kappa of the ranking: int32 [..., kappa]."""
        return np.asarray(self.ranking)[..., : self.top]

    @property
    @abc.abstractmethod
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes that the race counted."""

    @property
    def heuristic(self) -> str | None:
        """Why the guarantee does not hold, or None where it does."""
        if self.common_random_numbers:
            return "common random numbers make the options dependent"
        return "the dynamic correction has no proof" if self.dynamic_delta else None

    @property
    def guarantee(self) -> str:
        """What holds with which probability, in words."""
        return self._report.guarantee()

    @property
    def _report(self) -> Any:
        return REPORTS[type(self)](self)

    def __str__(self) -> str:
        return str(self._report)


# How a person reads each kind of result: ``racing.report`` and ``certified.report`` add theirs.
REPORTS: dict[type, Any] = {}
