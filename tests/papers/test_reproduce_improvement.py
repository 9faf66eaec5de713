"""The reproductions of policy improvement, at a fraction of the size, and their domains."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace.commands.job import Job
from jaxrace.envs.mountain_car import MountainCar
from jaxrace.improvement import Mixed, MixedWith
from jaxrace.runs import tables
from papers.config import ReproduceConfig
from papers.improvements.domains import DOMAINS, Worth, is_worse, without_chance
from papers.job import reproduce


@pytest.mark.parametrize(
    ("name", "listed", "figure"),
    [
        pytest.param("hcpi-bounds", {"bounds.csv"}, "errors.png", marks=pytest.mark.slow),
        pytest.param(
            "hcpi-mountain-car", {"batches.csv"}, "performance.png", marks=pytest.mark.slow
        ),
        pytest.param(
            *("hcpi-daedalus", {"curves.csv", "errors.csv"}, "daedalus.png"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_a_quick_look_leaves(name, listed, figure, tmp_path):
    folder = reproduce(Job(ReproduceConfig(name, quick=True), tmp_path / "run"))
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "report.md", figure, *listed}
    assert f"({figure})" in (folder / "report.md").read_text()
    if name == "hcpi-bounds":
        rows = tables.read_table(folder / "bounds.csv")
        rate = {key: rows["error_rate"][rows["bound"] == key] for key in set(rows["bound"])}
        assert (rate["ci"] == 0).all()
        assert (rate["bca"] > 0.01).all()
        assert (rate["bca"] < 0.12).all()
    if name == "hcpi-daedalus":
        rows = tables.read_table(folder / "curves.csv")
        assert set(rows["domain"]) == {"gridworld"}
        assert ((rows["performance"] >= 0) & (rows["performance"] <= 1)).all()


@pytest.mark.parametrize(
    ("name", "published"), [("gridworld", 0.238), ("mountain-car", 0.26), ("marketing", 0.063)]
)
def test_initial_policies_perform_as_in_figure_4(name, published):
    """Exact but for marketing, of 20,000 episodes there: a standard error of .0006."""
    domain = dataclasses.replace(DOMAINS[name], rollouts=DOMAINS[name].rollouts and 20_000)
    theta = jnp.asarray(domain.initial())
    policy = MixedWith(Mixed(theta, jnp.float32(1)), theta)
    tolerance = {"gridworld": 5e-4, "mountain-car": 0.006, "marketing": 0.0025}[name]
    found = jax.jit(domain.performance)(jax.random.key(0), policy)
    assert float(found.mean) == pytest.approx(published, abs=tolerance)
    assert found.stderr == 0 or 3e-4 < found.stderr < 9e-4


def test_the_car_needs_three_decisions():
    """Which is the upper end of its returns: of all sequences of actions one is so short."""
    domain = DOMAINS["mountain-car"]
    for horizon, expected in ((2, -2.0), (3, -3.0), (4, -4 + 1 / 27)):
        env = MountainCar(horizon, hold=50)
        found = without_chance(env, 3, lambda seen: jnp.full((len(seen), 3), 1 / 3))
        assert float(found) == pytest.approx(expected, abs=1e-5)
    assert domain.env == MountainCar(10, hold=50)
    assert (domain.returns.low, domain.returns.high) == (-10, -3)


def test_worse_beyond_chance():
    """By three standard errors of the difference; where both are exact, by more than rounding."""
    means, exact = np.array([0.2, 0.2379999, 0.2381, 0.9]), np.zeros(4)
    assert is_worse(Worth(means, exact), Worth(0.238, 0.0)).tolist() == [True, False, False, False]
    found = Worth(np.array([0.06, 0.0615, 0.063]), np.full(3, 6e-4))
    assert is_worse(found, Worth(0.063, 3e-4)).tolist() == [True, False, False]
