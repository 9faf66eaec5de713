"""Logs of decisions: roles of columns, words, trajectories, and what Open Bandit Pipeline keeps."""

import jax
import numpy as np
import pytest
from refusals import assert_refused
from without_cache import without_cache

import jaxrace
from jaxrace import runs
from jaxrace.commands.cli import main
from jaxrace.improvement import ReturnRange
from jaxrace.judging.policies.loading import divide, load
from jaxrace.judging.policies.saved import load_policy
from jaxrace.tables import read_log

BANDIT = "age,device,action,propensity,click\n30,phone,b,.5,1\n40,desk,a,0.25,0\n50,phone,b,1,0\n"


def test_times_are_left_out_and_percents_may_be_of_one_column(tmp_path):
    text = "timestamp,x,action,pscore,reward\n2026-01-01,3,a,50%,1\n2026-01-02,4,b,25%,0\n"
    (tmp_path / "l.csv").write_text(text)
    log = read_log(tmp_path / "l.csv")
    assert log.names == ("x",)
    assert (log.probabilities.tolist(), log.rewards.tolist()) == ([0.5, 0.25], [1, 0])
    assert {"left out: 'timestamp'", "percents divided by 100"} <= {*log.said}
    log = read_log(tmp_path / "l.csv", columns={"context": "timestamp"})
    assert log.names == ("timestamp=2026-01-01", "timestamp=2026-01-02")


def test_a_bandit_log_is_read(tmp_path):
    (tmp_path / "l.csv").write_text(BANDIT)
    log = read_log(tmp_path / "l.csv")
    assert log.names == ("age", "device=desk", "device=phone")
    assert log.observations.tolist() == [[30, 0, 1], [40, 1, 0], [50, 0, 1]]
    assert log.kinds.tolist() == [False, True, True]
    assert (log.actions.tolist(), log.action_names) == ([1, 0, 1], ("a", "b"))
    assert log.probabilities.tolist() == [0.5, 0.25, 1]
    assert log.rewards.tolist() == [1, 0, 0]
    assert log.starts.tolist() == [0, 1, 2]
    assert log.behaviour is None
    assert log.lines.tolist() == [2, 3, 4]
    assert log.said[0] == "every row is a decision of its own"
    assert "reward from column 'click'" in log.said


def test_columns_say_what_is_what(tmp_path):
    text = "s;x;y;ad;p;gain\nu;0,5;1;3;,5;2\nu;1,5;1;4;,5;0\nv;1;0;3;1;1\n"
    (tmp_path / "l.csv").write_text(text)
    roles = {"trajectory": "s", "action": "ad", "reward": "gain", "context": ["x"]}
    log = read_log(tmp_path / "l.csv", columns=roles)
    assert log.names == ("x",)
    assert log.observations.tolist() == [[0.5], [1.5], [1]]
    assert (log.actions.tolist(), log.action_names) == ([3, 4, 3], None)
    assert (log.starts.tolist(), log.labels) == ([0, 2], ("u", "v"))


def test_feedback_of_open_bandit_pipeline_is_read():
    feedback = {
        "n_rounds": 3,
        "n_actions": 2,
        "context": np.array([[0.5, 1], [2, 3], [4, 5]]),
        "action_context": np.eye(2),
        "action": np.array([0, 1, 1]),
        "position": np.array([0, 1, 0]),
        "reward": np.array([1.0, 0, 1]),
        "expected_reward": np.zeros((3, 2)),
        "pi_b": None,
        "pscore": np.array([0.5, 0.25, 0.5]),
    }
    log = read_log(feedback)
    assert log.names == ("x0", "x1", "position=slot 0", "position=slot 1")
    assert log.observations[:, :2].tolist() == feedback["context"].tolist()
    assert log.observations[:, 2].tolist() == [1, 0, 1]
    assert log.actions.tolist() == [0, 1, 1]
    assert log.probabilities.tolist() == [0.5, 0.25, 0.5]
    assert read_log({**feedback, "position": None}).names == ("x0", "x1")
    with pytest.raises(ValueError, match=r"expected pscore \[3\], got shape \[3, 2\]"):
        read_log({**feedback, "pscore": np.ones((3, 2))})


HEAD = "x,action,probability,reward"


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (f"{HEAD}\n1,.5,1,0\n", {}, "column 'action', got '.5': actions are kinds: an amount,"),
        (f"{HEAD}\n1,-1,1,0\n", {}, "expected 0, 1, 2, ... or names in 'l.csv', line 2"),
        (f"{HEAD}\n1,0,1,0\n1,b,1,0\n", {}, "in all rows, or names in all in 'l.csv', line 3"),
        (f"{HEAD}\n,0,1,0\n", {}, "a finite number in 'l.csv', line 2, column 'x', got ''"),
        (f"step,{HEAD}\n1,1,0,1,0\n", {}, "a column 'trajectory' beside steps in 'l.csv'"),
        (f"prob,{HEAD.replace('probability', 'pscore')}\n1,1,0,1,0\n", {}, "one column of prob"),
        ("x,action,reward\n1,0,1\n", {}, "--columns probability=NAME says which it is"),
        (f"{HEAD}\n" + "".join(f"w{i},0,1,0\n" for i in range(51)), {}, "at most 50 words in"),
        ("action,probability,reward\n0,1,0\n", {}, "one column with what was observed"),
    ],
)
def test_what_is_refused(text, given, message, tmp_path):
    assert_refused(read_log, "log", tmp_path, "l.csv", text, message, **given)


def test_columns_that_no_log_has_are_refused():
    with pytest.raises(ValueError, match=r"columns: expected some of trajectory, action"):
        read_log({"x": [1]}, columns={"price": "x"})


def test_what_only_the_tested_part_has_is_not_seen(tmp_path):
    """The candidate must not depend on the words and actions of the rows that test it."""
    rows = "30,phone,b,.5,1\n40,tv,a,.5,0\n50,phone,c,.5,1\n"
    (tmp_path / "l.csv").write_text(f"age,device,action,probability,reward\n{rows}")
    loaded = load(tmp_path / "l.csv", ReturnRange(0, 1))
    parts = divide(loaded, np.array([True, False, True]))
    assert parts.names == ("age", "device=phone")
    assert parts.train.actions.max() == 1
    assert parts.action_names == ("b", "c", "a")
    assert parts.train.actions.tolist() == [[0], [1]]
    assert parts.test.actions.tolist() == [[2]]
    text = f"age,device,action,probability,reward\n{rows.replace('tv,a', 'watch,zz')}"
    (tmp_path / "m.csv").write_text(text)
    other = divide(load(tmp_path / "m.csv", ReturnRange(0, 1)), np.array([True, False, True]))
    assert other.names == parts.names
    same = jax.tree.map(np.array_equal, parts.train, other.train)
    assert all(jax.tree.leaves(same))


def test_the_command_learns_from_words(tmp_path, capsys):
    """Who has a phone is to be shown b, all others a."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(400):
        device, action = rng.choice(["desk", "phone"]), rng.choice(["a", "b"])
        good = (device == "phone") == (action == "b")
        rows.append(f"{device};{action};0,5;{int(rng.random() < (0.9 if good else 0.1))}")
    (tmp_path / "l.csv").write_text("\n".join(["device;action;p;click", *rows]) + "\n")
    command = ["improve", str(tmp_path / "l.csv"), "--low", "0"]
    command += ["--high", "1", "--candidates", "none", "--bound", "t"]
    assert main(without_cache([*command, "--out", str(tmp_path / "run")])) == 0
    said = capsys.readouterr().out
    assert "\nFOUND" in said
    assert "every row is a decision of its own" in said
    found = runs.read_summary(tmp_path / "run")["estimates"]
    assert "doubly robust" in said
    assert abs(found["doubly_robust"] - found["self_normalised"]) < 0.1
    assert found["doubly_robust_bound"] < found["doubly_robust"] - found["doubly_robust_stderr"]
    policy = load_policy(tmp_path / "run" / "policy.npz")
    assert policy.names == ("device=desk", "device=phone")
    assert policy.actions == ("a", "b")
    chances = policy.probabilities(np.eye(2))
    assert chances[0, 0] > 0.6
    assert chances[1, 1] > 0.6


def test_what_comes_after_the_action_is_not_observed():
    """A policy that goes by it would see its own future."""
    log = {
        "age": [30, 40],
        "past_clicks": [1, 0],
        "user_id": [7, 8],
        "action": ["a", "b"],
        "pscore": [0.5, 0.5],
        "propensity_score": [0.1, 0.1],
        "reward": [1, 0],
        "click": [1, 0],
        "dwell_time": [3.0, 4.0],
        "next_page": ["x", "y"],
    }
    with pytest.raises(ValueError, match="one column of probability"):
        read_log(log)
    columns = {"probability": "pscore"}
    found = read_log(log, columns=columns)
    assert found.names == ("age", "past_clicks", "user_id")
    assert "'propensity_score', 'click', 'dwell_time', 'next_page'" in "; ".join(found.said)
    assert "observed, though called like an id or a time: 'user_id'" in found.said
    named = read_log(log, columns={**columns, "context": ["age", "click"]})
    assert named.names == ("age", "click")


def costs(rewards="cost", flip=False):
    """Twenty decisions in each of two contexts; the action that equals it costs 2, the other 12."""
    rng = np.random.default_rng(0)
    rows = [
        [context, action, 12 - 10 * (context == action)] for context in (0, 1) for action in (0, 1)
    ]
    rows = [row for row in rows for _ in range(100)]
    rng.shuffle(rows)
    x, action, cost = np.array(rows, float).T
    numbers = 20 - cost if flip else cost
    return {"x": x, "action": action, "probability": np.full(len(x), 0.5), rewards: numbers}


def test_costs_are_costs_in_their_own_units():
    with pytest.raises(ValueError, match="got column 'cost': --smaller"):
        jaxrace.improve(costs(), 0, 20)
    found = jaxrace.improve(costs(), 0, 20, smaller=True, bound="t")
    assert found.found
    assert found.lower_bound is None
    assert found.upper_bound is not None
    in_use = found.summary["in_use"]
    assert 2 <= found.estimate < 2.5 < found.upper_bound < in_use
    assert in_use == pytest.approx(7, abs=1.5)
    assert found.gain_bound is not None
    assert 2 < found.gain_bound < in_use - found.estimate + 1
    assert "its mean cost is at most" in found.meaning()
    # The same as returns.
    mirrored = jaxrace.improve(costs("reward", flip=True), 0, 20, bound="t")
    assert mirrored.estimate == pytest.approx(20 - found.estimate, abs=1e-3)
    assert mirrored.lower_bound == pytest.approx(20 - found.upper_bound, abs=1e-3)
    assert mirrored.upper_bound is None
    assert mirrored.gain_bound == pytest.approx(found.gain_bound, abs=1e-3)
    # Whoever says so may have returns that are called so.
    assert jaxrace.improve(costs(), 0, 20, larger=True, bound="t").estimate > 11
    with pytest.raises(ValueError, match="smaller"):
        jaxrace.improve(costs(), 0, 20, smaller=True, larger=True)


@pytest.mark.parametrize("action", ["a", "3"])
def test_one_action_is_no_choice(action):
    rows = [{"x": x, "action": action, "probability": 1.0, "reward": x % 3} for x in range(40)]
    with pytest.raises(ValueError, match="expected two actions or more, got"):
        jaxrace.improve(rows, 0, 2)


def test_columns_as_the_command_takes_them():
    rows = [{"item": "x", "p": 0.5, "gain": 1, "age": 3, "who": 7}] * 2
    log = read_log(rows, columns="action=item,reward=gain,context=age")
    assert (log.names, log.reward, log.action_names) == (("age",), "gain", ("x",))
    with pytest.raises(ValueError, match="columns: expected ROLE=NAME,"):
        read_log(rows, columns="action=item,reward")
