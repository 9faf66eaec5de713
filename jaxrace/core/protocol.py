"""Ask and tell: what everything that chooses has in common.

    params = race.params(delta=0.05)             # the numbers, a pytree
    state = race.init(example, params)           # the progress, a pytree
    asked = race.ask(state, params)              # whom to sample, or to compare
    state = race.tell(state, outcomes, params)   # count what came out
    result = race.result(state, params)          # what is known so far

The object itself is static: a frozen, hashable dataclass. Its verbs are pure functions of arrays,
written for one race, one selection or one run; `jax.vmap` makes batches. Inside of `jit` and `vmap`
they are what they are written as; called from plain Python, they are compiled first, once for all
equal objects.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast, dataclass_transform

import jax

from jaxrace.core.compilation import is_traced, jit

Class = TypeVar("Class", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def pytree(cls: Class) -> Class:
    """A frozen dataclass and a pytree of its fields, but for those with ``static`` metadata."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))


def verb(method: Method) -> Method:
    """A method of a static object, compiled when plain Python calls it.

    The arguments are those that ``checked_NAME`` of the object returns, if there is such a method:
    looked at and converted; under a trace it sees shapes only. ``after_NAME``, if there is one, is
    given what the compiled method returned.

    >>> class Doubling:
    ...     @verb
    ...     def tell(self, state):
    ...         return 2 * state
    ...     def checked_tell(self, state):
    ...         return (abs(state),)
    >>> print(Doubling().tell(-4))
    8
    """
    compiled = jit(1, work=lambda self, *_: getattr(self, "work", 0.0))(method)
    check, after = f"checked_{method.__name__}", f"after_{method.__name__}"
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        if named:
            args = signature.bind(self, *args, **named).args[1:]
        if hasattr(self, check):
            args = getattr(self, check)(*args)
        if is_traced(args):
            return method(self, *args)
        found = compiled(self, *args)
        if hasattr(self, after):
            getattr(self, after)(found)
        return found

    return cast(Method, call)
