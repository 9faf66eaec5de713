"""Digital marketing, a stand-in: show one of two kinds of ads on each visit, and hope for clicks.

The study of Thomas, Theocharous and Ghavamzadeh 2015 (High confidence policy improvement) rests on
proprietary data. This simulator shares with it the form of the task and the return of the initial
policy; docs/papers/improvement.md tells what is from data and what is assumed. The log-odds of a
click on an ad of cluster c are those of a click model, plus interest_c - fatigue_c, both 0 at
first. After each visit

    fatigue_c  <- fatigue_retention * fatigue_c + fatigue_step * [c was shown]
    interest_c <- interest_retention * interest_c + interest_step * [c was shown and clicked]

Neither is observed. Axes: T visits, D features of customers, P kinds of customers.
"""

import dataclasses
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.float32 import Float32Params, as_float32, require_held
from jaxrace.core.validation import MOST_INT32, require_integer
from papers.improvements.open_bandit.data import ClickModel, load_click_model

NUM_CLUSTERS = 2
RETURN_RANGE = (0.0, 20.0)  # least and most clicks in the default 20 visits

# What stands where in an observation.
LAST_SHOWN = slice(0, 2)  # 1 for the cluster that was shown in the last visit, both 0 at first
SHOWN = slice(2, 4)  # for each cluster 1 / (visits since it was shown), 0 for never
CLICKED = slice(4, 6)  # for each cluster 1 / (visits since it was clicked), 0 for never
CLICKS = 6  # clicks so far / T
VISIT = 7  # visits so far / T
USER = slice(8, None)  # the customer's features, 0 or 1


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class MarketingParams(Float32Params):
    """Coefficients of the simulator, float32 arrays (or batched: `vmap` over them)."""

    intercept: jax.Array  # [], log-odds, the shift included
    user_weights: jax.Array  # [D], log-odds
    cluster_weight: jax.Array  # [], log-odds of cluster 1 less those of cluster 0
    preference_weights: jax.Array  # [D], what the features add to that difference
    customers: jax.Array  # [P, D], 0 or 1
    cumulative_shares: jax.Array  # [P], how many customers are of this kind or one before; last: 1
    fatigue_step: jax.Array  # [], log-odds
    fatigue_retention: jax.Array  # [], in [0, 1)
    interest_step: jax.Array  # [], log-odds
    interest_retention: jax.Array  # [], in [0, 1)


class MarketingState(NamedTuple):
    """One customer in one session, with all the chance that will decide about clicks.

    An ad is clicked in visit t + 1 if `click_thresholds[t]` is below the probability of a click.
    """

    user: jax.Array  # float32 [D], 0 or 1
    appeal: jax.Array  # float32 [2], log-odds of a click on each cluster at first sight
    fatigue: jax.Array  # float32 [2], log-odds
    interest: jax.Array  # float32 [2], log-odds
    shown_ago: jax.Array  # int32 [2], visits since a cluster was shown, 0 for never
    clicked_ago: jax.Array  # int32 [2], visits since a cluster was clicked, 0 for never
    clicks: jax.Array  # int32 []
    visit: jax.Array  # t, int32 []
    click_thresholds: jax.Array  # float32 [T], uniform in [0, 1)


@dataclasses.dataclass(frozen=True)
class Marketing:
    """The visits of one customer; a stand-in: the module says what is assumed.

    An action is the cluster of the ad, an int32 [] in 0..1; it is neither checked nor clipped. The
    reward is 1 for a click and 0 otherwise, and no step is terminal. An observation is a float32 [8
    + D] in [0, 1]: `LAST_SHOWN`, `SHOWN`, `CLICKED`, `CLICKS`, `VISIT` and `USER` say what stands
    where.

    >>> env = Marketing()
    >>> params, key = env.default_params, jax.random.key(0)
    >>> customer, _, terminal = env.step(key, env.reset(key, params), jnp.int32(1), params)
    >>> print(customer.fatigue, terminal, env.observe(customer, params)[LAST_SHOWN])
    [0. 2.] False [0. 1.]
    """

    horizon: int = 20
    continues_after_terminal = False  # there are no terminal steps

    def __post_init__(self) -> None:
        require_integer("horizon", self.horizon, 1, MOST_INT32)

    @staticmethod
    def make_params(model: ClickModel | None = None) -> MarketingParams:
        """The parameters with the customers of a click model and the assumed dynamics.

        >>> params = Marketing.make_params(load_click_model()._replace(intercept=-3.0, shift=1.0))
        >>> float(params.intercept)
        -2.0
        """
        model = load_click_model() if model is None else model
        counts = np.asarray(model.counts, np.float64)  # the sum of integers may be out of range
        shares = np.cumsum(counts) / np.sum(counts)
        numbers = {
            "intercept": model.intercept + model.shift,
            "user_weights": model.user_weights,
            "cluster_weight": model.cluster_weight,
            "preference_weights": model.preference_weights,
            "customers": model.customers,
            "cumulative_shares": shares,
            "fatigue_step": 2.0,
            "fatigue_retention": 0.2,
            "interest_step": 2.0,
            "interest_retention": 0.8,
        }
        return MarketingParams(**{k: as_float32(k, v) for k, v in numbers.items()})

    @property
    def default_params(self) -> MarketingParams:
        """The stored click model with the assumed dynamics."""
        return self.make_params()

    def reset(self, key: jax.Array, params: MarketingParams) -> MarketingState:
        """Draw a customer and the T click thresholds, all in one call."""
        noise = jax.random.uniform(key, (1 + self.horizon,), jnp.float32)
        kind = jnp.sum(noise[0] >= params.cumulative_shares, dtype=jnp.int32)
        user = params.customers[kind]
        common = params.intercept + jnp.sum(params.user_weights * user)
        difference = params.cluster_weight + jnp.sum(params.preference_weights * user)
        return MarketingState(
            user=user,
            appeal=jnp.stack([common - difference / 2, common + difference / 2]),
            fatigue=jnp.zeros((NUM_CLUSTERS,), jnp.float32),
            interest=jnp.zeros((NUM_CLUSTERS,), jnp.float32),
            shown_ago=jnp.zeros((NUM_CLUSTERS,), jnp.int32),
            clicked_ago=jnp.zeros((NUM_CLUSTERS,), jnp.int32),
            clicks=jnp.zeros((), jnp.int32),
            visit=jnp.zeros((), jnp.int32),
            click_thresholds=noise[1:],
        )

    def renew(
        self, key: jax.Array, state: MarketingState, params: MarketingParams
    ) -> MarketingState:
        """The same customer with fresh chance for the visits to come; `reset` drew all of it."""
        del params
        thresholds = jax.random.uniform(key, (self.horizon,), jnp.float32)
        return state._replace(click_thresholds=thresholds)

    def step(
        self, key: jax.Array, state: MarketingState, action: jax.Array, params: MarketingParams
    ) -> tuple[MarketingState, jax.Array, jax.Array]:
        """Show an ad of the cluster `action`."""
        del key  # All chance was drawn in `reset`.
        chex.assert_rank(action, 0)
        require_held("action", action, jnp.int32)
        shown = jnp.arange(NUM_CLUSTERS, dtype=jnp.int32) == action
        probability = jnp.sum(jnp.where(shown, click_probabilities(state), 0.0))
        clicked = state.click_thresholds[state.visit] < probability
        next_state = state._replace(
            fatigue=params.fatigue_retention * state.fatigue
            + jnp.where(shown, params.fatigue_step, 0.0),
            interest=params.interest_retention * state.interest
            + jnp.where(shown & clicked, params.interest_step, 0.0),
            shown_ago=_count_visits(state.shown_ago, shown),
            clicked_ago=_count_visits(state.clicked_ago, shown & clicked),
            clicks=state.clicks + clicked.astype(jnp.int32),
            visit=state.visit + 1,
        )
        return next_state, clicked.astype(jnp.float32), jnp.zeros((), jnp.bool_)

    def observe(self, state: MarketingState, params: MarketingParams) -> jax.Array:
        """What a policy may use, float32 [8 + D] in [0, 1]; never fatigue or interest."""
        del params
        done = jnp.stack([state.clicks, state.visit]).astype(jnp.float32) / self.horizon
        parts = (
            (state.shown_ago == 1).astype(jnp.float32),
            _recency(state.shown_ago),
            _recency(state.clicked_ago),
            done,
            state.user,
        )
        return jnp.concatenate(parts)


def click_probabilities(state: MarketingState) -> jax.Array:
    """The probability of a click on an ad of either cluster now, float32 [2]; not observed.

    >>> env = Marketing()
    >>> customer = env.reset(jax.random.key(0), env.default_params)
    >>> bool((click_probabilities(customer) == jax.nn.sigmoid(customer.appeal)).all())
    True
    """
    return jax.nn.sigmoid(state.appeal - state.fatigue + state.interest)


def _count_visits(ago: jax.Array, happened: jax.Array) -> jax.Array:
    """Visits since something happened, after one more visit; 0 stays "never"."""
    return jnp.where(happened, 1, jnp.where(ago > 0, ago + 1, 0)).astype(jnp.int32)


def _recency(ago: jax.Array) -> jax.Array:
    """1 / visits since, and 0 for never."""
    return jnp.where(ago > 0, 1.0 / jnp.maximum(ago, 1).astype(jnp.float32), 0.0)
