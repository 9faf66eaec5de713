"""How often do the Hoeffding and Bernstein races err? They may with probability delta at most.

A race errs when it selects an option and discards another whose mean is no smaller.

    python -m papers.audits.value            the full audit, 100,000 races per line
    python -m papers.audits.value 20000      a smaller one
"""

import dataclasses
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import racing
from papers.audits import preference, reckoning


@dataclasses.dataclass(frozen=True)
class ValueTask:
    """Options whose means are known."""

    name: str  # for reports
    max_rounds: int  # n_max
    # ``sample(key, option) -> outcome``, option an int32 in 0 .. K - 1.
    sample: Callable[[jax.Array, jax.Array], jax.Array]
    means: tuple[float, ...]  # of the K options
    value_range: float  # R, the width of each option's support


def _sample_close(key: jax.Array, option: jax.Array) -> jax.Array:
    return jax.random.uniform(key, (), jnp.float32, -1, 1) + _CLOSE_GAP * option.astype(jnp.float32)


_CLOSE_GAP = 1e-4
_, _DICE, _COIN = preference.TASKS

TASKS: tuple[ValueTask, ...] = (
    ValueTask("nearly tied", 100, _sample_close, tuple(_CLOSE_GAP * i for i in range(4)), 2.0),
    ValueTask("dice of mean 5", 100, _DICE.sample, (5.0, 5.0, 5.0), 10.0),
    ValueTask("fair coin against 0", 300, _COIN.sample, (0.0, 0.0), 2.0),
)


class _Narrow(racing.HoeffdingRace):
    """What a range that is too small would make of the intervals, if none looked."""

    def radius(
        self, rounds: jax.Array, deviation: jax.Array, events: jax.Array, params: racing.ValueParams
    ) -> jax.Array:
        """A quarter of what is proven."""
        return super().radius(rounds, deviation, events, params) / 4


# By claim: the race, and whether it intersects its intervals.
_RACES: dict[str, tuple[type[racing.ValueRace], bool]] = {
    "Hoeffding": (racing.HoeffdingRace, False),
    "Hoeffding, improved": (racing.HoeffdingRace, True),
    "Bernstein": (racing.BernsteinRace, False),
    "Bernstein, improved": (racing.BernsteinRace, True),
    "Hoeffding with a quarter of the intervals": (_Narrow, False),
}
UNPROTECTED = tuple(_RACES)[-1]  # the broken control


def value_audit(races: int = reckoning.FULL_SIZE) -> Iterator[reckoning.Finding]:
    """Measure every race on every task for every delta, with at least so many races per line."""
    batches = reckoning.batches_of(races)
    for number, task in enumerate(TASKS):
        key = jax.random.fold_in(jax.random.key(0), number)
        means = np.array(task.means)
        no_better = jnp.asarray(means[:, None] <= means[None, :])

        def errs(result: racing.ValueResult, no_better: jax.Array = no_better) -> jax.Array:
            return (no_better & result.selected[:, None] & result.discarded[None, :]).any()

        for claim, (kind, intersect) in _RACES.items():
            race = kind(len(task.means), 1, intersect=intersect)
            numbers = task.max_rounds, task.value_range
            params = [race.params(delta, *numbers) for delta in reckoning.DELTAS]
            wrong = preference.wrong_races(race, task.sample, errs, batches, key, params)
            for delta, errors in zip(reckoning.DELTAS, wrong, strict=True):
                total = batches * reckoning.BATCH
                yield reckoning.Finding(task.name, claim, delta, delta, errors, total)


if __name__ == "__main__":
    size = reckoning.races_asked_for("Audit the races by value.")
    print(reckoning.markdown_table(value_audit(size), claim="Race"))
