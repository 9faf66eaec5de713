"""What small tasks of the tests have in common."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class SmallTask:
    """A task whose state is what is seen of it."""

    horizon: int = 1
    continues_after_terminal: bool = False

    def observe(self, state, params):
        return state


@dataclasses.dataclass(frozen=True)
class Parameters:
    """The action is theta itself."""

    def example(self):
        return np.zeros(2, np.float32)

    def __call__(self, theta, observation, key):
        return theta
