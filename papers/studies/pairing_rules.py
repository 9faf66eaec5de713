"""Rules of who plays next, for the study of tournaments. Axes: K players, m matches, n games.

Each says ``matches(key, own, table, now) -> int32 [m], int32 [m]``, who plays whom in the
next step, and counts what comes out in ``told``, where it keeps numbers of its own.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.dueling import DoubleThompson, Rucb
from jaxrace.evidence import pairing


@dataclasses.dataclass(frozen=True)
class Library:
    """The library's rule."""

    goal: pairing.TournamentGoal

    def begin(self) -> Any:
        """Before the first game."""
        return ()

    def matches(self, key: Any, own: Any, table: Any, now: Any) -> tuple[Any, Any]:
        """Who plays next."""
        first, second = pairing.next_pair(table, now, self.goal, jnp)
        return first[None], second[None]

    def told(self, key: Any, own: Any, first: Any, second: Any, results: Any) -> Any:
        """After the results, float [m, n]: 1, 0 and -1."""
        return own


class RoundRobin(Library):
    """Each with each, again and again."""

    def matches(self, key: Any, own: Any, table: Any, now: Any) -> tuple[Any, Any]:
        """Who plays next."""
        first, second = np.triu_indices(self.goal.num_players, 1)
        return jnp.asarray(first, jnp.int32), jnp.asarray(second, jnp.int32)


class Swiss(Library):
    """From the top of the standings each meets whom it has met least, of these the nearest."""

    def matches(self, key: Any, own: Any, table: Any, now: Any) -> tuple[Any, Any]:
        """Who plays next."""
        size = self.goal.num_players
        points = table.sums.sum(1) / jnp.maximum(table.met.sum(1), 1).astype(float)
        order = jnp.argsort(-points)
        met = table.met[order][:, order]  # by place
        place = jnp.arange(size)

        def pair(free: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            one = free.argmax()
            rivals = free & (place != one)
            other = jnp.where(rivals, met[one] * size + place, 2**31 - 1).argmin()
            return free & (place != one) & (place != other), jnp.stack([one, other])

        pairs = lax.scan(pair, jnp.ones(size, bool), None, size // 2)[1]
        return order[pairs[:, 0]], order[pairs[:, 1]]


class Oracle(Library):
    """Who knows the best, who are first in number: the pairs that have to be decided, no other."""

    def matches(self, key: Any, own: Any, table: Any, now: Any) -> tuple[Any, Any]:
        """Who plays next."""
        best = jnp.arange(self.goal.num_players) < (self.goal.top or 0)
        cross = best[:, None] & ~best & ~now.over
        met = jnp.where(cross, table.met, 2**31 - 1)
        place = met.reshape(-1).argmin()
        first, second = jnp.divmod(place, self.goal.num_players)
        return first[None], second[None]


class OfDuels(Library):
    """A rule of ``dueling``: a draw is decided by a coin; nobody plays against itself.

    Where the rule has an arm duel itself, it meets the rival of the largest upper bound.
    """

    kind: type = Rucb

    @property
    def algorithm(self) -> Any:
        """The rule."""
        return self.kind(self.goal.num_players)

    def begin(self) -> Any:
        """Before the first duel."""
        return self.algorithm.init(self.algorithm.params())

    def matches(self, key: Any, own: Any, table: Any, now: Any) -> tuple[Any, Any]:
        """Who plays next."""
        algorithm, params = self.algorithm, self.algorithm.params()
        first, second = algorithm.choose(algorithm.draw(key), own, params)
        duels = jnp.maximum(own.duels[first], 1).astype(jnp.float32)
        width = jnp.sqrt(params.alpha * algorithm.log_time(own.time) / duels)
        upper = jnp.where(own.duels[first] > 0, own.wins[:, first] / duels + width, 2.0)
        rival = jnp.where(jnp.arange(len(upper)) == first, -1.0, upper).argmax()
        second = jnp.where(second == first, rival, second)
        return first[None].astype(jnp.int32), second[None].astype(jnp.int32)

    def told(self, key: Any, own: Any, first: Any, second: Any, results: Any) -> Any:
        """After the duels."""
        algorithm, params = self.algorithm, self.algorithm.params()
        pair = jnp.stack([first[0], second[0]])
        coins = jax.random.bernoulli(key, shape=results[0].shape)

        def tell(own: Any, won: jax.Array) -> tuple[Any, None]:
            return algorithm.tell(own, pair, won, params), None

        return lax.scan(tell, own, (results[0] > 0) | ((results[0] == 0) & coins))[0]


class RucbRule(OfDuels):
    """RUCB."""


class DtsRule(OfDuels):
    """Double Thompson sampling."""

    kind = DoubleThompson


RULES = {
    "library": Library,
    "who knows": Oracle,
    "round robin": RoundRobin,
    "Swiss": Swiss,
    "RUCB": RucbRule,
    "DTS": DtsRule,
}
