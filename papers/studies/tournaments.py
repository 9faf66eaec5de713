"""Games until a goal is certified, by several rules of who plays next.

Players are as many Elo apart each. A look comes after each match of ten games, after each round of
round robin and Swiss. Two games are one result, as with sides reversed; no side is better off.
What needs ten times as many games as the library's rule on average is
stopped, and counts as so many: "at least". Prints a table in Markdown.

    python -m papers.studies.tournaments           40 a line, and docs/figures/tournaments.png
    python -m papers.studies.tournaments 10        10 a line, and no figure

Of 30 players a quarter as many.
"""

import argparse
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxrace.answers import style
from jaxrace.evidence import pairing
from jaxrace.evidence.decision import COUNTS, DOMINANCE, RUNNING
from jaxrace.evidence.task_bets import shared_bets
from jaxrace.runs import plots
from papers.studies.pairing_rules import RULES, Library, Oracle, RoundRobin

DELTA, BATCH = 0.05, 10  # games of a match
NUMBER, CAP = 40, 10  # tournaments a line; times the games of the library's rule
FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "tournaments.png"
# Players, Elo between neighbours, draws: each value of one with the usual ones of the others.
SETTINGS = ((3, 20, 0.35), (6, 20, 0.35), (12, 20, 0.35), (30, 20, 0.35), (6, 5, 0.35))
SETTINGS += ((6, 10, 0.35), (6, 40, 0.35), (6, 20, 0.0), (6, 20, 0.7), (30, 40, 0.7))
GOALS = {1: "the best", 3: "the best 3", None: "the whole order"}
_LANES = 64  # tournaments at once
_STEPS = 100  # until those that are over give way to others


class Task(NamedTuple):
    """Players in a row, and what is to be certified."""

    players: int
    gap: float  # Elo between neighbours
    draws: float  # the chance of a draw, or less: the weaker has half of it of its points at most
    top: int | None  # None: the whole order


class Lane(NamedTuple):
    """A tournament that is going on."""

    key: Any
    table: pairing.Crosstable
    own: Any  # what the rule keeps
    steps: Any  # int32 []
    games: Any  # int32 [], when it ended; 0 before
    verdict: Any  # int32 [], of a ``CERTIFICATES``, when it ended
    ranking: Any  # int32 [K], when it ended


class Found(NamedTuple):
    """Of n tournaments."""

    games: np.ndarray  # [n], of those that were stopped at the cap this one
    capped: np.ndarray  # bool [n]
    wrong: np.ndarray  # bool [n], certified, and not so


def begin(rule: Library, key: Any) -> Lane:
    """Before the first game."""
    count, bets = rule.goal.num_players, shared_bets(1.0)
    table = pairing.nothing_played(count, len(bets.bets), jnp)
    zero = jnp.zeros((), jnp.int32)
    return Lane(key, table, rule.begin(), zero, zero, zero, jnp.zeros(count, jnp.int32))


def step(rule: Library, shares: Any, draws: Any, lane: Lane) -> Lane:
    """A match, or as many as the rule plays at once, with a look after them."""
    goal, needed = rule.goal, rule.goal.levels(DELTA)
    look = functools.partial(
        pairing.look_at, goal=goal, level=needed.verdict, strong=needed.strong, xp=jnp
    )
    chosen, played, told = jax.random.split(jax.random.fold_in(lane.key, lane.steps), 3)
    now = look(lane.table)
    first, second = rule.matches(chosen, lane.own, lane.table, now)
    u = jax.random.uniform(played, (len(first), BATCH), jnp.float32)
    share = shares[first, second][:, None]
    draws = jnp.minimum(draws, 2 * jnp.minimum(share, 1 - share))
    wins = share - draws / 2
    d = jnp.where(u < wins, 1.0, jnp.where(u < wins + draws, 0.0, -1.0))
    results = d.reshape(len(first), BATCH // 2, 2).mean(2)
    bets = shared_bets(needed.verdict)
    table = pairing.with_matches(
        lane.table, first, second, results, jnp.array(bets.bets), jnp.array(bets.weights), jnp
    )
    now = look(table)
    ends = (lane.games == 0) & (now.certificate != RUNNING)
    ranking = now.keys.ranking(jnp)
    return Lane(
        lane.key,
        table,
        rule.told(told, lane.own, first, second, d),
        lane.steps + 1,
        jnp.where(ends, table.games, lane.games).astype(jnp.int32),
        jnp.where(ends, now.certificate, lane.verdict).astype(jnp.int32),
        jnp.where(ends, ranking, lane.ranking).astype(jnp.int32),
    )


@functools.partial(jax.jit, static_argnums=0)
def _begun(rule: Library, keys: Any) -> Lane:
    return jax.vmap(functools.partial(begin, rule))(keys)


@functools.partial(jax.jit, static_argnums=0, donate_argnums=3)
def _advanced(rule: Library, shares: Any, draws: Any, lanes: Lane, begun: Lane, new: Any) -> Lane:
    """After so many steps; a lane that is ``new``, bool [lanes], begins."""

    def pick(fresh: Any, old: Any) -> Any:
        return jax.vmap(jnp.where)(new, fresh, old)

    lanes = jax.tree.map(pick, begun, lanes)
    one = jax.vmap(functools.partial(step, rule), in_axes=(0, None, 0))
    return lax.scan(lambda x, _: (one(shares, draws, x), None), lanes, None, _STEPS)[0]


def play(kind: type[Library], task: Task, number: int, cap: float = np.inf) -> Found:
    """So many tournaments, each until its goal is certified, or it has no more than ``cap`` games.

    Players have their numbers by chance, but those of a rule that knows the best.
    """
    rule = kind(pairing.TournamentGoal(task.players, task.top))
    knows = kind.__name__ == "Oracle"
    rng = np.random.default_rng(0)
    places = [
        np.arange(task.players) if knows else rng.permutation(task.players) for _ in range(number)
    ]
    apart = task.gap * (np.array(places)[:, None, :] - np.array(places)[:, :, None])
    shares = (1 / (1 + 10 ** (-apart / 400))).astype(np.float32)  # [n, K, K], by place: 0 is best
    keys = jax.random.split(jax.random.key(0), number)
    width = min(_LANES, number)
    jobs, begun_jobs = np.arange(width), width
    lanes = begun = _begun(rule, keys[jobs])
    lanes = jax.tree.map(jnp.copy, lanes)
    new = np.zeros(width, bool)
    games, wrong, left = np.zeros(number, int), np.zeros(number, bool), number
    idle = np.zeros(width, bool)
    while left:
        lanes = _advanced(rule, shares[jobs], np.float32(task.draws), lanes, begun, new)
        ended, verdict = np.asarray(lanes.games), np.asarray(lanes.verdict)
        table = np.asarray(lanes.table.met).sum((1, 2))
        is_over = ((ended > 0) | (table >= cap)) & ~idle
        new = np.zeros(width, bool)
        for lane in np.flatnonzero(is_over):
            job = jobs[lane]
            certain = verdict[lane] in (DOMINANCE, COUNTS)
            games[job] = ended[lane] if certain and ended[lane] <= cap else 0
            found = places[job][np.asarray(lanes.ranking)[lane]]
            right = np.arange(task.players)
            if task.top is not None:
                found, right = np.sort(found[: task.top]), right[: task.top]
            wrong[job] = games[job] > 0 and (found != right).any()
            left -= 1
            if begun_jobs < number:
                jobs[lane], new[lane] = begun_jobs, True
                begun_jobs += 1
            else:
                idle[lane] = True
        if new.any():
            begun = _begun(rule, keys[jobs])
    capped = games == 0
    return Found(np.where(capped, cap, games), capped, wrong)


def lines(number: int) -> Iterator[tuple[Task, dict[str, Found]]]:
    """What came out of each task, by rule; all rules for one best player."""
    for players, gap, draws in SETTINGS:
        for top in GOALS:
            if (top or 0) >= players:
                continue
            task, played = Task(players, gap, draws, top), -(-number // (1 + 3 * (players > 12)))
            found = {"library": play(Library, task, played)}
            cap = CAP * found["library"].games.mean()
            for name, rule in RULES.items():
                is_asked = top == 1 or rule is RoundRobin or (top == 3 and rule is Oracle)
                if is_asked and name not in found:
                    found[name] = play(rule, task, played, cap)
            yield task, found


def told(found: Found | None) -> str:
    """Mean and standard error; of those that were stopped "at least"."""
    if found is None:
        return ""
    mean, error = found.games.mean(), found.games.std(ddof=1) / len(found.games) ** 0.5
    said = f"{mean:,.0f} ± {error:,.0f}"
    if found.capped.any():
        said = f"> {mean:,.0f} ({found.capped.mean():.0%})"
    return said + (f", {found.wrong.sum()} wrong" if found.wrong.any() else "")


def draw(results: list[tuple[Task, dict[str, Found]]]) -> None:
    """How many times as many games as the library's rule each rule takes, by goal."""
    figure, [panels] = plots.new_figure((10, 4), 1, 3, sharey=True)
    names = [name for name in RULES if name != "library"]
    for panel, (top, goal) in zip(panels, GOALS.items(), strict=True):
        own = [(task, found) for task, found in results if task.top == top]
        for number, name in enumerate(names):
            at = [
                (place, found[name].games.mean() / found["library"].games.mean())
                for place, (_, found) in enumerate(own)
                if name in found
            ]
            if at:
                looks = {"color": style.colour(number), "marker": style.mark(number), "ms": 7}
                panel.plot(*zip(*at, strict=True), label=name, ls="", **looks)
        panel.axhline(1, color=style.EDGE, lw=1)
        said = [f"{task.players}, {task.gap:g}, {task.draws:g}" for task, _ in own]
        panel.set_xticks(range(len(own)), said, rotation=90)
        panel.set(title=goal, yscale="log", xlabel="players, Elo between them, draws")
        panel.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
    panels[0].set_ylabel("games, as a multiple of the library's rule")
    plots.legend_below(figure, len(names))
    plots.save(figure, FIGURE)


def main() -> None:
    """Print the table; with all tournaments draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, nargs="?", default=NUMBER)
    number = parser.parse_args().number
    print(f"| players | Elo apart | draws | certified | {' | '.join(RULES)} |")
    print(f"{'| --- ' * (4 + len(RULES))}|")
    results = []
    for task, found in lines(number):
        results.append((task, found))
        row = [f"{task.players} | {task.gap:g} | {task.draws:g} | {GOALS[task.top]}"]
        print("|", " | ".join(row + [told(found.get(name)) for name in RULES]), "|", flush=True)
    if number == NUMBER:
        draw(results)


if __name__ == "__main__":
    main()
