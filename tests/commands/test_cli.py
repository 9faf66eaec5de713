import dataclasses
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxrace
from jaxrace import kernels, runs, sweep
from jaxrace.agents.outcomes import Both, Return
from jaxrace.agents.rollout import PolicyInTask, Rollout
from jaxrace.commands import cli
from jaxrace.commands.cli import main
from jaxrace.commands.options import POSITIONAL
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.tasks import evaluated, medical_task
from jaxrace.core.keys import two_keys

REPEATS, EPISODES, PATIENTS = 3, 300, 20
SMALL = [
    *("--repeats", str(REPEATS), "--episodes", str(EPISODES), "--test-patients", str(PATIENTS)),
    "--no-compilation-cache",
]
METRICS = ("death_rate", "tumour_size", "max_toxicity", "mean_reward")


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """``folder_of(method)`` is the folder of a small job, which is done once."""

    @functools.cache
    def done(method):
        folder = tmp_path_factory.mktemp("runs") / method
        job = ["train", "medical", "--method", method, *SMALL, "--out", str(folder)]
        assert main(job) == 0
        return folder

    return done


@pytest.fixture(params=["pb-edps", "constant"])
def finished(request, folder_of):
    """Method and folder of a small job."""
    return request.param, folder_of(request.param)


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """An empty working folder, and no cache shared with other programs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files(finished):
    method, folder = finished
    files = {"config.json", "log.csv", "summary.json", "timing.json"}
    assert {path.name for path in folder.iterdir()} == (
        files | {"learning_curve.png"} if method.endswith("edps") else files
    )


def test_config_is_enough_to_run_again(finished):
    method, folder = finished
    config = runs.read_config(folder)
    learns = method.endswith("edps")
    expected = {"command", "config", "versions", "device"}
    expected |= {"race", "sweep"} if learns else set()
    assert set(config) == expected
    if learns:
        # The heuristic is on record.
        assert config["race"]["dynamic_delta"] == (method == "edps")
        assert config["sweep"] == {"width": 3}
    assert TrainConfig(**config["config"]) == TrainConfig(
        method=method, repeats=REPEATS, episodes=EPISODES, test_patients=PATIENTS
    )


def test_log(finished):
    method, folder = finished
    log = runs.read_log(folder)
    assert list(log)[:3] == ["repeat", "generation", "episodes"]
    assert tuple(log)[-4:] == METRICS
    for repeat in range(REPEATS):
        rows = log["repeat"] == repeat
        if not method.endswith("edps"):
            assert log["episodes"][rows].tolist() == [0]
            continue
        assert log["generation"][rows].tolist() == list(range(1, rows.sum() + 1))
        assert (np.diff(log["episodes"][rows], prepend=0) > 0).all()
        assert log["episodes"][rows][-1] >= EPISODES > log["episodes"][rows][-2]
        assert (log["max_rounds"][rows] >= 3).all()
    deaths = log["death_rate"] * PATIENTS
    np.testing.assert_allclose(deaths, deaths.round(), atol=1e-4)


def test_summary_agrees_with_the_last_rows_of_the_log(finished):
    method, folder = finished
    log, summary = runs.read_log(folder), runs.read_summary(folder)
    last = [np.flatnonzero(log["repeat"] == repeat)[-1] for repeat in range(REPEATS)]
    for name in METRICS:
        expected = runs.mean_and_stderr(log[name][last])
        assert summary[name] == pytest.approx(expected, rel=1e-5, abs=1e-7), name
    assert summary["episodes_used"] == runs.mean_and_stderr(log["episodes"][last])
    assert (summary["env"], summary["repeats"], summary["episodes"]) == ("medical", 3, 300)
    assert summary["method"] == method
    assert summary["policy"] == ("constant 0.4" if method == "constant" else method)
    timing = runs.read_json(folder / "timing.json")
    # Of a small job of searches it is in the next.
    assert (timing["compile_seconds"] is None) == (method not in ("constant", "random"))
    assert timing["run_seconds"] > 0


def test_log_evaluates_the_policies_that_it_shows(folder_of):
    log = runs.read_log(folder_of("pb-edps"))
    task = medical_task(TrainConfig())
    _, key = two_keys(np.uint32(0))
    rows = log["generation"] == 2
    thetas = np.stack([log[f"theta_{i}"][rows] for i in range(3)], -1).astype(np.float32)
    played = Rollout(task.env, task.policy, Both(task.fold, Return()))

    def of_repeat(number, theta):
        option = PolicyInTask(theta, task.env_params)
        return evaluated((played, task.measure, PATIENTS), key, 2, number, option)

    for name, values in jax.vmap(of_repeat)(np.arange(REPEATS), thetas).items():
        np.testing.assert_allclose(values, log[name][rows], rtol=1e-5, atol=1e-6)


def test_same_seed_same_numbers(finished, nowhere):
    method, folder = finished
    job = ["train", "medical", "--method", method, *SMALL]
    assert main(job) == 0
    again = nowhere / "runs" / f"medical-{method}-1"
    assert (again / "log.csv").read_bytes() == (folder / "log.csv").read_bytes()
    assert main([*job, "--seed", "1"]) == 0
    other = nowhere / "runs" / f"medical-{method}-2"
    assert (again / "summary.json").read_bytes() == (folder / "summary.json").read_bytes()
    assert (other / "log.csv").read_bytes() != (folder / "log.csv").read_bytes()


def test_own_action(nowhere, capsys):
    job = ["train", "medical", "--method", "constant", "--action", "0.55", "--out", "own", *SMALL]
    assert main(job) == 0
    summary = runs.read_summary("own")
    assert summary["policy"] == "constant 0.55"
    assert len(summary["baselines"]) == 5
    tumours = [summary["baselines"][f"constant {dose}"]["tumour_size"] for dose in (0.7, 0.4)]
    assert tumours[0]["mean"] < summary["tumour_size"]["mean"] < tumours[1]["mean"]


def test_output_on_a_pipe(nowhere, capsys):
    assert main(["train", "medical", "--method", "random", *SMALL]) == 0
    output = capsys.readouterr()
    assert output.err == "compiling ...\n"
    lines = output.out.splitlines()
    assert max(map(len, lines)) <= 80
    row = re.compile(r"^(constant [\d.]+|random)( +-?\d+\.\d+ \N{PLUS-MINUS SIGN} \d+\.\d+){4}$")
    assert [bool(row.match(line)) for line in lines] == [False, False, *5 * [True], False, False]
    assert lines[-2] == "means of 3 repeats and their standard errors"
    assert re.fullmatch(r"compile .* s, run .* s; runs/medical-random-1", lines[-1])


def test_a_folder_that_cannot_be_written(nowhere, monkeypatch, capsys):
    """A superuser may write everywhere, so that the system's answer is made up here."""
    (nowhere / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")
    assert main(["train", "medical", "--out", "locked", "--no-compilation-cache"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--out: expected a folder that can be written, got 'locked'" in line
    assert sorted(nowhere.rglob("*")) == [nowhere / "locked"]


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (RuntimeError("no more\nmemory"), 1, "no more memory"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_a_failure_leaves_one_line_and_nothing_else(
    raised, status, message, nowhere, monkeypatch, capsys
):
    def fail(*arguments, **named):
        raise raised

    monkeypatch.setattr(sweep, "run", fail)
    assert main(["train", "medical", "--method", "edps", *SMALL]) == status
    *progress, last = capsys.readouterr().err.splitlines()
    assert progress == ["compiling ..."]
    assert last.startswith("jaxrace: error: ")
    assert message in last
    assert list(nowhere.iterdir()) == []


def test_an_unexpected_exception_shows_its_traceback(nowhere, monkeypatch):
    def fail(*arguments, **named):
        raise TypeError("a mistake of ours")

    monkeypatch.setattr(sweep, "run", fail)
    with pytest.raises(TypeError, match="ours"):
        main(["train", "medical", "--method", "edps", *SMALL])
    assert list(nowhere.iterdir()) == []


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"jaxrace {jaxrace.__version__}\n"


@pytest.mark.parametrize("verb", ["", "train", "race", "list", "info"])
def test_help_has_an_example(verb, capsys):
    assert main([*verb.split(), "-h"]) == 0
    output = capsys.readouterr().out
    assert re.search(rf"^For example:\n  jaxrace {verb}", output, re.MULTILINE)
    if not verb:  # what most people come for is first
        assert output.index("race scores.csv") < output.index("train module")
        assert output.index("    race ") < output.index("    train ")
    if verb == "train":
        common, _, medical = output.partition("\nmedical task:\n")
        assert "--hazard {A,B}        How" in medical
        assert "patients" not in common.replace("--test-patients", "")


def test_list(capsys):
    assert main(["list"]) == 0
    output = capsys.readouterr().out
    assert all(f"\n  {name} " in output for name in ("medical", "pb-edps", *kernels.RACE_BOUNDS))
    assert max(map(len, output.splitlines())) <= 80


def test_info(capsys):
    assert main(["info"]) == 0
    output = capsys.readouterr().out
    assert re.search(rf"^jax +{re.escape(jax.__version__)}$", output, re.MULTILINE)
    assert jax.devices()[0].platform in output


def run_command(arguments: list[str], folder: Path, **environment: str):
    command = "import sys; from jaxrace.commands.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", command, *arguments],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is for Linux")
def test_compiled_programs_are_kept_in_the_users_cache_folder(tmp_path):
    job = ["train", "medical", "--method", "random", *SMALL[:-1]]
    done = run_command(job, tmp_path)
    assert (done.returncode, done.stderr) == (0, "compiling ...\n")
    assert any((tmp_path / "cache" / "jaxrace").iterdir())


def test_quick_verbs_do_not_import_jax(tmp_path):
    command = (
        "import sys; from jaxrace.commands.cli import main; assert main(['train', '-h']) == 0; "
        "assert 'jax' not in sys.modules, 'jax'"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("verb", "word"),
    [
        ("train", "medical"),
    ],
)
def test_a_word_after_ray_is_an_address_only_if_it_looks_like_one(monkeypatch, verb, word):
    seen = []
    monkeypatch.setattr(cli, "do", lambda verb, arguments, name: seen.append(vars(arguments)) or 0)
    fields = dataclasses.fields(cli._VERBS[verb].config)
    argument = next(field.name for field in fields if field.name in POSITIONAL)
    for given in (["--ray", word], [word, "--ray"], ["--ray", "10.0.0.1:6379", word]):
        assert main([verb, *given, "--lanes", "3"]) == 0
    assert [found["ray"] for found in seen] == ["local", "local", "10.0.0.1:6379"]
    assert [found[argument] for found in seen] == 3 * [word]


@pytest.mark.parametrize("word", ["medical", "head", "10.0.0.1", "", "auto2", "ray://", "a:b"])
def test_what_is_no_address_is_refused(word, nowhere, capsys):
    assert main(["train", "medical", f"--ray={word}"]) == 2
    assert (
        "--ray: expected auto, local, HOST:PORT or ray://HOST:PORT, got" in capsys.readouterr().err
    )
    with pytest.raises(ValueError, match="address: expected auto, local, "):
        sweep.Ray(word)


@pytest.mark.parametrize(
    "word", ["auto", "local", "head-1.net:6379", "[::1]:6379", "ray://h:10001"]
)
def test_addresses(word):
    assert sweep.Ray(word).address == word
