"""The evolved player once more: NumPy, float64, dictionaries, one hand of one player at a time.

Nothing is shared with the player in JAX but the numbers of the actions. Sizes are put into buckets
by the chips that were bet, sequences are run through the networks from their first entry each time.
"""

import dataclasses
import math

import numpy as np

FOLD, CALL, ALL_IN = 0, 1, 6
BUTTON, BIG_BLIND = 0, 1
BUCKETS = (0.25, 0.40, 0.56, 0.66, 0.75)
PREFLOP_TO_RIVER = (0.0, 0.6, 0.8, 1.0)


@dataclasses.dataclass
class Node:
    """Statistics of one betting sequence of a street."""

    frequency: int = 0
    opponent_folded: int = 0
    own_folded: int = 0
    strengths: list = dataclasses.field(default_factory=list)  # shown by the opponent

    def numbers(self):
        """What the tree of the library keeps: counts, mean, sum of squared deviations."""
        shown = len(self.strengths)
        mean = float(np.mean(self.strengths)) if shown else 0.0
        squares = float(np.sum((np.array(self.strengths) - mean) ** 2)) if shown else 0.0
        return (
            self.frequency,
            self.opponent_folded,
            self.own_folded,
            shown,
            mean,
            squares,
        )


def edge_of(action, own, other, total, stack):
    """How an action is called in a sequence; None for a fold, which leads nowhere."""
    if action == FOLD:
        return None
    if total == max(own, other):
        return "call"
    if total == stack:
        return "all-in"
    pots = (total - max(own, other)) / (2 * max(own, other))
    part = pots / (1 + pots)
    return f"bucket {1 + sum(part >= cut for cut in BUCKETS)}"


class Lstm:
    """With peepholes; begins with states of its own, puts out its cells without another tanh."""

    def __init__(self, numbers, inputs, cells):
        take = iter(np.asarray(numbers, np.float64))

        def matrix(rows, columns):
            return np.array([[next(take) for _ in range(columns)] for _ in range(rows)])

        kernel = matrix(inputs + cells + 1, 4 * cells)
        blocks = np.split(kernel, 4, axis=1)  # input gate, forget gate, candidate, output gate
        self.into = [block[:inputs].T for block in blocks]
        self.back = [block[inputs : inputs + cells].T for block in blocks]
        self.bias = [block[-1] for block in blocks]
        self.peepholes = matrix(3, cells)  # of the input, forget and output gates
        self.first_cell, self.first_output = matrix(2, cells)
        rest = np.array(list(take))
        self.rest = rest
        self.reset()

    def reset(self):
        self.cell, self.output = self.first_cell, self.first_output

    def step(self, inputs):
        def drive(gate):
            return self.into[gate] @ inputs + self.back[gate] @ self.output + self.bias[gate]

        opened = logistic(drive(0) + self.peepholes[0] * self.cell)
        kept = logistic(drive(1) + self.peepholes[1] * self.cell)
        cell = kept * self.cell + opened * np.tanh(drive(2))
        self.output = logistic(drive(3) + self.peepholes[2] * cell) * cell
        self.cell = cell


def logistic(x):
    return (1 + np.tanh(x / 2)) / 2


def perceptron(numbers, features):
    """Seven units with tanh, and one."""
    hidden = np.asarray(numbers, np.float64)[: 7 * (len(features) + 1)].reshape(-1, 7)
    last = np.asarray(numbers, np.float64)[7 * (len(features) + 1) :]
    assert last.shape == (8,)
    return math.tanh(last[:7] @ np.tanh(features @ hidden[:-1] + hidden[-1]) + last[7])


class Player:
    """One player, who gets to know one opponent."""

    def __init__(self, weights, stack=20_000):
        self.showdown_lstm = Lstm(weights[:815], 6, 10)
        self.fold_lstm = Lstm(weights[815:], 4, 9)
        self.stack = stack
        self.trees = {}  # (seat, street) -> sequence of edges -> Node

    def node(self, street, sequence):
        """The one that has been there before, or an empty one that is not kept."""
        return self.trees.get((self.seat, street), {}).get(sequence, Node())

    def begin_hand(self, seat):
        self.seat = seat
        self.street = 0
        self.sequences: dict[int, tuple[str, ...]] = {0: ()}  # of the streets so far
        self.counted = {}  # (street, sequence) of this hand's nodes, in their order
        self.opponent_raises = {0: 0}

    def watch(self, street, actor, action, own, other, total):
        """See an action of either player."""
        self.reach(street)
        sequence = self.sequences[street]
        self.counted[street, sequence] = True  # the root; the others are there already
        edge = edge_of(action, own, other, total, self.stack)
        if edge is None:
            return
        if edge != "call" and actor != self.seat:
            self.opponent_raises[street] += 1
        self.sequences[street] = (*sequence, edge)
        self.counted[street, self.sequences[street]] = True

    def reach(self, street):
        """Be on a street, before its first action or later."""
        self.street = street
        self.sequences.setdefault(street, ())
        self.opponent_raises.setdefault(street, 0)

    def end_hand(self, folded, strengths):
        """Be told who has folded, -1 for nobody, and the opponent's strengths on all streets."""
        for street, sequence in self.counted:
            tree = self.trees.setdefault((self.seat, street), {})
            node = tree.setdefault(sequence, Node())
            node.frequency += 1
            if folded == self.seat:
                node.own_folded += 1
            elif folded == 1 - self.seat:
                node.opponent_folded += 1
            else:
                node.strengths.append(float(strengths[street]))

    def frequency(self, street, sequence):
        now = 1 if (street, sequence) in self.counted else 0
        return self.node(street, sequence).frequency + now

    def showdown_inputs(self, street, sequence):
        node, frequency = self.node(street, sequence), self.frequency(street, sequence)
        shown = len(node.strengths)
        numbers = [
            shown / frequency if frequency else 0.0,
            node.own_folded / frequency if frequency else 0.0,
            np.mean(node.strengths) if shown else 0.0,
            np.std(node.strengths) / 0.5 if shown >= 2 else 0.0,
            math.tanh(0.1 * frequency),
            math.tanh(0.2 * shown),
        ]
        return 2 * np.array(numbers) - 1

    def fold_inputs(self, street, sequence, influence):
        node, frequency = self.node(street, sequence), self.frequency(street, sequence)
        numbers = [
            node.opponent_folded / frequency if frequency else 0.0,
            math.tanh(0.1 * frequency),
            influence,
            math.tanh(self.opponent_raises[street]),
        ]
        return 2 * np.array(numbers) - 1

    def showdown_sequence(self, following):
        """What the showdown estimator is shown, given the sequence that an action leads to."""
        found = []
        for street in range(self.street + 1):
            edges = self.sequences[street]
            found += [
                self.showdown_inputs(street, edges[:length]) for length in range(len(edges) + 1)
            ]
        if self.frequency(self.street, following) > 0:
            found.append(self.showdown_inputs(self.street, following))
        return found

    def fold_sequence(self, following):
        length = self.street + 1
        found = [
            self.fold_inputs(street, self.sequences[street], 0.5 ** (length - street - 1))
            for street in range(self.street)
        ]
        if self.frequency(self.street, following) > 0:
            found.append(self.fold_inputs(self.street, following, 1.0))
        else:
            found.append(self.fold_inputs(self.street, self.sequences[self.street], 0.5))
        return found

    def showdown_net(self, following):
        lstm = self.showdown_lstm
        lstm.reset()
        for inputs in self.showdown_sequence(following):
            lstm.step(inputs)
        return perceptron(lstm.rest, lstm.output)

    def fold_net(self, following, odds):
        lstm = self.fold_lstm
        lstm.reset()
        for inputs in self.fold_sequence(following):
            lstm.step(inputs)
        return perceptron(lstm.rest, np.append(lstm.output, 2 * odds - 1))

    def utility(self, action, own, other, total, strength):
        """In chips, since the start of the hand."""
        if action == FOLD:
            return -float(own)
        edge = edge_of(action, own, other, total, self.stack)
        following = (*self.sequences[self.street], edge)
        odds = (total - other) / (2 * total)
        adjusted = strength
        if edge != "call":
            below = math.sqrt(odds) if edge == "all-in" else odds
            adjusted = 0.0
            if strength >= math.sqrt(odds):
                adjusted = 1 - (1 - strength) / (1 - below)
        win = adjusted ** (1 / ((1 + self.showdown_net(following)) / 2))
        if edge == "call":
            return (2 * win - 1) * other
        node = self.node(self.street, following)
        prior = odds * (1 + PREFLOP_TO_RIVER[self.street])
        seen = node.opponent_folded / node.frequency if node.frequency else 0.0
        trust = min(node.frequency / 10, 1.0)
        base = trust * seen + (1 - trust) * prior
        fold = base ** ((1 + self.fold_net(following, odds)) / 2)
        return fold * other + (1 - fold) * (2 * win - 1) * total

    def utilities(self, own, other, totals, strength, legal):
        """Of the legal ones of the seven actions; minus infinity for the others."""
        return np.array(
            [
                self.utility(action, int(own), int(other), int(totals[action]), float(strength))
                if legal[action]
                else -np.inf
                for action in range(7)
            ]
        )
