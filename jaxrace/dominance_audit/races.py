"""Races by the hundred thousand, and how many of them certify a wrong set. Axes: K options."""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxrace import kernels, racing
from jaxrace.audit import DELTAS, FULL_SIZE, Finding
from jaxrace.dominance_audit.tasks import TASKS, SetTask
from jaxrace.racing.dominance_state import COUNTS, DOMINANCE
from jaxrace.validation import require_integer

# n_max, and for every how many races of the audit one is played with it.
HORIZONS = {300: 1, 3000: 10}

# epsilon, the share of delta that certificate (b) has.
COUNTS_SHARE = 0.05

# Races of one call: the driver keeps 1,024 in play, and these fill its lanes almost four times.
_BATCH = 4_000


class _Certifying(racing.DominanceRace):
    """The race without its last guess, which no guarantee is about.

    Counting all comparisons of 3,000 samples for it takes far longer than the race.
    """

    def finish_lanes(
        self, states: racing.DominanceState, params: racing.DominanceParams
    ) -> racing.DominanceState:
        del params
        return states


def audit_races(
    races: int = FULL_SIZE,
    seed: int = 0,
    tasks: Sequence[SetTask] = TASKS,
    horizons: Sequence[int] = tuple(HORIZONS),
) -> Iterator[Finding]:
    """Count wrong certificates on every task, for every n_max and delta.

    A certificate (a) is wrong when its set does not dominate strictly, a certificate (b) when its
    set is no Copeland top-kappa.

    Args:
        races: Races per line at n_max 300; at 3000 a tenth of them.
        seed: Of all random numbers.
        tasks: What to race on.
        horizons: n_max, among ``HORIZONS``.

    Yields:
        Two ``Finding``s per task, n_max and delta: certificate (a) alone, allowed
        (1 - epsilon) delta, and both together, allowed delta.

    >>> first = next(audit_races(races=250))
    >>> first.task, first.claim, first.races, first.refuted
    ('0 against a coin', '(a), n_max 300', 250, False)
    """
    require_integer("races", races, 1)
    for number, task in enumerate(tasks):
        for horizon in horizons:
            for delta in DELTAS:
                key = _line_key(seed, number, horizon, delta)
                params = race_params(task, horizon, delta)
                wrong = _count_wrong(task, horizon, params, key, -(-races // HORIZONS[horizon]))
                by_a, by_any, total = wrong
                share = (1 - COUNTS_SHARE) * delta
                yield Finding(task.name, f"(a), n_max {horizon}", delta, share, by_a, total)
                claim = f"(a) or (b), n_max {horizon}"
                yield Finding(task.name, claim, delta, delta, by_any, total)


# More races would make the controls' failure no clearer.
MOST_OF_CONTROL = 20_000
ONE_TEST = "control: levels of one test"


def control_races(races: int = FULL_SIZE, seed: int = 0) -> Iterator[Finding]:
    """Count the wrong certificates of broken races: 0 against a coin, levels of ln(1/delta).

    These are the levels of a single test, though either option may win. At n_max 300 most races
    have not ended, so that there the mixture is broken too: all of its weights are 1.

    Args:
        races: Per line, and 20,000 at most.
        seed: Of all random numbers.

    Yields:
        One ``Finding`` per n_max and delta; they must be refuted.

    >>> first = next(control_races(races=250))
    >>> first.claim, first.races
    ('control: levels of one test, weights of 1, n_max 300', 250)
    """
    require_integer("races", races, 1)
    task = TASKS[0]
    for horizon in HORIZONS:
        for delta in DELTAS:
            single = jnp.float32(-math.log(delta))
            params = race_params(task, horizon, delta)
            params = dataclasses.replace(params, level=single, strong_level=single)
            claim = ONE_TEST
            if horizon == min(HORIZONS):
                claim += ", weights of 1"
                params = dataclasses.replace(params, log_weights=jnp.zeros_like(params.log_weights))
            key = _line_key(seed, len(TASKS), horizon, delta)
            number = min(races, MOST_OF_CONTROL)
            _, by_any, total = _count_wrong(task, horizon, params, key, number)
            yield Finding(task.name, f"{claim}, n_max {horizon}", delta, delta, by_any, total)


def wrong_certificates(
    task: SetTask, certificate: NDArray[np.int32], best: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which races certified a wrong set, by (a) and by (b).

    Args:
        task: What was raced on.
        certificate: [races], numbers as in ``DominanceResult.certificate_number``.
        best: [races, kappa], the first options of their rankings.

    Returns:
        bool [races] for (a), and for (b).

    >>> import numpy as np
    >>> by_a, by_b = wrong_certificates(  # neither of the two dominates, both have a score of 0
    ...     TASKS[0], np.array([1, 2, 3]), np.array([[0], [0], [1]])
    ... )
    >>> by_a.tolist(), by_b.tolist()
    ([True, False, False], [False, False, False])
    """
    chosen = (best[:, :, None] == np.arange(task.num_options)).any(1)
    by_a = (certificate == DOMINANCE) & ~task.dominates(chosen)
    by_b = (certificate == COUNTS) & ~task.is_copeland_top(chosen)
    return by_a, by_b


def race_params(task: SetTask, horizon: int, delta: float) -> racing.DominanceParams:
    """The race's own default numbers, as many for one delta as for another.

    >>> race_params(TASKS[1], 3000, 0.05).log_weights.tolist()[-1]
    -inf
    """
    race = make_race(task, horizon)
    # One program serves all deltas then.
    return pad_bets(race.params(delta), max(race.params(d).bets.size for d in DELTAS))


def pad_bets(params: racing.DominanceParams, num_bets: int) -> racing.DominanceParams:
    """The same numbers with so many bets: those of weight 0 change nothing.

    >>> params = make_race(TASKS[0], 300).params()
    >>> pad_bets(params, 5).log_weights.tolist()[3:]
    [-inf, -inf]
    """
    lacking = num_bets - params.bets.size
    return dataclasses.replace(
        params,
        bets=jnp.pad(params.bets, (0, lacking), mode="edge"),
        log_weights=jnp.pad(params.log_weights, (0, lacking), constant_values=-jnp.inf),
    )


def make_race(task: SetTask, horizon: int, guess: bool = False) -> racing.DominanceRace:
    """A race on a task, with or without the guess where it ends uncertified.

    >>> make_race(TASKS[0], 300).capacity
    300
    """
    kind = racing.DominanceRace if guess else _Certifying
    return kind(task.num_options, task.top, horizon, kernels.total_order)


def _line_key(seed: int, number: int, horizon: int, delta: float) -> jax.Array:
    key = jax.random.key(seed)
    for part in (number, horizon, DELTAS.index(delta)):
        key = jax.random.fold_in(key, part)
    return key


def _count_wrong(
    task: SetTask, horizon: int, params: racing.DominanceParams, key: jax.Array, races: int
) -> tuple[int, int, int]:
    """Races with a wrong certificate (a), with a wrong one of any kind, and all that were run."""
    race = make_race(task, horizon)
    size = min(races, _BATCH)
    batches = -(-races // size)
    by_a = by_b = 0
    for number in range(batches):
        keys = jax.random.split(jax.random.fold_in(key, number), size)
        played = play(race, task.sample, keys, params)
        wrong = wrong_certificates(task, *map(np.asarray, played))
        by_a += int(wrong[0].sum())
        by_b += int(wrong[1].sum())
    return by_a, by_a + by_b, batches * size


@functools.partial(jax.jit, static_argnums=(0, 1))
def play(
    race: racing.DominanceRace,
    sample: Callable[[jax.Array, jax.Array], jax.Array],
    keys: jax.Array,
    params: racing.DominanceParams,
) -> tuple[jax.Array, jax.Array]:
    """Play one race per key.

    Args:
        race: From ``make_race``.
        sample: ``sample(key, option) -> outcome``, hashable.
        keys: [races].
        params: The same for all of them.

    Returns:
        Certificates, int32 [races], and first options, int32 [races, kappa].

    >>> task = TASKS[0]
    >>> keys = jax.random.split(jax.random.key(0), 250)
    >>> race, params = make_race(task, 300), race_params(task, 300, 0.05)
    >>> certificate, best = play(race, task.sample, keys, params)
    >>> certificate.shape, best.shape
    ((250,), (250, 1))
    """
    options = jnp.arange(race.num_options, dtype=jnp.int32)
    result = jax.vmap(lambda key: racing.run(race, key, sample, options, params))(keys)
    return result.certificate_number, result.ranking[:, : race.top]
