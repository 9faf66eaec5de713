"""What small tasks of the tests have in common."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class SmallTask:
    """A task whose state is what is seen of it."""

    horizon: int = 1
    continues_after_terminal: bool = False

    def observe(self, state, params):
        return state
