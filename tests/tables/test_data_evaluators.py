"""What evaluators, timers and optimisers leave: small files in their documented formats."""

import json
import shutil
import sqlite3
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard

from jaxrace.tables import read_scores

DATA = Path(__file__).parent / "data"


def found_in(source, **given):
    found = read_scores(source, **given)
    values = {n: x.tolist() for n, x in zip(found.names, found.values, strict=True)}
    return values, found.task_names, "; ".join(found.said), found.smaller


def test_timings_are_read(tmp_path):
    with pytest.raises(ValueError, match=r"got exit codes other than 0: 1: --failed worst"):
        read_scores(DATA / "hyperfine.json")
    given = read_scores(DATA / "hyperfine.json", failed=9)
    assert given.values[1].tolist() == [0.0294, 9]
    values, tasks, said, smaller = found_in(DATA / "hyperfine.json", failed="drop")
    assert values == {
        "rg -c import": [0.0118, 0.0124, 0.0121],
        "grep -rc import .": [0.0294],
    }
    assert (tasks, smaller) == ((), True)
    assert "smaller is better; runs that failed: 'grep -rc import .' 1; left out, which" in said
    values, *_, smaller = found_in(DATA / "hyperfine2.json")
    assert (values, smaller) == ({"one second": [1.002, 1.004], "sleep 2": [2.003]}, True)
    both = [{"command": "make", "times": [t], "parameters": {"j": t}} for t in (1, 2)]
    (tmp_path / "h.json").write_text(json.dumps({"results": both}))
    assert found_in(tmp_path / "h.json")[0] == {"make (j=1)": [1], "make (j=2)": [2]}
    groups = json.loads((DATA / "pytest_benchmark.json").read_text())
    groups["benchmarks"] += [one | {"group": "big"} for one in groups["benchmarks"]]
    (tmp_path / "p.json").write_text(json.dumps(groups))
    with pytest.raises(ValueError, match=r"got '.*', 'big': --score-column .* takes one"):
        read_scores(tmp_path / "p.json")
    assert len(found_in(tmp_path / "p.json", score_column="big")[0]) == 2
    values, *_, smaller = found_in(DATA / "pytest_benchmark.json")
    expected = {"test_sort[list]": [0.0021, 0.0024, 0.0022], "test_sort[array]": [0.0011, 0.0009]}
    assert (values, smaller) == (expected, True)


def test_the_harness_is_read(tmp_path):
    with pytest.raises(ValueError, match=r"--score-column exact_match,strict-match takes one"):
        read_scores(DATA / "harness")
    values, tasks, said, _ = found_in(DATA / "harness", score_column="exact_match,strict-match")
    assert values == {"org__large": [1, 1, 0], "org__small": [1, 0, 0]}
    assert tasks == ("gsm8k 0", "gsm8k 1", "gsm8k 2")
    assert "models by their folders" in said
    assert read_scores(DATA / "harness", score_column="exact_match,strict-match").fits_shared
    # The same model on the same questions again.
    shutil.copytree(DATA / "harness", tmp_path / "again")
    path = next((tmp_path / "again" / "org__small").iterdir())
    shutil.copy(path, path.with_name(path.name.replace("2026", "2027")))
    with pytest.raises(ValueError, match=r"expected one evaluation of 'org__small' on 'gsm8k 0'"):
        read_scores(tmp_path / "again", score_column="exact_match,strict-match")
    # Without folders, names say it.
    files = {path.parent.name[5:]: path for path in sorted((DATA / "harness").rglob("*.jsonl"))}
    values = found_in(files, score_column="exact_match,flexible-extract")[0]
    assert values == {"large": [1, 1, 1], "small": [1, 1, 1]}


def with_zstandard(path):
    """Pack an archive as Inspect does: Python 3.13 can only be made to by hand."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, zstandard.compress(content))
            about = archive.getinfo(name)
            about.compress_type, about.file_size = 93, len(content)
            about.CRC = zlib.crc32(content)


def test_inspect_is_read(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"got samples without a score: 1: --failed worst"):
        read_scores(DATA / "inspect")
    drop = {"failed": "drop"}
    values, tasks, said, _ = found_in(DATA / "inspect", **drop)
    assert values == {"openai/large": [1, 1], "openai/small": [1, 0, 0.5]}
    assert tasks == ("arithmetic 1", "arithmetic 2", "arithmetic 3")
    assert "with status 'cancelled'" in said
    assert "runs that failed: 'openai/large' 1; left out" in said
    assert found_in(DATA / "inspect", failed=0)[0]["openai/large"].count(0) == 1
    for path in (DATA / "inspect").glob("*.json"):
        log = json.loads(path.read_text())
        log["eval"]["dataset"]["sample_ids"] = [1, 2, 3]
        with zipfile.ZipFile(tmp_path / f"{path.stem}.eval", "w") as archive:
            for number, one in enumerate(log.pop("samples")[::-1]):  # as they may end
                archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(one))
            archive.writestr("header.json", json.dumps(log))
    assert found_in(tmp_path, **drop)[:2] == (values, tasks)
    paths = list(tmp_path.glob("*.eval"))
    for path in paths:
        with_zstandard(path)
    assert found_in(tmp_path, **drop)[:2] == (values, tasks)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "zstandard", None)
        lacks = r"expected zstandard.* pip install 'jaxrace\[tables\]"
        if sys.version_info >= (3, 14):  # zipfile itself reads Zstandard
            lacks = "got samples without a score: 1"
        with pytest.raises(ValueError, match=lacks):
            read_scores(tmp_path)
    path = paths[0]
    content = path.read_bytes()
    for bad in (content.replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfc"), content[:60]):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"expected a log of Inspect in"):
            read_scores(tmp_path)
    (tmp_path / "cut.eval").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match=r"expected a log of Inspect in '.*cut\.eval'.* convert"):
        read_scores(tmp_path / "cut.eval")
    log = json.loads(next((DATA / "inspect").glob("*small.json")).read_text())
    failed = log | {"status": "error", "samples": [{"id": 1, "scores": {}}]}
    (tmp_path / "log.json").write_text(json.dumps(failed))
    with pytest.raises(ValueError, match=r"got none, as the evaluation has status 'error'"):
        read_scores(tmp_path / "log.json")
    log["samples"][1]["scores"]["match"]["value"] = {"safe": 1, "useful": 0}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(ValueError, match=r"sample 2, got 'safe', 'useful': --score-column match,"):
        read_scores(tmp_path / "log.json")
    del log["samples"]
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(ValueError, match=r"inspect log convert --to json"):
        read_scores(tmp_path / "log.json")


TABLES = """
CREATE TABLE studies (study_id INTEGER, study_name TEXT);
CREATE TABLE study_directions (direction TEXT, study_id INTEGER, objective INTEGER);
CREATE TABLE trials (trial_id INTEGER, number INTEGER, study_id INTEGER, state TEXT);
CREATE TABLE trial_params
    (trial_id INTEGER, param_name TEXT, param_value FLOAT, distribution_json TEXT);
CREATE TABLE trial_values (trial_id INTEGER, objective INTEGER, value FLOAT, value_type TEXT);
CREATE TABLE trial_intermediate_values
    (trial_id INTEGER, step INTEGER, intermediate_value FLOAT, intermediate_value_type TEXT);
INSERT INTO studies VALUES (1, 'x');
INSERT INTO study_directions VALUES ('MINIMIZE', 1, 0);
"""
KIND = json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": ["adam", "sgd"]}})
DEPTH = json.dumps({"name": "IntDistribution", "attributes": {"low": 1, "high": 9}})


def study(path, trials):
    """The SQLite file of a study, from the choice, values and state of each trial."""
    db = sqlite3.connect(path)
    db.executescript(TABLES)
    for number, (choice, values, state) in enumerate(trials):
        one = number + 1
        db.execute("INSERT INTO trials VALUES (?, ?, 1, ?)", (one, number, state))
        db.execute("INSERT INTO trial_params VALUES (?, 'opt', ?, ?)", (one, choice % 2, KIND))
        db.execute("INSERT INTO trial_params VALUES (?, 'depth', ?, ?)", (one, choice + 1, DEPTH))
        db.execute("INSERT INTO trial_values VALUES (?, 0, ?, 'FINITE')", (one, values[-1]))
        for step, value in enumerate(values):
            kind = "FINITE" if value == value else "NAN"
            told = (one, step, value, kind)
            db.execute("INSERT INTO trial_intermediate_values VALUES (?, ?, ?, ?)", told)
    db.commit()
    db.close()


def test_a_study_of_optuna_is_read(tmp_path):
    done = "COMPLETE"
    study(tmp_path / "a.db", [(0, [3, 1], done), (1, [4, 2], done), (0, [3, 5], "PRUNED")])
    with pytest.raises(ValueError, match=r"run counts as in .*a\.db', got 1 PRUNED: --failed "):
        read_scores(tmp_path / "a.db")
    worst = found_in(tmp_path / "a.db", failed="worst")[0]
    assert worst == {"depth=1, opt=adam": [1, -np.inf], "depth=2, opt=sgd": [2]}
    study(tmp_path / "p.db", [(0, [3, 1], done), (1, [4], "PRUNED")])
    values, tasks, *_ = found_in(tmp_path / "p.db", failed=9)
    assert (list(values.values()), tasks) == ([[3, 1], [4, 9]], ("0", "1"))
    values, tasks, said, smaller = found_in(tmp_path / "a.db", failed="drop")
    assert values == {"depth=1, opt=adam": [3, 1], "depth=2, opt=sgd": [4, 2]}
    assert (tasks, smaller) == (("0", "1"), True)
    assert "not complete, left out: 1" in said
    study(tmp_path / "b.db", [(0, [3, 1], done), (1, [4, 2], done), (0, [3, 5], done)])
    values, tasks, *_ = found_in(tmp_path / "b.db")
    assert values == {"depth=1, opt=adam": [1, 5], "depth=2, opt=sgd": [2]}
    assert tasks == ()
    study(tmp_path / "c.db", [(0, [float("nan"), 1], done), (1, [4, 2], done)])
    with pytest.raises(ValueError, match=r"expected a number in '.*c\.db', trial 0, got nan"):
        read_scores(tmp_path / "c.db")
    with sqlite3.connect(tmp_path / "b.db") as db:
        db.execute("INSERT INTO studies VALUES (2, 'y')")
        db.execute("INSERT INTO study_directions VALUES ('MAXIMIZE', 2, 0)")
        db.execute("UPDATE trials SET study_id = 2 WHERE number > 0")
    db.close()
    with pytest.raises(ValueError, match=r"expected one study in .*: --score-column x takes one"):
        read_scores(tmp_path / "b.db")
    values, *_, smaller = found_in(tmp_path / "b.db", score_column="y")
    assert (values, smaller) == ({"depth=2, opt=sgd": [4, 2], "depth=1, opt=adam": [3, 5]}, False)
    (tmp_path / "d.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(ValueError, match=r"^scores: expected a study of Optuna in "):
        read_scores(tmp_path / "d.db")


def test_a_frame_of_trials_is_read(tmp_path):
    (tmp_path / "t.csv").write_text(
        ",number,value,datetime_start,params_lr,state\n0,0,0.5,2026-01-02,0.1,COMPLETE\n"
        "1,1,0.7,2026-01-02,0.2,COMPLETE\n2,2,,2026-01-02,0.2,FAIL\n3,3,.6,2026-01-02,0.1,COMPLETE\n"
    )
    with pytest.raises(ValueError, match=r"got 1 FAIL: --failed worst"):
        read_scores(tmp_path / "t.csv")
    worst = found_in(tmp_path / "t.csv", failed="worst")[0]
    assert worst == {"lr=0.1": [0.5, 0.6], "lr=0.2": [0.7, -np.inf]}
    values, *_, said, _ = found_in(tmp_path / "t.csv", failed="drop")
    assert values == {"lr=0.1": [0.5, 0.6], "lr=0.2": [0.7]}
    assert "left out: 1" in said
    assert "does not say whether values are minimised: if so, --smaller" in said
    two = "number,values_0,values_1,params_lr,state\n0,0.5,1,0.1,COMPLETE\n1,0.7,1,0.2,COMPLETE\n"
    (tmp_path / "t.csv").write_text(two)
    with pytest.raises(ValueError, match=r"one objective .* 'values_0', 'values_1': --score-col"):
        read_scores(tmp_path / "t.csv")
    assert found_in(tmp_path / "t.csv", score_column="values_0")[0] == {
        "lr=0.1": [0.5],
        "lr=0.2": [0.7],
    }


def test_seeds_of_algorithms_are_read():
    found = read_scores(DATA / "rl.csv")
    assert [x.tolist() for x in found.values] == [[201.5, 187, -12.75], [230.25, 244.5, 239]]
    assert found.names == ("ppo", "sac")
    assert found.fits_shared


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    rng, taken, refused = np.random.default_rng(0), 0, []
    for path in sorted(path for path in DATA.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for _ in range(30):
            begin, length = int(rng.integers(len(content))), int(rng.integers(9))
            other = content[begin // 2 :][: int(rng.integers(9))]
            damaged = content[:begin] + other + content[begin + length :]
            (tmp_path / path.name).write_bytes(damaged)
            try:
                found = read_scores(tmp_path / path.name)
            except ValueError as error:
                refused.append(str(error))
                continue
            taken += 1
            assert not any(np.isnan(values).any() for values in found.values)
    assert taken > 10
    assert all(text.startswith("scores: expected ") and "\n" not in text for text in refused)


def test_a_frame_of_optuna_with_two_rows_of_heads():
    import pandas as pd

    heads = [("number", ""), ("value", ""), ("params", "x"), ("state", "")]
    rows = [(0, 0.5, 1, "COMPLETE"), (1, 0.25, 2, "COMPLETE"), (2, 0.75, 1, "COMPLETE")]
    frame = pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(heads))
    assert found_in(frame)[0] == {"x=1": [0.5, 0.75], "x=2": [0.25]}


def inspect_log(folder, name, scorer="match", task="arc", model="gpt", settings=None):
    """A log of three samples of one model."""
    samples = [{"id": n, "scores": {scorer: {"value": "CI"[n % 2]}}} for n in range(3)]
    about = {"model": model, "task": task} | (settings or {})
    plan = {"steps": [{"solver": "generate", "params": about.pop("steps", {})}]}
    log = {"status": "success", "eval": about, "plan": plan, "samples": samples}
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(log))


@pytest.mark.parametrize("what", ["task_args", "model_args", "steps"])
def test_evaluations_of_one_model_are_named_by_what_was_set(what, tmp_path):
    for prompt in ("old", "new"):
        inspect_log(
            tmp_path / "logs", f"{prompt}.json", settings={what: {"prompt": prompt, "n": 3}}
        )
    inspect_log(tmp_path / "logs", "other.json", model="claude")
    found = read_scores(tmp_path / "logs")
    assert {*found.names} == {"gpt (prompt=old)", "gpt (prompt=new)", "claude"}
    assert "evaluations of 'gpt' are told apart by what was set" in found.said


def test_settings_of_different_tasks_name_nothing(tmp_path):
    for model in ("gpt", "claude"):
        for task in ("arc", "mmlu"):
            name, set_for = f"{model}-{task}.json", {"task_args": {"shots": task}}
            inspect_log(tmp_path / "logs", name, task=task, model=model, settings=set_for)
    assert {*read_scores(tmp_path / "logs").names} == {"gpt", "claude"}


def test_two_runs_of_the_same_settings_are_refused_and_may_be_named(tmp_path):
    for name in ("old.json", "new.json"):
        inspect_log(tmp_path / "logs", name)
    with pytest.raises(ValueError, match="leave one out; in Python a mapping names them apart"):
        read_scores(tmp_path / "logs")
    named = {name: tmp_path / "logs" / f"{name}.json" for name in ("old", "new")}
    assert read_scores(named).names == ("old", "new")


def test_other_scorers_of_one_task_are_refused(tmp_path):
    inspect_log(tmp_path / "logs", "a.json", task="mmlu", scorer="choice")
    inspect_log(tmp_path / "logs", "b.json")
    inspect_log(tmp_path / "logs", "c.json", "model_graded_qa", model="claude")
    with pytest.raises(ValueError, match=r"one scorer of 'arc', got 'match' in .*b\.json"):
        read_scores(tmp_path / "logs")
