"""The equations of the cancer treatment task: growth, hazard and reward.

Zhao et al. 2009, Fürnkranz et al. 2012, and Busa-Fekete et al. 2014, section 6.2; the environment
made of them is `jaxrace.envs.medical`. Symbols of the papers: tumour size S, toxicity X, dose D.
"""

import dataclasses
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from jaxrace.envs.held import require_held

RewardKind = Literal["zhao", "printed"]

DEATH_REWARD = -60.0
CURE_REWARD = 15.0
CHANGE_REWARD = 5.0
CHANGE_THRESHOLD = 0.5


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class MedicalParams:
    """Coefficients of the simulator, float32 scalars [] (or batched: `vmap` over them).

    >>> import dataclasses, jax.numpy as jnp
    >>> from jaxrace.envs.medical import Medical
    >>> params = dataclasses.replace(Medical.make_params(), hazard_intercept=jnp.float32(-6.0))
    >>> float(params.hazard_intercept)
    -6.0
    """

    tumour_growth: jax.Array  # a1, tumour per unit of toxicity and month
    toxicity_growth: jax.Array  # a2, toxicity per unit of tumour and month
    tumour_dose_effect: jax.Array  # b1
    toxicity_dose_effect: jax.Array  # b2
    tumour_neutral_dose: jax.Array  # d1, the dose that neither shrinks nor feeds the tumour
    toxicity_neutral_dose: jax.Array  # d2
    hazard_intercept: jax.Array  # c0
    hazard_tumour: jax.Array  # c1
    hazard_toxicity: jax.Array  # c2
    initial_limit: jax.Array  # S0 and X0 are uniform in [0, initial_limit)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            require_held(field.name, getattr(self, field.name), jnp.float32)


class MedicalState(NamedTuple):
    """One patient, with all the chance that will decide about life and death.

    A patient dies in the month in which the hazards of the months so far reach `endurance`, which
    is exponentially distributed with mean 1: with probability 1 - exp(-h) in a month of hazard h,
    if alive before.

    >>> import jax
    >>> from jaxrace.envs.medical import Medical
    >>> env = Medical()
    >>> patient = env.reset(jax.random.key(0), env.default_params)
    >>> bool(patient.alive), int(patient.month), float(patient.hazard)
    (True, 0, 0.0)
    """

    tumour: jax.Array  # S_t, float32 []
    toxicity: jax.Array  # X_t, float32 []
    initial_tumour: jax.Array  # S_0, float32 []
    initial_toxicity: jax.Array  # X_0, float32 []
    alive: jax.Array  # bool []
    endurance: jax.Array  # float32 []
    hazard: jax.Array  # sum of the months' hazards, float32 []
    month: jax.Array  # t, int32 []


def progress(
    state: MedicalState, dose: jax.Array, params: MedicalParams
) -> tuple[jax.Array, jax.Array]:
    """Return tumour size and toxicity a month later, without any chance.

    Busa-Fekete et al. 2014, section 6.2. The tumour is clipped at 0 and then stays there (a cure).
    Toxicity is not clipped: clipped at 0, low doses would kill 99 % of the patients and not
    the 90 % that put them next to high doses in figure 8 of Fürnkranz et al. 2012.

    >>> import jax, jax.numpy as jnp
    >>> from jaxrace.envs.medical import Medical
    >>> params = Medical.make_params()
    >>> patient = Medical().reset(jax.random.key(0), params)._replace(tumour=jnp.float32(0.0))
    >>> tumour, toxicity = progress(patient, jnp.float32(0.1), params)
    >>> float(tumour)
    0.0
    """
    worst_toxicity = jnp.maximum(state.toxicity, state.initial_toxicity)
    worst_tumour = jnp.maximum(state.tumour, state.initial_tumour)
    # S' = S + [a1 max(X, X0) - b1 (D - d1)] 1{S > 0}
    growth = params.tumour_growth * worst_toxicity
    growth = growth - params.tumour_dose_effect * (dose - params.tumour_neutral_dose)
    grown = jnp.maximum(state.tumour + growth, 0.0)
    tumour = jnp.where(state.tumour > 0.0, grown, state.tumour)
    # X' = X + a2 max(S, S0) + b2 (D - d2)
    toxicity = state.toxicity + params.toxicity_growth * worst_tumour
    toxicity = toxicity + params.toxicity_dose_effect * (dose - params.toxicity_neutral_dose)
    return tumour, toxicity


def hazard_rate(tumour: jax.Array, toxicity: jax.Array, params: MedicalParams) -> jax.Array:
    """Return the hazard exp(c0 + c1 S + c2 X) of a month, by the state at its end.

    Zhao et al. 2009: it is constant over a month. Shapes broadcast; float32.

    >>> import jax.numpy as jnp
    >>> from jaxrace.envs.medical import Medical
    >>> params = Medical.make_params(hazard="A")
    >>> float(hazard_rate(jnp.float32(4.0), jnp.float32(0.0), params))
    1.0
    """
    return jnp.exp(
        params.hazard_intercept + params.hazard_tumour * tumour + params.hazard_toxicity * toxicity
    )


def death_probability(tumour: jax.Array, toxicity: jax.Array, params: MedicalParams) -> jax.Array:
    """Return the probability 1 - exp(-exp(c0 + c1 S + c2 X)) that a living patient dies in a month.

    Shapes broadcast; float32.

    >>> import jax.numpy as jnp
    >>> from jaxrace.envs.medical import Medical
    >>> params = Medical.make_params(hazard="A")
    >>> print(f"{death_probability(jnp.float32(4.0), jnp.float32(0.0), params):.4f}")
    0.6321
    """
    rate = hazard_rate(tumour, toxicity, params)
    return -jnp.expm1(-rate)  # 1 - exp(-rate) would lose the small hazards of set B.


def treatment_reward(
    kind: RewardKind,
    *,
    tumour: jax.Array,
    next_tumour: jax.Array,
    toxicity_change: jax.Array,
    died: jax.Array,
) -> jax.Array:
    """Return the reward of one month in which the patient was alive at the beginning.

    -60 on death. Otherwise "zhao" (Zhao et al. 2009) gives +5, 0 or -5 for a toxicity that fell by
    at least 1/2, stayed, or rose by at least 1/2; and likewise for the tumour, but +15 if it is
    gone. "printed" is the formula of Busa-Fekete et al. 2014, section 6.2, taken to the letter: 5
    [1{dX < 1/2} - 1{dX > 1/2}] + 15 1{S_t <= 0} + 5 [1{dS < 1/2} - 1{dS > 1/2}]. It lacks the minus
    sign of -1/2 and tests the tumour before the month (S_t) instead of after it (S_t+1).

    Shapes broadcast; the result is float32.

    >>> import jax.numpy as jnp
    >>> print(treatment_reward("zhao", tumour=jnp.float32(0.3), next_tumour=jnp.float32(0.0),
    ...     toxicity_change=jnp.float32(0.5), died=jnp.bool_(False)))
    10.0
    """
    tumour_change = next_tumour - tumour
    if kind == "zhao":
        cure = jnp.float32(CURE_REWARD)
        tumour_term = jnp.where(next_tumour <= 0.0, cure, _zhao_term(tumour_change))
        reward = _zhao_term(toxicity_change) + tumour_term
    else:
        cure = CURE_REWARD * (tumour <= 0.0).astype(jnp.float32)
        reward = _printed_term(toxicity_change) + cure + _printed_term(tumour_change)
    return jnp.where(died, jnp.float32(DEATH_REWARD), reward)


def _zhao_term(change: jax.Array) -> jax.Array:
    fell, rose = change <= -CHANGE_THRESHOLD, change >= CHANGE_THRESHOLD
    return CHANGE_REWARD * (fell.astype(jnp.float32) - rose.astype(jnp.float32))


def _printed_term(change: jax.Array) -> jax.Array:
    below, above = change < CHANGE_THRESHOLD, change > CHANGE_THRESHOLD
    return CHANGE_REWARD * (below.astype(jnp.float32) - above.astype(jnp.float32))
