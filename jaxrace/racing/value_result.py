"""What a race by value found. Axes: K options."""

import dataclasses
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxrace.racing.result import RaceResult, span


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ValueResult(RaceResult):
    """The result of a value-based race."""

    mean: jax.Array  # float32 [K], the sort key among options of equal standing
    lower: jax.Array  # float32 [K], confidence bounds of the mean
    upper: jax.Array  # float32 [K]
    empty: jax.Array  # bool [K], an intersection of intervals was empty
    title: str = dataclasses.field(metadata={"static": True})  # of the kind of race

    _compares = False

    @property
    def oracle_calls(self) -> NDArray[np.int64]:
        """Comparisons of two outcomes: a value-based race makes none."""
        return np.zeros(np.shape(self.decided), np.int64)

    def _promise(self) -> str:
        width = span(self.params.value_range)
        return f"{super()._promise()}, if every option's outcomes span at most {width}"

    def _title(self) -> str:
        return f"{self.title}, delta {span(self.params.delta)}"

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("mean", "lower", "upper")
        return {name: np.asarray(getattr(self, name), np.float64) for name in names}
