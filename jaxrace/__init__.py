"""Racing algorithms and preference-based policy search in JAX.

The parts are imported when they are first used: ``import jaxrace`` is quick and starts no JAX
backend, and ``jaxrace.racing.run`` works without a second import. ``use_compilation_cache()``
keeps what is compiled for the next process.

>>> import jaxrace
>>> jaxrace.racing.PreferenceRace.__name__
'PreferenceRace'
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxrace.core.programs import use_compilation_cache as use_compilation_cache
    from jaxrace.core.validation import BadArgument as BadArgument
    from jaxrace.core.validation import DataRefused as DataRefused
    from jaxrace.judging import compare_next as compare_next
    from jaxrace.judging import gate as gate
    from jaxrace.judging import plan as plan
    from jaxrace.judging import race as race
    from jaxrace.judging import rank as rank
    from jaxrace.judging.order import order as order
    from jaxrace.judging.policies import improve as improve
    from jaxrace.judging.policies import load_policy as load_policy
    from jaxrace.judging.rating import select as select
    from jaxrace.judging.standing import duel as duel
    from jaxrace.judging.tournament import Tournament as Tournament
    from jaxrace.search.evaluation import evaluate as evaluate

__version__: str

# Functions of its own, and where they are; ``judging`` and ``rating`` import no JAX.
_FUNCTIONS = {
    "race": "jaxrace.judging",
    "rank": "jaxrace.judging",
    "order": "jaxrace.judging.order",
    "compare_next": "jaxrace.judging",
    "gate": "jaxrace.judging",
    "plan": "jaxrace.judging",
    "select": "jaxrace.judging.rating",
    "duel": "jaxrace.judging.standing",
    "improve": "jaxrace.judging.policies",
    "load_policy": "jaxrace.judging.policies",
    "Tournament": "jaxrace.judging.tournament",
    "evaluate": "jaxrace.search.evaluation",
    "use_compilation_cache": "jaxrace.core.programs",
    "BadArgument": "jaxrace.core.validation",
    "DataRefused": "jaxrace.core.validation",
}

_PARTS = (
    *("agents", "answers", "commands", "core", "dueling", "envs", "evidence", "improvement"),
    *("judging", "kernels", "racing", "runs", "search", "selection", "sweep", "tables"),
)


def __dir__() -> list[str]:
    return sorted((*_FUNCTIONS, *_PARTS, "__version__", "__doc__", "__file__", "__path__"))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("jaxrace")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    part = f"{__name__}.{name}"
    # Python asks a package for names of its own, such as __wrapped__, which are no parts.
    if not name.startswith("_"):
        try:
            return importlib.import_module(part)
        except ModuleNotFoundError as error:
            if error.name != part:  # the part is there, what it imports is not
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
