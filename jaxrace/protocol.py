"""Ask and tell: what everything that chooses has in common.

    params = race.params(delta=0.05)             # the numbers, a pytree
    state = race.init(params)                    # the progress, a pytree
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
from typing import Any, Protocol, TypeVar, cast, dataclass_transform

import jax
from jax.core import Tracer

from jaxrace.compilation import bounded_jit


class AskTell(Protocol):
    """What chooses whom to sample or to compare next, until it knows enough."""

    def init(self, *args: Any) -> Any:
        """The state before the first outcome."""
        ...

    def ask(self, *args: Any) -> jax.Array:
        """Who is wanted next, given state and params (and a key, where it is by chance)."""
        ...

    def tell(self, *args: Any) -> Any:
        """The state after further outcomes."""
        ...


def is_traced(tree: Any) -> bool:
    """Is any array of the tree a tracer, that is, are we inside jit or vmap?

    >>> is_traced((1, None))
    False
    """
    return any(isinstance(x, Tracer) for x in jax.tree.leaves(tree))


Class = TypeVar("Class", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def pytree(cls: Class) -> Class:
    """A frozen dataclass and a pytree of its fields, but for those with ``static`` metadata."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))


def verb(method: Method) -> Method:
    """A method of a static object, compiled when plain Python calls it.

    What the method is given is what ``checked_NAME`` of the object returns, if there is such a
    method: the arguments, looked at and converted. It is asked under a trace as well, where it can
    look at shapes only. ``after_NAME`` is given what the compiled method returned.

    >>> import dataclasses
    >>> @dataclasses.dataclass(frozen=True)
    ... class Doubling:
    ...     @verb
    ...     def tell(self, state):
    ...         return 2 * state
    ...     def checked_tell(self, state):
    ...         if not is_traced(state) and state < 0:
    ...             raise ValueError(f"state: expected at least 0, got {state}")
    ...         return (state,)
    >>> print(Doubling().tell(4))
    8
    >>> Doubling().tell(-1)
    Traceback (most recent call last):
    ValueError: state: expected at least 0, got -1
    """
    compiled = bounded_jit(1)(method)
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
