"""Cases that take seconds, of tests whose other cases show the same: marked slow in conftest.py."""

SLOW_CASES = frozenset(
    {
        "test_cli.py::test_same_seed_same_numbers[pb-edps]",
        "test_dueling_filters.py::test_beat_the_mean_against_the_reference[12-1.3]",
        "test_dueling_introspection.py::test_introspection_against_the_reference[borda-4]",
        "test_dueling_introspection.py::test_introspection_against_the_reference[counting-3]",
        "test_dueling_klucb.py::test_against_the_reference_but_for_ties[3-copeland]",
        "test_dueling_savage.py::test_many_rounds_in_one_go_are_the_same_as_one_by_one[copeland-0.5]",
        "test_dueling_savage.py::test_rounds_are_the_same_as_one_by_one[condorcet-4]",
        "test_dueling_thompson.py::test_dts_plus_against_the_reference[5]",
        "test_evolution.py::test_searches_find_the_target[uniform]",
        "test_holdem_lanes.py::test_players_without_memory_play_the_same_in_a_lane[seating0]",
        "test_holdem_matches.py::test_who_folds_all_hands_loses_to_who_plays_them",
        "test_improvement_bounds.py::test_bounds_with_a_threshold[100]",
        "test_logged.py::test_clicks_of_the_other_logger[women]",
        "test_kernels_uniforms.py::test_whole_numbers[2000-5000]",
        "test_modes.py::test_all_modes_at_once_change_nothing",
        "test_racing_driver.py::test_a_counted_outcome_that_is_not_finite_is_an_error[inf-PreferenceRace]",
        "test_racing_driver.py::test_a_counted_outcome_that_is_not_finite_is_an_error[nan-HoeffdingRace]",
        "test_racing_driver.py::test_chunks_change_nothing_and_ask_tell_agrees[BernsteinRace]",
        "test_racing_preference.py::test_every_size[12-2-pareto]",
        "test_racing_preference.py::test_intervals[published-True]",
        "test_racing_preference_lanes.py::test_what_takes_more_than_verdicts_is_listed_too[settings0]",
        "test_reproduce_dueling.py::test_the_regret_of_uniform_play_is_that_of_random_pairs[1]",
        "test_reproduce_improvement.py::test_initial_policies_perform_as_in_figure_4[marketing-0.063]",
        "test_reproduce_improvement.py::test_initial_policies_perform_as_in_figure_4[mountain-car-0.26]",
        "test_command_files.py::test_right_answers[the bets stay]",
        "test_selection_rounds.py::test_top_plays_the_same_matches[7-3-2]",
        "test_selection_scores.py::test_agrees_with_the_reference_step_by_step[followed-6-4-0-1-settings5]",
        "test_strategies.py::test_every_supported_strategy_moves_towards_the_optimum[CMA_ES]",
    }
)
