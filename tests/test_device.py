"""Where a command computes on a machine with a GPU; there is none here, so JAX is told of one."""

import jax
import pytest

from jaxrace.commands import device
from jaxrace.commands.cli import main
from jaxrace.commands.duel.config import DuelConfig
from jaxrace.commands.holdem.config import HoldemConfig
from jaxrace.commands.improve.config import ImproveConfig
from jaxrace.commands.reproduce.config import ReproduceConfig
from jaxrace.commands.select.config import SelectConfig
from jaxrace.commands.train.config import TrainConfig
from jaxrace.files import write_json


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
        device.place(asked, "duel", config, began, lambda kind, text: self.said.append(text))
        return self.used


@pytest.fixture
def machine(monkeypatch):
    return Machine(monkeypatch)


SMALL, LARGE = DuelConfig(), DuelConfig(repeats=100_000)


@pytest.mark.parametrize(
    ("verb", "config", "where"),
    [
        ("train", TrainConfig(), "cpu"),
        ("train", TrainConfig(repeats=10**6), "gpu"),
        ("select", SelectConfig(), "cpu"),
        ("select", SelectConfig(options=100), "cpu"),
        ("select", SelectConfig(options=100, repeats=20_000), "gpu"),
        ("duel", SMALL, "cpu"),
        ("duel", LARGE, "gpu"),
        ("improve", ImproveConfig("gridworld"), "cpu"),
        ("improve", ImproveConfig("gridworld", repeats=1_000), "gpu"),
        ("reproduce", ReproduceConfig("all", quick=True), "cpu"),
        ("reproduce", ReproduceConfig("all"), "gpu"),
        ("holdem", HoldemConfig(), "cpu"),
    ],
)
def test_what_ends_sooner(verb, config, where, monkeypatch):
    monkeypatch.setattr(device, "num_cores", lambda: 16)
    assert device.chosen(verb, config)[0] == where


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
    assert main(["duel", "random", "--no-compilation-cache", *given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"jaxrace: error: {expected}")
