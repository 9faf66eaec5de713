"""Cancer treatment: a monthly dose that shrinks a tumour without poisoning the patient.

The simulator of Zhao et al. 2009 (Reinforcement learning design for cancer clinical trials), as in
Fürnkranz et al. 2012 and Busa-Fekete et al. 2014, section 6.2 (both: Preference-based reinforcement
learning). Tumour size S and toxicity X have no unit, the dose D is in [0, 1].
"""

import dataclasses
from typing import Literal, NamedTuple, get_args

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.float32 import Float32Params, as_float32
from jaxrace.core.validation import MOST_INT32, require_choice, require_integer
from jaxrace.envs.environment import Transition

Coefficients = Literal["seed000", "furnkranz2012"]
Hazard = Literal["A", "B"]
RewardKind = Literal["zhao", "printed"]

DOSES = (0.1, 0.4, 0.7, 1.0)  # discrete policies of Busa-Fekete et al. 2014, section 6.2

# Width of the interval of returns over T = 6 months. The worst is five months at -5 -5, then death:
# -110. The best is six months at +5 +15, 120 ("zhao"), or at +5 +15 +5, 150 ("printed").
RETURN_RANGE = {"zhao": 230.0, "printed": 260.0}

# (a1, a2): Busa-Fekete et al. 2014 print them the other way round.
_GROWTH = {"seed000": (0.1, 0.15), "furnkranz2012": (0.15, 0.1)}

# (c0, c1, c2) of Busa-Fekete et al. 2014, section 6.2; in B fewer patients die.
_HAZARD = {"A": (-4.0, 1.0, 1.0), "B": (-8.0, 1.5, 1.5)}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class MedicalParams(Float32Params):
    """Coefficients of the simulator, float32 scalars [] (or batched: `vmap` over them)."""

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


class MedicalState(NamedTuple):
    """One patient, who dies in the month in which the sum of the hazards reaches `endurance`.

    That is exponential with mean 1: a month of hazard h kills with probability 1 - exp(-h).
    """

    tumour: jax.Array  # S_t, float32 []
    toxicity: jax.Array  # X_t, float32 []
    initial_tumour: jax.Array  # S_0, float32 []
    initial_toxicity: jax.Array  # X_0, float32 []
    alive: jax.Array  # bool []
    endurance: jax.Array  # float32 []
    hazard: jax.Array  # sum of the months' hazards, float32 []
    month: jax.Array  # t, int32 []


class Outcome(NamedTuple):
    """What a treatment is judged by; any common batch shape."""

    alive: jax.Array  # at the end, bool
    worst_toxicity: jax.Array  # C_X = max of X_t over t = 0..T, float32
    tumour_size: jax.Array  # C_S = S_T, float32


def progress(
    state: MedicalState, dose: jax.Array, params: MedicalParams
) -> tuple[jax.Array, jax.Array]:
    """Tumour size and toxicity a month later, without chance (Busa-Fekete et al. 2014, sec. 6.2).

    The tumour is clipped at 0 and stays there (a cure). Toxicity is not: else low doses would kill
    99 % of the patients, and not 90 % as in figure 8 of Fürnkranz et al. 2012.

    >>> env = Medical()
    >>> cured = env.reset(jax.random.key(0), env.default_params)._replace(tumour=jnp.float32(0.0))
    >>> float(progress(cured, jnp.float32(0.1), env.default_params)[0])
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
    """The hazard exp(c0 + c1 S + c2 X) of a month, by the state at its end, float32."""
    return jnp.exp(
        params.hazard_intercept + params.hazard_tumour * tumour + params.hazard_toxicity * toxicity
    )


def treatment_reward(
    kind: RewardKind,
    *,
    tumour: jax.Array,
    next_tumour: jax.Array,
    toxicity_change: jax.Array,
    died: jax.Array,
) -> jax.Array:
    """The reward of a month that the patient began alive, float32.

    -60 on death. Otherwise "zhao" (Zhao et al. 2009) gives +5, 0 or -5 for a toxicity that fell by
    at least 1/2, stayed, or rose by at least 1/2; likewise for the tumour, but +15 if it is gone.
    "printed" is the formula of Busa-Fekete et al. 2014, section 6.2, to the letter: 5 [1{dX < 1/2}
    - 1{dX > 1/2}] + 15 1{S_t <= 0} + 5 [1{dS < 1/2} - 1{dS > 1/2}]. It lacks the minus sign of -1/2
    and tests the tumour before the month (S_t) instead of after it (S_t+1).

    >>> change = {"tumour": 0.3, "next_tumour": jnp.float32(0), "toxicity_change": jnp.float32(0.5)}
    >>> print(treatment_reward("zhao", **change, died=False))
    10.0
    """

    def term(change: jax.Array) -> jax.Array:
        zhao = kind == "zhao"
        fell = change <= -0.5 if zhao else change < 0.5
        rose = change >= 0.5 if zhao else change > 0.5
        return 5.0 * (fell.astype(jnp.float32) - rose.astype(jnp.float32))

    of_tumour = term(next_tumour - tumour)
    if kind == "zhao":
        of_tumour = jnp.where(next_tumour <= 0.0, 15.0, of_tumour)
    else:
        of_tumour = of_tumour + 15.0 * (tumour <= 0.0).astype(jnp.float32)
    return jnp.where(died, -60.0, term(toxicity_change) + of_tumour)


@dataclasses.dataclass(frozen=True)
class Medical:
    """The treatment of one patient over `horizon` months.

    An action is a dose, a scalar [] in [0, 1], neither checked nor clipped. An observation is
    (tumour size, toxicity), float32 [2]. A step is terminal if the patient is dead. The dynamics go
    on after death: the papers average final tumour size and worst toxicity over all patients.

    >>> env, key = Medical(reward="zhao"), jax.random.key(0)
    >>> patient = env.reset(key, env.default_params)
    >>> patient, reward, terminal = env.step(key, patient, 1.0, env.default_params)
    >>> env.observe(patient, env.default_params).shape
    (2,)
    """

    reward: RewardKind = "zhao"
    horizon: int = 6
    continues_after_terminal = True

    def __post_init__(self) -> None:
        require_choice("reward", self.reward, get_args(RewardKind))
        require_integer("horizon", self.horizon, 1, MOST_INT32)

    @staticmethod
    def make_params(coefficients: Coefficients = "seed000", hazard: Hazard = "A") -> MedicalParams:
        """Published growth rates ("seed000": Busa-Fekete et al. 2014) and hazards, by name.

        >>> float(Medical.make_params("furnkranz2012", hazard="B").hazard_intercept)
        -8.0
        """
        require_choice("coefficients", coefficients, _GROWTH)
        require_choice("hazard", hazard, _HAZARD)
        a1, a2 = _GROWTH[coefficients]
        c0, c1, c2 = _HAZARD[hazard]
        numbers = (a1, a2, 1.2, 1.2, 0.5, 0.5, c0, c1, c2, 2.0)
        return MedicalParams(*(jax.device_put(np.float32(number)) for number in numbers))

    @property
    def default_params(self) -> MedicalParams:
        return self.make_params()

    def reset(self, key: jax.Array, params: MedicalParams) -> MedicalState:
        noise = jax.random.uniform(key, (3,), jnp.float32)
        tumour, toxicity = params.initial_limit * noise[0], params.initial_limit * noise[1]
        return MedicalState(
            tumour=tumour,
            toxicity=toxicity,
            initial_tumour=tumour,
            initial_toxicity=toxicity,
            alive=jnp.ones((), jnp.bool_),
            endurance=_exponential(noise[2]),
            hazard=jnp.zeros((), jnp.float32),
            month=jnp.zeros((), jnp.int32),
        )

    def renew(self, key: jax.Array, state: MedicalState, params: MedicalParams) -> MedicalState:
        # What is left of an exponential endurance is exponential again.
        endurance = _exponential(jax.random.uniform(key, (), jnp.float32))
        return state._replace(endurance=endurance, hazard=jnp.zeros_like(state.hazard))

    def step(
        self, key: jax.Array, state: MedicalState, action: jax.Array, params: MedicalParams
    ) -> tuple[MedicalState, jax.Array, jax.Array]:
        chex.assert_rank(action, 0)
        tumour, toxicity = progress(state, as_float32("action", action), params)
        # The hazard of month t is that of the state at its end.
        hazard = state.hazard + hazard_rate(tumour, toxicity, params)
        survives = hazard < state.endurance
        reward = treatment_reward(
            self.reward,
            tumour=state.tumour,
            next_tumour=tumour,
            toxicity_change=toxicity - state.toxicity,
            died=~survives,
        )
        next_state = state._replace(
            tumour=tumour,
            toxicity=toxicity,
            alive=state.alive & survives,
            hazard=hazard,
            month=state.month + 1,
        )
        return next_state, jnp.where(state.alive, reward, jnp.zeros_like(reward)), ~next_state.alive

    def observe(self, state: MedicalState, params: MedicalParams) -> jax.Array:
        return jnp.stack([state.tumour, state.toxicity])


def prefer(a: Outcome, b: Outcome) -> jax.Array:
    """Which treatment is better: int8 +1 (a), -1 (b) or 0 (equal or incomparable).

    Survival is better than death, two deaths are incomparable, and Pareto dominance in worst
    toxicity and final tumour size compares two survivors (Fürnkranz et al. 2012; Busa-Fekete et al.
    2014, section 6.2). Shapes of `a` and `b` broadcast.

    >>> saved = Outcome(alive=True, worst_toxicity=2.0, tumour_size=1.0)
    >>> lost = Outcome(alive=False, worst_toxicity=0.5, tumour_size=0.0)
    >>> int(prefer(saved, lost)), int(prefer(lost, lost))
    (1, 0)
    """
    a_toxicity, a_tumour = _costs(a)
    b_toxicity, b_tumour = _costs(b)
    a_as_good = (a_toxicity <= b_toxicity) & (a_tumour <= b_tumour)
    b_as_good = (b_toxicity <= a_toxicity) & (b_tumour <= a_tumour)
    return a_as_good.astype(jnp.int8) - b_as_good.astype(jnp.int8)


@dataclasses.dataclass(frozen=True)
class TreatmentOutcome:
    """Folds a treatment into its `Outcome`; the carry is an outcome too.

    The worst toxicity is over months 0 (before any treatment) to T, also those after death.
    """

    def init(self, state: MedicalState, params: MedicalParams) -> Outcome:
        return Outcome(state.alive, state.toxicity, state.tumour)

    def update(self, carry: Outcome, transition: Transition, params: MedicalParams) -> Outcome:
        patient = transition.next_state
        worst_toxicity = jnp.maximum(carry.worst_toxicity, patient.toxicity)
        return Outcome(patient.alive, worst_toxicity, patient.tumour)

    def finish(self, carry: Outcome, params: MedicalParams) -> Outcome:
        return carry


def _exponential(uniform: jax.Array) -> jax.Array:
    """Exponential numbers with mean 1 from numbers uniform in [0, 1)."""
    return -jnp.log(1.0 - uniform)


def _costs(outcome: Outcome) -> tuple[jax.Array, jax.Array]:
    """Worst toxicity and tumour size, infinite for the dead: Pareto dominance settles all cases."""
    alive = jnp.asarray(outcome.alive)
    toxicity = jnp.where(alive, as_float32("worst_toxicity", outcome.worst_toxicity), jnp.inf)
    tumour = jnp.where(alive, as_float32("tumour_size", outcome.tumour_size), jnp.inf)
    return toxicity, tumour
