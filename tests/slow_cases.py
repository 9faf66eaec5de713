"""Cases that take seconds, of tests whose other cases show the same: marked slow in conftest.py."""

SLOW_CASES = frozenset(
    {
        "test_cli.py::test_same_seed_same_numbers[pb-edps]",
        "test_cli_grids.py::test_an_interrupted_grid_is_resumed[15-143]",
        "test_duel.py::test_what_is_not_simulated_is_known[interleaved-filter]",
        "test_dueling_arms.py::test_elimination_errs_less_often_than_delta[200]",
        "test_dueling_filters.py::test_beat_the_mean_against_the_reference[12-1.3]",
        "test_dueling_introspection.py::test_introspection_against_the_reference[borda-4]",
        "test_dueling_introspection.py::test_introspection_against_the_reference[counting-3]",
        "test_dueling_klucb.py::test_against_the_reference_but_for_ties[3-copeland]",
        "test_dueling_savage.py::test_many_rounds_in_one_go_are_the_same_as_one_by_one[copeland-0.5]",  # noqa: E501
        "test_dueling_savage.py::test_rounds_are_the_same_as_one_by_one[condorcet-4]",
        "test_dueling_thompson.py::test_dts_plus_against_the_reference[5]",
        "test_dueling_thompson.py::test_other_numbers_compile_nothing[False]",
        "test_envs_gymnax.py::test_gymnax_itself[CartPole-v1]",
        "test_evolution.py::test_searches_find_the_target[uniform]",
        "test_holdem_ashe.py::test_utilities_and_decisions_of_played_hands[60]",
        "test_holdem_ashe.py::test_what_the_networks_see[60]",
        "test_holdem_ashe_lanes.py::test_other_stacks[100]",
        "test_holdem_lanes.py::test_players_without_memory_play_the_same_in_a_lane[seating0]",
        "test_improve.py::test_the_candidate_knows_nothing_of_the_test[options0]",
        "test_improvement_bounds.py::test_bounds_with_a_threshold[100]",
        "test_improvement_bounds.py::test_safe_bounds_err_seldom[25-betting]",
        "test_improvement_daedalus.py::test_a_fifth_is_for_training[daedalus2]",
        "test_improvement_daedalus.py::test_a_sweep_is_the_loop_of_ask_and_tell[none]",
        "test_improvement_logged.py::test_clicks_of_the_other_logger[women]",
        "test_improvement_safety.py::test_how_often_a_worse_policy_is_declared_safe[bernstein]",
        "test_kernels_strict.py::test_races_end_as_with_the_total_order[2]",
        "test_kernels_strict.py::test_races_of_every_kind_take_a_strict_preference[{'ranking': 'borda'}]",  # noqa: E501
        "test_racing_dominance_settings.py::test_other_bets[3]",
        "test_racing_driver.py::test_a_counted_outcome_that_is_not_finite_is_an_error[nan-HoeffdingRace]",  # noqa: E501
        "test_racing_driver.py::test_chunks_change_nothing_and_ask_tell_agrees[BernsteinRace]",
        "test_racing_preference.py::test_every_bound_and_rule[published-printed-pareto]",
        "test_racing_preference.py::test_every_size[12-2-pareto]",
        "test_racing_preference.py::test_intervals[published-True]",
        "test_racing_preference_lanes.py::test_what_takes_more_than_verdicts_is_not_listed_that_way[settings0]",  # noqa: E501
        "test_racing_surrogates.py::test_reports_name_the_ranking_and_claim_what_is_proven[borda-Borda]",  # noqa: E501
        "test_reproduce_dueling.py::test_the_regret_of_uniform_play_is_that_of_random_pairs[1]",
        "test_reproduce_improvement.py::test_initial_policies_perform_as_in_figure_4[mountain-car-0.26]",  # noqa: E501
        "test_search.py::test_searches_find_a_known_best_policy[race1]",
        "test_selection_guarantees.py::test_a_close_boundary_is_rarely_crossed[borda-200]",
        "test_selection_numbers.py::test_a_match_is_won_as_often_as_published[2000-1-0.572]",
        "test_selection_rounds.py::test_active_ranking_comes_to_an_end_the_same[karnin-5-4]",
        "test_selection_rounds.py::test_top_plays_the_same_matches[7-3-2]",
        "test_selection_scores.py::test_agrees_with_the_reference_step_by_step[followed-6-4-0-1-settings5]",  # noqa: E501
        "test_strategies.py::test_every_supported_strategy_moves_towards_the_optimum[CMA_ES]",
        "test_sweep_hosts.py::test_bad_hosts[10.0.0.1:1234,2,0---out: expected a folder that all hosts see, got none]",  # noqa: E501
    }
)
