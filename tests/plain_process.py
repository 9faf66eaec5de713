"""Long arithmetic in a process of its own, compiled as sweeps and searches compile for users.

The tests' own settings (tests/conftest.py) compile in half the time what then runs slowly. What
level 1 (jaxrace/core/compilation.py) compiles is at most a tenth slower than by its own level, but
audits took a third longer with that, since they compile much.
"""

import contextlib
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

_FLAGS = "--xla_backend_optimization_level=1"


@contextlib.contextmanager
def plain_process() -> Iterator[Callable[..., list]]:
    """``run(function, *args, **kwargs)`` is ``list(function(*args, **kwargs))`` in the process.

    All of it must be picklable. What one call compiles serves the next.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XLA_FLAGS", _FLAGS)
            pool.submit(int).result()  # it begins with the first call

        def run(function: Callable[..., Iterable], *args: Any, **kwargs: Any) -> list:
            return pool.submit(_listed, function, args, kwargs).result()

        yield run


def _listed(function: Callable[..., Iterable], args: tuple, kwargs: dict) -> list:
    return list(function(*args, **kwargs))
