"""Learners beside PB-EDPS and EDPS: the baselines of the figures, and a variant of the search."""

import dataclasses
from typing import Any

from jaxrace import search
from jaxrace.commands.train.config import TrainConfig
from jaxrace.commands.train.learning import make_search
from jaxrace.commands.train.tasks import Task
from papers.preference_racing.learners.label_ranking import LabelRanking
from papers.preference_racing.learners.policy_iteration import PolicyIteration
from papers.preference_racing.learners.sarsa import Sarsa
from papers.preference_racing.learners.tabular import GreedyTable, Grid

# The limits are not in the papers; few patients leave them.
GRID = Grid(low=(0.0, -2.0), high=(8.0, 8.0), bins=20)


def searches_by(
    method: str, config: TrainConfig, task: Task, grid: Grid = GRID, **numbers: Any
) -> search.SearchWork:
    """The searches of a learner by its name; SARSA divides the observations by the grid.

    ``numbers`` are further params of SARSA.
    """
    if method == "sarsa":
        learner: Any = Sarsa(task.env, GreedyTable(grid, task.actions))
    elif method == "pbpi":
        policy = LabelRanking(len(grid.low), task.actions)
        learner = PolicyIteration(task.env, policy, task.fold, task.compare)
    else:
        return make_search(dataclasses.replace(config, method=method), task)
    params = learner.params(config.episodes, env_params=task.env_params, **numbers)
    return search.SearchWork(learner, search.stack_params([params]))
