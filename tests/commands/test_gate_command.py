"""The command of the gate: its exit statuses, and the action that calls it in CI."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from jaxrace.commands.cli import main

CHECKOUT = Path(__file__).parents[2]
ACTION = yaml.safe_load((CHECKOUT / "action.yml").read_text("utf-8"))
WORKFLOW = yaml.safe_load((CHECKOUT / "docs/how-to/gate-workflow.yml").read_text("utf-8"))
# By the chance that the candidate is right: what is said of it, and how the command ends.
ENDS = {0.9: ("passed", 0), 0.3: ("rejected", 1), 0.62: ("not-yet", 3), None: ("data-refused", 4)}
HEADLINES = {0: "PASSED: pr", 1: "REJECTED: pr", 3: "NOT YET: pr"}


def write_answers(chance):
    """Answers of main and of pr; without a chance pr is right at first, and wrong from then on."""
    rng = np.random.default_rng(0)
    if chance is None:
        rows = rng.random((26, 1)) + np.where(np.arange(26) < 12, 1, -1)[:, None] * [0, 1]
    else:
        rows = (rng.random((150, 2)) < [0.6, chance]).astype(int)
    text = "".join(f"q{number},{one},{two}\n" for number, (one, two) in enumerate(rows))
    Path("scores.csv").write_text(f"question,main,pr\n{text}")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("chance", "end"), ENDS.items())
def test_exit_statuses(chance, end, capsys):
    write_answers(chance)
    command = ["gate", "scores.csv", "--baseline", "main", "--shared", "--next", "next.csv"]
    assert main([*command, "--report", "gate.md"]) == end[1]
    said = capsys.readouterr().out
    headline = HEADLINES.get(end[1], "DATA REFUSED: tasks do not look alike")
    assert headline in said
    report = Path("gate.md").read_text()
    assert report.startswith(f"## {headline}\n")
    assert "| option | runs | wins | 90 % interval | verdict |" in report
    asked = Path("next.csv").read_text().splitlines()
    assert asked[0] == "option,task"
    assert (len(asked) > 1) == (end[1] == 3)
    assert main([*command, "--margin", "7"]) == 2


def run_step(arguments, path=None):
    """The step of the action that judges, as GitHub runs it; its exit status, and what it wrote."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "gate"]
    given = {"scores": "scores.csv", "baseline": "main", "arguments": arguments}
    given = {name: one.get("default") for name, one in ACTION["inputs"].items()} | given
    env = {name: given[text.strip("${} ").split(".")[1]] for name, text in step["env"].items()}
    # The command of this Python, whatever is installed.
    bin_folder = Path("bin")
    bin_folder.mkdir(exist_ok=True)
    script = bin_folder / "jaxrace"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jaxrace "$@"\n')
    script.chmod(0o755)
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        Path(name).write_text("")
        env[name] = name
    env["PATH"] = f"{bin_folder.resolve()}{os.pathsep}{os.environ['PATH']}"
    env["PYTHONPATH"] = os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    ran = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, check=False)
    return (
        ran.returncode,
        Path("GITHUB_OUTPUT").read_text(),
        Path("GITHUB_STEP_SUMMARY").read_text(),
    )


@pytest.mark.skipif(os.name == "nt", reason="a step of bash")
@pytest.mark.parametrize(("chance", "end"), ENDS.items())
def test_the_step_of_the_action(chance, end):
    write_answers(chance)
    status, output, summary = run_step("--shared --looks gate.looks")
    verdict, expected = end
    assert status == expected
    assert output == f"verdict={verdict}\nreport=jaxrace-gate.md\n"
    assert summary.startswith("## ")
    assert f"| pr | {26 if chance is None else 150} |" in summary
    assert "![" not in summary
    # What is no answer is no verdict, whatever a look of before left.
    for arguments, wrong in (("--shared --margin x", 2), ("--shared --looks scores.csv", 2)):
        assert run_step(arguments) == (wrong, "", "")


def test_the_workflow_calls_the_action_as_it_is():
    steps = WORKFLOW["jobs"]["gate"]["steps"]
    (call,) = [step for step in steps if "jaxrace@" in step.get("uses", "")]
    assert call["with"].keys() <= ACTION["inputs"].keys()
    required = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert required <= call["with"].keys()
    # What is looked at is kept whatever the gate says, beside the file of looks.
    (saved,) = [step for step in steps if "cache/save@" in step.get("uses", "")]
    assert saved["if"] == "always()"
    assert saved["with"]["path"].split() == ["scores.csv", "gate.looks"]
    rng = np.random.default_rng(1)
    rows = (rng.random((300, 2)) < [0.5, 0.8]).astype(int)
    text = "".join(f"q{number},{one},{two}\n" for number, (one, two) in enumerate(rows))
    Path("scores.csv").write_text(f"question,main,abc123\n{text}")
    assert run_step(call["with"]["arguments"])[0] == 0
