"""What a selector has found, and how a person reads it. Axes: K options."""

import dataclasses

import jax
import numpy as np

# Longer tables are cut; the arrays of the result have everything.
_MOST_LISTED = 20


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class SelectionResult:
    """What a selector has found; print it."""

    name: str = dataclasses.field(metadata={"static": True})  # of the selector's class
    top: int = dataclasses.field(metadata={"static": True})  # k
    is_guaranteed: bool = dataclasses.field(metadata={"static": True})  # or estimated by a model?
    ranking: jax.Array  # int32 [K], from the best
    selected: jax.Array  # bool [K], the first k
    scores: jax.Array  # float [K], what options are ranked by
    confidence: jax.Array  # float [], estimated, or guaranteed; 0: unknown
    done: jax.Array  # bool [], the selector asks for nothing more
    samples: jax.Array  # int32 [], comparisons told

    @property
    def best(self) -> jax.Array:
        """The first k of the ranking, int32 [k]."""
        return self.ranking[..., : self.top]

    def __str__(self) -> str:
        num_options = self.ranking.shape[-1]
        title = f"{self.name}: top {self.top} of {num_options}"
        if np.ndim(self.done):
            return f"{title}, {np.size(self.done):,} selections"
        ranking, scores = np.asarray(self.ranking), np.asarray(self.scores)
        lines = [f"{title} after {int(self.samples):,} comparisons", f"  {self._sureness()}"]
        lines.append(f"  {'place':>5}  {'option':>6}  {'score':>10}")
        for place, option in enumerate(ranking[:_MOST_LISTED]):
            mark = "selected" if place < self.top else ""
            line = f"  {place + 1:>5}  {option:>6}  {scores[option]:>10.4g}  {mark}"
            lines.append(line.rstrip())
        if num_options > _MOST_LISTED:
            lines.append(f"  and {num_options - _MOST_LISTED} more")
        return "\n".join(lines)

    def _sureness(self) -> str:
        confidence = float(self.confidence)
        if confidence == 0 and bool(self.done):
            return "undecided, or without any measure of how sure that is; it asks for nothing more"
        if confidence == 0:
            return "nothing is known yet of how sure that is"
        if self.is_guaranteed:
            return f"correct with probability at least {confidence:.3g}"
        return f"correct with probability about {confidence:.3f}, an estimate without guarantee"
