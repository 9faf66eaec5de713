"""What `jaxrace improve` is asked to do; imports nothing heavy, for the command's help."""

import dataclasses
from typing import Any, Literal

from jaxrace.commands.options import Decimal, Delimiter
from jaxrace.core.validation import (
    require_choice,
    require_default,
    require_integer,
    require_probability,
)

Candidates = Literal["none", "k-fold"]

BOUNDS: dict[str, str] = {
    "ci": "safe: a concentration inequality for heavy tails",
    "betting": "safe: what no gambler could refute; tighter",
    "betting-anytime": "the same for any number of values; for one look too",
    "bernstein": "safe: empirical Bernstein, values above 5 count as 5",
    "t": "semi-safe: Student's t",
    "bca": "semi-safe: the corrected bootstrap",
    "percentile": "semi-safe: the plain bootstrap",
}

_OF_A_TABLE = ("columns", "decimal", "delimiter")
_OF_LOG = (
    *("low", "high", "bound", "candidates", "delta", "floor", "seed"),
    *("smaller", "larger", "discount", "order", "decimal", "delimiter"),
)
_TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".feather", ".xlsx")
_ROLES = ("trajectory", "action", "probability", "reward", "behaviour", "context")


@dataclasses.dataclass(frozen=True)
class ImproveConfig:
    """Find a policy that is certainly no worse, in a log of decisions.

    Its mean return is no lower than a floor, by a lower confidence bound. The floor is by default
    an estimate of what the policy in use earns: the mean return of the fifth of the log that is
    searched. A file has a row for each step (CSV: trajectory, action, probability, reward, perhaps
    behaviour, and what was observed) or arrays [n, T] (NPZ). Imports no JAX. --out leaves a folder
    with config.json, log.csv, summary.json and policy.npz. The error probability is that of one
    test: for a log that is tried again until something passes, it is larger. Exit status: 0, or 3
    where there is no better policy.

    For example:
      jaxrace improve log.csv --low 0 --high 20
      jaxrace improve log.csv --low 0 --high 20 --bound ci --floor 0.25 --out runs/new-policy

    Attributes:
        log: A file of logged decisions: a table (CSV or other text with delimiters, JSON, Excel,
            Parquet) with a row for each, or an NPZ file of arrays.
        low: The least return that is possible.
        high: The largest return that is possible.
        bound: Lower confidence bound of the test: ci, betting, betting-anytime and bernstein are
            safe, t, bca and percentile semi-safe; ``jaxrace list`` explains.
        candidates: none, or k-fold: cross-validated mixtures with the policy in use, which are
            likelier to pass and take longer.
        delta: Error probability of the test.
        floor: Mean return that a new policy must have, between low and high; null stands for an
            estimate, the mean return of the fifth that is searched.
        smaller: Rewards are costs, smaller is better, and the floor is the largest mean.
        larger: Larger is better, though rewards are called like costs.
        discount: The discount of rewards.
        order: Order of the Fourier basis of the policies; 0 for linear features.
        columns: Of a table: columns by their roles, if they have other names, such as
            action=item,reward=click,probability=p,context=age,context=device; the roles are
            trajectory, action, probability, reward, behaviour and context (default: all others).
        decimal: Of a table: its decimal sign; auto takes a comma for one where it can be no other.
        delimiter: Of a table: what is between its columns; auto takes what all lines allow.
        seed: Seed of all random numbers.
    """

    log: str
    low: float | None = None
    high: float | None = None
    bound: str = "bca"
    candidates: Candidates = "k-fold"
    delta: float = 0.05
    floor: float | None = None
    smaller: bool = False
    larger: bool = False
    discount: float = 1.0
    order: int = 0
    columns: str | None = None
    decimal: Decimal = "auto"
    delimiter: Delimiter = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.log.lower().endswith((*_TABLES, ".npz")):
            expected = f"a file that ends in .npz, {', '.join(_TABLES)}"
            raise ValueError(f"log: expected {expected}, got {self.log!r}")
        require_choice("bound", self.bound, tuple(BOUNDS))
        require_choice("candidates", self.candidates, ("none", "k-fold"))
        require_integer("seed", self.seed, 0, 2**32 - 1)
        require_integer("order", self.order, 0)
        require_probability("delta", self.delta)
        wanted = "the least and the largest possible return"
        for name in ("low", "high"):
            if getattr(self, name) is None:
                raise ValueError(f"{name}: expected {wanted}, as in --low 0 --high 1, got None")
        if self.log.lower().endswith(".npz"):
            for name in _OF_A_TABLE:
                require_default(name, self, f"with {self.log}, as it is of a table")
        if any(role not in _ROLES or not all(names) for role, names in self._columns.items()):
            expected = f"ROLE=NAME,... with roles {', '.join(_ROLES)}"
            raise ValueError(f"columns: expected {expected}, got {self.columns!r}")

    @property
    def inputs(self) -> dict[str, str]:
        """The file that is read."""
        return {"log": self.log}

    @property
    def asked(self) -> dict[str, Any]:
        """How it is read and judged: arguments of ``jaxrace.improve``."""
        given = {name: getattr(self, name) for name in _OF_LOG}
        return given | {"columns": self._columns, "argument": "log"}

    @property
    def _columns(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for part in self.columns.split(",") if self.columns is not None else ():
            role, _, name = part.partition("=")
            found.setdefault(role, []).append(name)
        return found
