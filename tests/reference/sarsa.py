"""SARSA(lambda) with replacing traces, one dense table of traces for every episode.

Sutton and Barto, Reinforcement Learning (1998): figure 7.11 with the traces of section 7.8.
"""

import math

import numpy as np


def learn_episode(
    values,
    tau,
    horizon,
    reset,
    step,
    draw,
    learning_rate=0.1,
    exploration=0.2,
    trace_decay=0.95,
    discount=1.0,
    episodes_per_divisor=10,
):
    """Play and learn from episode number tau, from 1; `values` [C, A] change in place.

    `reset()` gives the first cell, `step(t, cell, action)` the next cell, the reward and whether
    the episode has ended, and `draw(t)` two numbers in [0, 1): whether to explore and where to.
    Returns the number of steps, how many of them went to a pair for the second time or later, and
    the smallest lead of a chosen action over the next best that was not exactly equal.
    """
    divisor = math.ceil(tau / episodes_per_divisor)
    alpha, epsilon = learning_rate / divisor, exploration / divisor
    fading = discount * trace_decay / divisor
    lead = math.inf

    def choose(t, cell):
        nonlocal lead
        chance, where = draw(t)
        lead = min([lead, *(values[cell].max() - values[cell][values[cell] < values[cell].max()])])
        if chance < epsilon:
            return int(where * values.shape[1])
        return int(np.argmax(values[cell]))

    traces = np.zeros_like(values)
    revisits = 0
    cell = reset()
    action = choose(0, cell)
    for t in range(1, horizon + 1):
        next_cell, reward, ended = step(t, cell, action)
        next_action = choose(t, next_cell)
        ended = ended or t == horizon
        target = reward if ended else reward + discount * values[next_cell, next_action]
        error = target - values[cell, action]
        revisits += traces[cell, action] > 0
        traces[cell, action] = 1
        values += alpha * error * traces
        traces *= fading
        if ended:
            return t, revisits, lead
        cell, action = next_cell, next_action
    raise AssertionError("the last step ends an episode")
