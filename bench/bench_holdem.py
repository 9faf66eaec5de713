"""Texas Hold'em: hands per second and evaluations per second against the engines of others.

Seconds are those of a million hands, decks, or evaluations. Cards are dealt, and showdowns decided,
within the time, but for evolved players, whose decks are prepared beforehand. The peers need
`pip install -e ".[holdem]"`.
"""

import concurrent.futures
import os

import here  # noqa: F401
import jax
import jax.numpy as jnp
import measuring
import pytest

from jaxrace.core.programs import compile_ahead
from jaxrace.envs.holdem import (
    SEATINGS,
    Rules,
    deal,
    evaluation,
    prepare,
    table,
)
from papers.holdem import policies
from papers.holdem.ashe import Ashe
from papers.holdem.lanes import play_lane
from papers.holdem.networks import NUM_WEIGHTS
from papers.holdem.strength import strengths

MILLION = 1_000_000
UNIFORM = policies.play_uniformly, policies.play_uniformly


def add_rate(benchmark):
    """Per second, for those who read the results."""
    seconds = benchmark.stats.stats.min * benchmark.extra_info["scale"]
    benchmark.extra_info["per_second"] = MILLION / seconds


def record(benchmark, name, function, count, batches):
    """Every core runs batches of its own; ``function`` takes a key."""
    keys = jax.random.split(jax.random.key(0), batches)
    program = compile_ahead(jax.jit(function), keys[0])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:

        def run():
            return list(pool.map(lambda key: jax.block_until_ready(program(key)), keys))

        found = measuring.record(benchmark, name, run, rounds=3, scale=MILLION / (count * batches))
    add_rate(benchmark)
    return found


@pytest.mark.parametrize("hands", [1_000, 10_000, 100_000])
def test_hands(benchmark, quick, hands):
    """Cards dealt, showdowns decided, played by two that choose at random."""

    def play(key):
        keys = jax.random.split(key)
        deals = prepare(deal(keys[0], hands))
        return table.play(UNIFORM, keys[1], deals, SEATINGS[0], Rules()).winnings

    batches = max(2, (200_000 if quick else MILLION) // hands)
    found = record(benchmark, f"holdem hands/jaxrace, {hands} at once", play, hands, batches)
    assert all(abs(won).max() <= 20_000 for won in found)


@pytest.mark.parametrize("lanes", [16, 256])
def test_evolved_players(benchmark, quick, lanes):
    """Every lane is a match of two players with random weights, from empty trees on."""
    hands = (20_000 if quick else 100_000) // lanes
    decks = deal(jax.random.key(0), hands)
    deals = prepare(decks, strengths(jax.random.key(1), decks, 64))
    player = Ashe()

    def play(key):
        weights = jax.random.uniform(key, (2, lanes, NUM_WEIGHTS), jnp.float32, -1, 1)

        def play_one(first, second):
            players, both = (player, player), (first, second)
            return play_lane(players, both, key, deals, SEATINGS[0], player.rules).winnings

        return jax.vmap(play_one)(*weights)

    name = f"holdem hands/evolved players, {lanes} lanes"
    found = record(benchmark, name, play, hands * lanes, os.cpu_count() or 1)
    assert all(abs(won).max() <= player.rules.stack for won in found)


def test_strengths(benchmark, quick):
    """Of both hands of a deck on all streets."""
    count = 100 if quick else 1_000

    def measure(key):
        return strengths(key, deal(key, count))

    found = record(benchmark, "holdem strengths/jaxrace", measure, count, os.cpu_count() or 1)
    assert all(((each >= 0) & (each <= 1)).all() for each in found)


def test_deals(benchmark, quick):
    """Cards alone."""
    count = 100_000
    record(
        benchmark,
        "holdem deals/jaxrace",
        lambda key: deal(key, count),
        count,
        2 if quick else 20,
    )


@pytest.mark.parametrize("module", ["openspiel_holdem", "pokerkit_holdem"])
def test_peer_hands(benchmark, quick, module):
    pytest.importorskip({"openspiel_holdem": "pyspiel", "pokerkit_holdem": "pokerkit"}[module])
    peer = __import__(f"peers.{module}", fromlist=["play"])
    game = peer.load()
    hands = {"openspiel_holdem": 20_000, "pokerkit_holdem": 400}[module] // (4 if quick else 1)
    name = f"holdem hands/{module.partition('_')[0]}"
    found = measuring.record(
        benchmark, name, lambda: peer.play(game, 0, hands), rounds=2, scale=MILLION / hands
    )
    add_rate(benchmark)
    assert len(found) == hands


@pytest.mark.parametrize("layout", ["cards first", "cards last"])
def test_evaluations(benchmark, quick, layout):
    """Of the same hands again and again: dealing would take longer, and reading them too."""
    count, repeats = 10_000, 200 if quick else 2_000
    cards = deal(jax.random.key(0), count)[:7]
    cards = cards if layout == "cards first" else cards.T

    def evaluate(key):
        del key

        def again(number, total):
            # Another hand each time, so that nothing can be left out: the suits are exchanged.
            changed = cards ^ (number & 3)
            if layout == "cards first":
                values = evaluation.value(changed)
            else:
                values = jax.vmap(evaluation.value)(changed)
            return total + values

        return jax.lax.fori_loop(0, repeats, again, jnp.zeros(count, jnp.int32))

    name = f"holdem evaluations/jaxrace, {layout}"
    record(benchmark, name, evaluate, count * repeats, os.cpu_count() or 1)


def test_eval7(benchmark, quick):
    """Its cards are made beforehand."""
    pytest.importorskip("eval7")
    from peers import eval7_values

    count = 20_000 if quick else 200_000
    hands = eval7_values.as_hands(jax.device_get(deal(jax.random.key(0), count)[:7]))
    measuring.record(
        benchmark,
        "holdem evaluations/eval7",
        lambda: eval7_values.evaluate(hands),
        rounds=3,
        scale=MILLION / count,
    )
    add_rate(benchmark)
