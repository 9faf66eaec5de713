"""Dominance races on samples drawn beforehand, and what the plain reference makes of them.

Axes: B races, K options, n samples of each.
"""

import functools
import operator
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from preference_cases import dominance
from reference import reference_dominance_race, reference_relations

from jaxrace.envs import medical
from jaxrace.evidence.blocks import BlockPairs, block_values
from jaxrace.evidence.decision import behind, seen_of
from jaxrace.evidence.levels import Bets
from jaxrace.evidence.table_decision import decide
from jaxrace.judging.scores import padded
from jaxrace.kernels import total_order
from jaxrace.racing import DominanceRace, run

BETS = (0.5, 1.1, 1.9)

# Deltas, slacks and horizons in turn: the races of a batch need not be alike.
CHOICES = [
    {"delta": 0.05, "slack": 1.0},
    {"delta": 0.5, "slack": 0.0},
    {"delta": 0.2, "slack": 1.5},
    {"delta": 0.05, "slack": 0.0, "max_rounds": 60},
    {"delta": 0.5, "slack": 1.5, "max_rounds": 73},
]

CERTIFICATES = {"a": "dominance", "b": "counts", None: None}

# Verdicts keep a little away from the exact level, so that a race may part from the reference
# where that comes so near to another choice.
CLOSE = 5e-4

# Six faces in two circles of three, 0 over 1 over 2 over 0; the first circle beats the second.
FACES = np.kron(np.array([[0, 1], [-1, 0]]), np.ones((3, 3), int))
FACES = FACES + np.kron(np.eye(2, dtype=int), np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]))


def treatments(a, b):
    """The preference of the medical task, of vectors of three: alive or not, and two costs."""
    return medical.prefer(medical.Outcome(a[0] > 0, a[1], a[2]), medical.Outcome(b[0] > 0, *b[1:]))


def circles(a, b):
    return jnp.asarray(FACES, jnp.int8)[a, b]


COMPARE = {
    "numbers": total_order,
    "ties": total_order,
    "pareto": dominance,
    "medical": treatments,
    "dice": total_order,
    "circles": circles,
}


def draw(kind, seed, number, num_options, n):
    """Samples [number, K, n, ...] of options that are equal, close or far apart."""
    rng = np.random.default_rng(seed)
    if kind == "dice":
        return _dice(rng, number, num_options, n)
    if kind == "circles":
        own = rng.integers(0, 6, (number, num_options, 1))
        own[::2] %= 3  # all in one circle
        other = rng.integers(0, 6, (number, num_options, n))
        share = rng.uniform(0.1, 0.3, (number, num_options, 1))
        return np.where(rng.random(other.shape) < share, other, own).astype(np.int32)
    spread = rng.choice([0.0, 0.4, 1.0, 3.0], (number, 1, 1))
    means = spread * rng.random((number, num_options, 1))
    means[1::3] += rng.permutation(num_options)[:, None]  # races that end soon
    noise = rng.normal(size=(number, num_options, n))
    if kind == "numbers":
        return (means + noise).astype(np.float32)
    first = np.round(means + noise).astype(np.float32)
    if kind == "ties":
        return first
    if kind == "medical":
        alive = rng.random(first.shape) < np.clip(0.5 + 0.2 * means, 0, 1)
        return np.stack([alive, -first, np.round(rng.random(first.shape) - means)], -1).astype(
            np.float32
        )
    other = np.round(0.7 * means + rng.normal(size=first.shape)).astype(np.float32)
    return np.stack([first, other], -1)


def _dice(rng, number, num_options, n):
    """Three dice in a circle, each beating the next with probability .618 if fair; and constants.

    The other options always lose, or always win, against all of these.
    """
    often = (np.sqrt(5) - 1) / 2
    rolls = np.sign(rng.random((number, num_options, n)) - 0.5)
    rolls[:, 3:] *= 9 + rng.permutation(num_options - 3)[:, None]
    often += rng.choice([0.0, 0.0, 0.3], (number, 1))
    rolls[:, 0] = 3
    rolls[:, 1] = np.where(rng.random((number, n)) < often, 2, 5)
    rolls[:, 2] = np.where(rng.random((number, n)) < often, 4, 1)
    rolls[:, 3:] = np.abs(rolls[:, 3:]) * np.sign(rng.random((number, num_options - 3, 1)) - 0.5)
    order = rng.permuted(np.tile(np.arange(num_options), (number, 1)), axis=1)
    return np.take_along_axis(rolls, order[..., None], axis=1).astype(np.float32)


def signs_of(kind, outcomes):
    """The comparisons of one race's samples [K, n, ...]: int8 [K, K, n, n]."""
    if kind == "circles":
        return FACES.astype(np.int8)[
            outcomes[:, None, :, None].astype(int), outcomes[None, :, None, :].astype(int)
        ]
    of_kind = {"pareto": reference_relations.dominates, "medical": reference_relations.medical}
    prefer = of_kind.get(kind, reference_relations.larger)
    return np.array([[2 * prefer(x, y) - 1 for y in outcomes] for x in outcomes]).astype(np.int8)


def params_of(race, number, choices):
    """Params of B races: `choices` of arguments in turn. They must have equally many bets."""
    made = [race.params(**{"bets": BETS, **choice}) for choice in choices]
    # By NumPy: a stack of many device arrays is a slow program.
    return jax.tree.map(
        lambda *x: jnp.asarray(np.resize(np.stack(x), (number, *x[0].shape))), *made
    )


def opening_tells(race):
    """How many tells of a block's length complete the first block."""
    return -(-race.first_block // race.block)


@functools.partial(jax.jit, static_argnums=0)
def play(race, outcomes, params):
    """Play B races [B, K, n, ...] side by side, a block's length of samples at a time.

    Whoever has not asked is told the wrong samples. The first block takes several tells;
    each later tell completes one block. Returns who had asked before each tell [tells, B, K], and
    the results.
    """
    example = jax.tree.map(lambda x: x[0, 0, 0], outcomes)
    states = jax.vmap(lambda p: race.init(example, p))(params)
    flip = jnp.arange(race.num_options)[::-1]

    def tell(states, _):
        at = states.simulated[..., None] + jnp.arange(race.block)
        at = jnp.where(states.asked[..., None], at, at[:, flip])
        told = outcomes[
            jnp.arange(at.shape[0])[:, None, None],
            jnp.where(states.asked, jnp.arange(race.num_options), flip)[..., None],
            jnp.minimum(at, outcomes.shape[2] - 1),
        ]
        return jax.vmap(race.tell)(states, told, params), states.asked

    # As many tells as there can be, if every one serves a single option.
    num_tells = opening_tells(race) + race.num_options * int(race.blocks.complete(race.capacity))
    states, asked = jax.lax.scan(tell, states, None, num_tells)
    states = race._finish_batch(states, params)
    return asked, jax.vmap(race.result)(states, params)


def reference(race, kind, outcomes, params, blocks_per_step=1):
    """What the reference makes of one race [K, n, ...] with these params; and the comparisons."""
    signs = signs_of(kind, outcomes)
    history = reference_dominance_race.dominance_race(
        signs,
        race.top,
        float(params.delta),
        sizes=reference_dominance_race.block_sizes(
            int(params.max_rounds), race.first_block, race.block
        ),
        lambdas=np.asarray(params.bets, float),
        weights=np.exp(np.asarray(params.log_weights, float)),
        slack=float(params.slack),
        blocks_per_step=blocks_per_step,
    )
    return history, signs


def compare_with_reference(race, kind, outcomes, params):
    """Play every race in both ways, and compare decision by decision; returns the histories."""
    asked, results = jax.tree.map(np.asarray, play(race, outcomes, params))
    log_e = results.log_evidence
    assert log_e.shape == (len(outcomes), race.num_options, race.num_options)
    opening = opening_tells(race)
    assert asked[:opening].all()
    histories, skipped = [], 0
    for number, instance in enumerate(outcomes):
        one = jax.tree.map(operator.itemgetter(number), params)
        expected, signs = reference(race, kind, instance, one)
        # Of equals, the reference takes the smaller index, and the race the last bit of a sum.
        tied = kind == "circles" and any(step.tied for step in expected.steps)
        if tied or min(step.margin for step in expected.steps) < CLOSE:
            skipped += 1
            continue
        histories.append(expected)
        for step, who in zip(expected.steps, asked[opening:, number], strict=False):
            np.testing.assert_array_equal(who, step.advanced)
        assert not asked[opening + len(expected.steps) :, number].any()
        result = jax.tree.map(operator.itemgetter(number), results)
        assert_same_end(race, result, expected, signs)
        np.testing.assert_allclose(log_e[number], expected.log_e, rtol=1e-5, atol=1e-4)
    assert skipped <= 0.2 * len(outcomes)
    return histories


def ends(histories):
    """The certificates that there were."""
    return {history.certificate for history in histories}


def assert_same_end(race, result, expected, signs):
    """The result of one race against the reference's last look."""
    assert result.certificate == CERTIFICATES[expected.certificate]
    assert bool(result.decided) == (expected.certificate is not None)
    np.testing.assert_array_equal(result.samples, expected.samples)
    np.testing.assert_allclose(result.highest, expected.highest, rtol=1e-5, atol=1e-4)
    p_values = np.minimum(np.exp(-expected.highest), 1)
    np.testing.assert_allclose(result.p_values, p_values, rtol=1e-3)
    # Rounding gives nobody a verdict: it adds less than what the levels are raised by.
    counts = np.isfinite(expected.highest) & (expected.highest < result.params.strong_level + 1)
    excess = np.subtract(result.highest, expected.highest, where=counts, out=np.zeros(counts.shape))
    assert (excess <= 2e-6 * race.blocks.complete(int(result.params.max_rounds))).all()
    assert not np.asarray(result.asked).any()
    if expected.certificate is None:
        marked = np.zeros_like(result.doubtful)
        for pair in expected.steps[-1].doubtful:
            marked[pair] = True
        np.testing.assert_array_equal(result.doubtful, marked)
        wins, totals = full_keys(signs, expected.samples)
        assert_ranked(result.ranking, wins, totals)
    else:
        wins = expected.wins
        assert_ranked(result.ranking, wins, expected.totals)
        in_top = np.isin(np.arange(race.num_options), expected.answer)
        np.testing.assert_array_equal(result.selected, in_top)
        np.testing.assert_array_equal(result.discarded, ~in_top)
        assert set(result.best.tolist()) == set(expected.answer)
    np.testing.assert_array_equal(result.wins, wins)
    shared = np.minimum(expected.blocks[:, None], expected.blocks[None, :])
    calls = race.first_block**2 + (shared - 1) * race.block**2
    assert result.oracle_calls == np.triu(calls, 1).sum()


def assert_equal_results(got, expected, simulated=True):
    """All numbers of two results; `simulated` depends on how many are drawn at once."""
    exact = "ranking selected discarded decided certificate_number samples wins total asked invalid"
    for field in (*exact.split(), "doubtful", *(["simulated"] if simulated else [])):
        np.testing.assert_array_equal(getattr(got, field), getattr(expected, field), field)
    # Another shape of batch is another program, which may move the last bit.
    for field in ("log_bets", "highest"):
        one, other = getattr(got, field), getattr(expected, field)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6, err_msg=field)


def highest_of(race, signs, samples, params):
    """The largest ln E_ij over the blocks that each two options share, whoever was asked when."""
    lambdas, weights = np.asarray(params.bets, float), np.exp(np.asarray(params.log_weights, float))
    highest = np.full((race.num_options,) * 2, -np.inf)
    for i, j in np.argwhere(~np.eye(race.num_options, dtype=bool)):
        logs, start = np.log(weights), 0
        for size in reference_dominance_race.block_sizes(
            min(samples[i], samples[j]), race.first_block, race.block
        ):
            block = signs[i, j, start : start + size, start : start + size]
            logs = logs + [reference_dominance_race.log_factor(block, bet) for bet in lambdas]
            highest[i, j] = max(highest[i, j], np.logaddexp.reduce(logs))
            start += size
    return highest


def full_keys(signs, samples):
    """Wins and totals over all samples that each two options share; totals are exact fractions."""
    wins, totals = [], []
    for i in range(len(signs)):
        shared = [int(min(samples[i], other)) for other in samples]
        nets = [int(signs[i, j, :n, :n].sum(dtype=int)) for j, n in enumerate(shared)]
        others = [j for j in range(len(signs)) if j != i]
        wins.append(sum(nets[j] > 0 for j in others))
        totals.append(sum(Fraction(nets[j], 2 * max(shared[j], 1) ** 2) for j in others))
    return np.array(wins), np.array(totals, float)


def assert_ranked(ranking, wins, totals):
    """Is this the order by wins, then totals? What differs by rounding alone may be exchanged."""
    ranking = np.asarray(ranking)
    assert sorted(ranking) == list(range(len(wins)))
    wins, totals = np.asarray(wins)[ranking], np.asarray(totals)[ranking]
    assert (wins[:-1] >= wins[1:]).all()
    assert ((wins[:-1] > wins[1:]) | (totals[:-1] > totals[1:] - 1e-5)).all()


def make_race(kind, num_options, top, capacity, first_block=11, block=5):
    return DominanceRace(num_options, top, capacity, COMPARE[kind], first_block, block)


def stopping_races(number):
    """E-processes at the end [number], e-values and p-values of a tied pair.

    A third option ends these races because of samples of the first alone.
    """
    race = DominanceRace(3, 1, 100, total_order)
    params = race.params(0.05, bets=[0.6])

    def sample(key, option):
        coin, rare = jax.random.split(key)
        side = jnp.where(jax.random.bernoulli(coin), 1.0, -1.0)
        seldom = jnp.where(jax.random.bernoulli(rare, 0.05), 2.0, 0.0)
        return jnp.stack([side, jnp.float32(0), seldom])[option]

    def play(key):
        return run(race, key, sample, jnp.arange(3), params)

    results = jax.jit(jax.vmap(play))(jax.random.split(jax.random.key(3), number))
    listed = np.exp(results.log_evidence), results.e_values, results.p_values
    return [np.asarray(x)[:, 0, 1] for x in listed]


def on_host(race, samples, params):
    """What a table makes of numbers [n_i] of each option, with a race's blocks, bets and levels.

    The largest log e-values [K, K], the decision, and who runs next [K].
    """
    values, counts = padded([np.asarray(x, float) for x in samples]), np.array([*map(len, samples)])

    def differences(*blocks):
        x, y = block_values(values, *blocks)
        return (x - y) / race.width if race.by == "mean" else np.sign(x - y)

    # Bets on d in [-1, 1], where the race writes them for d / 2.
    bets = Bets(tuple(np.array(params.bets, float) / 2), tuple(np.exp(params.log_weights)))
    pairs = BlockPairs(differences, counts, bets, race.blocks.first, race.blocks.later)
    every = np.nonzero(~np.eye(len(samples), dtype=bool))
    process = pairs.process(every[0], every[1], float(params.null))
    highest, mean = np.full((2, len(samples), len(samples)), [[[-np.inf]], [[0.0]]])
    highest[every], mean[every] = process.highest, process.mean
    level, null = float(params.level), float(params.null)
    seen = seen_of(highest, mean, level, float(params.strong_level), null)
    found = decide(seen, race.top, level, float(params.slack), is_tolerant=null < 0)
    return highest, found, behind(found.served, pairs.complete())
