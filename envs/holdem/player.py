"""What a player with memory is, and how a policy becomes one. Axes: T steps of a hand.

A player is a frozen, hashable object of what is static, with pure methods for one hand of one
lane; its weights, a pytree, are passed in. Its *memory*, any pytree, lasts from hand to hand, and
is written once, in `end_hand`: what is written in every step is copied in every step. Its *notes*
are of the hand that is being played. `look` gathers from both what a decision needs, and `decide`
sees nothing else of them: its inputs stay small, and it can be run for whoever is to act.
"""

import dataclasses
from typing import Any, NamedTuple, Protocol

import jax
from jax import lax

from jaxrace.envs.holdem.policies import Policy
from jaxrace.envs.holdem.table import Move, Observation


class Ending(NamedTuple):
    """What a player is told at the end of a hand."""

    moves: Move  # leaves [T], those of both players
    winnings: jax.Array  # int32 [], its own
    folded: jax.Array  # int32 [], the seat that has folded, or -1: then hands were shown
    other_strengths: jax.Array  # float32 [4], of the opponent's if it was shown, else 0


class Player(Protocol):
    """What the driver of lanes calls, see `jaxrace.envs.holdem.lanes`; all methods are pure."""

    def begin(self, weights: Any) -> Any:
        """The memory before the first hand."""

    def begin_hand(self, memory: Any, seat: jax.Array) -> Any:
        """The notes before a hand begins; `seat` is 0 on the button, 1 in the big blind."""

    def look(self, memory: Any, notes: Any, observation: Observation) -> Any:
        """What `decide` needs of memory and notes: the view, a pytree of small arrays.

        Called when the opponent is to act as well; then the observation is the opponent's, and the
        view is dropped.
        """

    def decide(
        self, key: jax.Array, weights: Any, view: Any, observation: Observation
    ) -> jax.Array:
        """One of the seven actions, int32 []; it has to be legal."""
        ...

    def watch(self, memory: Any, notes: Any, move: Move) -> Any:
        """The notes after an action of either player; dropped where it was not made."""

    def end_hand(self, memory: Any, notes: Any, ending: Ending) -> Any:
        """The memory after a hand: the only place where it changes."""


class _WithoutMemory:
    """A player that remembers nothing; what it decides is up to the subclass."""

    def begin(self, *_: Any, **__: Any) -> tuple[()]:
        """Return neither memory, notes nor view."""
        return ()

    begin_hand = look = watch = end_hand = begin


@dataclasses.dataclass(frozen=True)
class Memoryless(_WithoutMemory):
    """A player that plays by a policy and remembers nothing; its weights do not count."""

    policy: Policy

    def decide(
        self, key: jax.Array, weights: Any, view: Any, observation: Observation
    ) -> jax.Array:
        """The action of the policy."""
        del weights, view
        return self.policy(key, observation)


@dataclasses.dataclass(frozen=True)
class OneOf(_WithoutMemory):
    """A player that plays by one of several policies; its weights are the number of that one.

    So matches against different opponents are lanes of one program.
    """

    policies: tuple[Policy, ...]

    def decide(
        self, key: jax.Array, weights: jax.Array, view: Any, observation: Observation
    ) -> jax.Array:
        """The action of policy number ``weights``, int32 []."""
        del view
        return lax.switch(weights, self.policies, key, observation)
