"""A tournament that certifies the best, or the whole order, without a model. Axes: K options."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core import validation
from jaxrace.core.compilation import is_traced
from jaxrace.core.protocol import make_params, number, pytree, verb
from jaxrace.core.validation import BadArgument
from jaxrace.evidence import pairing
from jaxrace.evidence.decision import COUNTS, DOMINANCE, RUNNING
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.selection.base import BatchSelector, Standing


@pytree
class TournamentParams:
    """The numbers of a ``CertifiedTournament``."""

    delta: jax.Array = number(validation.require_float32_probability)  # of a wrong certificate
    max_score: jax.Array = number(validation.require_positive)  # scores are from -this to it
    level: jax.Array = number()  # the log e-value of a verdict
    strong: jax.Array = number()  # of verdicts that all hold together
    bets: jax.Array  # float [L], lambda
    weights: jax.Array  # float [L], w


@pytree
class TournamentState:
    """A tournament between two games."""

    time: jax.Array  # int32 [], games told
    table: pairing.Crosstable  # float [K, K, ...]
    waits: jax.Array  # bool [K, K], a game with i first for one with j first
    waiting: jax.Array  # float [K, K], its d for i; 0 where none waits


@dataclasses.dataclass(frozen=True)
class CertifiedTournament(BatchSelector):
    """Games until the best are certified: ``jaxrace.Tournament`` for thousands at once.

    Same games, same decisions: both call ``evidence.pairing``. The certificate says that each of
    the best expects a positive score against each of the others, by the mean of both sides. It is
    wrong with a probability of at most delta at all looks together, without a model, and for any
    rule of who plays next. A game with one of two first and the next with the other first are one
    result. ``ask_many`` gives the games of one match, as many with each first as can be, and
    ``tell_many`` takes games of the same two. One game at most waits for its counterpart: ``tell``
    and ``tell_many`` refuse more, but in a trace they are lost. Nothing here looks at the order of
    results, as ``jaxrace.Tournament`` does: this one is for experiments, with players that do not
    change. Floats have 64 bits under ``jax.enable_x64``.

    Attributes:
        whole: Certify the whole order, each option above the next, and not only the first ``top``.

    >>> from jaxrace.selection import run, win
    >>> tournament, chances = CertifiedTournament(3, 1), (jnp.tri(3) + 1) / 3
    >>> chances = chances - jnp.eye(3) / 6
    >>> params, key = tournament.params(delta=0.05), jax.random.key(0)
    >>> print(run(tournament, key, win, chances, 300, params, interval=100, batch=10))
    SelectionRecord: 4 records
      time  selected  confidence  done  valid
         0         0           0    no    yes
       100         2           0    no    yes
       200         2           0    no    yes
       240         2        0.95   yes    yes
    """

    whole: bool = False

    is_guaranteed: ClassVar[bool] = True
    params_kind: ClassVar[type] = TournamentParams

    @property
    def goal(self) -> pairing.TournamentGoal:
        return pairing.TournamentGoal(self.num_options, None if self.whole else self.top)

    def params(self, delta: float = 0.05, max_score: float = 1.0) -> TournamentParams:
        """The error probability; scores are from -``max_score`` to it: 1, 0, -1 of games."""
        validation.require_float32_probability("delta", delta)
        needed = self.goal.levels(delta)
        bets = shared_bets(needed.verdict)
        return make_params(
            TournamentParams,
            delta=delta,
            max_score=max_score,
            level=needed.verdict,
            strong=needed.strong,
            bets=jnp.asarray(bets.bets, float),
            weights=jnp.asarray(bets.weights, float),
        )

    @verb
    def init(self, params: TournamentParams) -> TournamentState:
        table = pairing.nothing_played(self.num_options, params.bets.shape[-1], jnp)
        zeros = jnp.zeros_like(table.sums)
        return TournamentState(jnp.zeros((), jnp.int32), table, zeros.astype(bool), zeros)

    def look(self, state: TournamentState, params: TournamentParams) -> pairing.Situation:
        """How it stands."""
        dtype = state.table.highest.dtype
        levels = params.level.astype(dtype), params.strong.astype(dtype)
        return pairing.look_at(state.table, self.goal, *levels, jnp)

    def choose_many(
        self, state: TournamentState, params: TournamentParams, number: int
    ) -> jax.Array:
        look = self.look(state, params)
        pair = jnp.stack(pairing.next_pair(state.table, look, self.goal, jnp)).astype(jnp.int32)
        waits = state.waits[pair, pair[::-1]].astype(jnp.int32)
        is_reversed = jnp.arange(number) >= pairing.games_first(number, waits[0] - waits[1], jnp)
        return jnp.where(is_reversed[:, None], pair[::-1], pair)

    @verb
    def tell_many(self, state: TournamentState, pairs: Any, scores: Any, params: Any) -> Any:
        """Count the scores [B] of games of the same two, [B, 2], in their order; see ``tell``.

        The k-th game with one of the two first and the k-th with the other first are one result.

        >>> tournament = CertifiedTournament(num_options=3, top=1)
        >>> params = tournament.params()
        >>> state = tournament.init(params)
        >>> state = tournament.tell_many(state, [[0, 1], [1, 0]], [1, 0], params)
        >>> state.table.sums[0].tolist(), state.table.met[1].tolist()
        ([0.0, 0.5, 0.0], [1, 0, 0])
        """
        d = (scores / params.max_score.astype(scores.dtype)).astype(state.table.sums.dtype)
        one, other = pair = pairs[0]
        at = pair, pair[::-1]
        # Row 0: d of games with ``one`` first, that which waits before them; row 1: ``other``.
        size = (len(d) + 1) // 2  # results at most
        side = jnp.concatenate([jnp.arange(2), (pairs[:, 0] != one).astype(jnp.int32)])
        is_game = jnp.concatenate([state.waits[at], jnp.ones(len(d), bool)])
        of_side = is_game & (side == jnp.arange(2)[:, None])  # [2, 2 + B]
        place = (of_side.cumsum(1, dtype=jnp.int32) - 1)[side, jnp.arange(len(side))]
        place = jnp.where(is_game, place, size + 1)  # beyond all
        games = jnp.zeros((2, size + 1), d.dtype)
        games = games.at[side, place].set(jnp.concatenate([state.waiting[at], d]), mode="drop")
        number = of_side.sum(1, dtype=jnp.int32)
        results = number.min()
        waits = number > results
        table = pairing.with_matches(
            *(state.table, one[None], other[None], (games[:1] - games[1:])[:, :-1] / 2),
            *(params.bets, params.weights, jnp),
            counted=jnp.arange(size)[None] < results,
        )
        return TournamentState(
            state.time + len(d),
            table,
            state.waits.at[at].set(waits),
            state.waiting.at[at].set(jnp.where(waits, games[:, results], 0.0)),
        )

    def expects(self, state: TournamentState, pair: jax.Array, params: TournamentParams) -> Any:
        """A game with its first while none with the same first waits, bool []."""
        return ~state.waits[pair[0], pair[1]]

    def checked_tell_many(
        self,
        state: TournamentState,
        pairs: ArrayLike,
        scores: ArrayLike,
        params: TournamentParams,
    ) -> tuple:
        """What ``tell_many`` is given."""
        told = super().checked_tell_many(state, pairs, scores, params)
        if not is_traced((state.time, pairs, scores)):
            of_each = np.sort(np.asarray(pairs), 1)
            if (of_each != of_each[0]).any():
                raise BadArgument("pairs", "games of the same two", str(np.asarray(pairs).tolist()))
            one, other = np.asarray(pairs)[0]
            lead = int(state.waits[one, other]) - int(state.waits[other, one])
            lead += int(np.where(np.asarray(pairs)[:, 0] == one, 1, -1).sum())
            if abs(lead) > 1:
                expected = "as many games with each of the two first, or one more"
                raise BadArgument("pairs", expected, f"{abs(lead)} more, with those that wait")
            if not np.asarray(self.accepts(told[2], params)).all():
                expected = "numbers in the range of the params"
                raise BadArgument("scores", expected, str(np.asarray(scores).tolist()))
        return told

    def accepts(self, score: jax.Array, params: TournamentParams) -> jax.Array:
        return jnp.abs(score) <= params.max_score.astype(score.dtype)

    def standing(self, state: TournamentState, params: TournamentParams) -> Standing:
        """By verdicts, then by the games; the scores are how many each is ahead of."""
        look = self.look(state, params)
        is_sure = (look.certificate == DOMINANCE) | (look.certificate == COUNTS)
        ranking = look.keys.ranking(jnp).astype(jnp.int32)
        return Standing(
            look.keys.wins.astype(float), ranking, jnp.where(is_sure, 1 - params.delta, 0)
        )

    def done(self, state: TournamentState, params: TournamentParams) -> jax.Array:
        return self.look(state, params).certificate != RUNNING
