"""Folders of training runs: which of their names are algorithms, environments and seeds."""

import json
from itertools import product

import numpy as np
import pytest

import jaxrace
from jaxrace.evidence.independence import DependentRunsWarning
from jaxrace.tables import read_scores

ENVS = ("CartPole-v1", "Pendulum-v1")


def evaluations(folder, env, value):
    results = np.full((2, 3), value)
    np.savez(folder / "evaluations.npz", timesteps=np.arange(2), results=results)


def monitor(folder, env, value):
    about = json.dumps({"t_start": 1.0, "env_id": env})
    (folder / "0.monitor.csv").write_text(f"#{about}\nr,l,t\n{value},9,1\n")


def nameless_monitor(folder, env, value):
    monitor(folder, "None", value)


def progress(folder, env, value):
    (folder / "progress.txt").write_text(f"Epoch\tAverageEpRet\n0\t{value}\n")


def trained(root, name, write, envs=ENVS, seeds=(1, 2)):
    """Runs of two algorithms: ppo scores its seed, sac ten more, and twice that on the second."""
    for (a, algo), (e, env), seed in product(enumerate(("ppo", "sac")), enumerate(envs), seeds):
        folder = root / name.format(algo=algo, env=env.replace("/", "-"), seed=seed)
        folder.mkdir(parents=True)
        write(folder, env, (1 + e) * (seed + 10.0 * a))
    return root


LAYOUTS = [
    ("logs/{algo}/{env}_{seed}", evaluations, "run"),
    ("logs/{algo}/{env}_{seed}", monitor, "run"),
    ("{env}/{algo}/seed_{seed}", evaluations, "seed"),
    ("{env}/{algo}/seed_{seed}", nameless_monitor, "seed"),
    ("{env}/{algo}/{seed}", progress, "run"),
    ("{algo}/{env}/seed_{seed}", progress, "seed"),
    ("{algo}/{env}/run_{seed}", monitor, "run"),
    ("{algo}_{env}/{algo}_{env}_s{seed}", progress, "seed"),
    ("{algo}_{env}/seed{seed}", progress, "seed"),
    ("all/{algo}_{env}_s{seed}", progress, "seed"),
    ("all/{env}_{algo}_s{seed}", progress, "seed"),
]


@pytest.mark.parametrize(("name", "write", "what"), LAYOUTS)
def test_algorithms_are_options_and_environments_groups(name, write, what, tmp_path):
    """ALGO_ENV was an option; ENV was one; one environment could not be chosen."""
    trained(tmp_path, name, write)
    found = read_scores(tmp_path)
    groups = dict(zip(found.task_names, found.groups, strict=True))
    assert groups == {f"{env} {what} {n}": env for env, n in product(ENVS, (1, 2))}
    assert found.said[-1] == "2 groups of tasks from the environments: CartPole-v1 2, Pendulum-v1 2"
    scores = {
        name: {found.task_names[t]: x for t, x in zip(tasks, own, strict=True)}
        for name, tasks, own in zip(found.names, found.tasks or (), found.values, strict=True)
    }
    for (a, algo), (e, env), n in product(enumerate(("ppo", "sac")), enumerate(ENVS), (1, 2)):
        assert scores[algo][f"{env} {what} {n}"] == (1 + e) * (n + 10 * a)
    one = read_scores(tmp_path, where="env=Pendulum-v1")
    assert dict(zip(one.names, map(sorted, one.values), strict=True)) == {
        "ppo": [2, 4],
        "sac": [22, 24],
    }
    assert (one.task_names, one.groups) == (("seed 1", "seed 2") if what == "seed" else (), ())


def test_environments_with_a_slash(tmp_path):
    """rl-zoo writes ALE-Pong-v5_1 for ALE/Pong-v5: the environment was the only option."""
    envs = ("ALE/Pong-v5", "ALE/Breakout-v5")
    trained(tmp_path, "{algo}/{env}_{seed}", monitor, envs)
    found = read_scores(tmp_path, where={"env": envs[0]})
    assert (found.names, [len(own) for own in found.values]) == (("ppo", "sac"), [2, 2])


def test_environments_are_not_pooled_unless_shared(tmp_path):
    trained(tmp_path, "{algo}/{env}_{seed}", evaluations, seeds=(5, 2, 8, 1, 4, 9, 3, 7, 10, 6))
    found = jaxrace.race(tmp_path, dependent=True)
    assert found.certificate is None
    with pytest.raises(ValueError, match=r"shared=True \(--shared\) compares options task by"):
        jaxrace.race(tmp_path)
    with pytest.warns(DependentRunsWarning, match="sorted scores of ppo in CartPole-v1, .*, sac"):
        shared = jaxrace.race(tmp_path, shared=True, weights="equal")
    assert {one.group for one in shared.groups} == {*ENVS}


@pytest.mark.parametrize("names", [("PPO", "Dreamer-v3"), ("Dreamer-v2", "Dreamer-v3")])
def test_an_algorithm_with_a_version_is_no_environment(names, tmp_path):
    for name, seed in product(names, (1, 2)):
        folder = tmp_path / name / f"seed_{seed}"
        folder.mkdir(parents=True)
        progress(folder, "", seed)
    assert {*read_scores(tmp_path).names} == {*names}


REFUSED = [
    # Environments without ids: one was an option, of both algorithms.
    ("{algo}/{env}_{seed}", evaluations, ("CartPole", "Pendulum"), "one run 1 of 'CartPole'"),
    ("{env}/{algo}/seed_{seed}", progress, ("A", "B"), "one seed 1 of 'ppo', got two, .* ids do"),
    ("{seed}/{env}/{algo}", progress, ("A", "B"), "one run of 'ppo', got two"),
    ("{seed}/{algo}/{env}", evaluations, ENVS, "one run of 'ppo'|without numbers"),
]


@pytest.mark.parametrize(("name", "write", "envs", "message"), REFUSED)
def test_what_is_not_told_apart_is_refused(name, write, envs, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_scores(trained(tmp_path, name, write, envs))


def test_what_the_refusal_says_works(tmp_path):
    """The folder of one environment; or names of folders that end as ids do."""
    trained(tmp_path, "{env}/{algo}/seed_{seed}", progress, ("A", "B"))
    assert read_scores(tmp_path / "A").names == ("ppo", "sac")
    for env in "AB":
        (tmp_path / env).rename(tmp_path / f"{env}-v1")
    assert read_scores(tmp_path).groups == ("A-v1", "A-v1", "B-v1", "B-v1")


def test_where_takes_environments_alone(tmp_path):
    trained(tmp_path, "{algo}/{env}_{seed}", evaluations)
    for where, message in [("env=Ant-v4", "'CartPole-v1', 'Pendulum-v1'"), ("a=b", "env=NAME")]:
        with pytest.raises(ValueError, match=f"^where: expected .*{message}"):
            read_scores(tmp_path, where=where)
    with pytest.raises(ValueError, match="a table with columns"):
        read_scores(tmp_path / "ppo" / "CartPole-v1_1" / "evaluations.npz", where="env=CartPole-v1")


def test_options_are_taken_by_name(tmp_path):
    """They were all raced, whatever --options said."""
    trained(tmp_path, "{algo}-{env}/{algo}-{env}_s{seed}", progress, ("cartpole", "pendulum"))
    assert len(read_scores(tmp_path).names) == 4
    found = read_scores(tmp_path, options="sac-cartpole,ppo-cartpole")
    assert (found.names, list(map(list, found.values))) == (
        ("ppo-cartpole", "sac-cartpole"),
        [[1, 2], [11, 12]],
    )
    assert "does not name them: 'ppo-pendulum', 'sac-pendulum'" in found.said[-1]
    with pytest.raises(ValueError, match=r"options: expected some of .*'sac-pendulum', got 'dqn'"):
        read_scores(tmp_path, options="dqn,ppo-cartpole")


def test_options_in_other_environments_are_not_compared():
    """Of independent runs, one algorithm in each environment, the better paid was certified."""
    rows = [
        {"algo": algo, "env": env, "seed": n, "return": low + (7 * n % 20) / 100}
        for algo, env, low in (("ppo", "A", 0.1), ("sac", "B", 0.7))
        for n in range(20)
    ]
    with pytest.raises(ValueError, match="each group, got none of ppo in B"):
        jaxrace.race(rows)


def test_the_words_of_cleanrl():
    heads = "exp_name", "env_id", "seed", "global_step", "episodic_return"
    rows = [
        dict(zip(heads, (name, env, seed, step, seed + step / 1000), strict=True))
        for name, env, seed, step in product(("ppo", "sac"), ENVS, (1, 2), (1000, 2000))
    ]
    with pytest.raises(ValueError, match=r"global_step=2000'\) does"):
        read_scores(rows)
    found = read_scores(rows, where="global_step=2000")
    assert (found.names, found.measures) == (("ppo", "sac"), ("episodic_return",))
    assert found.groups == (ENVS[0], ENVS[0], ENVS[1], ENVS[1])
    assert found.task_names[0] == "env_id=CartPole-v1 seed=1"
    assert [own.tolist() for own in found.values] == [[3, 4, 3, 4]] * 2


@pytest.mark.parametrize(
    ("here", "there", "refused"), [(20, 4, True), (12, 12, False), (12, 10, False), (14, 10, False)]
)
def test_options_whose_runs_are_in_other_environments_are_not_compared(here, there, refused):
    """An algorithm with most of its runs where more is earned was certified; chance is no fault."""
    rows = [
        {"algo": algo, "env": env, "seed": n + start, "return": low + (7 * n % 20) / 100}
        for algo, start, counts in (("ppo", 0, (here, there)), ("sac", 100, (there, here)))
        for env, low, count in zip("AB", (0.7, 0.1), counts, strict=True)
        for n in range(count)
    ]
    if refused:
        with pytest.raises(ValueError, match="got 20 of 24 of ppo in A, and 4 of 24 of sac"):
            jaxrace.race(rows)
    else:
        order = np.random.default_rng(0).permutation(len(rows))
        assert not jaxrace.race([rows[place] for place in order]).certificate
