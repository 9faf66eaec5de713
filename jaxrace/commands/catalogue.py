"""What `jaxrace list` and `jaxrace info` show."""

import importlib.util

from jaxrace.commands.improve import BOUNDS as LOWER_BOUNDS
from jaxrace.commands.options import paragraphs
from jaxrace.commands.train.config import ENVIRONMENTS, METHODS
from jaxrace.core.strategy_names import WITH_STEP_SIZE, WITHOUT_STEP_SIZE

# What each confidence bound of a preference-based race promises; more in `jaxrace.kernels.bounds`.
BOUNDS = {
    "published": "the paper's: verdicts and intervals hold with 1 - delta",
    "tight": "the same; delta shared equally by rounds and pairs",
    "verdict": "for verdicts only, cheaper; 2 delta if options tie",
    "kl": "as tight, from a divergence: never wider",
    "kl-verdict": "as verdict, from a divergence",
    "stitched": "as tight; delta shared by epochs instead of rounds",
    "stitched-verdict": "as verdict; delta shared by epochs",
    "stitched-kl": "the default: as stitched, from a divergence",
    "stitched-kl-verdict": "as verdict, by epochs, from a divergence",
    "open-stitched": "as stitched, whatever the number of rounds",
    "open-stitched-kl": "as stitched-kl, whatever the number of rounds",
}

RACES = {
    "DominanceRace": "the best by pairwise wins, certified from the fewest samples",
    "SharedRace": "the best on tasks that all options share, a stream or a list",
    "PreferenceRace": "the best by pairwise wins, from preferences; pb-edps",
    "HoeffdingRace": "the best by mean, for values in a known range; edps",
    "BernsteinRace": "the same, better where the values vary little",
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
    """Names and a line on each, by subject."""
    return {
        "environments": ENVIRONMENTS,
        "methods": METHODS,
        "in a checkout": {
            "python -m papers": "the figures of the papers; --help lists them",
            "python -m papers.duels": "dueling bandits, simulated",
            "python -m papers.selections": "methods of top-k selection, simulated",
            "python -m papers.improvements": "policy improvement in simulators",
            "python -m papers.holdem": "hold'em players that evolve by matches",
        },
        "races": RACES,
        "bounds": BOUNDS,
        "strategies": {
            **dict.fromkeys(WITH_STEP_SIZE, "takes --sigma"),
            **dict.fromkeys(WITHOUT_STEP_SIZE, "sets its own step size: takes no --sigma"),
        },
        "policies": POLICIES,
        "lower bounds of performance": LOWER_BOUNDS,
    }


def print_list() -> None:
    """Print the names, a paragraph for each subject."""
    print(paragraphs(**catalogue()))


def print_info() -> None:
    """Print the versions and the devices."""
    from jaxrace import runs

    for name, version in runs.versions().items():
        print(f"{name:8} {version}")
    if importlib.util.find_spec("jax") is None:
        print(f"{'device':8} JAX is not installed: files are judged, nothing is simulated")
        return
    found = runs.device()
    print(f"{'device':8} {found['count']} x {found['kind']} ({found['platform']})")
    print(f"{'system':8} {found['system']}")
