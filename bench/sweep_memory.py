"""Makes as many short searches as its argument says, saves them, and prints the peak memory."""

import sys
import tempfile
from pathlib import Path

import bench_sweeps
import jax
import jax.numpy as jnp
import numpy as np

from jaxrace import sweep
from jaxrace.search import SearchJob


def main() -> None:
    """Bytes on the standard output."""

    def rows(numbers: np.ndarray) -> SearchJob:
        data = np.stack([numbers, numbers], -1).astype(np.uint32)
        return SearchJob(
            jax.random.wrap_key_data(jnp.asarray(data)), np.zeros(len(numbers), np.int32)
        )

    work = bench_sweeps.make_work([(10.0, 0.2, 500)])
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = sweep.Checkpoints(folder, every=1.0)
        sweep.run(work, sweep.Jobs(int(sys.argv[1]), rows), checkpoints=checkpoints)
    # Linux's, of this program alone: what getrusage says may be that of the one that started it.
    status = Path("/proc/self/status").read_text("utf-8")
    print(int(status.split("VmHWM:")[1].split()[0]) * 1024)


if __name__ == "__main__":
    main()
