"""Does as many jobs with long rows as asked for, and prints the peak memory.

    python sweep_memory.py JOBS LANES saved | kept

What is saved goes to a folder now and then; what is kept stays in memory.
"""

import dataclasses
import sys
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep

STEPS, ROW_LENGTH = 4, 2048

# Of all rows of a job.
ROW_BYTES = 4 * STEPS * ROW_LENGTH

# Steps of a walk between two rows: a second must not leave more rows than there is room for.
_WALK = 50


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Walks:
    """Jobs that leave a few rows of many numbers."""

    def init(self, job: Any) -> Any:
        return {"step": jnp.int32(0), "at": jnp.full(ROW_LENGTH, job, jnp.float32)}

    def step(self, state: Any) -> Any:
        at = jax.lax.fori_loop(0, _WALK, lambda _, x: jnp.sin(x) + 1.1, state["at"])
        return {"step": state["step"] + 1, "at": at}, at

    def done(self, state: Any) -> Any:
        return state["step"] >= STEPS

    def failed(self, row: Any) -> Any:
        return jnp.isnan(row).any()


def main() -> None:
    """Bytes on the standard output."""
    count, width, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    sweep.use_all_cores()
    jobs = sweep.Jobs(count, lambda numbers: numbers.astype(np.float32))
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = sweep.Checkpoints(folder, every=0.2) if how == "saved" else None
        sweep.run(Walks(), jobs, width=width, checkpoints=checkpoints)
    # Linux's, of this program alone: what getrusage says may be that of the one that started it.
    status = Path("/proc/self/status").read_text("utf-8")
    print(int(status.split("VmHWM:")[1].split()[0]) * 1024)


if __name__ == "__main__":
    main()
