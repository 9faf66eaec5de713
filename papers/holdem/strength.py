"""Hand strength: how likely a random hand of the opponent does not win at the showdown.

1 - E[b / 990] over the cards to come, where b of the 990 pairs that the opponent may then hold are
strictly better; exact on the turn and on the river. Before, every sample is a board and one hand of
the opponent. Axes: N decks, 2 hands, 4 streets, B cards of the board, S samples.
"""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.typing import ArrayLike

from jaxrace.core.validation import MOST_INT32, BadArgument, require_integer
from jaxrace.envs.holdem import cards, evaluation
from jaxrace.envs.holdem.cards import BOARD, DECK_SIZE, require_cards

SAMPLES = 4096
Cards = jax.Array | np.ndarray


def strengths(key: jax.Array, decks: ArrayLike, samples: int = SAMPLES) -> jax.Array:
    """The strength of both hands of every deck on all streets: float32 [4, 2, N].

    Of decks int32 [9, N], for `jaxrace.envs.holdem.prepare`. Before the turn the standard error is
    at most 1 / (2 sqrt(S)): 0.0078 by default.

    >>> from jaxrace.envs.holdem.cards import parse
    >>> deck = parse("As Ad  7h 2c  Ah 7d 7c Ac 2d")[:, None]
    >>> strengths(jax.random.key(0), deck)[:, :, 0].round(2).tolist()
    [[0.8..., 0.3...], [1.0, 0.9...], [1.0, 0.9...], [1.0, 0.9...]]
    """
    require_integer("samples", samples, 1, MOST_INT32)
    if jnp.ndim(decks) != 2 or jnp.shape(decks)[0] != cards.CARDS_DEALT:
        raise BadArgument("decks", f"shape ({cards.CARDS_DEALT}, N)", str(jnp.shape(decks)))
    if not isinstance(decks, Tracer):
        require_cards("decks", decks)
    return _strengths(key, jnp.asarray(decks, jnp.int32), samples)


@functools.partial(jax.jit, static_argnums=2)
def _strengths(key: jax.Array, decks: jax.Array, samples: int) -> jax.Array:
    def of_hand(key: jax.Array, hole: jax.Array, board: jax.Array) -> jax.Array:
        preflop, flop = jax.random.split(key)
        return jnp.stack(
            [
                sampled(preflop, hole, board[:0], samples),
                sampled(flop, hole, board[:3], samples),
                exact(hole, board[:4]),
                exact(hole, board),
            ]
        )

    def of_deck(number_and_deck: tuple[jax.Array, jax.Array]) -> jax.Array:
        number, deck = number_and_deck
        keys = jax.random.split(jax.random.fold_in(key, number))
        holes = jnp.stack([deck[cards.FIRST_HOLE], deck[cards.SECOND_HOLE]])
        return jax.vmap(of_hand, in_axes=(0, 0, None), out_axes=1)(keys, holes, deck[BOARD])

    numbers = jnp.arange(decks.shape[1], dtype=jnp.int32)
    # Deck by deck, so that the hands of the opponent stay in the processor's cache.
    return jnp.moveaxis(lax.map(of_deck, (numbers, decks.T)), 0, -1)


def exact(hole: Cards, board: Cards) -> jax.Array:
    """The strength of a hand [2] on the turn [4] or on the river [5], float32 []; int32 cards.

    >>> from jaxrace.envs.holdem.cards import parse
    >>> float(exact(parse("2c 3c"), parse("Ts Js Qs Ks As")))
    1.0
    """
    return _not_beaten(hole, board, _all_places(5 - board.shape[0]))


@functools.partial(jax.jit, static_argnums=3)
def sampled(key: jax.Array, hole: Cards, board: Cards, samples: int) -> jax.Array:
    """An unbiased estimate of the strength on any street from S samples, float32 [].

    >>> from jaxrace.envs.holdem.cards import parse
    >>> f"{sampled(jax.random.key(0), parse('As Ah'), parse(''), 4_000):.2f}"  # it is 0.855
    '0.85'
    """
    to_come = BOARD.stop - BOARD.start - board.shape[0]
    unseen = DECK_SIZE - hole.shape[0] - board.shape[0]
    left = unseen - jnp.arange(to_come + 2, dtype=jnp.int32)
    places = jax.random.randint(key, (to_come + 2, samples), 0, left[:, None], jnp.int32)
    return _not_beaten(hole, board, cards.cards_at(places)[:, :, None])


@jax.jit
def _not_beaten(hole: Cards, board: Cards, places: Cards) -> jax.Array:
    """The share of cases without a better hand.

    `places` int32 [5 - B + 2, boards, hands on each] are those of the cards that complete the board
    and of the opponent's two, among the unseen cards in their order.
    """
    known = jnp.concatenate([hole, board])
    unseen = jnp.asarray(places, jnp.int32)
    # From places in the sorted deck without the known cards to cards.
    for card in jnp.sort(known):
        unseen = unseen + (unseen >= card).astype(jnp.int32)
    rest, others = unseen[:-2], unseen[-2:]
    other = evaluation.value(_stack([*others, *board, *rest], rest.shape[1:]))
    # The own hand has one value for each board.
    own = evaluation.value(_stack([*hole, *board, *rest[:, :, :1]], (rest.shape[1], 1)))
    beaten = jnp.sum(other > own, dtype=jnp.int32).astype(jnp.float32)
    return 1 - beaten / np.float32(other.size)


def _stack(parts: list[jax.Array], shape: tuple[int, ...]) -> jax.Array:
    return jnp.stack([jnp.broadcast_to(card, shape) for card in parts])


@functools.cache
def _all_places(to_come: int) -> np.ndarray:
    """Ways to complete a board by 0 or 1 cards, and hands after each: [.., boards, hands]."""
    unseen = range(DECK_SIZE - 2 - (BOARD.stop - BOARD.start) + to_come)
    boards = [
        [
            (*board, *hand)
            for hand in itertools.combinations([card for card in unseen if card not in board], 2)
        ]
        for board in itertools.combinations(unseen, to_come)
    ]
    return np.moveaxis(np.array(boards, np.int32), -1, 0)
