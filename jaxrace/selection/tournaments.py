"""SELECT and TOP: knock-out tournaments in groups, their winners on a heap (Mohajer et al. 2017).

Axes: K options, k groups of up to G options.
"""

import dataclasses
from dataclasses import replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import require_integer, require_keys
from jaxrace.selection.base import Selector, Standing

# What is being played: a tournament; or on the heap a new one rises, or the last one sinks: its
# children play, and the better one meets it.
_KNOCK_OUT, _RISE, _SINK, _MEET, _DONE = (np.int32(phase) for phase in range(5))
_ZERO = np.int32(0)


@pytree
class TopParams:
    """The numbers of TOP."""

    # Comparisons of a match.
    repetitions: jax.Array = number(require_integer, np.int32, least=1, most=2**31 - 1)
    order: jax.Array  # int32 [K]; option order[p] is in group p mod k


@pytree
class TopState:
    """TOP between two comparisons."""

    time: jax.Array  # int32 [], comparisons told
    phase: jax.Array  # int32 []
    match: jax.Array  # int32 [2], who plays
    played: jax.Array  # int32 [], comparisons of this match
    total: jax.Array  # float [], their scores
    entrants: jax.Array  # int32 [G], those left in the tournament, in order
    num_entrants: jax.Array  # int32 []
    match_number: jax.Array  # int32 [], in this round of the tournament
    heap: jax.Array  # int32 [k], winners of groups
    heap_size: jax.Array  # int32 []
    node: jax.Array  # int32 [], where in the heap one rises or sinks
    groups_begun: jax.Array  # int32 [], of the first tournaments
    group: jax.Array  # int32 [], whose tournament is played
    found: jax.Array  # int32 [k], the best ones so far
    num_found: jax.Array  # int32 []


@dataclasses.dataclass(frozen=True)
class Top(Selector):
    """TOP: the winners of k knock-out tournaments meet on a heap; each that leaves is replaced.

    A match is a number of comparisons, won by the larger total of scores. Whoever has been found
    leaves the tournament SELECT of its group. TOP needs a total order that every pair agrees with:
    one intransitive pair may mislead it for ever. It ends by itself.

    >>> from jaxrace.selection import run, win
    >>> selector, chances = Top(num_options=3, top=1), jnp.tri(3) - jnp.eye(3) / 2
    >>> log = run(selector, jax.random.key(0), win, chances, 100, selector.params(repetitions=1))
    >>> log.selected[-1].tolist(), log.time[-1].tolist()
    ([False, False, True], 2)
    """

    params_kind: ClassVar[type] = TopParams

    def params(self, repetitions: int = 10, key: jax.Array | None = None) -> TopParams:
        """The numbers: ``repetitions`` is nu, comparisons of a match.

        The key is for random groups; without one option p is in group p mod k.
        """
        order = jnp.arange(self.num_options, dtype=jnp.int32)
        if key is not None:
            require_keys("key", key, ndim=0)
            order = jax.random.permutation(key, order)
        return make_params(TopParams, repetitions=repetitions, order=order)

    @verb
    def init(self, params: TopParams) -> TopState:
        zero, nobody = jnp.zeros((), jnp.int32), jnp.full(self.top, -1, jnp.int32)
        counters = "time phase played num_entrants match_number heap_size node group num_found"
        empty = TopState(
            **dict.fromkeys(counters.split(), zero),
            match=jnp.zeros(2, jnp.int32),
            total=jnp.zeros((), float),
            entrants=jnp.full(-(-self.num_options // self.top), -1, jnp.int32),
            heap=nobody,
            groups_begun=zero + 1,
            found=nobody,
        )
        return self._until_match(self._begin_group(empty, zero, params), params)

    def draw(self, key: jax.Array) -> jax.Array:
        """A coin for matches without a winner."""
        return jax.random.uniform(key, (), jnp.float32)

    def choose(self, noise: jax.Array, state: TopState, params: TopParams) -> jax.Array:
        # The first option of the last comparison wins a drawn match: its order is the coin.
        return jnp.where(noise < 0.5, state.match, state.match[::-1])

    def expects(self, state: TopState, pair: jax.Array, params: TopParams) -> jax.Array:
        is_match = (pair == state.match).all() | (pair == state.match[::-1]).all()
        return is_match & ~self.done(state, params)

    @verb
    def tell(self, state: TopState, pair: Any, score: Any, params: TopParams) -> TopState:
        in_order = pair[0] == state.match[0]
        total = state.total + jnp.where(in_order, score, -score).astype(state.total.dtype)
        told = replace(state, time=state.time + 1, played=state.played + 1, total=total)
        first_wins = (total > 0) | ((total == 0) & in_order)
        settled = self._until_match(self._settle(told, first_wins, params), params)
        is_over = told.played >= params.repetitions
        return jax.tree.map(lambda a, b: jnp.where(is_over, a, b), settled, told)

    def _settle(self, state: TopState, first_wins: jax.Array, params: TopParams) -> TopState:
        """After a match, whatever comes next."""
        state = replace(state, played=_ZERO, total=jnp.zeros_like(state.total))
        branches = (
            lambda state, wins, _: _passed(state, jnp.where(wins, state.match[0], state.match[1])),
            self._after_rise,
            _met_by_larger,
            self._after_meeting,
            lambda state, *_: state,  # a driver goes on, and drops what comes of it
        )
        return lax.switch(state.phase, branches, state, first_wins, params)

    def _after_rise(self, state: TopState, child_wins: jax.Array, params: TopParams) -> TopState:
        parent = (state.node - 1) // 2
        risen = replace(state, heap=_swapped(state.heap, state.node, parent), node=parent)
        stays = self._next_group(state, params)
        return jax.tree.map(lambda a, b: jnp.where(child_wins, a, b), risen, stays)

    def _after_meeting(self, state: TopState, child_wins: jax.Array, params: TopParams) -> TopState:
        left = 2 * state.node + 1
        child = jnp.where(state.match[0] == state.heap[left], left, left + 1)
        heap = _swapped(state.heap, state.node, child)
        sunk = replace(state, heap=heap, node=child, phase=_SINK)
        rests = self._begin_group(state, state.group, params)
        return jax.tree.map(lambda a, b: jnp.where(child_wins, a, b), sunk, rests)

    def _until_match(self, state: TopState, params: TopParams) -> TopState:
        """All that happens without a comparison, until one is wanted or everything is over."""

        def rest(state: TopState, params: TopParams) -> tuple[TopState, jax.Array]:
            return state, jnp.ones((), bool)

        def go_on(carry: tuple[TopState, jax.Array]) -> tuple[TopState, jax.Array]:
            branches = (self._knock_out, self._rise, self._sink, rest, rest)
            return lax.switch(carry[0].phase, branches, carry[0], params)

        return lax.while_loop(lambda carry: ~carry[1], go_on, (state, jnp.zeros((), bool)))[0]

    def _knock_out(self, state: TopState, params: TopParams) -> tuple[TopState, jax.Array]:
        place, count = 2 * state.match_number, state.num_entrants
        pair = state.entrants[place], state.entrants[place + 1]
        wants = place + 1 < count
        match = replace(state, match=jnp.stack(pair))
        bye = _passed(state, pair[0])
        new_round = replace(state, num_entrants=state.match_number, match_number=_ZERO)
        winner = replace(
            state,
            phase=_RISE,
            heap=state.heap.at[state.heap_size].set(state.entrants[0]),
            heap_size=state.heap_size + 1,
            node=state.heap_size,
        )
        nobody = self._next_group(state, params)
        cases = [count == 0, count == 1, place >= count, place + 1 == count]
        return _first_of(cases, [nobody, winner, new_round, bye], match), wants & (count > 1)

    def _rise(self, state: TopState, params: TopParams) -> tuple[TopState, jax.Array]:
        parent = (state.node - 1) // 2
        match = replace(state, match=jnp.stack([state.heap[state.node], state.heap[parent]]))
        at_root = self._next_group(state, params)
        return _first_of([state.node == 0], [at_root], match), state.node > 0

    def _sink(self, state: TopState, params: TopParams) -> tuple[TopState, jax.Array]:
        left = 2 * state.node + 1
        of_children = replace(state, match=jnp.stack([state.heap[left], state.heap[left + 1]]))
        with_parent = _met_by_larger(of_children, jnp.ones((), bool))
        at_leaf = self._begin_group(state, state.group, params)
        has_none, has_one = left >= state.heap_size, left + 1 >= state.heap_size
        return _first_of([has_none, has_one], [at_leaf, with_parent], of_children), ~has_none

    def _next_group(self, state: TopState, params: TopParams) -> TopState:
        """The first tournament of the next group; after the last one the best leaves the heap."""
        first_time = replace(state, groups_begun=state.groups_begun + 1)
        first_time = self._begin_group(first_time, state.groups_begun, params)
        best, last = state.heap[0], state.heap[state.heap_size - 1]
        num_found = state.num_found + 1
        place = jnp.argmax(params.order == best).astype(jnp.int32)
        popped = replace(
            state,
            phase=jnp.where(num_found == self.top, _DONE, _SINK).astype(jnp.int32),
            heap=state.heap.at[0].set(last).at[state.heap_size - 1].set(-1),
            heap_size=state.heap_size - 1,
            node=_ZERO,
            group=place % self.top,
            found=state.found.at[state.num_found].set(best),
            num_found=num_found,
        )
        is_first = state.groups_begun < self.top
        return jax.tree.map(lambda a, b: jnp.where(is_first, a, b), first_time, popped)

    def _begin_group(self, state: TopState, group: jax.Array, params: TopParams) -> TopState:
        """The tournament of a group, without those that have been found."""
        size = state.entrants.shape[0]
        places = group + self.top * jnp.arange(size, dtype=jnp.int32)
        members = jnp.where(places < self.num_options, params.order[places], -1)
        wanted = (members >= 0) & (members[:, None] != state.found[None, :]).all(1)
        to = jnp.where(wanted, jnp.cumsum(wanted) - 1, size)
        return replace(
            state,
            phase=_KNOCK_OUT,
            entrants=jnp.full_like(state.entrants, -1).at[to].set(members, mode="drop"),
            num_entrants=wanted.sum(dtype=jnp.int32),
            match_number=_ZERO,
            group=group,
        )

    def standing(self, state: TopState, params: TopParams) -> Standing:
        # Those found, then the heap, then everybody else.
        listed = jnp.concatenate([state.found, state.heap, params.order])
        options = jnp.arange(self.num_options, dtype=jnp.int32)
        places = jnp.argmax(listed[None, :] == options[:, None], axis=1)
        ranking = jnp.argsort(places).astype(jnp.int32)
        scores = -jnp.argsort(ranking).astype(float)
        return Standing(scores, ranking, jnp.zeros(()))

    def done(self, state: TopState, params: TopParams) -> jax.Array:
        return state.phase == _DONE


def _passed(state: TopState, winner: jax.Array) -> TopState:
    """Somebody goes on to the next round."""
    entrants = state.entrants.at[state.match_number].set(winner)
    return replace(state, entrants=entrants, match_number=state.match_number + 1)


def _met_by_larger(state: TopState, first_wins: jax.Array, *_: Any) -> TopState:
    """The winner of a match of children meets their parent."""
    larger = jnp.where(first_wins, state.match[0], state.match[1])
    pair = jnp.stack([larger, state.heap[state.node]])
    return replace(state, phase=_MEET, match=pair)


def _swapped(heap: jax.Array, first: jax.Array, second: jax.Array) -> jax.Array:
    return heap.at[first].set(heap[second]).at[second].set(heap[first])


def _first_of(cases: list[jax.Array], states: list[TopState], other: TopState) -> TopState:
    for case, state in zip(reversed(cases), reversed(states), strict=True):
        other = jax.tree.map(lambda a, b, case=case: jnp.where(case, a, b), state, other)
    return other
