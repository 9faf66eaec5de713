"""What there is to choose from: what `jaxrace list` shows."""

from jaxrace import kernels, strategies
from jaxrace.experiments.config import METHODS
from jaxrace.experiments.tasks import TASKS

# What each confidence bound of a preference-based race promises; more in `jaxrace.kernels.bounds`.
BOUNDS = {
    "published": "the paper's: verdicts and intervals hold with 1 - delta",
    "tight": "the same promise; equal shares per round and pair",
    "verdict": "verdicts only, half of delta saved; 2 delta if pairs tie",
    "kl": "as tight, by divergence: never wider",
    "kl-verdict": "as verdict, by divergence",
    "stitched": "as tight; shares per epoch of rounds, not per round",
    "stitched-verdict": "as verdict, shares per epoch",
    "stitched-kl": "as stitched, by divergence; the default",
    "stitched-kl-verdict": "as verdict, shares per epoch, by divergence",
    "open-stitched": "as stitched, for any number of rounds",
    "open-stitched-kl": "as open-stitched, by divergence",
}

RACES = {
    "PreferenceRace": "top kappa by Copeland score, from preferences; PB-EDPS",
    "HoeffdingRace": "top kappa by mean, bounded values; EDPS",
    "BernsteinRace": "top kappa by mean, bounded values of small variance",
}

POLICIES = {
    "Linear": "linear in the observation, with or without an intercept",
    "Sigmoid": "one action in (0, 1); the medical task",
    "Softmax": "random discrete actions from features of state and action",
    "MLP": "a multilayer perceptron",
    "Constant": "the same action whatever is observed",
    "UniformChoice": "one of some actions, at random",
}


def catalogue() -> dict[str, dict[str, str]]:
    """Names and a line on each, by subject.

    >>> list(catalogue())
    ['environments', 'methods', 'races', 'bounds', 'strategies', 'policies']
    """
    return {
        "environments": {
            name: (make.__doc__ or "").partition("\n")[0] for name, make in TASKS.items()
        },
        "methods": METHODS,
        "races": RACES,
        "bounds": {name: BOUNDS[name] for name in kernels.BOUNDS},
        "strategies": {name: _sigma(name) for name in strategies.SUPPORTED},
        "policies": POLICIES,
    }


def _sigma(name: str) -> str:
    has_step_size = strategies.Strategy(name, population_size=8).has_step_size
    return "" if has_step_size else "sets its own step size: needs sigma null"
