"""The reproductions of top-k selection, at a fraction of the size."""

import numpy as np
import pytest

from jaxrace import tables
from jaxrace.experiments.reproduce import reproduce
from jaxrace.experiments.thurstone_noise import crossing
from jaxrace.experiments.topk_runs import Curve, samples_until, success_at


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("thurstone-topk", {"success.png"}),
        # The others are made of the same pieces, and take longest to compile.
        pytest.param("thurstone-large", {"success.png"}, marks=pytest.mark.slow),
        pytest.param(
            "thurstone-noise", {"success.png", "index.png", "index.csv"}, marks=pytest.mark.slow
        ),
        pytest.param("topk-batches", {"success.png"}, marks=pytest.mark.slow),
        pytest.param("topk-shootout", {"success-6.png"}, marks=pytest.mark.slow),
    ],
)
def test_what_a_quick_look_leaves(name, others, tmp_path):
    folder = reproduce(name, tmp_path / "run", quick=True)
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "report.md", "success.csv", *others}
    rows = tables.read_table(folder / "success.csv")
    assert ((rows["success"] >= 0) & (rows["success"] <= 1)).all()
    assert (rows["success"].max() > 0.3).all()
    report = (folder / "report.md").read_text()
    for figure in others - {"index.csv"}:
        assert f"({figure})" in report
    if name == "thurstone-noise":
        index = tables.read_table(folder / "index.csv")
        assert ((index["index_one_sweep"] > 0) & (index["index_one_sweep"] < 1)).all()


def test_curves_are_read_as_said():
    curve = Curve(np.array([10.0, 20.0]), np.array([[True, True], [False, True]]))
    assert success_at(curve, 9)[0] != success_at(curve, 9)[0]  # NaN before the first record
    assert success_at(curve, 10) == (0.5, 0.5)
    assert samples_until(curve, 0.9) == 20
    assert samples_until(curve, 1.1) == np.inf
    assert crossing(np.array([0.1, 0.3]), np.array([0.2, -0.2])) == pytest.approx(0.2)
    assert crossing(np.array([0.1, 0.3]), np.array([-0.2, -0.3])) is None
