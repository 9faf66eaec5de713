"""The numbers of ``jax.random``, drawn several times as fast on a CPU.

JAX's default generator is Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw 2011,
"Parallel random numbers: as easy as 1, 2, 3"). On a CPU JAX compiles it as a loop whose every pass
copies its words and keys; here its rounds stand in a row, as JAX itself has them for other devices.
A key of this kind is another implementation of keys to JAX, with the same words and the same
numbers, so that any code that draws with ``jax.random`` draws faster from it.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.extend.random
import jax.numpy as jnp
import jaxlib.version
from jax import lax

Keys = TypeVar("Keys", bound=jax.Array)

# Left rotations of the four rounds of a group, for even and for odd groups.
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA  # of the key schedule, for words of 32 bits
# Up to so many words one after the other: keys that are vmapped then fill the vector registers.
_ONE_BY_ONE = 16


def threefry2x32(
    key: tuple[jax.Array, jax.Array], counter: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    """Threefry-2x32-20: two words from two words of a key and two of a counter.

    Args:
        key: Two arrays uint32 [...].
        counter: Two arrays uint32 [...] that broadcast with them.

    >>> import jax.numpy as jnp
    >>> zero = jnp.uint32(0)
    >>> [hex(word) for word in threefry2x32((zero, zero), (zero, zero))]
    ['0x6b200159', '0x99ba4efe']
    """
    keys = (*key, key[0] ^ key[1] ^ jnp.uint32(_PARITY))
    left, right = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            left = left + right
            right = left ^ _rotated(right, rotation)
        left = left + keys[(group + 1) % 3]
        right = right + keys[(group + 2) % 3] + jnp.uint32(group + 1)
    return left, right


def fast_keys(keys: Keys) -> Keys:
    """The same keys, from which ``jax.random`` draws the same bits, faster on a CPU.

    What it computes of them is the same up to the rounding of compiled programs.

    Keys of another generator than threefry2x32 are returned as they are, and so are all on
    another device than a CPU, or if ``jax_threefry_partitionable`` is off. A few functions
    (``jax.random.poisson``) take none but JAX's own keys.

    Args:
        keys: From ``jax.random.key``, any shape.

    >>> import jax
    >>> key = jax.random.key(0)
    >>> bool(jax.random.normal(fast_keys(key)) == jax.random.normal(key))
    True
    """
    is_threefry = jax.random.key_impl(keys) == "threefry2x32"
    is_partitionable = getattr(jax.config, "jax_threefry_partitionable", True)
    if not (is_threefry and is_partitionable and jax.default_backend() == "cpu"):
        return keys
    return jax.random.wrap_key_data(jax.random.key_data(keys), impl=_STRAIGHT)


def fast_keys_for(draw: Callable[..., Any], keys: Keys, *args: Any) -> Keys:
    """``fast_keys(keys)`` if ``draw(key, *args)`` takes such a key, else the keys as they are.

    Args:
        draw: Pure JAX.
        keys: Keys of any shape, of which ``draw`` takes one.
        *args: Its other arguments.

    >>> import jax
    >>> keys = jax.random.split(jax.random.key(0), 3)
    >>> fast_keys_for(jax.random.normal, keys).dtype == fast_keys(keys).dtype
    True
    >>> fast_keys_for(lambda key: jax.random.poisson(key, 2.0), keys).dtype == keys.dtype
    True
    """
    fast = fast_keys(keys)
    if fast is keys:
        return keys
    try:
        jax.eval_shape(draw, fast.reshape(-1)[0], *args)
    except Exception:  # of any kind; one that has nothing to do with keys comes again with these
        return keys
    return fast


def _rotated(word: jax.Array, count: int) -> jax.Array:
    return (word << jnp.uint32(count)) | (word >> jnp.uint32(32 - count))


def _map_words(
    function: Callable[[jax.Array, jax.Array], Any], key: jax.Array, shape: tuple[int, ...]
) -> Any:
    """``function`` of both words of the counters 0, 1, ... in the order of the axes.

    Made of them at once: two arrays of words that are read later would be computed twice.
    """
    zero = jnp.uint32(0)
    count = math.prod(shape)
    numbers = jnp.arange(count, dtype=jnp.uint32)
    # Taken apart here: the loop below would keep both words as they lie, and make them twice.
    words = key[0], key[1]

    def of_number(numbers: jax.Array) -> Any:
        return function(*threefry2x32(words, (zero, numbers)))

    if count == 1:
        found = of_number(zero)
    elif count <= _ONE_BY_ONE:
        found = lax.map(of_number, numbers)
    else:
        found = of_number(numbers)
    return jax.tree.map(lambda x: x.reshape(shape), found)


def _kept_apart(left: jax.Array, right: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The words of a new key, which XLA makes in a loop of their own from JAX 0.11 on.

    In one loop with what is drawn from the key, twenty rounds follow twenty others. Where the
    maximum of that and another number is taken, as ``jax.random.uniform`` does, the vectorizer of
    the LLVM in JAX 0.11 walks all of the 2^40 paths through them. Before, a loop of their own only
    costs time (a twentieth of that of races).
    """
    if jaxlib.version.__version_info__ < (0, 11):
        return left, right
    return lax.optimization_barrier((left, right))


def _seed(seed: jax.Array) -> jax.Array:
    return jax.random.key_data(jax.random.key(seed, impl="threefry2x32"))


def _split(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    words = _map_words(lambda left, right: (left, right), key, shape)
    return jnp.stack(_kept_apart(*words), axis=-1)


def _random_bits(key: jax.Array, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    def bits(left: jax.Array, right: jax.Array) -> jax.Array:
        if bit_width == 64:
            return (left.astype(jnp.uint64) << jnp.uint64(32)) | right.astype(jnp.uint64)
        return (left ^ right).astype(f"uint{bit_width}")

    return _map_words(bits, key, shape)


def _fold_in(key: jax.Array, number: jax.Array | int) -> jax.Array:
    counter = (jnp.uint32(0), jnp.asarray(number, jnp.uint32))
    left, right = _kept_apart(*threefry2x32((key[0], key[1]), counter))
    # Not jnp.stack: under vmap its words would lie apart and be copied to where keys have them, so
    # that XLA cannot draw from the words as they are, and makes both anew for each.
    return lax.concatenate([left[None], right[None]], 0)


_STRAIGHT: Any = jax.extend.random.define_prng_impl(
    key_shape=(2,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="jaxrace_threefry2x32",
    tag="fry2",
)
