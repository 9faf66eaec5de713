"""What the library computes does not hang on JAX's modes, and none of them finds fault with it.

A race and an episode do not, in any case. In the slow tests each mode is a process of its own: JAX
reads it when it starts. One program uses all of the engine: races told and races run, all kinds of
races, batches, rollouts, a policy search, and duels. The second one selects and improves a policy;
it has no part in x64, where moments of scores have 64 bits as what they are told of may have. The
third uses keys again where it may.
"""

import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import dueling, racing, selection
from jaxrace.agents import outcomes, policies, preferences
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.envs import medical
from papers.preference_racing import options

# What the checks find fault with they find before anything is compiled.
pytestmark = pytest.mark.usefixtures("shared_programs")

MODES = {
    "plain": {},
    # Numbers that are written in Python, and all that NumPy makes, would be 64 bits wide.
    "x64": {"JAX_ENABLE_X64": "1"},
    # No sum of an int8 and an int32, say, without an explicit cast; no key is used twice; no traced
    # value outlives its trace. Together: what is found fault with says which.
    "checks": {
        "JAX_NUMPY_DTYPE_PROMOTION": "strict",
        "JAX_DEBUG_KEY_REUSE": "1",
        "JAX_CHECK_TRACER_LEAKS": "1",
    },
}

START = """
import json
import jax, jax.numpy as jnp, numpy as np

shown = {}


def show(name, tree):
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    for path, x in leaves:
        shown[name + jax.tree_util.keystr(path)] = [str(x.dtype), np.asarray(x).tolist()]
"""

PLAY = """
from jaxrace import dueling, kernels, racing, search
from jaxrace.agents import policies, preferences
from jaxrace.dueling import matrices
from jaxrace.envs import medical
from papers.preference_racing import options

task = options.Normal()
drawn = task.draw(jax.random.key(9), jnp.float32(5), 5)
show("task", (drawn, task.win_probabilities(drawn)))
values = np.random.default_rng(0).normal(size=(5, 12)).astype(np.float32)
better = preferences.Lexicographic(preferences.Smaller(), preferences.Larger())
races = [
    racing.PreferenceRace(5, 2, 60, better, intersect=True),
    racing.PreferenceRace(5, 2, 60, better, "published", "printed", dynamic_delta=True),
    racing.BernsteinRace(5, 2, intersect=True, dynamic_delta=True),
]
for number, race in enumerate(races):
    more = {"value_range": 8.0} if isinstance(race, racing.ValueRace) else {}
    params = race.params(0.2, 60, **more)
    state = race.init(np.float32(0), params)
    state = race.tell(state, values, params)
    show(f"told{number}", race.result(state, params))
    key = jax.random.key(number)
    show(f"run{number}", racing.run(race, key, task.sample, drawn, params, chunk=7))
both = jax.vmap(lambda k: racing.run(races[0], k, task.sample, drawn, races[0].params(0.2)))
show("batch", both(jax.random.split(jax.random.key(3), 2)))
dominance = racing.DominanceRace(5, 2, 60, better)
params = dominance.params(0.2)
state = dominance.init(np.float32(0), params)
state = dominance.tell(state, np.repeat(values[:, :11], 5, 1)[:, :55], params)
show("dominance told", dominance.result(state, params))
decided = jax.vmap(lambda k: racing.run(dominance, k, task.sample, drawn, params))
show("dominance run", decided(jax.random.split(jax.random.key(5), 20)))
show("kernels", kernels.prefix_wins(better, values))

race = racing.PreferenceRace(7, 3, 9, medical.prefer)
rollout = medical.Medical(), policies.Sigmoid(2), medical.TreatmentOutcome()
policy_search = search.PolicySearch(*rollout, race, chunk=3)
log = search.run(
    policy_search,
    jax.random.split(jax.random.key(4), 2),
    policy_search.params(sigma0=5.0, budget=120, max_rounds=9),
)
show("search", log.rows)

newer = dueling.Rmed1(5), dueling.MergeRucb(5, 2), dueling.SelfSparring(5)
for algorithm in (dueling.Rucb(5), dueling.DoubleThompson(5), dueling.SupKlucb(5), *newer):
    duels = dueling.duels(matrices.hard_condorcet(5))
    log = dueling.run(algorithm, jax.random.key(2), duels, 60, algorithm.params(), records=3)
    show(type(algorithm).__name__, log)
"""

# Keys used again on purpose, by a check, and by an environment that keeps one in its state.
WALK = """
from typing import NamedTuple

from jaxrace import envs
from jaxrace.agents import outcomes, policies
from jaxrace.agents.rollout import PolicyInTask, Rollout


class State(NamedTuple):
    position: jax.Array
    steps: jax.Array
    key: jax.Array


class Walk(NamedTuple):
    horizon: int = 6
    continues_after_terminal: bool = False
    default_params: float = 0.5  # drift

    def reset(self, key, drift):
        return State(jnp.float32(0), jnp.int32(0), key)

    def step(self, key, state, action, drift):
        key, move_key = jax.random.split(state.key)
        position = state.position + action * drift * jax.random.normal(move_key)
        return State(position, state.steps + 1, key), position, state.steps >= 3

    def observe(self, state, drift):
        return state.position[None]


envs.check(Walk(), 0.5)
for env in (Walk(), Walk(continues_after_terminal=True)):
    rollout = Rollout(env, policies.Constant(), outcomes.Return())
    option = PolicyInTask(jnp.float32(0.4), jnp.float32(0.5))
    show(f"walk {env.continues_after_terminal}", rollout(jax.random.key(6), option))
"""

SELECT = """
from jaxrace import selection
from jaxrace.agents.bases import Fourier
from jaxrace.improvement import BOUNDS, LinearSoftmax, PolicyImprovement, ReturnRange, trajectories

problem = selection.thurstone(jax.random.key(0), 5)
for selector in (
    selection.Pocbam(5, 2),
    selection.KnowledgeGradient(5, 2),
    selection.PairwiseRace(5, 2),
    selection.ActiveRanking(5, 2),
):
    key = jax.random.key(1)
    params = selector.params()
    log = selection.run(selector, key, selection.normal_score, problem, 60, params, interval=10)
    show(type(selector).__name__, log)
rng = np.random.default_rng(0)
age, action = rng.random((60, 1, 1)), rng.integers(2, size=(60, 1))
reward = np.where(action == 1, age[..., 0], 0.4)
data = trajectories(age, action, np.full((60, 1), 0.5), reward)
softmax = LinearSoftmax(Fourier(1, 1), 2)
for bound in ("betting", "t", "bca"):
    method = PolicyImprovement(softmax, ReturnRange(0, 1), BOUNDS[bound])
    show(bound, method.run(jax.random.key(3), data, method.params(floor=0.45, delta=0.3)))
"""


@pytest.fixture(scope="module")
def plain(shared_programs, tmp_path_factory):
    return run("plain", PLAY, tmp_path_factory.mktemp("plain"))


def run(mode, program, folder):
    """What the program shows, {name: [dtype, numbers]}."""
    ours = {k: v for k, v in os.environ.items() if not any(k in m for m in MODES.values())}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{START}{program}\nprint(json.dumps(shown))"],
        cwd=folder,
        env={**ours, **MODES[mode], "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr[-5000:]
    return json.loads(done.stdout)


def a_race_and_an_episode():
    """{name: array}, of a race that is told and then run, and of an episode."""
    values = np.random.default_rng(0).normal(size=(5, 12)).astype(np.float32)
    better = preferences.Lexicographic(preferences.Smaller(), preferences.Larger())
    race = racing.PreferenceRace(5, 2, 60, better, intersect=True)
    params = race.params(0.2, 60)
    state = race.tell(race.init(np.float32(0), params), values, params)
    task = options.Normal()
    drawn = task.draw(jax.random.key(9), jnp.float32(5), 5)
    rollout = Rollout(medical.Medical(), policies.Sigmoid(2), outcomes.Return())
    option = PolicyInTask(np.zeros(3, np.float32), rollout.env.default_params)
    shown = {
        "told": race.result(state, params),
        "run": racing.run(race, jax.random.key(1), task.sample, drawn, params, chunk=7),
        "episode": jax.jit(rollout)(jax.random.key(2), option),
    }
    leaves = jax.tree_util.tree_leaves_with_path(shown)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def test_all_modes_at_once_change_nothing():
    plain = a_race_and_an_episode()
    with (
        jax.enable_x64(True),
        jax.numpy_dtype_promotion("strict"),
        jax.debug_key_reuse(True),
        jax.check_tracer_leaks(True),
    ):
        found = a_race_and_an_episode()
    assert found.keys() == plain.keys()
    for name, array in found.items():
        assert array.dtype == plain[name].dtype, name
        np.testing.assert_array_equal(array, plain[name], name)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (racing.DominanceRace, {"compare": preferences.Larger()}),
        (racing.SharedRace, {"low": -9, "high": 9}),
    ],
)
def test_certified_races_are_traced_in_64_bits(kind, more):
    """Blocks and pairs are counted in 32 bits, whatever Python's numbers are."""
    race = kind(num_options=8, top=3, capacity=500, **more)
    sample = lambda key, *_: jax.random.normal(key, (), jnp.float32)  # noqa: E731
    params = race.params(0.05)
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        found = jax.eval_shape(
            lambda key: racing.run(race, key, sample, jnp.zeros(8), params), jax.random.key(0)
        )
    assert found.samples.dtype == np.int32


@pytest.mark.slow
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "plain"])
def test_a_mode_changes_nothing(mode, plain, tmp_path):
    agree(run(mode, PLAY, tmp_path), plain)


@pytest.mark.slow
@pytest.mark.parametrize("program", [SELECT, WALK], ids=["selections", "keys used again"])
def test_checks_change_nothing(program, tmp_path):
    agree(run("checks", program, tmp_path), run("plain", program, tmp_path))


def agree(shown, plain):
    assert shown.keys() == plain.keys()
    for name, (dtype, numbers) in shown.items():
        assert dtype == plain[name][0], name
        assert numbers == plain[name][1], name


def test_no_nan_is_computed_where_nothing_is_wrong():
    """Who switches jax_debug_nans on looks for a NaN of their own."""
    selector = selection.Pocbam(3, 1)
    duels = dueling.duels(
        [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    )  # no arm beats every other one
    with jax.debug_nans(True):
        state = selector.init(selector.params())  # of which nothing is known yet
        found = selector.result(state, selector.params())
        assert not selector.done(state, selector.params())
        duelled = dueling.run(dueling.UniformDuels(3), jax.random.key(3), duels, 9, None, records=3)
    assert found.confidence == 0
    assert np.isinf(duelled.regret[:, dueling.MEASURES.index("strong")]).all()
