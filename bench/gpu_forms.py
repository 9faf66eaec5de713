"""Programs in the form of another device: to compile them for it, or to test it."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import jax

from jaxrace.kernels import devices


@contextlib.contextmanager
def made_for(platform: str, **changes: Any) -> Iterator[None]:
    """Trace programs for "cpu" or "gpu"; ``changes`` are other sizes.

    What was traced before, or is traced within, is forgotten.
    """
    chosen = devices.CPU if platform == "cpu" else devices.GPU
    jax.clear_caches()
    try:
        with devices.made_with(dataclasses.replace(chosen, **changes)):
            yield
    finally:
        jax.clear_caches()


def drawn_alike() -> contextlib.AbstractContextManager[None]:
    """Trace programs for a CPU that draw as many samples between two looks as on a GPU."""
    return made_for("cpu", blocks=devices.GPU.blocks)
