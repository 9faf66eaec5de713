"""Playing at random: what every algorithm should beat. Axes: K arms."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.dueling.base import Algorithm
from jaxrace.dueling.counts import CountedState, copeland_leader
from jaxrace.protocol import verb


@dataclasses.dataclass(frozen=True)
class Uniform(Algorithm):
    """Two different arms at random; recommends the one that seems to beat most others.

    >>> algorithm = Uniform(num_arms=3)
    >>> first, second = algorithm.ask(jax.random.key(0), algorithm.init(None), None)
    >>> bool(first != second)
    True
    """

    def params(self) -> None:
        """There are none."""

    @verb
    def init(self, params: None) -> CountedState:
        return CountedState.begin(self.num_arms)

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (2,), jnp.float32)

    def choose(self, noise: jax.Array, state: CountedState, params: None) -> jax.Array:
        count = jnp.array([self.num_arms, self.num_arms - 1], jnp.int32)
        places = (noise * count.astype(jnp.float32)).astype(jnp.int32)
        first, second = jnp.minimum(places, count - 1)
        return jnp.stack([first, second + (second >= first).astype(jnp.int32)])

    @verb
    def tell(self, state: CountedState, choice: Any, outcome: Any, params: None) -> CountedState:
        return state.with_duel(choice, outcome)

    @verb
    def recommend(self, state: CountedState, params: None) -> jax.Array:
        return copeland_leader(state)
