"""Files of logged trajectories for `jaxrace improve`: what they may be, and what they may not."""

import math
import zipfile

import numpy as np
import pytest

from jaxrace import improve
from jaxrace.commands.cli import main
from jaxrace.improvement import ReturnRange
from jaxrace.judging.policies.loading import load
from jaxrace.judging.policies.saved import SavedPolicy, rules_of

# The cache would stay switched on for the tests that follow.
COMMAND = ["improve"]


def refused(capsys, path, *options):
    """The one line that says why a file is refused; nothing is left."""
    out = path.parent / "run"
    assert main([*COMMAND, str(path), "--low", "0", *options, "--out", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert not out.exists()
    return line


def ragged_arrays():
    rng = np.random.default_rng(0)
    done = rng.integers(2, size=(300, 2))
    return {
        "observations": rng.normal(size=(300, 2, 3)),
        "actions": done,
        "probabilities": np.full((300, 2), 0.5),
        "rewards": done * 1.0,
        "lengths": rng.integers(1, 3, 300),
    }


def test_what_is_read_of_arrays(tmp_path):
    """Nothing that is beyond the end of a trajectory."""
    arrays = ragged_arrays()
    np.savez(tmp_path / "log.npz", **arrays)
    found = load(tmp_path / "log.npz", ReturnRange(0, 2))
    taken = np.arange(2) < arrays["lengths"][:, None]
    assert 0 < taken.mean() < 1
    np.testing.assert_array_equal(found.data.taken, taken)
    np.testing.assert_array_equal(found.data.actions, np.where(taken, arrays["actions"], 0))
    np.testing.assert_array_equal(found.data.rewards, np.where(taken, arrays["rewards"], 0))
    seen = np.asarray(arrays["observations"][taken], np.float32)
    np.testing.assert_allclose(found.seen[taken], seen, rtol=1e-6)


def test_a_log_of_several_policies(tmp_path, capsys):
    """A mixture would be with the policy in use, of which only a share of the log is."""
    drawn = enumerate(np.random.default_rng(0).integers(6, size=60).tolist())
    rows = [f"t{number},0,{one % 2},.5,1,{one // 2}" for number, one in drawn]
    log = tmp_path / "log.csv"
    log.write_text("\n".join([f"{HEAD},behaviour", *rows]))
    said = refused(capsys, log, "--high", "1")
    assert "--candidates: expected none for a log of 3 behaviour policies" in said
    assert improve(log, 0, 1, candidates="none").summary["trajectories"] == 60


HEAD = "trajectory,x,action,probability,reward"

BAD_FILES = {
    "trajectory,x,action,reward\na,1,0,1": "expected a column 'probability' in",
    "trajectory,action,probability,reward\na,0,1,1": "at least one column with what was observed",
    HEAD: "expected a row for each decision in",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,0,1": "log.csv', line 3, column 'probability', got '0'",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,nan,1": "log.csv', line 3, column 'probability', got 'nan'",
    f"{HEAD}\na,1,-1,.5,1": "log.csv', line 2, column 'action', got '-1'",
    f"{HEAD}\na,1,0,.5": "log.csv', line 2, got 4",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,.5,1\na,1,0,.5,1": "line 4, column 'trajectory', got 'a'",
    f"{HEAD}\na,1,0,.5,1\nb,1,0,.5,3\nb,1,0,.5,4": "log.csv', line 3: trajectory 'b': expected a "
    "return from 0 to 1, got 7",
    f"{HEAD}\na,1,0,.5,1": "data: expected at least 20 trajectories, got 1",
    "": "expected a table with something in it",
    f"{HEAD},x\na,1,0,.5,1,2": "expected different names of columns in",
    f"{HEAD},behaviour\na,1,0,.5,0,0\na,1,0,.5,1,1": "one policy for all of trajectory 'a', 0",
    f"{HEAD}\na,1,3000000000,.5,1": "expected at most 2147483647 in",
    f"{HEAD}\na,1,0,.5,1\n\nb,1,0,1e-60,1": "log.csv', line 4, column 'probability', got '1e-60'",
    f"{HEAD}\na,1e60,0,.5,1": "line 2, column 'x', got '1e60'",
    f"{HEAD}\na\x81,1,0,.5,1": "expected text in UTF-8 in",  # nor in Windows-1252
}


@pytest.mark.parametrize("text", list(BAD_FILES))
def test_bad_files(text, tmp_path, capsys):
    (tmp_path / "log.csv").write_bytes(f"{text}\n".encode("latin-1"))
    assert BAD_FILES[text] in refused(capsys, tmp_path / "log.csv", "--high", "1")


@pytest.mark.parametrize(("suffix", "bad"), [("csv", 1_000_000), ("npz", 5_000)])
def test_a_number_that_is_no_action(suffix, bad, tmp_path, capsys):
    """Policies would have millions of weights; the row is named, and nothing is left."""
    path = tmp_path / f"log.{suffix}"
    if suffix == "csv":
        rows = [f"{number},1,{bad if number == 30 else number % 2},.5,1" for number in range(40)]
        path.write_text("\n".join([HEAD, *rows]) + "\n")
        place = f"'{path}', line 32: action"
    else:
        arrays = arrays_of(40)
        arrays["actions"][30, 1] = bad
        np.savez(path, **arrays)
        place = f"{path}: actions[30, 1]"
    line = refused(capsys, path, "--high", "2")
    features = 2 if suffix == "csv" else 4
    assert f"{place}: expected at most {10_000 // features - 1}, as policies have at most" in line
    assert line.endswith(f"got {bad}")


def test_a_basis_with_too_many_features(tmp_path, capsys):
    heads = ",".join(f"x{number}" for number in range(8))
    rows = [f"{number},{'1,' * 8}{number % 2},.5,1" for number in range(40)]
    text = [f"trajectory,{heads},action,probability,reward", *rows]
    (tmp_path / "log.csv").write_text("\n".join(text) + "\n")
    said = refused(capsys, tmp_path / "log.csv", "--high", "1", "--order", "2")
    assert "--order: expected policies of at most 10000 weights, got 6561 of each action" in said


def arrays_of(count):
    done = np.arange(2 * count).reshape(count, 2) % 2
    return {
        "observations": np.zeros((count, 2, 3)),
        "actions": done,
        "probabilities": np.full((count, 2), 0.5),
        "rewards": done * 1.0,
    }


def spoil_bytes(path):
    """Compressed data in which every byte after the header of the first member is another."""
    np.savez_compressed(path, **arrays_of(30))
    with zipfile.ZipFile(path) as archive:
        first = archive.infolist()[0]
    content = bytearray(path.read_bytes())
    start = 30 + len(first.filename) + 20
    content[start : start + 20] = b"\xff" * 20
    path.write_bytes(bytes(content))


def write_plain(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def add_text(path):
    np.savez(path, **arrays_of(30))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("observations.txt", "no array")
        archive.writestr("notes", "no array")


BAD_ARRAYS = {
    "empty": (lambda path: path.write_bytes(b""), "expected arrays of numbers in an NPZ file"),
    "plain": (write_plain, "expected arrays of numbers in an NPZ file, which begins with b'PK'"),
    "broken": (spoil_bytes, "expected arrays of numbers in an NPZ file, got other bytes: "),
    "cut": (lambda path: path.write_bytes(b"PK\x03\x04"), "expected arrays of numbers in an NPZ"),
    "text": (add_text, "in an NPZ file, got 'observations.txt', a file of another kind"),
    **{
        f"complex {name}": (
            lambda path, name=name: np.savez(
                path, **(arrays_of(30) | {name: arrays_of(30)[name] + 0j})
            ),
            f"{name}: expected real numbers, got complex128",
        )
        for name in ("actions", "rewards")
    },
}


@pytest.mark.parametrize("kind", list(BAD_ARRAYS))
def test_bad_arrays(kind, tmp_path, capsys):
    write, message = BAD_ARRAYS[kind]
    path = tmp_path / "log.npz"
    write(path)
    line = refused(capsys, path, "--high", "2")
    assert line.startswith(f"jaxrace: error: {path}: ")
    assert message in line


def test_what_other_programs_write(tmp_path):
    """A byte order mark, lines that end in CR LF, empty lines."""
    lines = [HEAD, "a,1,0,.5,1", "a,2,1,.5,0", "", "b,3,0,.5,1", "", ""]
    (tmp_path / "log.csv").write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    found = load(tmp_path / "log.csv", ReturnRange(0, 2))
    assert found.names == ("x",)
    assert found.data.taken.sum(1).tolist() == [2, 1]
    assert found.seen[found.data.taken][:, 0].tolist() == [1, 2, 3]
    assert found.lines is not None
    assert found.lines.tolist() == [[2, 3], [5, 0]]


def test_rules_say_what_a_policy_does():
    """A tree of what was seen: by a word of two, and then a number."""
    rng = np.random.default_rng(0)
    phone, hour = rng.integers(2, size=400), rng.integers(12, size=400)
    seen = np.column_stack([1 - phone, phone, hour]).astype(float)
    first = np.where(phone == 1, np.where(hour > 5, 0.8, 0.6), 0.2)
    names = ("device=desk", "device=phone", "hour")
    rules, explained = rules_of(np.column_stack([first, 1 - first]), seen, names, ("x", "y"))
    assert explained == 1
    found = {rule["where"]: rule["actions"] for rule in rules}
    assert found == {
        "device=desk": {"y": 0.8, "x": 0.2},
        "device=phone and hour <= 5": {"x": 0.6, "y": 0.4},
        "device=phone and hour > 5": {"x": 0.8, "y": 0.2},
    }
    assert sum(rule["share"] for rule in rules) == pytest.approx(1, abs=0.002)
    same = np.full((400, 2), 0.5)
    assert rules_of(same, seen, names, ("x", "y"))[0][0]["where"] == "always"


def test_the_only_word_that_is_left_is_said():
    """Not young and not old, of three, is the third."""
    words = np.eye(3)[np.arange(300) % 3]
    best = np.eye(3)[np.arange(300) % 3]
    names = ("user=young", "user=old", "user=mid")
    rules, explained = rules_of(best, words, names, ("a", "b", "c"))
    assert explained == 1
    assert {rule["where"]: [*rule["actions"]] for rule in rules} == {
        "user=young": ["a"],
        "user=old": ["b"],
        "user=mid": ["c"],
    }
    # Of what may have several words at once, or none, nothing follows.
    several = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]] * 75, float)
    rules, _ = rules_of(np.eye(2)[several[:, 0].astype(int)], several, names, ("a", "b"))
    assert {rule["where"] for rule in rules} == {"user=young", "not user=young"}


def test_a_policy_decides_nothing_on_what_was_not_seen():
    ends = np.zeros(2), np.ones(2)
    policy = SavedPolicy(np.zeros((3, 4)), 1.0, ("speed", "place"), *ends, None, 1)
    assert policy.probabilities([0.5, 2.0]).shape == (3,)
    with pytest.raises(ValueError, match="observed: expected numbers, got NaN of place"):
        policy.probabilities([[0.5, 1.0], [0.5, math.nan]])


def test_what_tells_the_reward_is_left_out(tmp_path):
    """Below any head, in other words, or as part of it; honest columns stay."""
    rng = np.random.default_rng(0)
    reward, x, action = (
        rng.integers(0, 5, 200),
        rng.normal(size=200).round(1),
        rng.integers(2, size=200),
    )
    amount = rng.random(200).round(3)
    columns = {
        "x": x,
        "seen": reward,
        "z": 1 - 2 * reward,
        "big": np.where(reward > 2, "Yes", "no"),
    }
    columns |= {
        "even": reward % 2,
        "slot": rng.integers(0, 3, 200),
        "last": 1 * (np.arange(200) == 199),
    }
    rows = {"action": action, "probability": np.full(200, 0.5), "reward": reward}
    log = load({**columns, **rows}, ReturnRange(0, 4))
    assert log.names == ("x", "slot", "last")
    assert "these tell it: 'seen', 'z', 'big=Yes', 'big=no', 'even'" in log.said[-1]
    kept = load({**columns, **rows}, ReturnRange(0, 4), columns={"context": ["x", "seen"]})
    assert kept.names == ("x", "seen")
    log = load({"x": x, "of": 3 - 2 * amount, **rows, "reward": amount}, ReturnRange(0, 1))
    assert log.names == ("x",)
    with pytest.raises(ValueError, match="something observed that does not tell every reward, got"):
        load({"z": reward, **rows}, ReturnRange(0, 4))
    # The reward of a state, as in a Markov decision process, is no secret.
    walk = {"trajectory": np.arange(200) // 2, "z": reward, **rows}
    assert load(walk, ReturnRange(0, 8)).names == ("z",)
