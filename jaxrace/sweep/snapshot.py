"""A sweep between two turns as arrays and a few facts, and back. Axes: N blocks, W lanes."""

from typing import Any, NamedTuple

import numpy as np

from jaxrace.sweep.blocks import LaneBlock, Owners
from jaxrace.sweep.ledger import Ledger


class Snapshot(NamedTuple):
    """All that is needed to go on."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]  # as JSON has them


def take(blocks: list[LaneBlock], ledger: Ledger) -> Snapshot:
    """The sweep as it is; its rows are written to their files."""
    leaves = zip(*(block.saved() for block in blocks), strict=True)
    arrays = {_leaf(number): np.stack(leaf) for number, leaf in enumerate(leaves)}
    for name in Owners._fields:
        arrays[name] = np.stack([getattr(block.owners, name) for block in blocks])
    arrays["ended"], arrays["failed"] = np.packbits(ledger.ended), np.packbits(ledger.failed)
    facts = {
        "blocks": len(blocks),
        "files of rows": ledger.store.flush(),
        "rows": ledger.num_rows,
        "lane steps": ledger.lane_steps,
    }
    return Snapshot(arrays, facts)


def report(ledger: Ledger, num_before: int) -> dict[str, Any]:
    """What a host has done of a sweep, as JSON has it; its rows are written to their files.

    Args:
        ledger: Of the sweep, at its end.
        num_before: The jobs that had ended before it was resumed.
    """
    return {
        "files of rows": ledger.store.flush(),
        "rows": ledger.num_rows,
        "lane steps": ledger.lane_steps,
        "ended": int(ledger.ended.sum()) - num_before,
        "failed": np.flatnonzero(ledger.failed).tolist(),
    }


def open_ledger(snapshot: Snapshot, ledger: Ledger) -> None:
    """Bring a new ledger to where it was."""
    arrays, facts = snapshot
    count = len(ledger.ended)
    for mask, name in ((ledger.ended, "ended"), (ledger.failed, "failed")):
        mask[:] = np.unpackbits(arrays[name], count=count).astype(bool)
    job = arrays["job"]
    ledger.leave_out(job[job >= 0])
    ledger.num_rows, ledger.lane_steps = facts["rows"], facts["lane steps"]


def fill_blocks(snapshot: Snapshot, blocks: list[LaneBlock]) -> None:
    """Bring new blocks to where they were."""
    arrays = snapshot.arrays
    for number, block in enumerate(blocks):
        # What has no elements is not stored.
        leaves = [
            arrays[_leaf(i)][number] if _leaf(i) in arrays else new
            for i, new in enumerate(block.saved())
        ]
        block.restore(leaves, Owners(*(arrays[name][number].copy() for name in Owners._fields)))


def _leaf(number: int) -> str:
    return f"leaf_{number:03}"
