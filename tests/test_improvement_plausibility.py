"""The test that importance weights have a mean of 1 at most, and what it says of a log."""

import numpy as np
import pytest
from right_improve import HEAD

from jaxrace import runs
from jaxrace.commands.cli import main
from jaxrace.improvement import check_weights


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.lognormal(-1.125, 1.5, 200),
        lambda rng: 50.0 * (rng.random(200) < 0.02),
        lambda rng: rng.exponential(size=200),
        lambda rng: rng.choice([0.5, 1.5], 200),
    ],
    ids=["lognormal", "rare", "exponential", "two"],
)
def test_right_probabilities_are_hardly_ever_refuted(draw):
    """In one of 1,000 logs at most: of 3,000 no more than 10, which has probability 3e-4."""
    rng = np.random.default_rng(0)
    assert sum(check_weights(draw(rng)).is_refuted for _ in range(3_000)) <= 10


def test_wrong_ones_are_refuted():
    rng = np.random.default_rng(0)
    found = [check_weights(1.5 * rng.lognormal(-0.125, 0.5, 200)).is_refuted for _ in range(100)]
    assert sum(found) > 95
    assert check_weights(np.array([1.0, np.inf])).is_refuted


@pytest.mark.slow
def test_a_log_of_too_small_probabilities_certifies_nothing(tmp_path, capsys):
    """Of a coin, logged as if each side came up in one of five throws: all returns look larger."""
    rng = np.random.default_rng(0)
    rows = [f"{i},{rng.random():.3f},{rng.integers(2)},0.2,0.3" for i in range(400)]
    (tmp_path / "log.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    command = ["improve", str(tmp_path / "log.csv"), "--floor", "0.5"]
    command += ["--low", "0", "--high", "1", "--bound", "betting", "--candidates", "none"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 3
    summary = runs.read_summary(tmp_path / "run")
    assert summary["lower_bound"] > 0.5, "what is earned is 0.3"
    assert summary["weights"]["mean"] == pytest.approx(2.5, abs=0.3)
    assert not summary["passed"]["mean"]
    assert not runs.read_log(tmp_path / "run")["passed"].any()
    said = capsys.readouterr().out
    assert "NOTHING CAN BE SAID: the logged probabilities are too small" in said
    assert "is safe" not in said
