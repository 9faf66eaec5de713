"""What the library computes does not hang on JAX's modes, and none of them finds fault with it."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import dueling, outcomes, policies, preferences, racing, selection
from jaxrace.dueling import matrices
from jaxrace.envs import medical, options
from jaxrace.rollout import PolicyInTask, Rollout


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


def test_no_nan_is_computed_where_nothing_is_wrong():
    """Who switches jax_debug_nans on looks for a NaN of their own."""
    selector = selection.Pocbam(3, 1)
    duels = dueling.duels(matrices.cyclic(3))  # no arm beats every other one
    with jax.debug_nans(True):
        state = selector.init(selector.params())  # of which nothing is known yet
        found = selector.result(state, selector.params())
        assert not selector.done(state, selector.params())
        duelled = dueling.play(dueling.Uniform(3), jax.random.key(3), duels, 9, None, records=3)
    assert found.confidence == 0
    assert np.isinf(duelled.regret[:, dueling.MEASURES.index("strong")]).all()
