"""DTS+ (Wu and Liu 2016, section 4.3). Axes: K arms."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import kl_div

from jaxrace import kernels
from jaxrace.dueling import DoubleThompson, copeland_scores
from jaxrace.dueling.counted import DtsState, most_wins
from jaxrace.dueling.decisions import pairs_of
from jaxrace.dueling.matrices import from_upper


@dataclasses.dataclass(frozen=True)
class DoubleThompsonPlus(DoubleThompson):
    """DTS whose first stage breaks ties by the smallest expected regret.

    That is sum over j != i of r_ij / kl(theta_ij, 1/2), which needs the values of all theta.

    >>> DoubleThompsonPlus(num_arms=3).opening
    1
    """

    def likeliest(self, candidates: jax.Array, key: jax.Array, state: DtsState) -> jax.Array:
        """See ``DoubleThompson``."""
        return _least_regret(candidates, self._sample_all(key, state))

    def _sample_all(self, key: jax.Array, state: DtsState) -> jax.Array:
        """Theta of every pair, float32 [K, K], drawn once for both orders."""
        first, second = pairs_of(self.num_arms)
        won, lost = state.wins[first, second], state.wins[second, first]
        theta = kernels.sample_beta(
            key, (won + 1).astype(jnp.float32), (lost + 1).astype(jnp.float32)
        )
        place = np.zeros((self.num_arms, self.num_arms), np.int32)
        place[first, second] = np.arange(len(first))
        return from_upper(theta[place])


def _least_regret(candidates: jax.Array, theta: jax.Array) -> jax.Array:
    """Those with most wins of smallest sum over j of r_ij / kl(theta_ij, 1/2)."""
    winners = most_wins(candidates, (theta > 0.5).sum(-1, dtype=jnp.int32))
    scores = copeland_scores(theta)
    regret = scores.max() - (scores[:, None] + scores) / 2  # r_ij
    divergence = kl_div(theta, 0.5) + kl_div(1 - theta, 0.5)
    apart = ~jnp.eye(theta.shape[-1], dtype=bool)
    terms = jnp.where(apart, regret / jnp.maximum(divergence, 1e-12), 0.0)
    total = jnp.where(winners, terms.sum(-1), jnp.inf)
    return total == total.min()
