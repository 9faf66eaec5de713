"""What an action is worth to the evolved player: pot odds, win rates, fold rates, utilities.

In chips since the start of the hand, so that folding costs what has been put in; batches float32
[...]. `total` is what the player will have put in, `other` what the opponent has, int32 [...];
`odds` are the opponent's `pot_odds`; `exponent` g in [0, 1] is of a network, and bends x in [0, 1]
to x^(1/g) or x^g.
"""

import jax
import jax.numpy as jnp
import numpy as np

from papers.holdem.pattern_tree import FREQUENCY, OPPONENT_FOLDED

_TRUSTED_VISITS = 10  # from which on the share of folds that has been seen counts alone

# On later streets, opponents who have not been seen are taken to fold more often.
_PRIOR_FACTORS = np.array((1.0, 1.6, 1.8, 2.0), np.float32)


def raised_strength(strength: jax.Array, odds: jax.Array, is_all_in: jax.Array) -> jax.Array:
    """The strength of a hand against those that call a raise.

    `strength` is that against any hand; those who call an all-in are taken to be stronger.
    """
    root = jnp.sqrt(odds)
    called_above = jnp.where(is_all_in, root, odds)
    # At most 1/2 of what is in the pot is asked for, so nothing is divided by 0.
    return jnp.where(strength < root, 0, 1 - (1 - strength) / (1 - called_above))


def win_rate(strength: jax.Array, exponent: jax.Array) -> jax.Array:
    """The estimated probability to win a showdown against hands that get there."""
    return strength ** (1 / exponent)  # w


def fold_rate(
    statistics: jax.Array, odds: jax.Array, street: jax.Array, exponent: jax.Array
) -> jax.Array:
    """The estimated probability that the opponent folds to a raise.

    `statistics` float32 [..., F] are those of the nodes that the raises lead to.
    """
    visits = statistics[..., FREQUENCY]
    seen = statistics[..., OPPONENT_FOLDED] / jnp.maximum(visits, 1)
    prior = odds * jnp.asarray(_PRIOR_FACTORS)[street]
    trust = jnp.minimum(visits / _TRUSTED_VISITS, 1)
    return (trust * seen + (1 - trust) * prior) ** exponent  # f


def of_raise(
    win_rate: jax.Array, fold_rate: jax.Array, total: jax.Array, other: jax.Array
) -> jax.Array:
    """The utility of a raise."""
    won, shown = other.astype(jnp.float32), (2 * win_rate - 1) * total.astype(jnp.float32)
    return fold_rate * won + (1 - fold_rate) * shown
