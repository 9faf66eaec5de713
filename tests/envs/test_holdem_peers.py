"""The engines that the benchmark of Texas Hold'em plays against do the same work."""

import jax
import numpy as np
import pytest
from peers_of_bench import peer
from scipy import stats

from jaxrace.envs.holdem import SEATINGS, Rules, deal, evaluation, prepare, table
from papers.holdem import policies

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("package", "name", "hands"),
    [("pyspiel", "openspiel_holdem", 20_000), ("pokerkit", "pokerkit_holdem", 1_500)],
)
def test_random_hands_end_alike(package, name, hands):
    """What the big blind wins has the same distribution: amounts that are frequent, and others."""
    pytest.importorskip(package)
    engine = peer(name)
    theirs = np.array(engine.play(engine.load(), 0, hands)).astype(int)
    deals = prepare(deal(jax.random.key(0), 50_000))
    uniform = policies.play_uniformly, policies.play_uniformly
    played = table.play(uniform, jax.random.key(1), deals, SEATINGS[0], Rules())
    ours = -np.asarray(played.winnings)
    amounts, counts = np.unique(ours, return_counts=True)
    frequent = amounts[counts > 500]
    assert len(frequent) > 10
    tables = [
        [*((won == amount).sum() for amount in frequent), (~np.isin(won, frequent)).sum()]
        for won in (ours, theirs)
    ]
    assert float(np.asarray(stats.chi2_contingency(tables)[1])) > 0.001


def test_eval7_orders_hands_alike():
    pytest.importorskip("eval7")
    engine = peer("eval7_values")
    cards = np.asarray(deal(jax.random.key(2), 20_000)[:7])
    pairs = np.stack([evaluation.value(cards), engine.evaluate(engine.as_hands(cards))])
    assert (np.diff(np.unique(pairs, axis=1)) > 0).all()
