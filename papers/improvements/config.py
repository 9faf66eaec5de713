"""What simulated policy improvement is asked; imports nothing heavy, for the command's help."""

import dataclasses
from typing import Literal

from jaxrace.commands.improve import BOUNDS
from jaxrace.core.inputs import require_default
from jaxrace.core.validation import (
    BadArgument,
    require_choice,
    require_integer,
    require_number,
    require_probability,
)

Candidates = Literal["none", "k-fold"]
Method = Literal["daedalus2", "daedalus", "batch"]

DOMAINS: dict[str, str] = {
    "gridworld": "4 x 4 cells; performance is known exactly",
    "mountain-car": "an engine too weak for the hill",
    "marketing": "which ad to show; a stand-in fitted on public data",
}

# Trajectories between two tests.
BATCHES: dict[str, int] = {"gridworld": 100, "mountain-car": 50, "marketing": 250}

IMPROVEMENTS: dict[str, str] = {
    "batch": "one candidate from one set of trajectories",
    "daedalus": "again and again; every test has data of its own",
    "daedalus2": "the same, but all data are kept: faster, and not safe",
}

_MOST = 10**8  # trajectories are counted in int32


@dataclasses.dataclass(frozen=True)
class ImprovementsConfig:
    """Find policies that are certainly no worse than a floor, again and again in a simulator.

    Their performance is no lower than a floor, by a lower confidence bound. Leaves a folder with
    config.json, log.csv, summary.json, policy.npz and performance.png. What is interrupted is
    saved, and goes on with --resume. The error probability is that of one test.

    For example:
      python -m papers.improvements gridworld
      python -m papers.improvements mountain-car --method daedalus --bound betting --spend

    Attributes:
        task: gridworld, mountain-car or marketing.
        method: batch, daedalus or daedalus2.
        bound: Lower confidence bound of the test: ci, betting, betting-anytime and bernstein are
            safe, t, bca and percentile semi-safe; ``jaxrace list`` explains.
        candidates: none, or k-fold: cross-validated mixtures with the policy in use, which are
            likelier to pass and take some four times as long.
        trajectories: Of each repeat.
        batch: Trajectories between two tests of daedalus and daedalus2; null stands for 100 in the
            gridworld, 50 with mountain-car and 250 with marketing.
        evaluations: Of policies, in each search for a candidate but those of folds.
        repeats: Independent repeats.
        delta: Error probability of a test.
        spend: daedalus: share delta among all tests, so that it holds for the whole run.
        floor: Performance in [0, 1] that a new policy must have; null stands for that of the policy
            in use.
        seed: Seed of all random numbers.
    """

    task: str
    method: Method = "daedalus2"
    bound: str = "bca"
    candidates: Candidates = "k-fold"
    trajectories: int = 1_000
    batch: int | None = None
    evaluations: int = 2_000
    repeats: int = 10
    delta: float = 0.05
    spend: bool = False
    floor: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require_choice("task", self.task, tuple(DOMAINS))
        require_choice("bound", self.bound, tuple(BOUNDS))
        require_choice("method", self.method, tuple(IMPROVEMENTS))
        require_choice("candidates", self.candidates, ("none", "k-fold"))
        require_integer("trajectories", self.trajectories, 20, _MOST)
        require_integer("repeats", self.repeats, 1, _MOST)
        require_integer("evaluations", self.evaluations, 16, _MOST)  # a generation
        if self.batch is not None:
            require_integer("batch", self.batch, 20, _MOST)
        require_integer("seed", self.seed, 0, 2**32 - 1)
        require_probability("delta", self.delta)
        if self.floor is not None:
            require_number("floor", self.floor, least=0, below=1)
        if self.method == "batch":
            require_default("batch", self, "with method batch, which has one")
        if self.spend and self.method != "daedalus":
            expected = "--method daedalus: only its tests are independent of their data"
            raise BadArgument("spend", expected, f"--method {self.method}")
        if self.method != "batch" and self.trajectories % self.chosen_batch:
            raise BadArgument(
                "trajectories", f"a multiple of batch = {self.chosen_batch}", f"{self.trajectories}"
            )

    @property
    def chosen_batch(self) -> int:
        """Trajectories between two tests, None replaced by the task's own number."""
        return BATCHES[self.task] if self.batch is None else self.batch
