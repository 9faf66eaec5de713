"""One-line faults of kernels, races and audits, and the tests that must see them."""

RULES = "tests/kernels/test_kernels_rules.py"
BOUNDS = "tests/kernels/test_kernels_bounds.py"
DRIVER = "tests/racing/test_racing_driver.py"
PREFERENCE = "tests/racing/test_racing_preference.py"
SURROGATES = "tests/racing/test_racing_surrogates.py"
EDGES = "tests/racing/test_racing_dominance_edges.py"
MEAN = "tests/racing/test_racing_dominance_mean.py"
VALUE = "tests/racing/test_racing_value.py"
AUDIT = "tests/papers/test_audit.py"

# File, what must occur in it exactly once, what to put there, and who kills it.
MUTANTS = [
    # Kernels
    (
        "kernels/bounds.py",
        "events = bound.sides * num_options * (num_options - 1) / 2",
        "events = bound.sides * num_options * (num_options + 1) / 2",
        BOUNDS,
    ),
    (
        "kernels/bounds.py",
        "return math.floor(2 * level) + 1",
        "return math.floor(2 * level)",
        BOUNDS,
    ),
    (
        "kernels/bounds.py",
        "return starts_for(max(before, num_epochs))",
        "return starts_for(min(before, num_epochs))",
        BOUNDS,
    ),
    (
        "kernels/rules.py",
        "return _count(better, 1) >= num_options - top, _count(better, 0) >= top",
        "return _count(better, 1) >= num_options - top, _count(better, 0) > top",
        RULES,
    ),
    ("kernels/rules.py", "better = total >= num_options", "better = total > num_options", RULES),
    (
        "kernels/rules.py",
        "places = top - selected.sum(dtype=jnp.int32)  # kappa'",
        "places = jnp.int32(top)",
        SURROGATES,
    ),
    (
        "kernels/order_statistics.py",
        "is_upto = values <= search.at",
        "is_upto = values < search.at",
        "tests/kernels/test_kernels_order_statistics.py",
    ),
    (
        "kernels/block_bets.py",
        "slope, shift, sample = np.ogrid[1:size, :size, :size]",
        "slope, shift, sample = np.ogrid[1:size, 1 : size + 1, 1 : size + 1]",
        "tests/kernels/test_kernels_block_bets.py",
    ),
    (
        "kernels/block_bets.py",
        "return bets * jnp.array([0.5, -0.5], jnp.float32)[:, None, None]",
        "return bets * jnp.array([0.5, 0.5], jnp.float32)[:, None, None]",
        "tests/kernels/test_kernels_block_bets.py",
    ),
    (
        "kernels/lower_bounds.py",
        "return mean, squares.sum() / (count - 1)",
        "return mean, squares.sum() / count",
        "tests/kernels/test_kernels_lower_bounds.py",
    ),
    (
        "kernels/lower_bounds.py",
        "level = jnp.log(2 / delta)",
        "level = jnp.log(1 / delta)",
        "tests/kernels/test_kernels_lower_bounds.py",
    ),
    # Preference races
    (
        "jaxrace/racing/preference/rounds.py",
        "return jnp.clip(params.max_rounds - first_round, 0, num_rounds).astype(NUMBER)",
        "return jnp.clip(params.max_rounds - first_round + 1, 0, num_rounds).astype(NUMBER)",
        DRIVER,
    ),
    (
        "jaxrace/racing/preference/rounds.py",
        "least = (index[:, None] >= index[None, :]).reshape(-1).astype(jnp.int32)",
        "least = (index[:, None] <= index[None, :]).reshape(-1).astype(jnp.int32)",
        PREFERENCE,
    ),
    (
        "jaxrace/racing/preference/rounds.py",
        "remaining = jnp.maximum(params.max_rounds - now, 0)",
        "remaining = jnp.maximum(params.max_rounds - now - 1, 0)",
        PREFERENCE,
    ),
    (
        "jaxrace/racing/preference/rounds.py",
        "first_bad = (state.invalid == 0) & (bad_rounds < NO_ROUND)",
        "first_bad = bad_rounds < NO_ROUND",
        DRIVER,
    ),
    (
        "jaxrace/racing/preference/race.py",
        "params = dataclasses.replace(params, thresholds=table.thresholds[row])",
        "params = dataclasses.replace(params, thresholds=table.thresholds[-1])",
        PREFERENCE,
    ),
    (
        "jaxrace/racing/preference/result.py",
        "tied = decided & (boundary == ordered[top]) & (copeland == boundary)",
        "tied = decided & (copeland == boundary)",
        "tests/racing/test_racing_report.py",
    ),
    # Races by other rankings
    (
        "jaxrace/racing/preference/surrogates.py",
        "better = lowest[:, None] > highest[None, :]",
        "better = lowest[None, :] > highest[:, None]",
        SURROGATES,
    ),
    (
        "jaxrace/racing/preference/surrogates.py",
        "allowed = jnp.take(params.allowed, rounds - 1, mode=",
        "allowed = jnp.take(params.allowed, rounds, mode=",
        SURROGATES,
    ),
    # Dominance races
    (
        "kernels/block_bets.py",
        "shifts = ((number + 1) * a + sample) % size",
        "shifts = (number * a + sample) % size",
        MEAN,
    ),
    (
        "jaxrace/racing/dominance/evidence.py",
        "surplus = 1 - bets * null / 2",
        "surplus = 1 + bets * null / 2",
        MEAN,
    ),
    (
        "jaxrace/evidence/decision.py",
        "against = seen.over.T & xp.logical_not(is_tolerant)",
        "against = seen.over.T",
        MEAN,
    ),
    (
        "jaxrace/racing/dominance/race.py",
        "return (x.astype(jnp.float32) - y.astype(jnp.float32)) / self.width",
        "return (x.astype(jnp.float32) - y.astype(jnp.float32)) / (2 * self.width)",
        MEAN,
    ),
    (
        "jaxrace/racing/dominance/decision.py",
        "(key[:, None] == key[None, :]) & before)",
        "(key[:, None] == key[None, :]) & ~before)",
        EDGES,
    ),
    (
        "jaxrace/evidence/decision.py",
        "lags = progress[:, None] <= progress[None, :]",
        "lags = progress[:, None] < progress[None, :]",
        EDGES,
    ),
    (
        "jaxrace/racing/dominance/decision.py",
        "exhausted = doubtful & (common(progress) >= most)",
        "exhausted = doubtful & (common(progress) > most)",
        EDGES,
    ),
    (
        "jaxrace/racing/dominance/evidence.py",
        "margin.at[at].add(jnp.stack([gain, -gain])",
        "margin.at[at].add(jnp.stack([gain, gain])",
        EDGES,
    ),
    (
        "jaxrace/racing/dominance/evidence.py",
        "highest.at[at].max(log_e,",
        "highest.at[at].set(log_e,",
        EDGES,
    ),
    (
        "jaxrace/evidence/levels.py",
        "return Levels(verdict, math.log(pairs / (COUNTS_SHARE * delta)), possible)",
        "return Levels(verdict, math.log(num_options / (COUNTS_SHARE * delta)), possible)",
        "tests/racing/test_racing_dominance_settings.py",
    ),
    (
        "jaxrace/evidence/levels.py",
        "smallest = min(1.0, math.sqrt(12 * (level + 1) / max_rounds))",
        "smallest = min(1.0, math.sqrt(12 * level / max_rounds))",
        "tests/racing/test_racing_dominance_settings.py",
    ),
    (
        "jaxrace/evidence/levels.py",
        "possible = math.log(top * (num_options - top) / delta)",
        "possible = math.log(num_options / delta)",
        "tests/judging/test_judging_race.py",
    ),
    (
        "jaxrace/evidence/process.py",
        "np.maximum(1 + mean, 1e-12)",
        "1e-12",
        "tests/judging/test_judging_evidence.py",
    ),
    (
        "jaxrace/evidence/tasks.py",
        "- (total - differences)) / left",
        "- total) / left",
        "tests/judging/test_judging_evidence.py",
    ),
    (
        "jaxrace/evidence/tasks.py",
        "np.where(surplus > rounding, np.inf, -np.inf), highest)",
        "np.where(surplus > -1, np.inf, -np.inf), highest)",
        "tests/judging/test_judging_evidence.py",
    ),
    (
        "jaxrace/evidence/decision.py",
        "possible, sure = beats.sum(0) < top, ",
        "possible, sure = beats.sum(0) < 1, ",
        "tests/judging/test_judging_race.py",
    ),
    # Races on shared tasks
    (
        "jaxrace/racing/shared/evidence.py",
        "mean = jnp.maximum((numbers.nulls * whole - sums) / left, -1.0)",
        "mean = jnp.maximum(numbers.nulls - 0 * sums / left, -1.0)",
        "tests/racing/test_racing_shared.py",
    ),
    (
        "jaxrace/racing/shared/evidence.py",
        "jnp.where((left == 0) & ~is_certain, 0.0, highest)",
        "highest",
        "tests/racing/test_racing_shared.py",
    ),
    (
        "jaxrace/evidence/decision.py",
        ">= level - least - slack",
        ">= level - least + slack",
        "tests/racing/test_racing_shared.py",
    ),
    (
        "jaxrace/racing/shared/race.py",
        "(states.simulated >= states.wanted).all(1)",
        "(states.simulated >= states.wanted).any(1)",
        "tests/racing/test_racing_shared.py",
    ),
    (
        "jaxrace/racing/shared/race.py",
        "seen_of(highest[-1], seen.mean, params.possible_level, jnp.inf)",
        "seen_of(highest[0], seen.mean, params.level, jnp.inf)",
        "tests/racing/test_racing_shared.py",
    ),
    # Judged tables, drivers, races by value
    (
        "jaxrace/racing/judge.py",
        "np.pad(x, [(0, capacity - len(x)), ",
        "np.pad(x, [(capacity - len(x), 0), ",
        "tests/racing/test_racing_judge.py",
    ),
    (
        "jaxrace/racing/judge.py",
        "elif not found.doubtful.any() or (found.doubtful & used_up).any():",
        "elif True:",
        "tests/racing/test_racing_judge.py",
    ),
    (
        "jaxrace/racing/drawing.py",
        "return sample(jax.random.fold_in(option_key, sample_number), option)",
        "return sample(option_key, option)",
        "tests/racing/test_racing_driver.py",
    ),
    (
        "jaxrace/racing/preference/state.py",
        "start = jnp.minimum(first_round, capacity - size)",
        "start = first_round",
        "tests/racing/test_racing_samples.py",
    ),
    (
        "jaxrace/racing/value.py",
        "open_places = self.top - num_selected",
        "open_places = self.top",
        VALUE,
    ),
    (
        "jaxrace/racing/value.py",
        "remaining = jnp.maximum(params.max_rounds - number + 1, 0)",
        "remaining = jnp.maximum(params.max_rounds - number, 0)",
        VALUE,
    ),
    (
        "jaxrace/racing/value.py",
        "add(Total(state.squares, state.squares_rest), step * after)",
        "add(Total(state.squares, state.squares_rest), step * step)",
        VALUE,
    ),
    # Audits and preferences
    (
        "papers/audits/preference.py",
        "kernels.thresholds(kl, num_options, n, n * delta)[n - 1]",
        "kernels.thresholds(kl, num_options, n, delta)[n - 1]",
        AUDIT,
    ),
    (
        "papers/audits/reckoning.py",
        "return self.interval[0] > self.allowed",
        "return self.interval[1] > self.allowed",
        AUDIT,
    ),
    (
        "papers/audits/value.py",
        "no_better = jnp.asarray(means[:, None] <= means[None, :])",
        "no_better = jnp.asarray(means[:, None] < means[None, :])",
        AUDIT,
    ),
    # The audit of the dominance race
    (
        "papers/audits/dominance/null_pairs.py",
        "errors = int((largest >= -np.log(alpha)).sum())",
        "errors = int((largest >= np.log(alpha)).sum())",
        "tests/papers/test_dominance_audit.py",
    ),
    (
        "papers/audits/dominance/races.py",
        "by_b = (certificate == COUNTS) & ~task.is_copeland_top(chosen)",
        "by_b = (certificate == COUNTS) & ~task.dominates(chosen)",
        "tests/papers/test_dominance_audit.py",
    ),
]
