"""What `jaxrace improve` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from typing import Any, Literal

from jaxrace.commands.table_options import Decimal, Delimiter
from jaxrace.validation import (
    require_choice,
    require_default,
    require_integer,
    require_number,
    require_probability,
)

Method = Literal["auto", "daedalus2", "daedalus", "batch"]
Candidates = Literal["none", "k-fold"]

DOMAINS: dict[str, str] = {
    "gridworld": "4 x 4 cells; performance is known exactly",
    "mountain-car": "an engine too weak for the hill",
    "marketing": "which ad to show; a stand-in fitted on public data",
}

# Trajectories between two tests.
BATCHES: dict[str, int] = {"gridworld": 100, "mountain-car": 50, "marketing": 250}

BOUNDS: dict[str, str] = {
    "ci": "safe: a concentration inequality for heavy tails",
    "betting": "safe: what no gambler could refute; tighter",
    "betting-anytime": "the same for any number of values; for one look too",
    "bernstein": "safe: empirical Bernstein, values above 5 count as 5",
    "t": "semi-safe: Student's t",
    "bca": "semi-safe: the corrected bootstrap",
    "percentile": "semi-safe: the plain bootstrap",
}

IMPROVEMENTS: dict[str, str] = {
    "batch": "one candidate from one set of trajectories",
    "daedalus": "again and again; every test has data of its own",
    "daedalus2": "the same, but all data are kept: faster, and not safe",
}

_OF_A_TABLE = ("columns", "decimal", "delimiter")
_OF_A_FILE = ("low", "high", "smaller", "larger", "discount", "order", *_OF_A_TABLE)
_TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".feather", ".xlsx")
_ROLES = ("trajectory", "action", "probability", "reward", "behaviour", "context")
_MOST = 10**8  # trajectories are counted in int32


@dataclasses.dataclass(frozen=True)
class ImproveConfig:
    """Find a policy that is certainly no worse.

    Its performance is no lower than a floor, by a lower confidence bound: from logged trajectories,
    or again and again in a simulator. The floor is by default what the policy in use earns; of a
    file that is an estimate, the mean return of the fifth that is searched. A file has a row for
    each step (CSV: trajectory, action, probability, reward, perhaps behaviour, and what was
    observed) or arrays [n, T] (NPZ). A simulation, or --out, leaves a folder with config.json,
    log.csv, summary.json and policy.npz. What is interrupted of a simulation is saved, and goes on
    with --resume. The error probability is that of one test: for a log that is tried again until
    something passes, it is larger. Exit status: 0, or 3 where a file has no better policy.

    For example:
      jaxrace improve gridworld
      jaxrace improve mountain-car --method daedalus --bound betting --spend --batch 50
      jaxrace improve log.csv --low 0 --high 20 --bound ci --floor 0.25 --out runs/new-policy

    Attributes:
        task: gridworld, mountain-car or marketing, which are simulated, or a file of logged
            decisions: a table (CSV or other text with delimiters, JSON, Excel, Parquet) with a row
            for each, or an NPZ file of arrays.
        method: batch, daedalus or daedalus2; of a file only batch; auto stands for daedalus2, or
            batch for a file.
        bound: Lower confidence bound of the test: ci, betting, betting-anytime and bernstein are
            safe, t, bca and percentile semi-safe; ``jaxrace list`` explains.
        candidates: none, or k-fold: cross-validated mixtures with the policy in use, which are
            likelier to pass and take longer.
        trajectories: Of each repeat; not of a file, which has its own number.
        batch: Trajectories between two tests of daedalus and daedalus2; null stands for 100 in the
            gridworld, 50 with mountain-car and 250 with marketing.
        repeats: Independent repeats; not of a file, which is used once.
        delta: Error probability of a test.
        spend: daedalus: share delta among all tests, so that it holds for the whole run.
        floor: Performance in [0, 1] that a new policy must have, of a file its mean return, between
            low and high; null stands for that of the policy in use, of a file for an estimate, the
            mean return of the fifth that is searched.
        low: Of a file: the least return that is possible.
        high: Of a file: the largest return that is possible.
        smaller: Of a file: rewards are costs, smaller is better, and the floor is the largest mean.
        larger: Of a file: larger is better, though rewards are called like costs.
        discount: Of a file: the discount of rewards.
        order: Of a file: order of the Fourier basis of the policies; 0 for linear features.
        columns: Of a table: columns by their roles, if they have other names, such as
            action=item,reward=click,probability=p,context=age,context=device; the roles are
            trajectory, action, probability, reward, behaviour and context (default: all others).
        decimal: Of a table: its decimal sign; auto takes a comma for one where it can be no other.
        delimiter: Of a table: what is between its columns; auto takes what all lines allow.
        seed: Seed of all random numbers.
    """

    task: str
    method: Method = "auto"
    bound: str = "bca"
    candidates: Candidates = "k-fold"
    trajectories: int = 1_000
    batch: int | None = None
    repeats: int = 10
    delta: float = 0.05
    spend: bool = False
    floor: float | None = None
    low: float | None = None
    high: float | None = None
    smaller: bool = False
    larger: bool = False
    discount: float = 1.0
    order: int = 0
    columns: str | None = None
    decimal: Decimal = "auto"
    delimiter: Delimiter = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.task not in DOMAINS and not self.is_file:
            expected = f"{', '.join(DOMAINS)}, or a file that ends in .npz, {', '.join(_TABLES)}"
            raise ValueError(f"task: expected {expected}, got {self.task!r}")
        require_choice("bound", self.bound, tuple(BOUNDS))
        require_choice("method", self.method, ("auto", *IMPROVEMENTS))
        require_choice("candidates", self.candidates, ("none", "k-fold"))
        require_integer("trajectories", self.trajectories, 20, _MOST)
        require_integer("repeats", self.repeats, 1, _MOST)
        if self.batch is not None:
            require_integer("batch", self.batch, 20, _MOST)
        require_integer("seed", self.seed, 0, 2**32 - 1)
        require_integer("order", self.order, 0)
        require_probability("delta", self.delta)
        if self.floor is not None and not self.is_file:
            require_number("floor", self.floor, least=0, below=1)
        if self.is_file:
            self._check_file()
        self._check_unused()
        if self.spend and self.chosen_method != "daedalus":
            raise ValueError(
                "spend: expected --method daedalus: only its tests are independent of their data"
            )
        if self.chosen_method != "batch" and self.trajectories % self.chosen_batch:
            raise ValueError(
                f"trajectories: expected a multiple of batch = {self.chosen_batch}, "
                f"got {self.trajectories}"
            )

    def _check_file(self) -> None:
        wanted = "the least and the largest possible return of a file"
        for name in ("low", "high"):
            if getattr(self, name) is None:
                raise ValueError(f"{name}: expected {wanted}, as in --low 0 --high 1, got None")
        if self.chosen_method != "batch":
            raise ValueError(f"method: expected batch for a file, got {self.method!r}")
        if self.task.lower().endswith(".npz"):
            for name in _OF_A_TABLE:
                require_default(name, self, f"with {self.task}, as it is of a table")
        if any(role not in _ROLES or not all(names) for role, names in self._columns.items()):
            expected = f"ROLE=NAME,... with roles {', '.join(_ROLES)}"
            raise ValueError(f"columns: expected {expected}, got {self.columns!r}")

    def _check_unused(self) -> None:
        """Raise if an option is given that does nothing."""
        of_others = ("trajectories", "repeats") if self.is_file else _OF_A_FILE
        kind = "a simulated task" if self.is_file else "a file"
        for name in of_others:
            require_default(name, self, f"with {self.task}, as it is of {kind}")
        if self.chosen_method == "batch":
            require_default("batch", self, "with method batch, which has one")

    @property
    def inputs(self) -> dict[str, str]:
        """The files that the options name."""
        return {"task": self.task} if self.is_file else {}

    @property
    def is_file(self) -> bool:
        """Is the task a set of logged trajectories?"""
        return self.task.lower().endswith((*_TABLES, ".npz"))

    @property
    def is_answered_at_once(self) -> bool:
        """The same: needs no JAX."""
        return self.is_file

    @property
    def of_file(self) -> dict[str, Any]:
        """How a file is read and judged: arguments of ``jaxrace.improve``."""
        names = ("bound", "candidates", "delta", "floor", "seed", *_OF_A_FILE)
        given = {name: getattr(self, name) for name in names}
        return given | {"columns": self._columns, "argument": "task"}

    @property
    def _columns(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for part in self.columns.split(",") if self.columns is not None else ():
            role, _, name = part.partition("=")
            found.setdefault(role, []).append(name)
        return found

    @property
    def chosen_batch(self) -> int:
        """Trajectories between two tests of a simulated task, None replaced by its own number."""
        return BATCHES[self.task] if self.batch is None else self.batch

    @property
    def chosen_method(self) -> str:
        """The method, "auto" replaced by what it stands for."""
        if self.method != "auto":
            return self.method
        return "batch" if self.is_file else "daedalus2"
