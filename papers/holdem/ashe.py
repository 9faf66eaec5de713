"""ASHE: the adaptive player for hold'em of Li and Miikkulainen, with weights for evolution.

At a decision, it looks at the nodes of this hand in the trees of its opponent (`pattern_tree`), and
at the node that each action would lead to. Two networks (`networks`) turn them into exponents,
which bend the strength of its hand and the share of folds; the action of the largest expected
utility (`utility`) is played. Sources: Li and Miikkulainen, "Evolving adaptive poker players for
effective opponent exploitation" (AAAI workshops 2017) and "Opponent modeling and exploitation in
poker using evolved recurrent neural networks" (GECCO 2018), and the first author's code of 2017;
docs/papers/holdem.md tells what is from where. Axes: F = 6 statistics, C = 6 children of a node,
A = 7 actions, T steps of a hand.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.envs.holdem import abstraction
from jaxrace.envs.holdem.abstraction import ALL_IN, CALL, FOLD
from jaxrace.envs.holdem.betting import STREETS, Rules
from jaxrace.envs.holdem.table import Move, Observation
from papers.holdem import networks, pattern_tree, utility
from papers.holdem.lanes import Ending
from papers.holdem.networks import Network, State
from papers.holdem.pattern_tree import ACTIONS_IN_PLACE, FREQUENCY, ROOT, Path
from papers.holdem.policies import pot_odds

_ORDER = np.array(ACTIONS_IN_PLACE, np.int32)


class Memory(NamedTuple):
    """What lasts from hand to hand."""

    table: jax.Array  # float32 [rows, F], see `pattern_tree`
    showdown: Network  # the weights that read along with a hand


class Reading(NamedTuple):
    """What the networks know of a hand so far."""

    current: jax.Array  # float32 [F], statistics of the present node, this visit counted
    state: State  # of the showdown network after all nodes before
    leaves: jax.Array  # float32 [3, F], the last node of each street that is over
    leaf_raises: jax.Array  # float32 [3], of the opponent on those streets
    raises: jax.Array  # float32 [], of the opponent on this street


class Notes(NamedTuple):
    """Of the hand that is being played."""

    seat: jax.Array  # int32 []
    moves: jax.Array  # int32 [], how many so far
    rows: jax.Array  # int32 [T], of the nodes that they have led to
    node: jax.Array  # int32 [], the present one, in the tree of its street
    reading: Reading


class View(NamedTuple):
    """What a decision needs."""

    reading: Reading
    following: jax.Array  # float32 [C, F], statistics of the nodes that actions lead to


@dataclasses.dataclass(frozen=True)
class Ashe:
    """The evolved player. Its weights are float32 [1449], see `papers.holdem.networks`.

    It is a `papers.holdem.lanes.Player`, and needs decks with strengths. The rules are those
    of the games it plays; they give its trees their shape.

    >>> from jaxrace.envs import holdem
    >>> from papers.holdem.lanes import play_lane
    >>> decks, ashe = holdem.deal(jax.random.key(0), 20), Ashe(Rules(stack=400))
    >>> deals = holdem.prepare(decks, jnp.full((4, 2, 20), 0.5))  # or strengths(key, decks)
    >>> weights = tuple(jax.random.normal(jax.random.key(2), (2, networks.NUM_WEIGHTS)))
    >>> rest = jax.random.key(3), deals, holdem.SEATINGS[0], ashe.rules
    >>> play_lane((ashe, ashe), weights, *rest).winnings.shape
    (20,)
    """

    rules: Rules = Rules()  # noqa: RUF009, which is frozen

    def begin(self, weights: jax.Array) -> Memory:
        """Empty trees; ValueError unless the weights are float32 [1449]."""
        return Memory(pattern_tree.empty(self._shape), networks.split(weights).showdown)

    def begin_hand(self, memory: Memory, seat: jax.Array) -> Notes:
        """The notes before the first action."""
        root = pattern_tree.row_of(self._shape, seat, jnp.int32(0), ROOT)
        num_leaves = len(STREETS) - 1
        reading = Reading(
            current=memory.table[root],
            state=memory.showdown.recurrent.first,
            leaves=jnp.zeros((num_leaves, pattern_tree.NUM_STATISTICS), jnp.float32),
            leaf_raises=jnp.zeros(num_leaves, jnp.float32),
            raises=jnp.float32(0),
        )
        rows = jnp.zeros(abstraction.longest_hand(self.rules), jnp.int32)
        return Notes(seat, moves=jnp.int32(0), rows=rows, node=jnp.int32(ROOT), reading=reading)

    def look(self, memory: Memory, notes: Notes, observation: Observation) -> View:
        """The statistics of the nodes that a decision is about."""
        root = pattern_tree.row_of(self._shape, notes.seat, observation.street, ROOT)
        children = pattern_tree.children(memory.table, self._shape, root, notes.node)
        return View(notes.reading, children)

    def decide(
        self, key: jax.Array, weights: jax.Array, view: View, observation: Observation
    ) -> jax.Array:
        """The legal action of the largest utility, int32 []; the lowest number of equals."""
        del key
        return jnp.argmax(self.utilities(weights, view, observation)).astype(jnp.int32)

    def utilities(self, weights: jax.Array, view: View, observation: Observation) -> jax.Array:
        """What each action is expected to win, in chips since the start of the hand.

        Float32 [A], minus infinity where an action is not legal.
        """
        parts = networks.split(weights)
        totals, other = observation.totals[_ORDER], observation.other
        is_all_in = jnp.asarray(_ORDER == ALL_IN)
        odds = pot_odds(totals, other)
        raised = utility.raised_strength(observation.strength, odds, is_all_in)
        strength = jnp.where(_ORDER == CALL, observation.strength, raised)
        wins = utility.win_rate(strength, showdown_exponents(parts.showdown, view))
        folds = utility.fold_rate(
            view.following,
            odds,
            observation.street,
            fold_exponents(parts.fold, view, observation.street, odds),
        )
        found = jnp.where(
            _ORDER == CALL,
            (2 * wins - 1) * other.astype(jnp.float32),
            utility.of_raise(wins, folds, totals, other),
        )
        folding = -observation.own.astype(jnp.float32)
        by_action = jnp.append(folding, found[np.array(pattern_tree.PLACES)])
        return jnp.where(observation.legal, by_action, -jnp.inf)

    def watch(self, memory: Memory, notes: Notes, move: Move) -> Notes:
        """The notes at the next node: of this street, or the root of the next one."""
        shape, table, reading = self._shape, memory.table, notes.reading
        recurrent = memory.showdown.recurrent
        # The root is counted by the first action of its street, the others when they are reached.
        current = _count(reading.current, notes.node == ROOT)
        before = networks.step(recurrent, reading.state, networks.showdown_inputs(current))
        child = pattern_tree.child_of(shape, notes.node, move.action)
        row = pattern_tree.row_of(shape, notes.seat, move.street, child)
        reached = _count(table[row], jnp.asarray(True))
        raised = (move.seat != notes.seat) & (move.action > CALL)
        raises = reading.raises + raised.astype(jnp.float32)

        # A street is over after a call that is not its first action; the leaf is read at once.
        closes = (move.action == CALL) & (notes.node != ROOT)
        after = networks.step(recurrent, before, networks.showdown_inputs(reached))
        following = jnp.minimum(move.street + 1, len(STREETS) - 1)
        root = table[pattern_tree.row_of(shape, notes.seat, following, ROOT)]
        is_leaf = closes & (jnp.arange(len(STREETS) - 1, dtype=jnp.int32) == move.street)
        places = jnp.arange(notes.rows.shape[0], dtype=jnp.int32)
        return Notes(
            seat=notes.seat,
            moves=notes.moves + 1,
            rows=jnp.where(places == notes.moves, row, notes.rows),
            node=jnp.where(closes, ROOT, child),
            reading=Reading(
                current=jnp.where(closes, root, reached),
                state=jax.tree.map(lambda new, old: jnp.where(closes, new, old), after, before),
                leaves=jnp.where(is_leaf[:, None], reached, reading.leaves),
                leaf_raises=jnp.where(is_leaf, raises, reading.leaf_raises),
                raises=jnp.where(closes, 0, raises),
            ),
        )

    def end_hand(self, memory: Memory, notes: Notes, ending: Ending) -> Memory:
        """The memory with what this hand has told."""
        moves = ending.moves
        streets = jnp.arange(len(STREETS), dtype=jnp.int32)
        roots = pattern_tree.row_of(self._shape, notes.seat, streets, ROOT)
        visited = jnp.any(moves.made & (moves.street == streets[:, None]), axis=1)
        path = Path(
            rows=jnp.concatenate([roots, notes.rows]),
            streets=jnp.concatenate([streets, moves.street]),
            visited=jnp.concatenate([visited, moves.made & (moves.action != FOLD)]),
        )
        table = pattern_tree.record(
            memory.table,
            path,
            opponent_folded=ending.folded == 1 - notes.seat,
            own_folded=ending.folded == notes.seat,
            shown_strengths=ending.other_strengths,
        )
        return memory._replace(table=table)

    @property
    def _shape(self) -> pattern_tree.Shape:
        return pattern_tree.shape_of(self.rules)


def _count(statistics: jax.Array, visited: jax.Array) -> jax.Array:
    """Statistics with one more visit, where there is one."""
    is_frequency = jnp.arange(pattern_tree.NUM_STATISTICS, dtype=jnp.int32) == FREQUENCY
    return statistics + (is_frequency & visited).astype(jnp.float32)


def showdown_exponents(network: Network, view: View) -> jax.Array:
    """What bends the strength of the hand after each action, float32 [C]."""
    inputs = networks.showdown_inputs(view.reading.current)
    current = networks.step(network.recurrent, view.reading.state, inputs)

    def of(following: jax.Array) -> jax.Array:
        # A node that has never been reached is left out.
        state = networks.step(network.recurrent, current, networks.showdown_inputs(following))
        outputs = jnp.where(following[FREQUENCY] > 0, state.outputs, current.outputs)
        return networks.exponent(network, outputs)

    return jax.vmap(of)(view.following)


def fold_exponents(network: Network, view: View, street: jax.Array, odds: jax.Array) -> jax.Array:
    """What bends the share of folds after each action, float32 [C]; after a call it is not used."""
    reading, state = view.reading, network.recurrent.first
    for earlier in range(len(STREETS) - 1):
        # 1 is the influence of the node that would come next, and it halves with every step back.
        influence = jnp.exp2((earlier - street).astype(jnp.float32))
        inputs = networks.fold_inputs(
            reading.leaves[earlier], influence, reading.leaf_raises[earlier]
        )
        stepped = networks.step(network.recurrent, state, inputs)
        state = jax.tree.map(
            lambda new, old, over=earlier < street: jnp.where(over, new, old), stepped, state
        )

    def of(following: jax.Array, odds: jax.Array) -> jax.Array:
        # In place of a node that has never been reached, the present one.
        reached = following[FREQUENCY] > 0
        inputs = networks.fold_inputs(
            jnp.where(reached, following, reading.current),
            jnp.where(reached, 1, 0.5),
            reading.raises,
        )
        outputs = networks.step(network.recurrent, state, inputs).outputs
        return networks.exponent(network, jnp.append(outputs, networks.centered(odds)))

    return jax.vmap(of)(view.following, odds)
