"""Where a command computes on a machine with a GPU; there is none here, so JAX is told of one."""

import jax
import pytest

import papers.__main__
import papers.duels.__main__
import papers.holdem.__main__
import papers.improvements.__main__
import papers.selections.__main__
from jaxrace.commands import cli, device
from jaxrace.commands.cli import main
from jaxrace.commands.train.config import TrainConfig
from jaxrace.runs.files import write_json
from papers.config import ReproduceConfig
from papers.duels.config import DuelsConfig
from papers.holdem.config import HoldemConfig
from papers.improvements.config import ImprovementsConfig
from papers.selections.config import SelectionsConfig


class Machine:
    """A machine with a GPU: ``used`` is where JAX computes, ``said`` what the command says."""

    def __init__(self, monkeypatch):
        self.used, self.said, self.jax_platforms = "gpu", [], None
        monkeypatch.setattr(jax, "config", self)
        monkeypatch.setattr(jax, "default_backend", lambda: self.used)
        monkeypatch.setattr(device, "has_gpu", lambda: True)
        monkeypatch.setattr(device, "num_cores", lambda: 16)

    def update(self, name, value):
        assert name == "jax_platforms"
        self.used = value

    def place(self, asked, config, began=None):
        device.place(
            asked, COSTS["duels"], config, began, lambda kind, text: self.said.append(text)
        )
        return self.used


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


COSTS = {
    "train": cli._VERBS["train"].cost,
    "papers": papers.__main__.VERB.cost,
    **{
        name: getattr(papers, name).__main__.VERB.cost
        for name in ("duels", "holdem", "improvements", "selections")
    },
}
SMALL, LARGE = DuelsConfig(), DuelsConfig(repeats=100_000)


@pytest.mark.parametrize(
    ("verb", "config", "where"),
    [
        ("train", TrainConfig(), "cpu"),
        ("train", TrainConfig(repeats=10**6), "gpu"),
        ("selections", SelectionsConfig(), "cpu"),
        ("selections", SelectionsConfig(options=100), "cpu"),
        ("selections", SelectionsConfig(options=100, repeats=20_000), "gpu"),
        ("duels", SMALL, "cpu"),
        ("duels", LARGE, "gpu"),
        ("improvements", ImprovementsConfig("gridworld"), "cpu"),
        ("improvements", ImprovementsConfig("gridworld", repeats=1_000), "gpu"),
        ("papers", ReproduceConfig("all", quick=True), "cpu"),
        ("papers", ReproduceConfig("all"), "gpu"),
        ("holdem", HoldemConfig(), "cpu"),
    ],
)
def test_what_ends_sooner(verb, config, where, monkeypatch):
    monkeypatch.setattr(device, "num_cores", lambda: 16)
    assert device.chosen(COSTS[verb], config)[0] == where


def test_the_choice_is_said(machine):
    assert machine.place("auto", LARGE) == "gpu"
    assert machine.place("auto", SMALL) == "cpu"
    assert machine.said == [
        "the GPU, as the CPU would compute for some 500 s; --device cpu chooses the other",
        "the CPU, as it computes for some 0.5 s, and a GPU starts 6 s later; "
        "--device gpu chooses the other",
    ]


def test_what_was_asked_for(machine):
    assert machine.place("gpu", SMALL) == "gpu"
    assert machine.place("cpu", LARGE) == "cpu"
    assert not machine.said
    with pytest.raises(ValueError, match="device: expected cpu, which is what JAX uses, got gpu"):
        machine.place("gpu", LARGE)


def test_the_users_platforms_are_kept(machine):
    machine.jax_platforms = "cuda,cpu"
    assert machine.place("auto", SMALL) == "gpu"
    assert not machine.said
    machine.jax_platforms = "cpu"
    with pytest.raises(ValueError, match="auto or cpu, as JAX_PLATFORMS is cpu, got gpu"):
        machine.place("gpu", SMALL)


def test_a_run_goes_on_where_it_began(machine, tmp_path):
    write_json(tmp_path / "config.json", {"device": {"platform": "gpu"}})
    with pytest.raises(ValueError, match=r"device: expected gpu, on which '.*' began, got cpu"):
        machine.place("cpu", SMALL, tmp_path)
    assert machine.place("auto", SMALL, tmp_path) == "gpu"
    write_json(tmp_path / "config.json", {"device": {"platform": "cpu"}})
    assert machine.place("auto", LARGE, tmp_path) == "cpu"
    assert machine.said == [f"the {name}, on which '{tmp_path}' began" for name in ("GPU", "CPU")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--device", "tpu"], "--device: expected one of auto, cpu, gpu, got 'tpu'"),
        (["--device", "gpu"], "--device: expected auto or cpu, as JAX has no GPU here, got gpu"),
        (["--device", "cpu", "--ray"], "--device: expected auto with --ray, whose tasks choose"),
    ],
)
def test_one_line_says_why_not(given, expected, monkeypatch, capsys):
    monkeypatch.setattr(device, "has_gpu", lambda: False)
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "4")
    assert main(["train", "medical", "--no-compilation-cache", *given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"jaxrace: error: {expected}")
