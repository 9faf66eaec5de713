"""The two networks of the evolved player: showdown win rate and opponent fold rate.

Either one is a recurrent layer with peepholes (LSTM) that reads a sequence of nodes of the pattern
trees, and a small perceptron: seven hidden units and one output, all with tanh; that of the fold
rate also sees the pot odds of the opponent. What the recurrent layer starts from are weights, too;
its output is the cell times the output gate, without another tanh. All inputs are mapped from [0,
1] to [-1, 1]. docs/jax/holdem.md has the layout of the weights. Axes: I inputs, D cells, F = 6
statistics.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from jaxrace.core.validation import BadArgument
from papers.holdem import pattern_tree

HIDDEN_UNITS = 7
# (inputs, cells, inputs of the perceptron)
_SHOWDOWN_SIZES = 6, 10, 10
_FOLD_SIZES = 4, 9, 9 + 1


class State(NamedTuple):
    """Of a recurrent layer."""

    cells: jax.Array  # float32 [D]
    outputs: jax.Array  # float32 [D]


class Recurrent(NamedTuple):
    """The weights of a recurrent layer."""

    kernel: jax.Array  # float32 [I + D + 1, 4 * D]
    peepholes: jax.Array  # float32 [3, D]
    first: State


class Network(NamedTuple):
    """The weights of an estimator."""

    recurrent: Recurrent
    hidden: jax.Array  # float32 [features + 1, 7]
    output: jax.Array  # float32 [8]


class Networks(NamedTuple):
    """The weights of a player."""

    showdown: Network
    fold: Network


def _shapes(inputs: int, cells: int, features: int) -> list[tuple[int, ...]]:
    """Of the parts of a network, in the order of the weights."""
    kernel = (inputs + cells + 1, 4 * cells)
    return [kernel, (3, cells), (2, cells), (features + 1, HIDDEN_UNITS), (HIDDEN_UNITS + 1,)]


NUM_SHOWDOWN_WEIGHTS = sum(map(math.prod, _shapes(*_SHOWDOWN_SIZES)))
NUM_FOLD_WEIGHTS = sum(map(math.prod, _shapes(*_FOLD_SIZES)))
NUM_WEIGHTS = NUM_SHOWDOWN_WEIGHTS + NUM_FOLD_WEIGHTS


def split(weights: ArrayLike) -> Networks:
    """The parts of a weight vector, float32 [1449]; ValueError for another shape."""
    if jnp.shape(weights) != (NUM_WEIGHTS,):
        raise BadArgument("weights", f"shape ({NUM_WEIGHTS},)", f"{jnp.shape(weights)}")
    flat = jnp.asarray(weights, jnp.float32)
    return Networks(
        _split_network(flat[:NUM_SHOWDOWN_WEIGHTS], _shapes(*_SHOWDOWN_SIZES)),
        _split_network(flat[NUM_SHOWDOWN_WEIGHTS:], _shapes(*_FOLD_SIZES)),
    )


def _split_network(flat: jax.Array, shapes: list[tuple[int, ...]]) -> Network:
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = jnp.split(flat, ends[:-1])
    kernel, peepholes, first, hidden, output = (
        part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)
    )
    return Network(Recurrent(kernel, peepholes, State(*first)), hidden, output)


def step(recurrent: Recurrent, state: State, inputs: jax.Array) -> State:
    """The state of a recurrent layer after one more entry of a sequence, float32 [I]."""
    num_inputs = inputs.shape[0]
    kernel, peepholes = recurrent.kernel, recurrent.peepholes
    # What comes from the state first: it is the same for all that may follow.
    drive = kernel[-1] + _weighted(kernel[num_inputs:-1], state.outputs)
    drive = drive + _weighted(kernel[:num_inputs], inputs)
    into, forget, candidate, out = jnp.split(drive, 4)
    opened = jax.nn.sigmoid(into + peepholes[0] * state.cells)
    kept = jax.nn.sigmoid(forget + peepholes[1] * state.cells)
    cells = kept * state.cells + opened * jnp.tanh(candidate)
    return State(cells, jax.nn.sigmoid(out + peepholes[2] * cells) * cells)


def exponent(network: Network, features: jax.Array) -> jax.Array:
    """(1 + output) / 2 of the perceptron, float32 [], in [0, 1].

    Its features are the outputs of the recurrent layer, and the odds where they are seen.
    """
    hidden = jnp.tanh(network.hidden[-1] + _weighted(network.hidden[:-1], features))
    summed = network.output[-1] + jnp.sum(network.output[:-1] * hidden)
    # (1 + tanh(x)) / 2, without losing the digits of what is close to 0.
    return jax.nn.sigmoid(2 * summed)


def showdown_inputs(statistics: jax.Array) -> jax.Array:
    """What SWRE sees of a node with statistics [F], float32 [6]; shares are 0 without visits."""
    frequency, showdowns = statistics[pattern_tree.FREQUENCY], statistics[pattern_tree.SHOWDOWNS]
    reached = jnp.maximum(frequency, 1)
    # Of a number in [0, 1] it is at most 0.5. One showdown alone leaves 0.
    deviation = jnp.sqrt(statistics[pattern_tree.SQUARES] / jnp.maximum(showdowns, 1))
    inputs = [
        showdowns / reached,
        statistics[pattern_tree.OWN_FOLDED] / reached,
        statistics[pattern_tree.MEAN_STRENGTH],
        deviation / 0.5,
        jnp.tanh(0.1 * frequency),
        jnp.tanh(0.2 * showdowns),
    ]
    return centered(jnp.stack(inputs))


def fold_inputs(
    statistics: jax.Array, influence: jax.Array | float, opponent_raises: jax.Array
) -> jax.Array:
    """What OFRE sees of a node with statistics [F], float32 [4].

    The influence is in [0, 1]; the raises are those from the root of its tree to the node.
    """
    frequency = statistics[pattern_tree.FREQUENCY]
    inputs = [
        statistics[pattern_tree.OPPONENT_FOLDED] / jnp.maximum(frequency, 1),
        jnp.tanh(0.1 * frequency),
        jnp.asarray(influence, jnp.float32),
        jnp.tanh(opponent_raises),
    ]
    return centered(jnp.stack(inputs))


def centered(numbers: jax.Array) -> jax.Array:
    """From [0, 1] to [-1, 1]."""
    return 2 * numbers - 1


def _weighted(kernel: jax.Array, numbers: jax.Array) -> jax.Array:
    # Not the default precision, which on accelerators is less than float32.
    return jnp.dot(numbers, kernel, precision=lax.Precision.HIGHEST)
