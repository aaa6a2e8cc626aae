"""Every attack of the threat model has a test by name: 45 surfaces on which something hostile reaches hub.

The table is read by people who ask "what about ...?", and by a test that keeps the names true. What hub does about each
stands in `SECURITY.md`; numbers are those that tests cite as "row".
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ATTACKS: dict[int, tuple[str, tuple[str, ...]]] = {
    1: (
        "A path of a project graph that leads elsewhere, or is none",
        (
            "tests/hub/io/graph/test_project.py::test_what_is_no_folder_of_the_project_is_not_found_whether_or_not_it_is_there",
            "tests/hub/io/graph/test_project.py::test_a_control_character_is_no_path",
        ),
    ),
    2: (
        "A link inside the project that leads out of it",
        (
            "tests/hub/io/graph/test_project.py::test_what_is_no_folder_of_the_project_is_not_found_whether_or_not_it_is_there",
            "tests/hub/io/graph/test_project.py::test_links_and_pipes_inside_are_passed_over",
        ),
    ),
    3: (
        "Pipes, loops of links and endless trees in a project",
        (
            "tests/hub/io/graph/test_project.py::test_links_and_pipes_inside_are_passed_over",
            "tests/hub/io/graph/test_project.py::test_a_look_ends_by_its_size_and_says_which",
            "tests/hub/io/graph/test_code_scan.py::test_nothing_but_files_is_opened_and_nothing_outside",
            "tests/hub/io/graph/test_code_scan.py::test_the_bounds",
        ),
    ),
    4: (
        "An account's directory that is not its own",
        (
            "tests/hub/io/config/test_accounts.py::test_a_place_that_is_not_fit_is_refused_and_nothing_is_made",
            "tests/hub/io/config/test_accounts.py::test_a_directory_has_one_account",
            "tests/hub/io/config/test_accounts.py::test_a_directory_others_may_write_is_refused",
            "tests/hub/io/config/test_accounts.py::test_a_directory_of_another_user_is_refused",
            "tests/hub/io/config/test_accounts.py::test_a_directory_is_made_for_its_owner_alone",
        ),
    ),
    5: (
        "A label that a terminal, a page or a path would obey",
        (
            "tests/hub/domain/text/test_safe.py::test_what_is_no_label",
            "tests/hub/io/config/test_accounts.py::test_a_label_is_never_a_path",
        ),
    ),
    6: (
        "A commit's name that is an option, a range or an expression",
        (
            "tests/hub/web/test_app.py::test_a_sha_is_hex_or_refused",
            "tests/hub/io/git/test_git.py::test_a_name_from_outside_is_an_id_or_nothing",
        ),
    ),
    7: (
        "Programs planted in the configuration of git",
        (
            "tests/hub/io/git/test_git.py::test_overrides_are_in_force",
            "tests/hub/io/git/test_git.py::test_every_filter_is_taken_away_by_name",
            "tests/hub/io/git/test_snapshot.py::test_programs_planted_since_the_start_are_named",
        ),
    ),
    8: (
        "A `.git` that was moved, deleted or doubled",
        (
            "tests/hub/io/git/test_snapshot.py::test_a_tampered_worktree_is_said",
            "tests/hub/io/git/test_snapshot.py::test_nested_repositories_keep_their_files",
            "tests/hub/io/git/test_snapshot.py::test_submodules_keep_their_commit_and_are_named",
        ),
    ),
    9: (
        "Hooks, filters and line ends of the worktree",
        (
            "tests/hub/io/git/test_snapshot.py::test_nothing_that_was_planted_runs_and_bytes_stay_exact",
            "tests/hub/io/git/test_snapshot.py::test_exact_bytes_whatever_autocrlf_says",
        ),
    ),
    10: (
        "An id to adopt that is a path, or of nobody's session",
        (
            "tests/hub/actors/detector/test_adopting.py::test_what_cannot_be_adopted_is_refused_with_its_reason",
            "tests/hub/web/resources/test_detect.py::test_what_does_not_validate_is_refused",
            "tests/hub/providers/test_stores.py::test_a_path_outside_of_the_root_is_refused",
        ),
    ),
    11: (
        "Acceptance commands that a client of the API chooses, or that run wild",
        (
            "tests/hub/io/processes/test_commands.py::test_a_command_sees_no_key_and_no_open_file",
            "tests/hub/io/processes/test_commands.py::test_a_command_has_no_input",
            "tests/hub/io/processes/test_commands.py::test_a_long_output_keeps_head_and_tail",
            "tests/hub/io/processes/test_commands.py::test_a_command_that_takes_too_long_is_ended_with_all_it_started",
        ),
    ),
    12: (
        "Acceptance commands that the agent rewrites",
        (
            "tests/hub/actors/session/test_commands_acceptance.py::test_the_commands_are_those_of_the_start_whatever_the_agent_writes",
            "tests/hub/actors/session/test_commands_acceptance.py::test_a_command_the_session_has_changed_is_said_to_be",
        ),
    ),
    13: (
        "An install command from outside",
        ("tests/hub/web/resources/test_providers.py::test_nothing_that_is_run_can_be_set",),
    ),
    14: (
        "A name or a path that the shell of a login's terminal would read",
        (
            "tests/hub/domain/test_terminal.py::test_a_value_stays_a_value_in_a_real_shell",
            "tests/hub/domain/test_terminal.py::test_a_line_break_is_never_written_into_a_script",
        ),
    ),
    15: (
        "A value that breaks out of `hub.toml`",
        (
            "tests/hub/io/config/test_patch.py::test_a_value_cannot_break_out",
            "tests/hub/io/config/test_patch.py::test_a_text_that_does_not_read_back_the_same_is_not_written",
            "tests/hub/io/config/test_patch.py::test_what_an_editor_saves_meanwhile_is_not_lost",
        ),
    ),
    16: (
        "A key's name that a loader, a shell or git obeys",
        (
            "tests/hub/io/secrets/test_dotenv.py::test_names_that_are_not_allowed_are_refused",
            "tests/hub/io/secrets/test_dotenv.py::test_nothing_is_interpolated_and_only_allowed_names_are_read",
        ),
    ),
    17: (
        "A key's value that is two lines or is interpolated",
        (
            "tests/hub/io/secrets/test_dotenv.py::test_values_that_could_be_two_lines_are_refused_and_not_repeated",
            "tests/hub/io/secrets/test_dotenv.py::test_any_value_of_one_line_comes_back_as_it_was",
            "tests/hub/io/secrets/test_dotenv.py::test_nothing_is_interpolated_and_only_allowed_names_are_read",
        ),
    ),
    18: (
        "A file of keys that is a link, open to others or tracked",
        (
            "tests/hub/io/secrets/test_dotenv.py::test_a_link_is_not_followed",
            "tests/hub/io/secrets/test_dotenv.py::test_a_file_others_may_read_is_made_private",
            "tests/hub/cli/test_setup.py::test_keys_that_git_would_take_along_are_a_fault",
        ),
    ),
    19: (
        "An agent that looks for keys of others in its environment",
        ("tests/hub/actors/common/test_launch.py::test_the_environment_is_the_allow_list_and_nothing_else",),
    ),
    20: (
        "An agent that inherits open files",
        ("tests/hub/actors/common/test_launch.py::test_only_the_three_standard_descriptors_are_inherited",),
    ),
    21: (
        "A key on a command line",
        ("tests/hub/actors/common/test_launch.py::test_no_secret_and_no_prompt_is_in_any_argument",),
    ),
    22: (
        "A prompt that is an option",
        ("tests/hub/actors/common/test_launch.py::test_no_provider_puts_a_prompt_or_a_key_into_argv",),
    ),
    23: (
        "Escape sequences and invisible characters",
        (
            "tests/security/test_faces.py::test_no_answer_and_no_screen_passes_on_what_a_terminal_acts_on",
            "tests/hub/web/test_codec.py::test_no_answer_has_anything_a_terminal_acts_on",
            "tests/hub/domain/text/test_safe.py::test_clean_leaves_no_escape_and_nothing_invisible_and_is_idempotent",
        ),
    ),
    24: (
        "Instructions for the next agent in what this one says",
        (
            "tests/hub/domain/test_brief.py::test_the_fence_cannot_be_broken_out_of",
            "tests/hub/domain/test_brief.py::test_goal_and_acceptance_commands_stand_outside_the_fences_as_the_user_wrote_them",
            "tests/hub/domain/intent/test_fold.py::test_the_draft_takes_goal_and_acceptance_from_hub_and_the_rest_from_the_intent",
        ),
    ),
    25: (
        "A contract that an agent wrote",
        (
            "tests/hub/domain/test_contract.py::test_a_planted_contract_without_the_key_is_refused",
            "tests/hub/domain/test_contract.py::test_every_flipped_bit_is_refused",
            "tests/faults/test_restart.py::test_a_contract_that_does_not_verify_is_never_given_to_an_agent",
        ),
    ),
    26: (
        "An old contract put back",
        (
            "tests/hub/domain/test_contract.py::test_a_replayed_contract_of_another_session_handoff_or_snapshot_is_refused",
        ),
    ),
    27: (
        "Links in the worktree",
        (
            "tests/hub/io/git/test_snapshot.py::test_links_never_lead_out_of_the_tree",
            "tests/hub/io/git/test_snapshot.py::test_what_is_no_file_is_named_and_not_opened",
        ),
    ),
    28: (
        "`.hub` replaced by a link",
        (
            "tests/hub/io/project/test_places.py::test_hub_as_a_link_is_refused",
            "tests/hub/io/files/test_atomic.py::test_a_link_in_place_of_the_directory_is_refused",
            "tests/hub/io/files/test_atomic.py::test_a_link_in_place_of_the_file_is_replaced_not_followed",
        ),
    ),
    29: (
        "Agents' own files that are links, pipes, huge or half written",
        (
            "tests/hub/providers/test_stores.py::test_a_link_in_the_place_of_a_session_is_not_followed",
            "tests/hub/providers/test_stores.py::test_a_fifo_in_the_place_of_a_session_blocks_nobody",
            "tests/hub/providers/test_stores.py::test_a_line_of_a_gigabyte_is_bounded_in_time_and_memory",
            "tests/hub/providers/test_stores.py::test_a_file_cut_anywhere_is_told_up_to_there",
            "tests/hub/providers/test_stores.py::test_a_place_that_takes_too_long_is_told_and_the_others_are_searched",
        ),
    ),
    30: (
        "A database of an agent that computes for ever or is damaged",
        (
            "tests/hub/providers/test_stores.py::test_a_view_that_never_ends_is_not_asked",
            "tests/hub/providers/test_stores.py::test_bytes_of_any_kind_raise_nothing_and_alarm",
            "tests/hub/providers/test_stores.py::test_a_session_that_takes_too_long_keeps_what_was_read_and_alarms",
        ),
    ),
    31: (
        "A line without an end",
        (
            "tests/hub/io/runner/test_framing.py::test_a_gigabyte_without_a_newline_costs_two_mebibytes",
            "tests/faults/test_hostile_agent.py::test_a_line_without_an_end",
        ),
    ),
    32: (
        "Deep JSON",
        (
            "tests/faults/test_hostile_agent.py::test_lines_of_every_bad_kind",
            "tests/hub/web/test_codec.py::test_what_is_not_strict_json_is_malformed",
        ),
    ),
    33: (
        "Bytes that are no text",
        (
            "tests/hub/providers/test_jsonline.py::test_any_bytes_can_be_read",
            "tests/faults/test_hostile_agent.py::test_lines_of_every_bad_kind",
            "tests/hub/web/test_codec.py::test_what_is_not_strict_json_is_malformed",
        ),
    ),
    34: (
        "Numbers that are none, or too large; names given twice",
        (
            "tests/hub/web/test_codec.py::test_what_is_not_strict_json_is_malformed",
            "tests/hub/domain/test_canonical.py::test_what_has_no_canonical_form_is_refused",
        ),
    ),
    35: (
        "A flood",
        (
            "tests/hub/io/runner/test_main.py::test_a_full_spool_stops_the_agent_in_order",
            "tests/hub/io/runner/test_main.py::test_a_flood_that_ignores_the_stop_stays_within_the_quota_and_its_headroom",
            "tests/faults/test_hostile_agent.py::test_a_flood_of_lines",
        ),
    ),
    36: (
        "Processes that fork away or ignore signals",
        (
            "tests/hub/io/runner/test_client.py::test_the_ladder_is_interrupt_terminate_kill",
            "tests/hub/io/runner/test_client.py::test_the_last_step_reaches_descendants_in_other_sessions",
            "tests/hub/io/runner/test_guard.py::test_when_either_guard_is_killed_every_descendant_is_gone_within_a_second",
        ),
    ),
    37: (
        "A process number that another process has taken over",
        (
            "tests/hub/io/processes/test_control.py::test_a_process_that_took_over_a_number_is_not_signalled",
            "tests/hub/io/runner/test_guard.py::test_a_reused_process_number_is_not_taken_for_the_runner",
        ),
    ),
    38: (
        "Files that others may read",
        (
            "tests/security/test_files.py::test_nothing_is_open_to_others_although_the_umask_is_000",
            "tests/hub/io/runner/test_main.py::test_all_files_are_private_even_under_umask_000",
        ),
    ),
    39: (
        "A link in place of the lock",
        (
            "tests/hub/io/project/test_lock.py::test_planted_link_is_refused",
            "tests/hub/io/project/test_lock.py::test_release_frees_and_the_file_stays",
            "tests/hub/io/project/test_lock.py::test_a_child_does_not_inherit_the_lock",
        ),
    ),
    40: (
        "A task that is an option, a path or a ref",
        (
            "tests/hub/io/git/test_snapshot.py::test_ids_are_ids",
            "tests/hub/io/git/test_snapshot.py::test_a_trailer_cannot_smuggle_another",
            "tests/security/test_faces.py::test_no_answer_and_no_screen_passes_on_what_a_terminal_acts_on",
        ),
    ),
    41: (
        "Text that looks like a record of a log",
        ("tests/security/test_faces.py::test_a_line_of_a_log_is_one_record_whatever_is_in_it",),
    ),
    42: (
        "A key in an error, a traceback or a file's name",
        (
            "tests/hub/web/test_app.py::test_error_texts_are_redacted",
            "tests/hub/io/test_log.py::test_messages_and_tracebacks_are_scrubbed",
            "tests/hub/actors/session/test_handoff_steps.py::test_a_file_named_like_a_key_does_not_carry_it_into_the_contract",
        ),
    ),
    43: (
        "A tool server that prints, or takes too large a frame",
        (
            "tests/hub/mcp/test_stdio.py::test_nothing_but_the_protocol_comes_out",
            "tests/hub/mcp/test_stdio.py::test_a_frame_of_the_largest_size_is_read",
            "tests/hub/mcp/test_http.py::test_both_transports_take_frames_of_the_same_size",
            "tests/hub/mcp/test_arguments.py::test_what_it_does_not_allow",
            "tests/security/test_canaries.py::test_no_secret_of_the_task_or_an_agent_reaches_any_sink",
        ),
    ),
    44: (
        "A subscription from nowhere",
        (
            "tests/hub/web/test_stream.py::test_a_query_that_does_not_validate_is_told_before_anything_begins",
            "tests/hub/web/test_stream.py::test_open_streams_are_bounded",
            "tests/hub/actors/test_events.py::test_a_reader_that_takes_nothing_is_dropped_as_lagged",
        ),
    ),
    45: (
        "Text that makes a pattern slow",
        (
            "tests/hub/domain/redaction/test_prefix.py::test_hostile_text_is_read_in_linear_time",
            "tests/hub/domain/redaction/test_prefix.py::test_heads_without_bodies_are_passed_over",
            "tests/hub/domain/quota/test_resets.py::test_long_noise_is_read_in_bounded_time",
            "tests/hub/domain/intent/test_statements.py::test_no_text_makes_it_slow",
        ),
    ),
}
"""The number of an attack: what it is, and the tests that make it."""


@cache
def functions_in(path: str) -> frozenset[str]:
    """The tests in a file."""
    return frozenset(
        node.name
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def test_an_attack_is_made_by_tests_that_are_there() -> None:
    for attack, tests in ATTACKS.values():
        assert attack
        assert tests, attack
        for named in tests:
            path, _, name = named.partition("::")
            assert name in functions_in(path), named


def test_no_attack_is_left_out() -> None:
    assert sorted(ATTACKS) == list(range(1, 46))
