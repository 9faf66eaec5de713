import hashlib
import json
import threading

import numpy as np
import pytest
import scipy.stats

from jaxrace import runs
from jaxrace.runs import files, tables


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_default_names_count_up(empty_folder):
    (empty_folder / "runs" / "medical-edps-2").mkdir(parents=True)
    names = []
    for _ in range(3):
        with runs.new_folder(None, "medical-edps") as folder:
            names.append(folder.name)
    assert names == ["medical-edps-1", "medical-edps-3", "medical-edps-4"]


def test_runs_that_start_at_once_get_folders_of_their_own():
    barrier = threading.Barrier(8)
    names = []

    def start():
        barrier.wait()
        with runs.new_folder(None, "job") as folder:
            names.append(folder.name)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names) == [f"job-{number}" for number in range(1, 9)]


def test_out_may_be_new_or_empty(empty_folder):
    (empty_folder / "empty").mkdir()
    for out in ("empty", "new", "new/deep/er"):
        with runs.new_folder(out, "job") as folder:
            assert [path.name for path in folder.iterdir()] == [".jaxrace-lock"]
    assert not (empty_folder / "runs").exists()


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("full", "which is not empty"),
        ("file", "which is a file"),
        ("file/below", "Not a directory"),
        ("/proc/none/below", "No such file or directory"),
    ],
)
def test_out_that_cannot_be_used(empty_folder, out, reason):
    (empty_folder / "full").mkdir()
    (empty_folder / "full" / "log.csv").touch()
    (empty_folder / "file").touch()
    before = sorted(empty_folder.rglob("*"))
    with pytest.raises(ValueError, match=f"^out: expected .*{reason}"), runs.new_folder(out, "job"):
        pass
    assert sorted(empty_folder.rglob("*")) == before


@pytest.mark.parametrize("out", [None, "a/b/c"])
def test_an_unused_folder_of_a_failed_job_is_removed(empty_folder, out):
    with pytest.raises(KeyboardInterrupt), runs.new_folder(out, "job"):
        raise KeyboardInterrupt
    assert list(empty_folder.iterdir()) == []


def test_a_failed_job_keeps_what_it_wrote_and_what_was_there(empty_folder):
    (empty_folder / "there").mkdir()
    with pytest.raises(RuntimeError), runs.new_folder("there", "job"):
        raise RuntimeError

    def fail_late():
        with runs.new_folder("used", "job") as folder:
            runs.write_summary(folder, {"seed": 1})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_late()
    assert (empty_folder / "there").is_dir()
    assert runs.read_summary("used") == {"seed": 1}


def test_a_file_is_replaced_as_a_whole_or_not_at_all(empty_folder, monkeypatch):
    def fail(descriptor):
        raise OSError("disk full")

    files.write_file("note", b"old")
    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write_file("note", b"new")
    assert [path.name for path in empty_folder.iterdir()] == ["note"]
    assert (empty_folder / "note").read_bytes() == b"old"


def test_log_comes_back_as_it_was():
    columns = {
        "repeat": np.array([0, 1, 1], np.int32),
        "race_decided": np.array([True, False, True]),
        "theta_0": np.array([0.1, 1e-30, -3e8], np.float32),
        "seconds": np.array([0.1, np.pi, 2.0]),
        "note": np.array(["a", "b, c", '"']),
    }
    runs.write_log(".", columns)
    log = runs.read_log(".")
    assert list(log) == list(columns)
    assert [column.dtype.kind for column in log.values()] == ["i", "b", "f", "f", "U"]
    for name, column in columns.items():
        np.testing.assert_array_equal(log[name].astype(column.dtype), column)


def test_log_without_rows():
    runs.write_log(".", {"repeat": np.array([], np.int32)})
    assert {name: len(column) for name, column in runs.read_log(".").items()} == {"repeat": 0}


def test_columns_of_different_lengths(empty_folder):
    with pytest.raises(ValueError, match="shorter"):
        runs.write_log(".", {"repeat": np.arange(3), "reward": np.arange(2)})
    assert list(empty_folder.iterdir()) == []


def test_summary_refuses_nan(empty_folder):
    with pytest.raises(ValueError, match="not JSON compliant"):
        runs.write_summary(".", {"reward": float("nan")})
    assert list(empty_folder.iterdir()) == []


def test_config_names_versions_and_device(empty_folder):
    runs.write_config(".", {"seed": 4})
    config = json.loads((empty_folder / "config.json").read_text("utf-8"))
    assert len(config.pop("checksum")) == 64
    assert config == {"seed": 4, "versions": runs.versions(), "device": runs.device()}
    assert runs.read_config(".") == config
    assert runs.versions()["numpy"] == np.__version__


def test_mean_and_stderr():
    values = np.random.default_rng(0).normal(3.0, 2.0, 50)
    result = runs.mean_and_stderr(values)
    assert result["mean"] == pytest.approx(values.mean(), rel=1e-12)
    assert result["stderr"] == pytest.approx(scipy.stats.sem(values), rel=1e-12)
    assert result["count"] == 50


def test_one_value_has_no_standard_error():
    assert runs.mean_and_stderr([2.5]) == {"mean": 2.5, "stderr": None, "count": 1}


@pytest.mark.parametrize("values", [[], 3.0, [[1.0, 2.0]]])
def test_mean_needs_a_list(values):
    with pytest.raises(ValueError, match=r"^values: expected a list of numbers"):
        runs.mean_and_stderr(values)


def test_pieces_of_a_table_are_matched_by_name(tmp_path):
    first = {"a": np.array([1]), "b": np.array([2])}
    second = {"b": np.array([4]), "a": np.array([3])}
    tables.write_table(tmp_path / "table.csv", [first, second])
    assert (tmp_path / "table.csv").read_text() == "a,b\n1,2\n3,4\n"


def test_a_long_table_is_text_some_rows_at_a_time(tmp_path, monkeypatch):
    columns = {"a": np.arange(5), "b": "all", "c": np.linspace(0, 1, 5, dtype=np.float32)}
    columns |= {
        "d": np.array(["07", "8", "x", "y", "z"]),
        "e": np.array(["1", "2", "3.5", "4", "5"]),
    }
    tables.write_table(tmp_path / "whole.csv", columns)
    monkeypatch.setattr(tables, "_ROWS", 2)
    tables.write_table(tmp_path / "parts.csv", columns)
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "whole.csv").read_text()
    found = tables.read_table(tmp_path / "parts.csv")
    assert [found[name].dtype.kind for name in "abcde"] == ["i", "U", "f", "U", "f"]
    assert found["d"].tolist() == columns["d"].tolist()
    assert found["e"].tolist() == [1, 2, 3.5, 4, 5]
    with pytest.raises(ValueError, match="shorter"):  # of which the first parts have one length
        tables.write_table(tmp_path / "table.csv", {"a": np.arange(4), "b": np.arange(2)})


def test_damaged_json_is_refused():
    files.write_file("note.json", b'{"seed": 3}')
    with pytest.raises(ValueError, match=r"^note.json: expected what was written there, got some"):
        files.read_json("note.json")


def test_another_request_is_not_resumed():
    runs.write_config(".", {"command": "duel", "config": {"seed": 3}})
    with pytest.raises(ValueError, match=r"^seed: expected 3 as in '.', got 4$"):
        runs.reopened(".", {"command": "duel", "config": {"seed": 4}})


def test_folders_are_given_up():
    with runs.new_folder("new", "duel") as folder:
        assert runs.let_go() is None
        assert not folder.exists()
    with runs.new_folder("new", "duel") as folder:
        runs.write_config(folder, {})
        assert runs.let_go() == folder


def test_a_file_in_the_place_of_another_is_no_file_of_the_run(tmp_path):
    runs.write_summary(tmp_path, {"best": ["a"]})
    runs.write_json(tmp_path / "timing.json", {"run_seconds": 1.0})
    (tmp_path / "timing.json").replace(tmp_path / "summary.json")
    with pytest.raises(ValueError, match=r"summary\.json: expected what was written there"):
        runs.read_summary(tmp_path)


def test_a_file_of_an_older_version_is_read(tmp_path):
    """Its checksum knows no name."""
    content = {"run_seconds": 1.0}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    (tmp_path / "timing.json").write_text(json.dumps({**content, "checksum": digest}))
    assert runs.read_json(tmp_path / "timing.json") == content
