//! What every store promises. Each promise is a function of a way to make an empty store, so that another database
//! joins by giving that way to `contract_suite!`.

pub(crate) mod captures;
pub(crate) mod ceis;
pub(crate) mod contents;
pub(crate) mod journal;
pub(crate) mod outbox;
pub(crate) mod queries;
pub(crate) mod resources;
pub(crate) mod sources;
pub(crate) mod texts;
pub(crate) mod upkeep;

use dunlin_store::Store;

/// Makes an empty store, a new one at each call.
pub(crate) type Fresh<'a> = &'a dyn Fn() -> Box<dyn Store>;

/// One test for each promise; `$run` is a function that makes stores and hands the way to the promise.
macro_rules! contract_suite {
    ($run:path) => {
        promises! { $run;
            sources::what_was_added_reads_back,
            sources::several_are_added_together_or_none,
            sources::probes_begin_with_words_and_the_notes_that_are_asked_for,
            sources::pages_follow_each_other,
            sources::edits_change_what_they_name,
            sources::nonsense_is_refused,
            sources::a_removed_source_takes_its_captures_along,
            resources::sources_with_the_same_request_share_a_resource,
            resources::what_a_fetch_leaves_is_there_for_all_who_share_it,
            resources::a_source_that_moves_leaves_its_resource_to_the_others,
            ceis::a_cei_is_captured_with_the_probe_that_completes_it,
            ceis::a_capture_recorded_again_captures_nothing_twice,
            ceis::an_open_cei_is_extended_and_one_that_has_ended_is_not,
            ceis::a_cei_ends_once,
            ceis::a_cei_that_cannot_be_met_is_refused,
            ceis::a_moment_is_an_interval,
            queries::queries_share_the_sources_that_are_there_for_them_alone,
            queries::names_of_queries_are_taken_once,
            queries::an_edited_query_begins_anew_and_keeps_its_results,
            queries::a_paused_query_gives_up_what_it_has_begun,
            queries::a_missed_instance_loses_its_need_and_any_other_gives_it_up,
            queries::a_source_that_is_paused_is_shared_with_no_other_query,
            queries::a_capture_takes_its_steps_with_it,
            queries::an_instance_whose_cei_has_ended_begins_another,
            queries::steps_of_what_is_gone_have_no_effect,
            queries::results_and_misses_are_read_from_a_cursor_on,
            queries::results_are_pruned_as_changes_are,
            queries::another_source_that_tells_the_same_is_noted_once,
            queries::a_story_is_noted_at_a_hundred_other_sources,
            queries::an_instance_ends_once,
            queries::what_was_told_last_is_known_whatever_ended_after_it,
            queries::the_oldest_result_is_the_next_where_there_is_none,
            queries::sources_that_are_there_for_queries_are_counted,
            queries::texts_of_queries_are_bounded,
            texts::there_is_no_index_of_texts_until_it_is_begun,
            texts::the_index_of_texts_follows_what_sources_say,
            texts::scores_of_texts_do_not_depend_on_the_past,
            texts::a_failed_capture_says_nothing,
            texts::of_a_long_text_the_beginning_is_found,
            captures::a_capture_is_stored_whole,
            captures::a_capture_recorded_again_counts_once,
            captures::a_capture_that_fails_leaves_nothing,
            captures::cursors_have_no_holes_even_after_failures,
            captures::cursors_are_never_given_twice,
            captures::changes_are_read_from_a_cursor_on,
            captures::items_keep_their_order_and_first_sight,
            captures::observations_say_how_it_went,
            captures::unchanged_probes_are_observations_too,
            captures::an_unchanged_probe_recorded_again_counts_once,
            captures::many_threads_lose_nothing_and_double_nothing,
            contents::the_same_content_makes_no_version,
            contents::contents_that_come_back_are_stored_once,
            contents::long_histories_read_back_and_stay_small,
            contents::contents_of_every_size_read_back,
            journal::decisions_are_read_by_source_and_time,
            journal::decisions_are_listed_from_either_end,
            journal::politeness_is_remembered_by_scope,
            journal::settings_and_notes_are_replaced,
            outbox::a_message_is_delivered_until_acknowledged,
            outbox::a_lease_keeps_others_out_until_it_ends,
            outbox::a_late_failure_does_not_disturb_the_next_attempt,
            outbox::a_key_that_waits_is_not_queued_again,
            outbox::messages_outlive_their_source,
            upkeep::a_capture_removes_the_versions_it_makes_too_many,
            upkeep::pruning_goes_through_all_sources,
            upkeep::the_newest_time_is_that_of_the_last_thing_that_happened,
            upkeep::the_newest_version_is_never_pruned,
            upkeep::pruning_keeps_what_deltas_need,
            upkeep::pruning_by_age_touches_only_what_is_named,
            upkeep::statistics_count_what_is_there,
        }
    };
}

macro_rules! promises {
    ($run:path; $($module:ident :: $promise:ident),* $(,)?) => {
        $(
            #[test]
            fn $promise() {
                $run(crate::contract::$module::$promise);
            }
        )*
    };
}
