"""What a command writes: files that it may not, and streams that are full, closed or unread."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from without_cache import without_cache

from jaxrace.commands import race as race_command
from jaxrace.commands import report
from jaxrace.commands import select as select_command
from jaxrace.commands.cli import main
from jaxrace.sweep import StopOnSignals

ROWS = np.random.default_rng(0).normal(size=(12, 3)).round(4)
SCORES = "\n".join(["a,b,c", *(",".join(map(str, row)) for row in ROWS)]) + "\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A table, a link to it, and a folder with another one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(SCORES)
    (tmp_path / "link.csv").symlink_to("t.csv")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "t.csv").write_text(SCORES)
    (tmp_path / "r.svg").symlink_to("t.csv")
    return tmp_path


REFUSED = {
    "race t.csv --next t.csv": "--next: expected no file that is read",
    "race t.csv --next tables/../t.csv": "--next: expected no file that is read",
    "race t.csv --next link.csv": "--next: expected no file that is read",
    "race link.csv --next t.csv": "--next: expected no file that is read",
    "race t.csv --report r.md": "--report: expected no file that is read, .* such as 'r.svg', got",
    "race t.csv --report n.md --next n.png": "--report: expected no file that is read, or written",
    "race tables --next tables/n.csv": "--next: expected a file outside of the folder that is read",
    "race t.csv --next nowhere/n.csv": "--next: expected a file in a folder that is there",
    "race t.csv --next tables": "--next: expected files to write, not 'tables'",
    "race t.csv --next /dev/null": "--next: expected files to write, not '/dev/null'",
    "race t.csv --report folder.md": "--report: expected files to write, not 'folder.md'",
    "select t.csv --report r.md --out d": "--report: expected no file that is read",
    "select t.csv --report nowhere/r.md --out d": "--report: expected a file in a folder that is",
    "improve t.csv --low 0 --high 1 --report r.md --out d": "--report: expected no file that is r",
    "duel t.csv --report r.md --out d": "--report: expected no file that is read",
    "duel t.csv --report n.md --out n.md": "--report: expected no file that is read, or written",
}


@pytest.mark.parametrize("command", REFUSED)
def test_files_that_may_not_be_written_are_refused_first(command, here, capsys, monkeypatch):
    def read(*_, **__):
        raise AssertionError("nothing is read before")

    monkeypatch.setattr(race_command, "read_scores", read)
    before = sorted(here.rglob("*"))
    assert main(without_cache(command.split())) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert re.search(REFUSED[command], output.err)
    assert sorted(here.rglob("*")) == before
    assert (here / "t.csv").read_text() == SCORES


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_refused(here, capsys):
    (here / "tables").chmod(0o500)
    assert main(["race", "t.csv", "--next", "tables/n.csv"]) == 2
    assert "--next: expected a file in a folder that is there and can" in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_the_text_comes_before_its_files(as_json, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report.files, "write_file", full)
    assert main(["race", "t.csv", "--report", "n.md", *as_json]) == 1
    output = capsys.readouterr()
    error = "[Errno 28] No space left on device"
    if as_json:  # one object, whatever happens
        assert json.loads(output.out)["error"] == error
    else:
        assert "NOT CERTIFIED" in output.out
    assert output.err == f"jaxrace: error: {error}\n"


def test_a_report_may_lie_in_the_folder_that_the_run_makes(here):
    games = "first,second,score\na,b,1\nb,c,1\na,c,1\nb,a,0\nc,b,1\nc,a,0\n"
    (here / "g.csv").write_text(games)
    command = ["select", "g.csv", "--score", "win", "--out", "d"]
    assert main([*command, "--report", "d/report.md"]) == 3
    assert (here / "d" / "report.md").exists()


def race(*options, **streams):
    """A process of the command: it has streams of its own."""
    command = [sys.executable, "-m", "jaxrace", "race", *options]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, **streams)


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_who_reads_no_further_does_not_change_the_status(as_json):
    with race("t.csv", *as_json, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (3, "")


def test_an_answer_that_cannot_be_printed_is_an_error():
    with (
        open("/dev/full", "w") as full,
        race("t.csv", stdout=full, stderr=subprocess.PIPE) as process,
    ):
        assert process.stderr is not None
        said = process.stderr.read()
    assert (process.returncode, said) == (1, "jaxrace: error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"])
def test_what_is_said_beside_the_answer_may_be_lost(redirected):
    said = f"{sys.executable} -m jaxrace race {{}} {redirected}"
    done, refused = (
        subprocess.run(said.format(name), shell=True, check=False, capture_output=True, text=True)
        for name in ("t.csv", "none.csv")
    )
    assert (done.returncode, refused.returncode, refused.stdout) == (3, 2, "")
    assert "NOT CERTIFIED" in done.stdout


@pytest.mark.parametrize("command", ["train medical --out d", "race t.csv --report n.md"])
def test_figures_that_cannot_be_drawn_are_found_first(command, here, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(without_cache(command.split())) == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)
    assert "jaxrace: error: figures: expected matplotlib to start" in output.err
    assert not (here / "d").exists()


def test_settings_of_figures_that_are_wrong_are_named(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "nonsense")
    with race("none.csv", "--report", "n.md", stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 2
    assert "figures: expected matplotlib to start with its settings (MPLBACKEND" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_signals_that_stop(number):
    before = signal.getsignal(number)
    with StopOnSignals() as stop:
        os.kill(os.getpid(), number)
        assert stop()
    assert stop.received == number
    assert signal.getsignal(number) == before


def test_nohup_goes_on(monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopOnSignals() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_file_that_is_interrupted_leaves_nothing(name, here, capsys, monkeypatch):
    number = getattr(signal, name)
    if (before := signal.getsignal(number)) is signal.SIG_IGN:
        pytest.skip("these tests are run by nohup, which ignores it")
    monkeypatch.setattr(select_command, "ask", lambda config: signal.raise_signal(number))
    assert main(["select", "t.csv", "--out", "d"]) == 128 + number
    assert capsys.readouterr().err == "jaxrace: error: interrupted\n"
    assert not (here / "d").exists()
    assert signal.getsignal(number) == before
