"""Ask and tell: what everything that chooses has in common.

    params = race.params(delta=0.05)             # the numbers, a pytree
    state = race.init(example, params)           # the progress, a pytree
    asked = race.ask(state, params)              # whom to sample, or to compare
    state = race.tell(state, outcomes, params)   # count what came out
    result = race.result(state, params)          # what is known so far

The object is static: a frozen, hashable dataclass. Its verbs are pure functions of arrays, written
for one race, selection or run; `jax.vmap` makes batches. Called from plain Python they are compiled
first, once for all equal objects.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast, dataclass_transform

import jax
import numpy as np

from jaxrace.core.compilation import is_traced, jit

Class = TypeVar("Class", bound=type)
Params = TypeVar("Params")
Method = TypeVar("Method", bound=Callable[..., Any])


def number(
    check: Callable[..., None] | None = None, dtype: Any = np.float32, **limits: float
) -> Any:
    """A field of params: a number that passes ``check(name, value, **limits)``, and its dtype."""
    metadata = {"check": check and functools.partial(check, **limits), "dtype": dtype}
    return dataclasses.field(metadata=metadata)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, number))
def pytree(cls: Class) -> Class:
    """A frozen dataclass and a pytree of its fields, but for those with ``static`` metadata."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))


def make_params(kind: type[Params], **values: Any) -> Params:
    """Params of a class: each ``number`` checked and converted, the other fields as given.

    A function stands for a number that follows from others: it is called once all are checked.

    >>> from jaxrace.core.validation import require_probability
    >>> @pytree
    ... class Level:
    ...     delta: jax.Array = number(require_probability)
    ...     inverse: jax.Array = number()
    >>> print(make_params(Level, delta=0.25, inverse=lambda: 1 / 0.25).inverse)
    4.0
    """
    fields = dataclasses.fields(cast(Any, kind))
    numbers = {x.name: x.metadata for x in fields if "dtype" in x.metadata}
    for name, about in numbers.items():
        if about["check"] is not None:
            about["check"](name, values[name])
    for name, about in numbers.items():
        value = values[name]() if callable(values[name]) else values[name]
        # Not jnp.asarray, which compiles a program.
        values[name] = jax.device_put(np.asarray(value, about["dtype"]))
    return kind(**values)


def verb(method: Method) -> Method:
    """A method of a static object, compiled when plain Python calls it.

    A method ``_checked_NAME`` or ``checked_NAME`` checks and converts the arguments, under a trace
    of shapes only; ``_after_NAME`` is given what came out, and the arguments.

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

    def hook(self: Any, name: str) -> Any:
        return getattr(self, f"_{name}", None) or getattr(self, name, None)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        if named:
            args = signature.bind(self, *args, **named).args[1:]
        if checked := hook(self, check):
            args = checked(*args)
        if is_traced(args):
            return method(self, *args)
        found = compiled(self, *args)
        if then := hook(self, after):
            then(found, *args)
        return found

    return cast(Method, call)
