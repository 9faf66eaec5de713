"""The Borda winner by a bandit whose arms pay: Urvoy et al. 2013, section 4.2. Axes: K arms."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxrace.core.protocol import verb
from jaxrace.dueling.base import Algorithm
from jaxrace.kernels import pick
from papers.savage.arms import ActionElimination, ArmState, EliminationParams
from papers.savage.questions import Best


@dataclasses.dataclass(frozen=True)
class BordaElimination(Algorithm):
    """Action elimination of arms that duel another arm at random, and are paid for each win.

    An arm pays with its Borda score as the probability, so K numbers have to be learned and not
    K (K - 1) / 2. The opponents are all others, dropped or not. The last arm duels itself.

    >>> from jaxrace.dueling import duels, matrices, run
    >>> algorithm, problem = BordaElimination(3), duels(matrices.flat(3, 0.9))
    >>> log = run(algorithm, jax.random.key(0), problem, 4000, algorithm.params(), records=1)
    >>> log.recommended.tolist(), bool(log.decided_at > 0)
    ([0], True)
    """

    @property
    def bandit(self) -> ActionElimination:
        """The bandit that is wrapped."""
        return ActionElimination(self.num_arms, Best(self.num_arms))

    @property
    def opening(self) -> int:
        return self.num_arms

    def params(self, delta: float = 0.05) -> EliminationParams:
        """``delta`` is the error probability."""
        return self.bandit.params(delta)

    @verb
    def init(self, params: EliminationParams) -> ArmState:
        return self.bandit.init(params)

    def draw(self, key: jax.Array) -> jax.Array:
        return jax.random.uniform(key, (), jnp.float32)

    def choose(self, noise: jax.Array, state: ArmState, params: EliminationParams) -> jax.Array:
        (arm,) = self.bandit.choose(noise, state, params)
        opponent = pick(jnp.arange(self.num_arms, dtype=jnp.int32) != arm, noise)
        return jnp.stack([arm, jnp.where(state.decided_at > 0, arm, opponent)])

    @verb
    def tell(
        self, state: ArmState, choice: Any, outcome: Any, params: EliminationParams
    ) -> ArmState:
        return self.bandit.tell(state, choice[:1], outcome, params)

    @verb
    def recommend(self, state: ArmState, params: EliminationParams) -> jax.Array:
        return self.bandit.recommend(state, params)
