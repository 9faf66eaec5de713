"""What every race finds. Axes: K options."""

import abc
import dataclasses
from typing import Any, ClassVar, Self

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.core.compilation import is_traced
from jaxrace.core.validation import BadArgument

FloatArray = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class RaceResult(abc.ABC):
    """The result of a race; under vmap every array has leading batch axes. Print it.

    Fields are arrays of JAX, also inside of ``jax.jit``. Properties with a type of NumPy are for
    plain Python.
    """

    ranking: jax.Array  # int32 [K], options from best to worst
    selected: jax.Array  # bool [K], certainly in the top kappa; if decided, the first kappa
    discarded: jax.Array  # bool [K], certainly not needed for it; if decided, all others
    decided: jax.Array  # bool [], by the race's rule; certified if that is a proof
    samples: jax.Array  # int32 [K], samples that counted
    simulated: jax.Array  # int32 [K], samples drawn for options that had asked
    invalid: jax.Array  # int32 [K], first round with an outcome that is NaN, infinite or out of
    # range, or 0; -1 inside jit: compare is no antisymmetric sign. Unless all are 0 the race
    # proves nothing: it is not decided, and nobody is selected
    params: Any  # the numbers of the race
    top: int = dataclasses.field(metadata={"static": True})  # kappa
    dynamic_delta: bool = dataclasses.field(default=False, metadata={"static": True})
    common_random_numbers: bool = dataclasses.field(default=False, metadata={"static": True})

    _verdicts: ClassVar[tuple[str, ...]] = ("decided", "selected", "discarded")

    def _if_valid(self) -> Self:
        """The result of one race; without verdicts, if an outcome was invalid."""
        is_valid = ~self.invalid.any()
        held = {name: getattr(self, name) & is_valid for name in self._verdicts}
        return dataclasses.replace(self, **held)

    @property
    def num_options(self) -> int:
        """K."""
        return self.ranking.shape[-1]

    @property
    def best(self) -> NDArray[np.int32] | jax.Array:
        """The first kappa of the ranking: int32 [..., kappa]; inside jit an array of JAX."""
        ranking = self.ranking if is_traced(self.ranking) else np.asarray(self.ranking)
        return ranking[..., : self.top]

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

    def _require_host(self, name: str, instead: str) -> None:
        """Raise where a property that plain Python computes is asked for under a trace."""
        if is_traced(self):
            hint = f"; inside jit and vmap take {instead}"
            raise BadArgument(
                f"result.{name}", "a call from plain Python", "one under a trace", hint
            )

    def __str__(self) -> str:
        if is_traced(self):
            return f"{type(self).__name__} under a trace: print it outside of jit"
        return str(self._report)


# How a person reads each kind of result: ``racing.report`` and ``certified.report`` add theirs.
REPORTS: dict[type, Any] = {}
