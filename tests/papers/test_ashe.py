"""The evolved player against a plain one in NumPy, step by step, and as a player of lanes."""

import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ashe_cases import PLAYER, SHAPE, draw_deals, draw_weights
from reference.holdem_hands import deal_of, play_hand
from reference.holdem_player import Player as Reference

from jaxrace.envs.holdem.table import SEATINGS
from papers.holdem import ashe, networks, pattern_tree
from papers.holdem.lanes import play_lane
from papers.holdem.policies import pot_odds

HANDS = 60
LARGE = 40  # nodes of a tree that a hand may reach again
TABLES = 10  # hands from one look at the memories to the next


def wander(key, observation):
    """All streets, all actions, folds seldom."""
    chances = jnp.log(jnp.array([0.12, 1.0, 0.15, 0.1, 0.07, 0.07, 0.04], jnp.float32))
    legal = jnp.where(observation.legal, chances, -jnp.inf)
    return jax.random.categorical(key, legal).astype(jnp.int32)


@pytest.fixture(scope="module")
def deals():
    return draw_deals(HANDS)


def network_numbers(weights, step, seat):
    """What the networks of the player to act see and say at one step."""
    parts = networks.split(jnp.stack(weights)[seat])
    view = jax.tree.map(lambda a, b: jnp.where(seat == 0, a, b), *step.views)
    odds = pot_odds(
        step.observation.totals[np.array(pattern_tree.ACTIONS_IN_PLACE)], step.observation.other
    )
    street, reading = step.observation.street, view.reading
    return {
        "current": networks.showdown_inputs(reading.current),
        "following": jax.vmap(networks.showdown_inputs)(view.following),
        "folds": jax.vmap(lambda row: networks.fold_inputs(row, 1.0, reading.raises))(
            view.following
        ),
        "state": reading.state,
        "wins": 2 * ashe.showdown_exponents(parts.showdown, view) - 1,
        "fold_net": 2 * ashe.fold_exponents(parts.fold, view, street, odds) - 1,
    }


def play(deals, policy, weights):
    """Hands one after the other: their steps, what the networks have said, and the memories."""
    memories = tuple(PLAYER.begin(own) for own in weights)
    hands, tables = [], []
    for number in range(len(deals.winner)):
        key = jax.random.fold_in(jax.random.key(2), number)
        deal = deal_of(deals, number)
        hand = play_hand(PLAYER, policy, PLAYER.rules, weights, key, memories, deal)
        memories = hand.memories
        hands.append((hand.steps, hand.endings))
        if number % TABLES == TABLES - 1:
            tables.append([np.array(memory.table) for memory in memories])
    steps, endings = jax.tree.map(lambda *leaves: np.stack(leaves), *hands)
    numbers = jax.jit(jax.vmap(jax.vmap(functools.partial(network_numbers, weights))))
    return steps, endings, jax.device_get(numbers(steps, steps.observation.seat)), tables


@pytest.fixture(scope="module")
def weights():
    return tuple(draw_weights(3, 2))


@pytest.fixture(scope="module")
def wandered(deals, weights):
    return play(deals, wander, weights)


def at(tree, *place):
    return jax.tree.map(lambda leaf: leaf[place], tree)


def follow(played, weights) -> Iterator[tuple[str, Any]]:
    """Run the references along; yields each decision and, after each hand, the references."""
    steps, endings, numbers, _ = played
    players = [Reference(np.asarray(own)) for own in weights]
    for hand in range(len(steps.move.made)):
        for seat, player in enumerate(players):
            player.begin_hand(seat)
        for place in range(steps.move.made.shape[1]):
            step = at(steps, hand, place)
            if not step.move.made:
                break
            player = players[int(step.move.seat)]
            player.reach(int(step.move.street))
            yield "decision", (step, at(numbers, hand, place), player)
            move = step.move
            for player in players:
                player.watch(
                    int(move.street),
                    int(move.seat),
                    int(move.action),
                    int(move.own),
                    int(move.other),
                    int(move.total),
                )
        for player, ending in zip(players, at(endings, hand), strict=True):
            player.end_hand(int(ending.folded), ending.other_strengths)
        yield "hand", players


EDGES = {"call": 1, **{f"bucket {number}": number for number in (2, 3, 4, 5)}, "all-in": 6}


def sequences_of(player, action):
    edge = next(name for name, number in EDGES.items() if number == action)
    return player.sequences[player.street], (*player.sequences[player.street], edge)


def test_what_the_networks_say(wandered, weights):
    worst = np.zeros(2)  # the showdown's, the folds'
    for event, facts in follow(wandered, weights):
        if event != "decision":
            continue
        step, numbers, player = facts
        for place, action in enumerate(pattern_tree.ACTIONS_IN_PLACE):
            if not step.observation.legal[action]:
                continue
            _, following = sequences_of(player, action)
            worst[0] = max(worst[0], abs(player.showdown_net(following) - numbers["wins"][place]))
            if action != 1:
                total, other = step.observation.totals[action], step.observation.other
                said = player.fold_net(following, (total - other) / (2 * total))
                worst[1] = max(worst[1], abs(said - numbers["fold_net"][place]))
    assert (worst < 2e-5).all()


@pytest.mark.slow
def test_what_the_networks_see(wandered, weights):
    decisions = streets = seen = 0
    for event, facts in follow(wandered, weights):
        if event != "decision":
            continue
        step, numbers, player = facts
        street = int(step.observation.street)
        decisions, streets = decisions + 1, streets | (1 << street)
        close = functools.partial(np.testing.assert_allclose, atol=2e-5)
        for place, action in enumerate(pattern_tree.ACTIONS_IN_PLACE):
            if not step.observation.legal[action]:
                continue
            sequence, following = sequences_of(player, action)
            close(numbers["current"], player.showdown_inputs(street, sequence))
            close(numbers["following"][place], player.showdown_inputs(street, following))
            close(numbers["folds"][place], player.fold_inputs(street, following, 1.0))
            seen += player.frequency(street, following) > 0
        # The state before the present node: all that comes before it has been read.
        player.showdown_lstm.reset()
        for inputs in player.showdown_sequence(("none",))[:-1]:
            player.showdown_lstm.step(inputs)
        close(numbers["state"].cells, player.showdown_lstm.cell)
        close(numbers["state"].outputs, player.showdown_lstm.output)
    assert decisions > 4 * HANDS
    assert streets == 0b1111
    assert seen > HANDS


def test_trees(wandered, weights):
    *_, tables = wandered
    players = []
    for hand, (_, players) in enumerate(
        facts for facts in follow(wandered, weights) if facts[0] == "hand"
    ):
        if hand % TABLES != TABLES - 1:
            continue
        for player, found in zip(players, tables[hand // TABLES], strict=True):
            left = found.copy()
            for (seat, street), tree in player.trees.items():
                for sequence, node in tree.items():
                    number = 0
                    for edge in sequence:
                        place = pattern_tree.PLACES[EDGES[edge] - 1]
                        number = SHAPE.first_children[number] + place
                    row = (4 * seat + street) * SHAPE.num_nodes + number
                    np.testing.assert_allclose(found[row], node.numbers(), atol=2e-5)
                    left[row] = 0
            assert not left.any()  # no other node has been written to
    assert max(len(tree) for player in players for tree in player.trees.values()) > LARGE


def compare_utilities(played, weights):
    steps = played[0]
    decisions, chosen = 0, np.zeros(7, int)
    for event, facts in follow(played, weights):
        if event != "decision":
            continue
        step, _, player = facts
        told = step.observation
        expected = player.utilities(told.own, told.other, told.totals, told.strength, told.legal)
        strength, odds = (
            step.observation.strength,
            0.5 - step.observation.other / (2 * np.maximum(step.observation.totals, 1)),
        )
        # Where the strength is just what a raise asks for, the utility jumps.
        clear = abs(strength - np.sqrt(np.maximum(odds, 0))) > 1e-5
        legal = step.observation.legal
        assert (np.isneginf(step.utilities) == ~legal).all()
        both = legal & clear
        np.testing.assert_allclose(step.utilities[both], expected[both], rtol=1e-3, atol=1.0)
        if clear.all():
            assert expected[step.wanted] >= expected.max() - max(1.0, 1e-3 * abs(expected.max()))
        assert legal[step.wanted]
        decisions, chosen[step.wanted] = decisions + 1, chosen[step.wanted] + 1
    assert decisions == steps.move.made.sum()
    return decisions, chosen


def test_utilities_and_decisions(wandered, weights):
    decisions, chosen = compare_utilities(wandered, weights)
    assert decisions > 4 * HANDS
    assert (chosen > 0).sum() >= 4


@pytest.mark.slow
def test_utilities_and_decisions_of_played_hands(deals):
    pair = tuple(draw_weights(4, 2))
    played = play(deals, None, pair)
    compare_utilities(played, pair)
    # The driver plays the same hands, and leaves the same trees.
    lane = play_lane((PLAYER, PLAYER), pair, jax.random.key(2), deals, SEATINGS[0], PLAYER.rules)
    assert (lane.winnings == np.asarray(played[1][0].winnings)).all()
    for memory, found in zip(lane.memories, played[3][-1], strict=True):
        np.testing.assert_allclose(memory.table, found, atol=1e-6)


def test_a_street_has_one_node_for_each_sequence():
    """All sequences of a street that begins with one big blind, found with other code."""
    stack = PLAYER.rules.stack
    counts = np.zeros(SHAPE.num_nodes, int)

    def walk(node, highest, opened):
        counts[node] += 1
        first = SHAPE.first_children[node]
        if first == 0:
            return
        if highest < stack:
            for size in (2, 3, 4, 5):
                if size * highest < stack:
                    walk(first + size, size * highest, True)
            walk(first + 1, stack, True)
        if opened:
            counts[first] += 1
            assert SHAPE.first_children[first] == 0
        else:
            walk(first, highest, True)

    walk(0, PLAYER.rules.big_blind, False)
    assert (counts == 1).all()
