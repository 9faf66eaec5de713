"""One-line faults of searches, sweeps, runs, rollouts and environments, for tests/mutants.py.

Each is (file, what stands there exactly once, what stands there instead, tests that must fail).
"""

MUTANTS = [
    # Files of a sweep.
    (
        "jaxrace/sweep/shared_folder.py",
        "if seal != self._seal(name, content):",
        "if not seal:",
        "tests/test_damaged_folders.py",
    ),
    (
        "jaxrace/sweep/shared_folder.py",
        'self._sweep + name.encode() + b"\\0"',
        'self._sweep + b"\\0"',
        "tests/test_damaged_folders.py",
    ),
    (
        "jaxrace/sweep/engine.py",
        "if hashlib.sha256(content).hexdigest() != self._digests[name]:",
        "if not content:",
        "tests/test_damaged_folders.py",
    ),
    (
        "jaxrace/files.py",
        "text = Path(path).name + json.dumps(content, sort_keys=True, allow_nan=False)",
        "text = json.dumps(content, sort_keys=True, allow_nan=False)",
        "tests/test_runs.py",
    ),
    # Searches.
    (
        "jaxrace/search/policy_search.py",
        "rounds = jnp.ceil(state.rounds).astype(jnp.int32)",
        "rounds = jnp.floor(state.rounds).astype(jnp.int32)",
        "tests/test_search.py",
    ),
    (
        "jaxrace/search/policy_search.py",
        "episodes=state.episodes + ranked.samples,",
        "episodes=state.episodes + ranked.simulated,",
        "tests/test_search.py",
    ),
    (
        "jaxrace/search/policy_search.py",
        "return state.episodes >= params.budget",
        "return state.episodes > params.budget",
        "tests/test_search.py",
    ),
    (
        "jaxrace/search/policy_search.py",
        "asked, keys[2], keys[1], options, table, max_rounds",
        "asked, keys[2], keys[0], options, table, max_rounds",
        "tests/test_search.py",
    ),
    (
        "jaxrace/search/driver.py",
        "learned=jax.tree.map(lambda x: x[-1], stacked.best),",
        "learned=jax.tree.map(lambda x: x[0], stacked.best),",
        "tests/test_search.py",
    ),
    (
        "jaxrace/search/sarsa.py",
        "last = terminal | (number == self.env.horizon)",
        "last = terminal",
        "tests/test_sarsa.py",
    ),
    (
        "jaxrace/search/sarsa.py",
        "traces = jnp.where(episode.visited == episode.entry, 0.0, episode.traces)",
        "traces = episode.traces",
        "tests/test_sarsa.py",
    ),
    (
        "jaxrace/search/sarsa.py",
        "divisor = (number + params.episodes_per_divisor - 1) // params.episodes_per_divisor",
        "divisor = (number + params.episodes_per_divisor) // params.episodes_per_divisor",
        "tests/test_sarsa.py",
    ),
    (
        "jaxrace/search/policy_iteration.py",
        "while tail + ways <= limit:",
        "while tail + ways < limit:",
        "tests/test_policy_iteration.py",
    ),
    (
        "jaxrace/search/policy_iteration.py",
        "losses = (signs < 0).sum(axis=2, dtype=jnp.int32)",
        "losses = (signs <= 0).sum(axis=2, dtype=jnp.int32)",
        "tests/test_policy_iteration.py",
    ),
    (
        "jaxrace/search/restarts.py",
        "return _where(start.number + number < self.env.horizon, after, carry), None",
        "return _where(start.number + number <= self.env.horizon, after, carry), None",
        "tests/test_policy_iteration.py",
    ),
    (
        "jaxrace/search/restarts.py",
        "state = start.state if renew is None else renew(renew_key, start.state, env_params)",
        "state = start.state",
        "tests/test_policy_iteration.py",
    ),
    # Sweeps: a row out of order, a job in another lane, a job that runs twice.
    (
        "jaxrace/sweep/engine.py",
        "np.savez(file, *jax.tree.leaves(Rows.together(new)))",
        "np.savez(file, *jax.tree.leaves(Rows.together(new[:-1] or new)))",
        "tests/test_sweep_checkpoints.py",
    ),
    (
        "jaxrace/sweep/log.py",
        "rows.taken(np.lexsort((rows.step, rows.job)))",
        "rows.taken(np.argsort(rows.job))",
        "tests/test_sweep.py",
    ),
    (
        "jaxrace/sweep/log.py",
        "first, last = np.searchsorted(piece_of_job, [piece, piece + 1])",
        'first, last = np.searchsorted(piece_of_job, [piece, piece + 1], "right")',
        "tests/test_sweep.py tests/test_sweep_checkpoints.py",
    ),
    (
        "jaxrace/sweep/engine.py",
        "        waits[self._job[self._job >= 0]] = False\n",
        "",
        "tests/test_sweep_checkpoints.py",
    ),
    (
        "jaxrace/sweep/work.py",
        "turn = next(turn for turn in turns if math.gcd(turn, width) == 1)",
        "turn = 0",
        "tests/test_sweep.py",
    ),
    (
        "jaxrace/sweep/checkpoint.py",
        'if header["digest"] != _digest(arrays):',
        'if not header["digest"]:',
        "tests/test_sweep_checkpoints.py",
    ),
    (
        "jaxrace/sweep/engine.py",
        "burst.ran & (number > self._known[self._job])",
        "burst.ran",
        "tests/test_sweep_checkpoints.py",
    ),
    (
        "jaxrace/sweep/shards.py",
        "rows = log.rows._replace(job=numbers[log.rows.job])",
        "rows = log.rows",
        "tests/test_sweep_ray.py",
    ),
    # The command and its files.
    (
        "jaxrace/commands/train/evaluation.py",
        "own = jax.random.fold_in(jax.random.fold_in(key, generation), number)",
        "own = jax.random.fold_in(key, generation)",
        "tests/test_experiments.py",
    ),
    (
        "jaxrace/commands/train/job.py",
        "keys = two_keys(np.uint32(config.seed))",
        "keys = two_keys(np.uint32(0))",
        "tests/test_cli.py",
    ),
    (
        "jaxrace/commands/train/job.py",
        "checkpoints=sweep.Checkpoints(folder, asked, resume=job.resume),",
        "checkpoints=sweep.Checkpoints(folder, asked, resume=False),",
        "tests/test_cli_grids.py",
    ),
    (
        "jaxrace/papers/preference_racing/races.py",
        "zip(TASKS, draws, found / TOP, strict=True)",
        "zip(TASKS, draws, found / OPTIONS, strict=True)",
        "tests/test_reproduce.py",
    ),
    (
        "jaxrace/papers/preference_racing/races.py",
        '**mean_columns("samples", curve.draws),',
        '**mean_columns("samples", curve.accuracies),',
        "tests/test_reproduce.py",
    ),
    (
        "jaxrace/runs.py",
        "stderr = float(numbers.std(ddof=1)) / math.sqrt(count) if count > 1 else None",
        "stderr = float(numbers.std()) / math.sqrt(count) if count > 1 else None",
        "tests/test_runs.py",
    ),
    (
        "jaxrace/runs.py",
        "if any(path not in left for path in folder.iterdir()):",
        "if all(path not in left for path in folder.iterdir()):",
        "tests/test_runs.py",
    ),
    (
        "jaxrace/files.py",
        "        temporary.unlink(missing_ok=True)\n        raise",
        "        temporary.replace(path)\n        raise",
        "tests/test_runs.py",
    ),
    (
        "jaxrace/tables.py",
        "full = (cells[name] if cells[name].ndim else [cells[name]] * rows for name in names)",
        "full = (cells[name] if cells[name].ndim else [cells[name]] * rows for name in piece)",
        "tests/test_runs.py",
    ),
    (
        "jaxrace/tables.py",
        'return text == "True"',
        'return text != "True"',
        "tests/test_runs.py",
    ),
    # Tables in.
    (
        "jaxrace/data/cells.py",
        'if all(_THOUSANDS[","].fullmatch(text) for text in commas):',
        "if not commas:",
        "tests/test_data_scores.py",
    ),
    (
        "jaxrace/data/cells.py",
        'if "_" in text or not text.isascii():  # Python would take 1_000',
        "if not text.isascii():",
        "tests/test_data_scores.py",
    ),
    (
        "jaxrace/data/layout.py",
        "    if not asked.tasks:\n        _require_no_curves(table, names, tasks)\n",
        "",
        "tests/test_data_scores.py",
    ),
    (
        "jaxrace/data/votes.py",
        "rows=rows, scores=shares[rows]",
        "rows=rows, scores=shares[: len(rows)]",
        "tests/test_data_votes.py",
    ),
    (
        "jaxrace/data/matrix.py",
        "beats = wins / games",
        "beats = wins.T / games",
        "tests/test_data_matrix.py",
    ),
    (
        "jaxrace/improvement/loading.py",
        "kept = ~loaded.kinds | listed.any(0)",
        "kept = ~loaded.kinds | seen[taken].any(0)",
        "tests/test_data_log.py",
    ),
    # Episodes, policies and strategies.
    (
        "jaxrace/rollout.py",
        "jax.random.fold_in(key, 2 * number - 1)",
        "jax.random.fold_in(key, 2 * number)",
        "tests/test_rollout.py",
    ),
    (
        "jaxrace/rollout.py",
        "reward=jnp.where(ended, jnp.zeros_like(reward), reward),",
        "reward=jnp.where(ended | terminal, jnp.zeros_like(reward), reward),",
        "tests/test_rollout.py",
    ),
    (
        "jaxrace/policies.py",
        "return jax.random.categorical(key, self._utilities(theta, observation)).astype(jnp.int32)",
        "return jnp.argmax(self._utilities(theta, observation)).astype(jnp.int32)",
        "tests/test_policies.py",
    ),
    (
        "jaxrace/policies.py",
        "action = weights[:, : self.inputs] @ observation",
        "action = weights[:, -self.inputs :] @ observation",
        "tests/test_policies.py",
    ),
    (
        "jaxrace/strategies.py",
        "fitness = jnp.zeros_like(places).at[ranking].set(places)",
        "fitness = places[ranking]",
        "tests/test_strategies.py",
    ),
    (
        "jaxrace/strategies.py",
        "return kind.h_std(self, norm_p_std, generation_counter - 1, params)",
        "return kind.h_std(self, norm_p_std, generation_counter, params)",
        "tests/test_cma_es.py",
    ),
    # Environments.
    (
        "envs/medical.py",
        "survives = hazard < state.endurance",
        "survives = state.hazard < state.endurance",
        "tests/test_envs_medical.py",
    ),
    (
        "envs/medical.py",
        "b_as_good = (b_toxicity <= a_toxicity) & (b_tumour <= a_tumour)",
        "b_as_good = (b_toxicity < a_toxicity) & (b_tumour < a_tumour)",
        "tests/test_envs_medical_prefer.py",
    ),
    (
        "envs/medical.py",
        "fell, rose = change <= -CHANGE_THRESHOLD, change >= CHANGE_THRESHOLD",
        "fell, rose = change < -CHANGE_THRESHOLD, change > CHANGE_THRESHOLD",
        "tests/test_envs_medical.py",
    ),
    (
        "envs/medical.py",
        "worst_tumour = jnp.maximum(state.tumour, state.initial_tumour)",
        "worst_tumour = state.tumour",
        "tests/test_envs_medical.py",
    ),
    (
        "envs/mountain_car.py",
        "velocity = jnp.where((position <= low) & (velocity < 0.0), jnp.float32(0.0), velocity)",
        "velocity = jnp.where(position < low, jnp.float32(0.0), velocity)",
        "tests/test_envs_mountain_car.py",
    ),
    (
        "envs/mountain_car.py",
        "stands = car.position >= GOAL",
        "stands = car.position > 2 * GOAL",
        "tests/test_envs_mountain_car.py",
    ),
    (
        "envs/gridworld.py",
        "return ahead.at[-1].set(0.0), None",
        "return ahead, None",
        "tests/test_envs_gridworld.py",
    ),
    (
        "envs/marketing.py",
        "+ jnp.where(shown & clicked, params.interest_step, 0.0),",
        "+ jnp.where(shown, params.interest_step, 0.0),",
        "tests/test_envs_marketing.py",
    ),
    (
        "envs/marketing.py",
        "appeal=jnp.stack([common - difference / 2, common + difference / 2]),",
        "appeal=jnp.stack([common + difference / 2, common - difference / 2]),",
        "tests/test_envs_marketing.py",
    ),
    (
        "envs/options.py",
        "deviation = jnp.sqrt(options.variance[:, None] + options.variance[None, :])",
        "deviation = options.variance[:, None] + options.variance[None, :]",
        "tests/test_envs_options.py",
    ),
    (
        "envs/options.py",
        "wins = (a > b).astype(jnp.float32) + 0.5 * (a == b).astype(jnp.float32)",
        "wins = (a >= b).astype(jnp.float32)",
        "tests/test_envs_options.py",
    ),
]
