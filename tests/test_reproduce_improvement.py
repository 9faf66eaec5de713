"""The reproductions of policy improvement, at a fraction of the size, and their domains."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxrace import tables
from jaxrace.experiments import hcpi_daedalus, hcpi_mountain_car
from jaxrace.experiments.hcpi_domains import DOMAINS, floor_of
from jaxrace.experiments.reproduce import reproduce
from jaxrace.improvement import Mixed, MixedWith


@pytest.mark.parametrize(
    ("name", "listed", "figure"),
    [
        ("hcpi-bounds", {"bounds.csv"}, "errors.png"),
        ("hcpi-mountain-car", {"batches.csv"}, "performance.png"),
        ("hcpi-daedalus", {"curves.csv", "errors.csv"}, "daedalus.png"),
    ],
)
def test_what_a_quick_look_leaves(name, listed, figure, tmp_path):
    folder = reproduce(name, tmp_path / "run", quick=True)
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
    """Of 20,000 episodes where it is simulated: standard errors .002 (car), .0006 (marketing)."""
    domain = dataclasses.replace(DOMAINS[name], rollouts=DOMAINS[name].rollouts and 20_000)
    theta = jnp.asarray(domain.initial())
    policy = MixedWith(Mixed(theta, jnp.float32(1)), theta)
    tolerance = {"gridworld": 5e-4, "mountain-car": 0.008, "marketing": 0.0025}[name]
    found = jax.jit(domain.performance)(jax.random.key(0), policy)
    assert float(found) == pytest.approx(published, abs=tolerance)


def test_a_mixture_with_alpha_0_is_the_initial_policy():
    domain = DOMAINS["gridworld"]
    theta = jnp.asarray(domain.initial())
    other = MixedWith(Mixed(-theta, jnp.float32(0)), theta)
    assert float(domain.performance(jax.random.key(0), other)) == pytest.approx(0.238, abs=5e-4)
    assert floor_of(domain, 3) == pytest.approx(0.238, abs=5e-4)


def test_the_sizes_of_the_paper():
    """Figure 4: 1,400 and 900 trajectories in steps of 100 and 50; 100, 100 and 10 trials."""
    sizes = {
        name: (domain.batch_size, domain.batch_size * domain.num_batches, domain.trials)
        for name, domain in DOMAINS.items()
    }
    assert sizes == {
        "gridworld": (100, 1_400, 100),
        "mountain-car": (50, 900, 100),
        "marketing": (250, 3_000, 10),
    }
    assert hcpi_mountain_car.SIZES == (50, 200, 900, 5_000)
    assert np.isin([key[2] for key in hcpi_daedalus.PUBLISHED], hcpi_daedalus.BOUNDS).all()
