"""One host of several, as a process of its own: orbax expects one sweep at a time in a process."""

import time
from typing import Any

import sweep_cases as cases

from jaxrace import sweep


def run_host(
    hosts: sweep.Hosts | None,
    folder: str,
    jobs: Any,
    stop_after: int | None = None,
    pause: float = 0.0,
    fails: bool = False,
) -> dict[str, Any]:
    """What the host returns or raises, as plain data.

    Args:
        hosts: Which host.
        folder: Of all.
        jobs: Of all.
        stop_after: Turns after which it is stopped.
        pause: Seconds that it waits after every burst.
        fails: Does it fail after the first burst?
    """
    asked = iter(range(stop_after or 0))
    told: list[tuple[int, int]] = []

    def on_rows(num_ended: int, rows: sweep.Rows) -> None:
        if fails:
            raise KeyError
        told.append((num_ended, len(rows.job)))
        time.sleep(pause)

    def stop() -> bool:
        return stop_after is not None and next(asked, None) is None

    checkpoints = sweep.Checkpoints(folder, every=0.0, resume=True)
    settings = {"burst": 4, "checkpoints": checkpoints, "hosts": hosts}
    try:
        log = cases.run(jobs, on_rows=on_rows, stop=stop, **settings)
    except (sweep.HostLost, sweep.Interrupted, ValueError, KeyError) as error:
        return {"error": type(error).__name__, "message": str(error)}
    names = ("num_rows", "num_ended", "lane_steps", "is_resumed")
    numbers = {name: getattr(log, name) for name in names}
    return {**numbers, "bits": cases.bits(log), "failed": log.failed.tolist(), "told": told}
