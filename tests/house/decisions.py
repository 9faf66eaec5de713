"""Ten jobs over all families, and the integers that they decide, kept from change to change.

python tests/house/decisions.py            # writes tests/house/decisions.json
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxrace import dueling, kernels, racing, selection, sweep
from jaxrace.agents.policies import Sigmoid
from jaxrace.dueling import matrices
from jaxrace.envs import medical
from jaxrace.envs.holdem import SEATINGS, Rules, deal, prepare, table
from jaxrace.search import PolicySearch, run
from papers.duels.lineup import entrant
from papers.holdem import policies
from papers.improvements.domains import DOMAINS, DaedalusWork, daedalus_of
from papers.preference_racing import options

KEPT = Path(__file__).with_name("decisions.json")
RACES = 12


def _races(race: Any, params: Any) -> Callable[[], Any]:
    def play(key: jax.Array) -> Any:
        keys = jax.random.split(key)
        drawn = options.Normal().draw(keys[0], 6.0, race.num_options)
        result = racing.run(race, keys[1], options.Normal().sample, drawn, params)
        return result.samples, result.ranking, result.decided

    return lambda: jax.jit(jax.vmap(play))(jax.random.split(jax.random.key(0), RACES))


def _preference(**settings: Any) -> Callable[[], Any]:
    race = racing.PreferenceRace(7, 3, 150, kernels.total_order, **settings)
    return _races(race, race.params(0.1))


def _dominance() -> Any:
    race = racing.DominanceRace(7, 3, 200, kernels.total_order)
    # The slack that these races had when they were kept.
    return _races(race, race.params(0.1, slack=1.0))()


def _by_value() -> Any:
    race = racing.HoeffdingRace(7, 3)
    return _races(race, race.params(0.1, max_rounds=150, value_range=8.0))()


def _duels(*names: str) -> Callable[[], Any]:
    def play() -> Any:
        problem = dueling.duels(matrices.hard_condorcet(6))
        found = {}
        for name in names:
            one = entrant(name, 6, 2_000, 1e-3, jax.random.key(0))
            log = dueling.run(one.algorithm, jax.random.key(1), problem, 600, one.params, 6)
            found[name] = log.recommended, log.decided_at
        return found

    return play


def _selections() -> Any:
    found = {}
    for name in ("Pocbam", "KnowledgeGradient", "MlPocbam"):
        selector = getattr(selection, name)(6, 2, 3)
        keys = jax.random.split(jax.random.key(0))
        problem = selection.thurstone(keys[0], 6)
        score, budget = selection.normal_score, selector.opening + 60
        log = selection.run(selector, keys[1], score, problem, budget, selector.params(), 20)
        found[name] = log.selected
    return found


def _search() -> Any:
    race = racing.PreferenceRace(7, 3, 60, medical.prefer)
    search = PolicySearch(medical.Medical(), Sigmoid(2), medical.TreatmentOutcome(), race)
    keys = jax.random.split(jax.random.key(0), 3)
    log = run(search, keys, search.params(sigma0=10.0, budget=1_500))
    return log.rows.episodes, log.generations


def _trials() -> Any:
    domain = DOMAINS["gridworld"]
    daedalus = daedalus_of(domain, "none", "bca", 2, False)
    params = daedalus.improvement.params(0.238, 0.05, domain.initial())
    work = DaedalusWork(daedalus, domain.env, domain.env.default_params, params)
    jobs = sweep.stacked(jax.random.split(jax.random.key(0), 3))
    rows = sweep.run(work, jobs, width=1).rows
    whole = [x for x in jax.tree.leaves(rows) if np.asarray(x).dtype.kind in "bi"]
    return [np.asarray(x) for x in whole]


def _hands() -> Any:
    keys = jax.random.split(jax.random.key(0))
    both = policies.play_uniformly, policies.play_uniformly
    deals = prepare(deal(keys[0], 40))
    return jax.jit(lambda key: table.play(both, key, deals, SEATINGS[0], Rules()).winnings)(keys[1])


JOBS: dict[str, Callable[[], Any]] = {
    "preference races": _preference(),
    "published preference races": _preference(bound="published", rule="printed"),
    "races by Borda's score": _preference(ranking="borda", bound="kl"),
    "dominance races": _dominance,
    "Hoeffding races": _by_value,
    "duels": _duels("rucb", "savage", "dts", "beat-the-mean", "interleaved-filter", "sup-klucb"),
    "selections": _selections,
    "searches": _search,
    "Daedalus2": _trials,
    "hold'em": _hands,
}


def decided(name: str) -> Any:
    """The integers of a job, as JSON has them."""
    found = JOBS[name]()
    return json.loads(json.dumps(jax.tree.map(lambda x: np.asarray(x).astype(int).tolist(), found)))


if __name__ == "__main__":
    KEPT.write_text(json.dumps({name: decided(name) for name in JOBS}) + "\n", "utf-8")
