"""How often are games certified that should not be? Theorem (games): docs/theory/games.md.

No certificate "dominance" of these goals is right; "counts" is wrong where one of the others beats
more than one of the best does. The pairs are chosen by results: an adversary plays on where
the evidence is largest and a certificate still lacks a verdict. What certifies is the library's
``evidence.pairing``. Broken controls show that errors would be seen. Axes: K players.

    python -m papers.audits.tournaments           20,000 tournaments per line, in Markdown
    python -m papers.audits.tournaments 2000      a smaller one
"""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.core.compilation import jit
from jaxrace.evidence import pairing
from jaxrace.evidence.decision import COUNTS, DOMINANCE
from jaxrace.evidence.levels import FloatArray
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.selection import CertifiedTournament
from papers.audits import reckoning

DELTA = 0.05
_GOLDEN = 0.618034


@dataclasses.dataclass(frozen=True, eq=False)
class Null:
    """Players for whom each certificate of a goal is wrong.

    Attributes:
        name: For reports.
        wins: The chance that i wins against j if there is no draw, [K, K].
        draws: The chance of a draw.
        top: How many of the best are to be certified, none of them right; None: the whole order.
        games: That are played at most.
        margins: In place of wins: equal ones win .9 once, and lose .1 nine times.
        level: The evidence of a verdict; the library's unless given.
        by_rule: Does the library's rule choose who plays, and no adversary?
        of_first: The share of the points of the first, by whom equal players differ.
        match: Games of equal players at once: a half with one first, then the others.
        as_one: Are two games with sides reversed one result, as by ``CertifiedTournament``?
    """

    name: str
    wins: FloatArray
    draws: float = 0.0
    top: int | None = 1
    games: int = 400
    margins: bool = False
    level: float | None = None
    by_rule: bool = False
    of_first: float = 0.5
    match: int = 20
    as_one: bool = True


def _equal(count: int) -> FloatArray:
    return np.full((count, count), 0.5)


def _circle(count: int) -> FloatArray:
    """Each wins .7 of its games against the next half of the others."""
    ahead = (np.arange(count)[None, :] - np.arange(count)[:, None]) % count
    return np.where(ahead == 0, 0.5, np.where(ahead <= count // 2, 0.7, 0.3))


def _two_alike(count: int, first: int) -> FloatArray:
    """Players in order, .8 each against those below, but ``first`` and the next are equal."""
    place = np.arange(count)
    wins = np.where(place[:, None] < place, 0.8, 0.2)
    wins[place, place] = wins[first, first + 1] = wins[first + 1, first] = 0.5
    return wins


NULLS = (
    Null("3 equal", _equal(3)),
    Null("3 equal", _equal(3), 0.5),
    Null("3 equal", _equal(3), 0.9),
    Null("6 equal", _equal(6), 0.5),
    Null("a circle of 3, .7 each", _circle(3), 0.2),
    Null("a circle of 5, .7 each", _circle(5), 0.2),
    Null("two equal ones, better than a third", _two_alike(3, 0)),
    Null("two equal ones, better than a third", _two_alike(3, 0), 0.5),
    Null("the same, by the library's rule", _two_alike(3, 0), 0.5, by_rule=True),
    Null("the same, margins .9 and -.1", _two_alike(3, 0), margins=True),
    Null("3rd and 4th of 6 equal", _two_alike(6, 2), 0.35, 3),
    Null("6 equal", _equal(6), 0.5, 3),
    Null("2nd and 3rd of 4 equal", _two_alike(4, 1), 0.35, None),
    Null("4 equal", _equal(4), 0.0, None),
    Null("2 equal, the first has .7", _equal(2), of_first=0.7),
    Null("3 equal, the first has .7", _equal(3), of_first=0.7),
)
# What a test at .05 takes at one look, 1.645 standard errors, at every look.
CONTROL = Null("two equal ones, a test at .05 at every look", _two_alike(3, 0), level=1.645**2 / 2)
ALONE = Null(
    "2 equal, the first has .7, each game alone", _equal(2), of_first=0.7, match=100, as_one=False
)


def _errs(null: Null, key: Any) -> Any:
    """Does a tournament certify its goal wrongly? bool []."""
    if null.of_first != 0.5:
        return _errs_by_sides(null, key)
    count = len(null.wins)
    goal = pairing.TournamentGoal(count, null.top)
    needed = goal.levels(DELTA)
    level = needed.verdict if null.level is None else null.level
    look = functools.partial(pairing.look_at, goal=goal, level=level, strong=needed.strong, xp=jnp)
    bets = shared_bets(needed.verdict)
    lambdas, weights = jnp.array(bets.bets), jnp.array(bets.weights)
    chances = jnp.asarray(null.wins, jnp.float32) * (1 - null.draws)
    beats = jnp.asarray((null.wins > 0.5).sum(1))

    def is_wrong(now: pairing.Situation) -> Any:
        leads = now.keys.first(goal.named, jnp)
        behind = leads[:, None] & ~leads & (beats[:, None] < beats)
        return (now.certificate == DOMINANCE) | ((now.certificate == COUNTS) & behind.any())

    def play(carry: Any, key: Any) -> tuple[Any, None]:
        table, errs = carry
        now = look(table)
        u, *chosen = jax.random.uniform(key, (3,), jnp.float32)
        if null.by_rule:
            first, second = pairing.next_pair(table, now, goal, jnp)
        else:
            first, second = _adversary(chosen, table, now, goal, level)
        chance = chances[first, second]
        d = jnp.where(u < chance, 1.0, jnp.where(u < chance + null.draws, 0.0, -1.0))
        if null.margins:
            d = jnp.where(chance == 0.5, jnp.where(u < 0.1, 0.9, -0.1), d)
        pair = first[None], second[None]
        table = pairing.with_matches(table, *pair, d[None, None], lambdas, weights, jnp)
        return (table, errs | is_wrong(now)), None

    start = pairing.nothing_played(count, len(bets.bets), jnp), jnp.zeros((), bool)
    table, errs = lax.scan(play, start, jax.random.split(key, null.games))[0]
    return errs | is_wrong(look(table))


def _errs_by_sides(null: Null, key: Any) -> Any:
    """The same of equal players, of whom the first is better off."""
    tournament = CertifiedTournament(len(null.wins), null.top or 1, whole=null.top is None)
    params = tournament.params(delta=DELTA)

    def play(carry: Any, key: Any) -> tuple[Any, None]:
        state, errs = carry
        pairs = tournament.choose_many(state, params, null.match)
        wins = jax.random.uniform(key, (null.match,), jnp.float32) < null.of_first
        scores = jnp.where(wins, 1.0, -1.0)
        if null.as_one:
            told = tournament.tell_many(state, pairs, scores, params)
        else:
            d = jnp.where(pairs[:, 0] == pairs[0, 0], scores, -scores)[None]
            pair, bets = (pairs[:1, 0], pairs[:1, 1]), (params.bets, params.weights)
            table = pairing.with_matches(state.table, *pair, d, *bets, jnp)
            told = dataclasses.replace(state, table=table)
        now = tournament.look(told, params)
        # Nobody is better than anybody: "counts" would be right.
        return (told, errs | (now.certificate == DOMINANCE)), None

    start = tournament.init(params), jnp.zeros((), bool)
    return lax.scan(play, start, jax.random.split(key, null.games // null.match))[0][1]


def _adversary(
    chosen: Any, table: Any, now: Any, goal: pairing.TournamentGoal, level: Any
) -> tuple[Any, Any]:
    """Who is nearest to be certified, against a rival that it has no verdict on.

    ``chosen`` are two uniform numbers.
    """
    count = goal.num_players
    noise = (chosen[0] + _GOLDEN * jnp.arange(count * count)) % 1  # ties fall to anyone
    lacking = ~now.over & ~jnp.eye(count, dtype=bool)
    evidence = jnp.clip(jnp.where(jnp.isfinite(table.highest), table.highest, 0), 0, level)
    if goal.top == 1:
        # Who has beaten the most, then whose evidence is largest; a rival by chance.
        value = now.over.sum(1) * 1e3 + evidence.sum(1) + 1e-6 * noise[:count]
        first = value.argmax()
        rival = (chosen[1] + _GOLDEN * jnp.arange(count)) % 1
        return first, jnp.where(lacking[first], rival, -1.0).argmax()
    # Across the boundary that the games suggest: the largest evidence, or a pair by chance.
    leads = now.keys.first(goal.top or 1, jnp)
    cross = lacking & ~now.over.T
    cross &= (leads[:, None] & ~leads) if goal.top else cross
    cross = jnp.where(cross.any(), cross, lacking).reshape(-1)
    value = jnp.where(chosen[1] < 0.5, evidence.reshape(-1) + 1e-3 * noise, noise)
    return jnp.divmod(jnp.where(cross, value, -1.0).argmax(), count)


@jit(2)
def _wrong(null: Null, batches: int, key: Any) -> Any:
    return reckoning.wrong_by_batch(functools.partial(_errs, null), key, batches)


def wrong(null: Null, number: int, key: Any) -> int:
    """How many of so many tournaments, in whole batches, certify a goal."""
    return int(np.asarray(_wrong(null, reckoning.batches_of(number), key)).sum())


def findings(number: int) -> Iterator[reckoning.Finding]:
    """One for each null, and for the controls."""
    played = reckoning.batches_of(number) * reckoning.BATCH
    for place, null in enumerate((*NULLS, CONTROL, ALONE)):
        name = f"{null.name}, draws {null.draws:g}" if null.draws else null.name
        goal = {1: "the best", None: "the order"}.get(null.top, f"the best {null.top}")
        claim = "control" if null in (CONTROL, ALONE) else goal
        found = wrong(null, number, jax.random.key(place))
        yield reckoning.Finding(name, claim, DELTA, DELTA, found, played)


def main() -> None:
    """Print the audit."""
    number = reckoning.races_asked_for(str(__doc__), 20_000)
    print(reckoning.markdown_table(reckoning.told(findings(number)), "Claim"))


if __name__ == "__main__":
    main()
