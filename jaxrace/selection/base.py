"""What every selector shares: the verbs init / ask / tell / result.

A selector finds the k best of K options, told the scores of comparisons of two: X_ij = -X_ji is
by how much i was better than j. The target is Borda's, S_i = sum_j E X_ij, unless a selector says
otherwise. Axes: K options.
"""

import abc
import dataclasses
import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxrace.core import validation
from jaxrace.core.compilation import is_traced
from jaxrace.core.protocol import verb
from jaxrace.core.validation import BadArgument
from jaxrace.selection.comparisons import LARGEST_SCORE, is_usable

_MOST_EQUAL = 0.01  # the part of different scores that may become equal in JAX
_MOST_LISTED = 20  # options that are printed; the arrays of the result have all

Params = Any
State = Any


class Standing(NamedTuple):
    """How the options stand, under a trace."""

    scores: jax.Array  # float [K], what they are ranked by
    ranking: jax.Array  # int32 [K], from the best
    confidence: jax.Array  # float [], that the first k are the best; 0 where nothing is known


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class SelectionResult:
    """What a selector has found; print it."""

    name: str = dataclasses.field(metadata={"static": True})  # of the selector's class
    top: int = dataclasses.field(metadata={"static": True})  # k
    is_guaranteed: bool = dataclasses.field(metadata={"static": True})  # or estimated by a model?
    ranking: jax.Array  # int32 [K], from the best
    selected: jax.Array  # bool [K], the first k
    scores: jax.Array  # float [K], what options are ranked by
    confidence: jax.Array  # float [], estimated, or guaranteed; 0: unknown
    done: jax.Array  # bool [], the selector asks for nothing more
    samples: jax.Array  # int32 [], comparisons told

    @property
    def best(self) -> jax.Array:
        """The first k of the ranking, int32 [k]."""
        return self.ranking[..., : self.top]

    def __str__(self) -> str:
        num_options = self.ranking.shape[-1]
        title = f"{self.name}: top {self.top} of {num_options}"
        if np.ndim(self.done):
            return f"{title}, {np.size(self.done):,} selections"
        ranking, scores = np.asarray(self.ranking), np.asarray(self.scores)
        lines = [f"{title} after {int(self.samples):,} comparisons", f"  {self._sureness()}"]
        lines.append(f"  {'place':>5}  {'option':>6}  {'score':>10}")
        for place, option in enumerate(ranking[:_MOST_LISTED]):
            mark = "  selected" if place < self.top else ""
            lines.append(f"  {place + 1:>5}  {option:>6}  {scores[option]:>10.4g}{mark}")
        if num_options > _MOST_LISTED:
            lines.append(f"  and {num_options - _MOST_LISTED} more")
        return "\n".join(lines)

    def _sureness(self) -> str:
        confidence = float(self.confidence)
        if confidence == 0 and bool(self.done):
            return "undecided, or without a measure of how sure it is; it asks for nothing more"
        if confidence == 0:
            return "not known yet how sure this is"
        if self.is_guaranteed:
            return f"correct with probability at least {confidence:.3g}"
        return f"correct with probability about {confidence:.3f}, an estimate without guarantee"


@dataclasses.dataclass(frozen=True)
class Selector(abc.ABC):
    """Which k of K options are the best, told the scores of comparisons?

    Subclasses implement ``init``, ``tell``, ``choose``, perhaps ``draw``, ``standing``, ``done``.
    """

    num_options: int
    top: int

    is_guaranteed: ClassVar[bool] = False  # the confidence; else it is estimated from a model
    params_kind: ClassVar[type] = object  # what ``params`` makes

    def __post_init__(self) -> None:
        validation.require_integer("num_options", self.num_options, 2)
        validation.require_top(self.top, self.num_options)

    @property
    def opening(self) -> int:
        """Comparisons of a first phase in which everything is tried."""
        return 0

    @abc.abstractmethod
    def params(self) -> Params:
        """The numbers of the selector as a pytree, checked; see the subclass."""

    @abc.abstractmethod
    def init(self, params: Params) -> State:
        """The state before the first comparison; it has ``time``, int32 [], comparisons told."""

    def draw(self, key: jax.Array) -> Any:
        """The random numbers of one choice; None for a selector without chance."""
        return None

    @abc.abstractmethod
    def choose(self, noise: Any, state: State, params: Params) -> jax.Array:
        """The next pair, int32 [2]."""

    @abc.abstractmethod
    def standing(self, state: State, params: Params) -> Standing:
        """How the options stand."""

    @abc.abstractmethod
    def done(self, state: State, params: Params) -> jax.Array:
        """Does it ask for nothing more? bool []."""

    def expects(self, state: State, pair: jax.Array, params: Params) -> jax.Array:
        """May this pair be told now? bool []. A selector by rounds wants its own pairs."""
        return jnp.ones_like(pair[0], bool)

    def accepts(self, score: jax.Array, params: Params) -> jax.Array:
        """Can a score be used? bool []."""
        return jnp.abs(score).astype(jnp.float32) <= LARGEST_SCORE

    @verb
    def ask(self, key: jax.Array, state: State, params: Params) -> jax.Array:
        """The next pair to compare, int32 [2]; [-1, -1] once done. ValueError for a bad key."""
        pair = self.choose(self.draw(key), state, params)
        return unless_done(self, pair, state, params)

    @abc.abstractmethod
    def tell(self, state: State, pair: Any, score: Any, params: Params) -> State:
        """Count the score of a comparison.

        Of any pair, but a selector by rounds wants that of ``ask``. The score is by how much the
        first was better, at most 2.6e15 and in the range of the params: 1, -1 and 0 of a win, a
        loss and a tie. ValueError for anything else.
        """

    @verb
    def result(self, state: State, params: Params) -> SelectionResult:
        """What has been found so far."""
        standing = self.standing(state, params)
        return SelectionResult(
            name=type(self).__name__,
            top=self.top,
            is_guaranteed=self.is_guaranteed,
            selected=selected_from(standing.ranking, self.top),
            done=self.done(state, params),
            samples=state.time,
            **standing._asdict(),
        )

    def require_params(self, params: Params) -> None:
        """Raise ValueError unless these are what ``params`` makes."""
        validation.require_kind("params", params, self.params_kind)

    def checked_init(self, *args: Any) -> tuple:
        """What ``init`` and ``result`` are given, see ``verb``."""
        self.require_params(args[-1])
        return args

    checked_result = checked_init

    def checked_ask(self, key: jax.Array, state: State, params: Params) -> tuple:
        """What ``ask`` is given."""
        validation.require_keys("key", key, ndim=0)
        return self.checked_init(key, state, params)

    def checked_tell(
        self, state: State, pair: ArrayLike, score: ArrayLike, params: Params
    ) -> tuple:
        """What ``tell`` is given."""
        self.require_params(params)
        if is_traced((state.time, pair, score)):
            return state, jnp.asarray(pair, jnp.int32), jnp.asarray(score, float), params
        # By NumPy: conversions by JAX take longer than the step.
        pairs, scores = np.asarray(pair)[None], np.asarray(score)[None]
        check_pairs(pairs, self.num_options)
        check_scores(scores)
        told = pairs[0].astype(np.int32), scores[0].astype(jax.dtypes.canonicalize_dtype(float))
        is_expected, is_accepted = _may_be_told(self, state, *told, params)
        if not is_expected:
            expected = "the one that ask gave, in the same order"
            raise BadArgument("pair", expected, str(pairs[0].tolist()))
        if not is_accepted:
            raise BadArgument("score", "a score in the range of the params", str(scores[0]))
        return state, *told, params


@dataclasses.dataclass(frozen=True)
class BatchSelector(Selector):
    """A selector that can choose many pairs at once, to compare side by side.

    Subclasses implement ``choose_many`` and ``tell_many``.
    """

    @abc.abstractmethod
    def choose_many(self, state: State, params: Params, number: int) -> jax.Array:
        """The pairs of ``ask_many``, done or not."""

    def choose(self, noise: None, state: State, params: Params) -> jax.Array:
        return self.choose_many(state, params, 1)[0]

    def ask_many(self, key: jax.Array, state: State, params: Params, number: int) -> jax.Array:
        """The next pairs to compare side by side, int32 [B, 2]; a pair may come more than once.

        By scores each is chosen as if the ones before it had left means and variances as they are;
        all are [-1, -1] once it is done.

        >>> from jaxrace.selection import Uniform
        >>> selector = Uniform(num_options=3, top=1)
        >>> params = selector.params()
        >>> selector.ask_many(jax.random.key(0), selector.init(params), params, 2).tolist()
        [[0, 1], [0, 2]]
        """
        validation.require_keys("key", key, ndim=0)
        validation.require_integer("number", number, 1)
        self.require_params(params)
        return _choose_many(self, state, params, number)

    @abc.abstractmethod
    def tell_many(self, state: State, pairs: Any, scores: Any, params: Params) -> State:
        """Count the scores [B] of pairs [B, 2] that were compared side by side; see ``tell``."""

    @verb
    def tell(self, state: State, pair: Any, score: Any, params: Params) -> State:
        return self.tell_many(state, pair[None], score[None], params)

    def checked_tell_many(
        self, state: State, pairs: ArrayLike, scores: ArrayLike, params: Params
    ) -> tuple:
        """What ``tell_many`` is given."""
        self.require_params(params)
        shape = np.shape(pairs)
        if len(shape) != 2 or shape[1] != 2 or shape[0] < 1:
            raise BadArgument("pairs", "at least one, [B, 2]", str(list(shape)))
        if np.shape(scores) != shape[:1]:
            expected = f"one of each of the {shape[0]} pairs, [{shape[0]}]"
            raise BadArgument("scores", expected, str(list(np.shape(scores))))
        if not is_traced((state.time, pairs, scores)):
            check_pairs(np.asarray(pairs), self.num_options)
            check_scores(np.asarray(scores))
        return state, jnp.asarray(pairs, jnp.int32), jnp.asarray(scores, float), params


def check_pairs(pairs: np.ndarray, num_options: int) -> None:
    """Raise ValueError unless these are pairs of two different options, [B, 2]."""
    expected = f"two different options from 0 to {num_options - 1}"
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        got = pairs[0].tolist() if len(pairs) else pairs
        raise BadArgument("pair", expected, f"{got!r}")
    wrong = (pairs < 0).any(1) | (pairs >= num_options).any(1) | (pairs[:, 0] == pairs[:, 1])
    if wrong.any():
        raise BadArgument("pair", expected, str(pairs[wrong][0].tolist()))


def check_scores(scores: np.ndarray) -> None:
    """Raise ValueError unless these are numbers [B] that JAX keeps, not too large or too small.

    Refused are truth values, as a loss is -1, integers of more digits than JAX has, and numbers of
    which one in a hundred would become equal to another.
    """
    expected = f"a number from {-LARGEST_SCORE:.2g} to {LARGEST_SCORE:.2g}"
    if scores.dtype == bool:
        hint = "; 1 for won, -1 for lost"
        raise BadArgument("score", expected, f"bool {scores.tolist()}", hint)
    if scores.ndim != 1 or scores.dtype.kind not in "fiu":
        raise BadArgument("score", expected, f"{scores.tolist()!r}")
    if (wrong := ~is_usable(scores)).any():
        raise BadArgument("score", expected, str(scores[wrong][0]))
    dtype = jax.dtypes.canonicalize_dtype(float)
    if np.can_cast(scores.dtype, dtype, "safe"):
        return
    with np.errstate(under="ignore"):
        kept = scores.astype(dtype)
    lost = (np.abs(kept) < np.finfo(dtype).tiny) & (scores != 0)
    if scores.dtype.kind in "iu":
        lost |= kept.astype(np.float64) != scores
    if not lost.any():
        number = len(np.unique(scores))
        lost = np.full(len(scores), number - len(np.unique(kept)) > _MOST_EQUAL * number)
    if lost.any():
        expected, got = f"numbers that {dtype} tells apart", str(scores[lost].tolist()[:2])
        raise BadArgument("score", expected, got, "; jax.enable_x64(True) has more digits")


def selected_from(ranking: jax.Array, top: int) -> jax.Array:
    """The first k of a ranking, bool [K]."""
    return jnp.zeros(ranking.shape, bool).at[ranking[:top]].set(True)


def unless_done(selector: Selector, pairs: jax.Array, state: State, params: Params) -> jax.Array:
    """These pairs, int32 [..., 2]; -1 throughout once the selector is done."""
    return jnp.where(selector.done(state, params), -1, pairs)


@functools.partial(jax.jit, static_argnums=0)
def _may_be_told(
    selector: Selector, state: State, pair: jax.Array, score: jax.Array, params: Params
) -> tuple[jax.Array, jax.Array]:
    return selector.expects(state, pair, params), selector.accepts(score, params)


@functools.partial(jax.jit, static_argnums=(0, 3))
def _choose_many(selector: BatchSelector, state: State, params: Params, number: int) -> jax.Array:
    pairs = selector.choose_many(state, params, number)
    return unless_done(selector, pairs, state, params)
