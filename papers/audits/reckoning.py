"""How often a claim was wrong, against how often it may be: what all audits share."""

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy import stats

from jaxrace import kernels
from jaxrace.core.validation import require_integer
from jaxrace.runs import tables

DELTAS = (0.05, 0.2, 0.5)
FULL_SIZE = 100_000
MOST_OF_CONTROL = 20_000  # races; more would make the failure of a broken control no clearer
BATCH = 250  # races that advance together; more of them leave the processor's cache


@dataclasses.dataclass(frozen=True)
class Finding:
    """How often a claim was wrong on one task."""

    task: str
    claim: str  # whose verdicts are counted, such as the name of a bound
    delta: float  # the error probability that the race was given
    allowed: float  # what its guarantee allows: delta, or another number
    errors: int  # races with a wrong verdict
    races: int  # all races

    @property
    def interval(self) -> tuple[float, float]:
        """99.9 % confidence interval of the error rate (Clopper and Pearson)."""
        interval = stats.binomtest(self.errors, self.races).proportion_ci(0.999, "exact")
        return float(interval.low), float(interval.high)

    @property
    def refuted(self) -> bool:
        """Is the error rate certainly above what is allowed?"""
        return self.interval[0] > self.allowed

    @property
    def upheld(self) -> bool:
        """Is the error rate certainly at most what is allowed?"""
        return self.interval[1] <= self.allowed


def batches_of(races: int) -> int:
    """Batches of at least so many races, and at least two."""
    require_integer("races", races, 1)
    # jaxlib 0.10.2 ends with an error of its own where it compiles a map over a single batch.
    return max(-(-races // BATCH), 2)


def count_wrong(wrong: Callable[[jax.Array], np.ndarray], key: jax.Array, races: int) -> np.ndarray:
    """How many of so many races ``wrong(keys) -> bool [size, ...]`` finds wrong: int64 [...].

    A race has the same key in whatever batches the device takes.
    """
    require_integer("races", races, 1)
    batches = -(-races // kernels.sizes().races)
    size = -(-races // batches)
    number = jnp.arange(size, dtype=jnp.uint32)
    keys = jax.jit(lambda start: jax.vmap(jax.random.fold_in, (None, 0))(key, start + number))
    starts = range(0, races, size)
    found = [wrong(keys(jnp.uint32(start)))[: races - start].sum(0) for start in starts]
    return np.sum(found, axis=0)


def wrong_by_batch(
    errs: Callable[[jax.Array], jax.Array], key: jax.Array, batches: int
) -> jax.Array:
    """How many races ``errs(key) -> bool [...]`` err in each batch: int32 [batches, ...]."""

    def batch(number: jax.Array) -> jax.Array:
        keys = jax.random.split(jax.random.fold_in(key, number), BATCH)
        return jax.vmap(errs)(keys).sum(0, dtype=jnp.int32)

    return lax.map(batch, jnp.arange(batches, dtype=jnp.uint32))


def markdown_table(findings: Iterable[Finding], claim: str = "Bound", level: str = "delta") -> str:
    """The findings in Markdown, with the headings of the columns of claims and deltas.

    A line for each finding; of several deltas a line for each task and claim, with the number of
    wrong races at each of them.
    """
    found = list(findings)
    deltas = sorted({f.delta for f in found})
    if len(deltas) > 1:
        return _by_deltas(found, deltas, claim, level)
    rows = []
    for f in found:
        low, high = f.interval
        counts = (f"{f.races:,}", f"{f.errors:,}", f"{f.errors / f.races:.5f}")
        interval = f"{low:.5f} to {high:.5f}"
        rows.append([f.task, f.claim, f.delta, f"{f.allowed:g}", *counts, interval, _verdict(f)])
    heads = ("allowed", "races", "wrong", "rate", "99.9 % interval", "verdict")
    return tables.markdown_table(["Task", claim, level, *heads], rows)


def _verdict(f: Finding) -> str:
    return "upheld" if f.upheld else "REFUTED" if f.refuted else "open"


def _by_deltas(found: list[Finding], deltas: list[float], claim: str, level: str) -> str:
    """Of each task and claim the wrong races at all deltas; what is not upheld says so."""
    lines: dict[tuple[str, str], dict[float, Finding]] = {}
    for f in found:
        lines.setdefault((f.task, f.claim), {})[f.delta] = f
    rows = []
    for (task, said), at in lines.items():
        first = next(iter(at.values()))
        share = first.allowed / first.delta
        allowed = level if share == 1 else f"{share:g} {level}"
        cells = [
            f"{at[d].errors:,}" + ("" if at[d].upheld else f" {_verdict(at[d])}") if d in at else ""
            for d in deltas
        ]
        rows.append([task, said, allowed, f"{first.races:,}", *cells])
    heads = ("allowed", "races", *(f"wrong, {level} {d:g}" for d in deltas))
    return tables.markdown_table(["Task", claim, *heads], rows)


def races_asked_for(description: str, full_size: int = FULL_SIZE) -> int:
    """The number of races per line that the command line names, ``full_size`` unless it does."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("races", nargs="?", type=int, default=full_size, help="per line")
    races = parser.parse_args().races
    if races < 1:
        parser.error(f"races: expected an integer of at least 1, got {races}")
    return races


def told(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The same, with a line for each on the standard error: how the work goes on."""
    started = time.monotonic()
    for finding in findings:
        passed = time.monotonic() - started
        print(f"{passed:7.1f} s  {finding.task}, {finding.claim}", file=sys.stderr)
        yield finding
