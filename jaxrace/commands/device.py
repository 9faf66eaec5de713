"""The choice between CPU and GPU, before JAX starts, by the size of the job."""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaxrace import runs
from jaxrace.commands.options import Device
from jaxrace.core.validation import BadArgument
from jaxrace.sweep import num_cores

# Seconds by which the default job of a verb ended later on an H200 than on the 16 cores beside it,
# nothing compiled before; seconds of a core for a unit of work; and the units of a job.
Cost = tuple[float, float, Callable[[Any], float]]


def place(
    asked: Device,
    cost: Cost | None,
    config: Any,
    began: Path | None,
    say: Callable[[str, str], None],
) -> None:
    """Let JAX compute on what was asked for, or where the job ends sooner, and say which.

    ``began`` is the folder of a run that goes on, on its device. Without a GPU, or if the user has
    set JAX_PLATFORMS, nothing is chosen. BadArgument if there is no such device, or the run began
    on another.
    """
    import jax

    users = jax.config.jax_platforms  # pyright: ignore[reportAttributeAccessIssue]
    is_there = has_gpu()
    if asked == "gpu" and (users == "cpu" or not is_there):
        why = "JAX_PLATFORMS is cpu" if users == "cpu" else "JAX has no GPU here"
        raise BadArgument("device", f"auto or cpu, as {why}", "gpu")
    if asked == "cpu" and not is_there:  # there may be devices of other kinds
        jax.config.update("jax_platforms", "cpu")
    if (users and asked == "auto") or not is_there:
        return
    before = began and (began / runs.CONFIG).is_file() and runs.read_config(began).get("device")
    if before:
        wanted, why = before["platform"], f"on which '{began}' began"
    else:
        wanted, why = chosen(cost, config)
    if asked != "auto":
        if before and asked != wanted:
            raise BadArgument("device", f"{wanted}, {why}", asked)
        wanted = asked
    if wanted == "cpu":
        jax.config.update("jax_platforms", "cpu")
    found = jax.default_backend()
    if asked not in ("auto", found):  # its driver does not work, or JAX runs elsewhere already
        raise BadArgument("device", f"{found}, which is what JAX uses", asked)
    if asked == "auto" and found == wanted:
        other = "gpu" if wanted == "cpu" else "cpu"
        again = "" if before else f"; --device {other} chooses the other"
        say("device", f"the {wanted.upper()}, {why}{again}")


def chosen(cost: Cost | None, config: Any) -> tuple[str, str]:
    """Where a job ends sooner, and why; the CPU if its cost is not known."""
    if cost is None:
        return "cpu", "as it does little at once"
    later, per_unit, units = cost
    seconds = units(config) * per_unit / num_cores()
    if seconds > later:
        return "gpu", f"as the CPU would compute for some {seconds:,.0f} s"
    return "cpu", f"as it computes for some {seconds:.2g} s, and a GPU starts {later:.0f} s later"


def has_gpu() -> bool:
    """Is there a GPU, and JAX's plugin for it? Does not start JAX."""
    found = importlib.util.find_spec("jax_plugins")
    folders = map(Path, found.submodule_search_locations or () if found else ())
    is_hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if is_hidden or not any(any(folder.glob("xla_[cr]*")) for folder in folders):
        return False
    # NVIDIA, AMD, Linux within Windows.
    return any(any(Path("/dev").glob(name)) for name in ("nvidia[0-9]*", "kfd", "dxg"))
