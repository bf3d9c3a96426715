"""Every function of the api stands in one class of the gate, and lets in whom its class says, whoever else asks."""

import ast
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from backend import api
from backend.campaign.corpus.describing.model import DescribingChoice, DescriptionFilter
from backend.campaign.corpus.moments.model import ByWindows
from backend.campaign.judging.model import Assignment
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.monitoring.explore.model import Along, PairPart
from backend.campaign.monitoring.quality.model import FlagKind
from backend.campaign.nouns import OPERATOR, Operator, Person, Role, Split
from backend.campaign.review.model import QueryFilter, ReviewList
from backend.campaign.selection.batches.model import BatchRule
from backend.campaign.selection.pools.model import PoolOptions
from backend.campaign.setup.people import permissions
from backend.core.errors import NotAllowed, ReelRankError, VideoUnreadable
from backend.core.ids import AnnotatorId, MomentId, PairKey, QueryId
from backend.store.connection import writing
from support import NOW, Judging

ROOT = Path(__file__).resolve().parents[2]
PAIR, QUERY, NOBODY = PairKey("no such pair"), QueryId(999), AnnotatorId(999)
Call = Callable[[api.Project, Any], object]

# Whose name goes on record, or what only a page asks for.
LEADS: dict[str, Call] = {
    "lead_of": api.lead_of,
    "adjudicate": lambda p, who: api.adjudicate(p, who, PAIR, 3, "why", now=NOW),
    "assign": lambda p, who: api.assign(p, who, [NOBODY], Assignment(a_day=1), now=NOW),
    "unassign": lambda p, who: api.unassign(p, who, NOBODY, now=NOW),
    "backup_now": lambda p, who: api.backup_now(p, who, now=NOW),
    "confirm_discard": lambda p, who: api.confirm_discard(p, who, PAIR, now=NOW),
    "re_open": lambda p, who: api.re_open(p, who, PAIR, "why", now=NOW),
    "take_back": lambda p, who: api.take_back(p, who, PAIR, "why", seen=0, now=NOW),
    "choose_example": lambda p, who: api.choose_example(p, who, PAIR, 3, "why", now=NOW),
    "accept_description": lambda p, who: api.accept_description(p, who, "no such", seen=1, now=NOW),
    "return_description": lambda p, who: api.return_description(p, who, "no such", "why", seen=1, now=NOW),
    "take_back_description": lambda p, who: api.take_back_description(p, who, "no such", now=NOW),
    "choose_practice": lambda p, who: api.choose_practice(p, who, "a text", MomentId(1), 3, "why", now=NOW),
    "choose_practice_pair": lambda p, who: api.choose_practice_pair(p, who, PAIR, 3, "why", now=NOW),
    "practice_offers": lambda p, who: api.practice_offers(p, who, "a text"),
    "practice_texts": api.practice_texts,
    "withdraw_practice": lambda p, who: api.withdraw_practice(p, who, 999, now=NOW),
    "begin_work": lambda p, who: api.begin_work(p, who, "a step", "An act", {}, now=NOW),
    "look_at_work": lambda p, who: api.look_at_work(p, who, now=NOW),
    "put_work_away": lambda p, who: api.put_work_away(p, who, now=NOW),
    "decide_rewrite": lambda p, who: api.decide_rewrite(p, who, 999, None, now=NOW),
    "explain_exam_item": lambda p, who: api.explain_exam_item(p, who, 999, "why", now=NOW),
    "gif_for": lambda p, who: api.gif_for(p, who, PAIR),
    "moment_thumbnail": lambda p, who: api.moment_thumbnail(p, who, "no such video", 0.0, 1.0),
    "moment_clip": lambda p, who: api.moment_clip(p, who, "no such video", 0.0, 1.0),
    "new_invitation": lambda p, who: api.new_invitation(p, who, NOBODY, now=NOW),
    "offer_again": lambda p, who: api.offer_again(p, who, PAIR, now=NOW),
    "open_batch": lambda p, who: api.open_batch(p, who, QUERY, now=NOW),
    "undo_batch": lambda p, who: api.undo_batch(p, who, QUERY, "why", number=2, now=NOW),
    "decline_batch": lambda p, who: api.decline_batch(p, who, QUERY, "why", number=2, now=NOW),
    "take_back_decline": lambda p, who: api.take_back_decline(p, who, QUERY, "why", number=2, now=NOW),
    "pause_person": lambda p, who: api.pause_person(p, who, NOBODY, "why", now=NOW),
    "reply_to_note": lambda p, who: api.reply_to_note(p, who, 999, "because", now=NOW),
    "block_clip": lambda p, who: api.block_clip(p, who, PAIR, "black", now=NOW),
    "lift_skips": lambda p, who: api.lift_skips(p, who, NOBODY, reports_only=True, now=NOW),
    "reported_clips": api.reported_clips,
    "restore_clip": lambda p, who: api.restore_clip(p, who, PAIR, now=NOW),
    "rewrite_queue": api.rewrite_queue,
    "suspend": lambda p, who: api.suspend(p, who, NOBODY, True, now=NOW),
    "take_back_rewrite": lambda p, who: api.take_back_rewrite(p, who, now=NOW),
    "unpause_person": lambda p, who: api.unpause_person(p, who, NOBODY, now=NOW),
    "withdraw_example": lambda p, who: api.withdraw_example(p, who, 3, now=NOW),
}
# What leads do and read on their pages, and the command line does for whoever owns the machine.
IN_CHARGE: dict[str, Call] = {
    "activity_csv": lambda p, who: api.activity_csv(p, who, ActivityFilter()),
    "activity_people": api.activity_people,
    "campaign_settings": api.campaign_settings,
    "count_activity": lambda p, who: api.count_activity(p, who, ActivityFilter()),
    "find_activity": lambda p, who: api.find_activity(p, who, ActivityFilter(), first=0, most=1),
    "agreement_board": lambda p, who: api.agreement_board(p, who, resamples=0),
    "agreement_version": api.agreement_version,
    "other_relevances": api.other_relevances,
    "add_person": lambda p, who: api.add_person(p, who, "", Role.ANNOTATOR, now=NOW),
    "add_person_with_password": lambda p, who: api.add_person_with_password(p, who, "", Role.LEAD, "?", now=NOW),
    "add_run": lambda p, who: api.add_run(p, who, Path("no such file"), now=NOW),
    "add_truth": lambda p, who: api.add_truth(p, who, Path("no such file"), now=NOW),
    "assignments_standing": api.assignments_standing,
    "accept_suggestions": lambda p, who: api.accept_suggestions(p, who, api.batch_suggestions(p, OPERATOR), now=NOW),
    "batch_rule_versions": api.batch_rule_versions,
    "batch_shares": api.batch_shares,
    "batch_suggestions": api.batch_suggestions,
    "next_batch": lambda p, who: api.next_batch(p, who, QUERY),
    "set_batch_rule": lambda p, who: api.set_batch_rule(p, who, BatchRule(1, 1.0, None, 1), "", now=NOW),
    "choose_describing": lambda p, who: api.choose_describing(p, who, DescribingChoice(), now=NOW),
    "close_describing": lambda p, who: api.close_describing(p, who, now=NOW),
    "describing_choice": api.describing_choice,
    "describing_figures": api.describing_figures,
    "describing_guideline": api.describing_guideline,
    "description": lambda p, who: api.description(p, who, "no such"),
    "description_counts": api.description_counts,
    "description_keys": lambda p, who: api.description_keys(p, who, DescriptionFilter()),
    "count_descriptions": lambda p, who: api.count_descriptions(p, who, DescriptionFilter()),
    "find_descriptions": lambda p, who: api.find_descriptions(p, who, DescriptionFilter()),
    "descriptions_csv": api.descriptions_csv,
    "reword_describing": lambda p, who: api.reword_describing(p, who, "text", "why", now=NOW),
    "behind_flag": lambda p, who: api.behind_flag(p, who, NOBODY, FlagKind.BIAS),
    "cut_queued_clips": api.cut_queued_clips,
    "bucket_troubles": api.bucket_troubles,
    "little_room": api.little_room,
    "case": lambda p, who: api.case(p, who, PAIR),
    "case_counts": api.case_counts,
    "case_page": lambda p, who: api.case_page(p, who, ReviewList.TO_DECIDE),
    "recent_reasons": api.recent_reasons,
    "write_baseline": lambda p, who: api.write_baseline(p, who, "no such", p.folder / "run.json"),
    "write_frame_features": lambda p, who: api.write_frame_features(p, who, p.folder / "no-ending"),
    "build_pools": lambda p, who: api.build_pools(p, who, p.folder / "pools", PoolOptions(), now=NOW),
    "close_exam_round": lambda p, who: api.close_exam_round(p, who, now=NOW),
    "end_trial": lambda p, who: api.end_trial(p, who, now=NOW),
    "start_trial": lambda p, who: api.start_trial(p, who, queries=0, now=NOW),
    "trial_round": api.trial_round,
    "trial_csv": api.trial_csv,
    "end_exam": lambda p, who: api.end_exam(p, who, now=NOW),
    "end_gold": lambda p, who: api.end_gold(p, who, now=NOW),
    "pool_candidates": lambda p, who: api.pool_candidates(p, who, [], now=NOW),
    "choose_candidates": lambda p, who: api.choose_candidates(p, who, now=NOW),
    "choose_encoder": lambda p, who: api.choose_encoder(p, who, "no such encoder"),
    "draw_queries": lambda p, who: api.draw_queries(p, who, val=1, now=NOW),
    "look_at_videos": lambda p, who: api.look_at_videos(p, who, now=NOW),
    "video_states": api.video_states,
    "import_corpus": lambda p, who: api.import_corpus(p, who, Path("no such file"), now=NOW),
    "propose_cast": api.propose_cast,
    "encoder_name": api.encoder_name,
    "cast_lines": api.cast_lines,
    "correct_cast": lambda p, who: api.correct_cast(p, who, {}),
    "rewrite_captions": lambda p, who: api.rewrite_captions(p, who, now=NOW),
    "take_back_queries": lambda p, who: api.take_back_queries(p, who, now=0.0),
    "exam_although": api.exam_although,
    "exam_held": api.exam_held,
    "exam_items": api.exam_items,
    "exam_outcomes": api.exam_outcomes,
    "exam_results": api.exam_results,
    "exam_to_use": api.exam_to_use,
    "examples_chosen": api.examples_chosen,
    "guideline_readers": api.guideline_readers,
    "guideline_versions": api.guideline_versions,
    "practice_figures": lambda p, who: api.practice_figures(p, who, now=NOW),
    "set_practice_from_file": lambda p, who: api.set_practice_from_file(p, who, Path("no such file"), now=NOW),
    "switch_tutorial": lambda p, who: api.switch_tutorial(p, who, True, now=NOW),
    "reword_guideline": lambda p, who: api.reword_guideline(p, who, p.campaign.grading, "why", now=NOW),
    "set_guideline_from_file": lambda p, who: api.set_guideline_from_file(p, who, Path("no file"), "why", now=NOW),
    "exempt_from_exam": lambda p, who: api.exempt_from_exam(p, who, NOBODY, "why", now=NOW),
    "export_form": lambda p, who: api.export_form(p, who, p.folder, "trec"),
    "export_release": lambda p, who: api.export_release(p, who, p.folder, now=NOW),
    "flags": api.flags,
    "agreed_queries": api.agreed_queries,
    "coverage": api.coverage,
    "durations": api.durations,
    "explored_version": api.explored_version,
    "found_pair_count": lambda p, who: api.found_pair_count(p, who, PairPart()),
    "found_pairs": lambda p, who: api.found_pairs(p, who, PairPart()),
    "funnel": api.funnel,
    "relevances_along": lambda p, who: api.relevances_along(p, who, Along.RANK),
    "same_words": api.same_words,
    "source_standings": api.source_standings,
    "gold_results": api.gold_results,
    "grant_retake": lambda p, who: api.grant_retake(p, who, NOBODY, now=NOW),
    "leaderboard_version": lambda p, who: api.leaderboard_version(p, who, "no such truth"),
    "hours": api.hours,
    "list_backups": api.list_backups,
    "list_people": lambda p, who: api.list_people(p, who, now=NOW),
    "list_queries": api.list_queries,
    "list_releases": api.list_releases,
    "next_step": api.next_step,
    "notes_csv": api.notes_csv,
    "list_runs": api.list_runs,
    "list_truths": api.list_truths,
    "load_run": lambda p, who: api.load_run(p, who, "no such run"),
    "load_truth": lambda p, who: api.load_truth(p, who, "no such truth"),
    "project_statistics": api.project_statistics,
    "pairs_behind": lambda p, who: api.pairs_behind(p, who, ()),
    "pool_check_report": api.pool_check_report,
    "preview_exam": lambda p, who: api.preview_exam(p, who, queries=0, now=NOW),
    "preview_exam_from_file": lambda p, who: api.preview_exam_from_file(p, who, Path("no such file"), now=NOW),
    "preview_exam_key": api.preview_exam_key,
    "progress": lambda p, who: api.progress(p, who, now=NOW),
    "change_query": lambda p, who: api.change_query(p, who, QUERY, "a text", Split.VAL, seen="", now=NOW),
    "expected_work": lambda p, who: api.expected_work(p, who, batch_size=20),
    "count_drawn_queries": api.count_drawn_queries,
    "drawn_queries": lambda p, who: api.drawn_queries(p, who, most=1),
    "remove_queries": lambda p, who: api.remove_queries(p, who, [QUERY], now=NOW),
    "count_queries": lambda p, who: api.count_queries(p, who, QueryFilter()),
    "find_queries": lambda p, who: api.find_queries(p, who, QueryFilter()),
    "queries_csv": api.queries_csv,
    "query_place": lambda p, who: api.query_place(p, who, QueryFilter(), QUERY),
    "query_review": lambda p, who: api.query_review(p, who, QUERY),
    "query_pairs": lambda p, who: api.query_pairs(p, who, QUERY),
    "change_moments": lambda p, who: api.change_moments(p, who, "no such video", [], [], now=NOW),
    "join_moments": lambda p, who: api.join_moments(p, who, [], now=NOW),
    "moments_csv": api.moments_csv,
    "moments_of_video": lambda p, who: api.moments_of_video(p, who, "no such video"),
    "propose_moments": lambda p, who: api.propose_moments(p, who, ByWindows(()), now=NOW),
    "split_moment": lambda p, who: api.split_moment(p, who, MomentId(999), 1.0, now=NOW),
    "take_moments": lambda p, who: api.take_moments(p, who, Path("no such file"), now=NOW),
    "videos_and_moments": api.videos_and_moments,
    "register_videos": lambda p, who: api.register_videos(p, who, Path("no such folder"), now=NOW),
    "release_changes": lambda p, who: api.release_changes(p, who, "no such release", "nor this"),
    "report_frames": api.report_frames,
    "release_file": lambda p, who: api.release_file(p, who, "no such release"),
    "release_preview": api.release_preview,
    "release_terms": api.release_terms,
    "set_release_terms": lambda p, who: api.set_release_terms(p, who, now=NOW),
    "remove_run": lambda p, who: api.remove_run(p, who, "no such run", now=NOW),
    "remove_truth": lambda p, who: api.remove_truth(p, who, "no such truth", now=NOW),
    "rewrite_summary": api.rewrite_summary,
    "score_kept_runs": lambda p, who: api.score_kept_runs(p, who, "no such truth"),
    "set_exam": lambda p, who: api.set_exam(p, who, queries=0, now=NOW),
    "set_gold": lambda p, who: api.set_gold(p, who, api.GoldOptions(), now=NOW),
    "set_exam_from_file": lambda p, who: api.set_exam_from_file(p, who, Path("no such file"), now=NOW),
    "stuck": api.stuck,
    "query_stuck": lambda p, who: api.query_stuck(p, who, QueryId(1)),
    "stuck_queries": api.stuck_queries,
    "waits": api.waits,
    "work_version": api.work_version,
    "status_counts": api.status_counts,
    "truth_names": api.truth_names,
    "truth_of_project": lambda p, who: api.truth_of_project(p, who, "val"),
    "use_exam": lambda p, who: api.use_exam(p, who, now=NOW),
    "videos_with_file": api.videos_with_file,
    "write_probe_figures": lambda p, who: api.write_probe_figures(p, who, Path("no such folder")),
}
ANNOTATORS: dict[str, Call] = {
    "annotator_of": api.annotator_of,
    "describe_clip": lambda p, who: api.describe_clip(p, who, "no such video"),
    "describe_exchange": lambda p, who: api.describe_exchange(describable(p), who, [], now=NOW),
    "describe_frames": lambda p, who: api.describe_frames(p, who, "no such video"),
    "describe_work": lambda p, who: api.describe_work(describable(p), who),
    "note_describing_seen": lambda p, who: api.note_describing_seen(p, who, 1, now=NOW),
    "desk": lambda p, who: api.desk(p, who, now=NOW),
    "exam_act": lambda p, who: api.exam_act(p, who, api.ExamAct.START, now=NOW),
    "exchange": lambda p, who: api.exchange(p, who, [], [], now=NOW),
    "my_exam": api.my_exam,
    "my_replies": lambda p, who: api.my_replies(p, who, now=NOW),
    "my_work": lambda p, who: api.my_work(p, who, now=NOW),
    "answer_practice": lambda p, who: api.answer_practice(p, who, "no such pair", 3, "key", now=NOW),
    "guideline_due": api.guideline_due,
    "guideline_news": api.guideline_news,
    "practice_items": lambda p, who: api.practice_items(p, who, now=NOW),
    "read_guideline": lambda p, who: api.read_guideline(p, who, 1, now=NOW),
    "note_guideline_seen": lambda p, who: api.note_guideline_seen(p, who, 1, now=NOW),
    "read_replies": lambda p, who: api.read_replies(p, who, now=NOW),
    "record_grades": lambda p, who: api.record_grades(p, who, [], now=NOW),
    "record_skips": lambda p, who: api.record_skips(p, who, [], now=NOW),
    "report_broken": lambda p, who: api.report_broken(p, who, first_pair(p), "black", now=NOW),
    "shown": lambda p, who: api.shown(p, who, first_pair(p), now=NOW),
}
# Anybody who works here; a clip besides only for whoever has its pair, see the tests of the desk.
SIGNED_IN: dict[str, Call] = {
    "clip_elsewhere": lambda p, who: api.clip_elsewhere(p, who, first_pair(p), now=NOW),
    "clip_for": lambda p, who: api.clip_for(p, who, first_pair(p)),
    "example_clip": lambda p, who: api.example_clip(p, who, 3),
    "examples": api.examples,
    "describing_comes_first": api.describing_comes_first,
    "guideline_version": api.guideline_version,
    "may_describe": api.may_describe,
    "practice_clip": lambda p, who: api.practice_clip(p, who, practice_key(p)),
    "storyboard_for": lambda p, who: api.storyboard_for(p, who, first_pair(p)),
    "take_draft": lambda p, who: api.take_draft(p, who, "a page", now=NOW),
    "why_not_shown": lambda p, who: api.why_not_shown(p, who, VideoUnreadable("dog.mp4 is not a video file")),
    "report_clip": lambda p, who: api.report_clip(p, who, first_pair(p), "why", now=NOW),
    "reported_clip": lambda p, who: api.reported_clip(p, who, first_pair(p)),
}
# These say who somebody is, so nobody is known before them: a password, a link or a session is the way in. What
# somebody had typed is kept once their session has ended.
WAYS_IN = {
    "attempt_succeeded",
    "begin_attempt",
    "keep_draft",
    "knows_browser",
    "remember_browser",
    "accept_invitation",
    "accept_invitation_as",
    "change_password",
    "invited",
    "person_for",
    "sign_in",
    "sign_in_as",
    "sign_out",
    "sign_out_everywhere",
}
# The command line's, on the machine that holds the files: no page or route calls one, which a test below sees to.
MACHINE = {
    "accept_rewrites",
    "address",
    "backup",
    "build_demo",
    "demo_people",
    "doctor",
    "import_judgements",
    "import_release",
    "init_project",
    "make_pool_check",
    "migrate",
    "move",
    "note_address",
    "restore",
    "served_at",
    "waiting_rewrites",
    "write_pseudo_train",
}
# No project: what is scored, studied or cut is the caller's own file or value.
OWN_FILES = {
    "release_statistics",
    "release_statistics_table",
    "coverage_by_show",
    "explored_csv",
    "add_statistics",
    "agreement_csv",
    "agreement_json",
    "agreement_of_file",
    "agreement_picture",
    "agreement_picture_file",
    "agreement_study",
    "agreement_table",
    "axioms_study",
    "other_relevances_csv",
    "other_relevances_of_file",
    "write_other_relevances",
    "benchmark_named",
    "board_pictures",
    "build_pools_from_file",
    "write_baseline_from_file",
    "calibrate_thresholds",
    "case_bars_told",
    "case_title",
    "cut",
    "split_measures",
    "cut_clip",
    "diff_csv",
    "diff_releases",
    "evaluate",
    "evaluate_files",
    "exam_outcomes_csv",  # figures that a lead was given
    "file_inputs",
    "file_statistics",
    "guideline_changes",
    "is_cut",
    "is_project",
    "match_run",
    "model_selection_study",
    "noise_study",
    "notable_queries",
    "predict_run",
    "train_model",
    "payroll_csv",
    "per_query_csv",
    "pool_statistics",
    "write_negatives",
    "report_page",
    "score_case",
    "score_doubts",
    "score_grid",
    "score_legend",
    "scores_in_brief",
    "scores_left_out",
    "score_csv",
    "score_examples",
    "score_figures",
    "score_files",
    "joined_scores",
    "named_files",
    "read_run_list",
    "choose_truth",
    "of_releases",
    "score_paper",
    "score_parts",
    "score_splits",
    "scores_are_grouped",
    "score_groups",
    "score_means",
    "score_means_named",
    "score_names",
    "score_outcomes",
    "score_own_and_pool",
    "score_percent",
    "score_pools_told",
    "score_ranking",
    "score_runs",
    "score_sentence",
    "stability_study",
    "summarise_raw",
    "theory_study",
    "ties_study",
    "validate_release",
    "write_score_figure",
    "write_pool_figures",
    "write_study",
}
# Of long work by the key that beginning it gave: how it ended is told whatever became of the lead meanwhile.
BY_KEY = {"end_work", "tell_work"}
# The server opens its project before anybody is there, and is asked from outside whether it can serve.
SERVER = {"not_ready", "open_project"}
WALKED = {**LEADS, **IN_CHARGE, **ANNOTATORS, **SIGNED_IN}


def first_pair(project: api.Project) -> PairKey:
    return PairKey(project.store.db.execute("SELECT pair_key FROM pair").fetchone()[0])


def describable(project: api.Project) -> api.Project:
    """The project with describing open for every annotator."""
    api.choose_describing(project, OPERATOR, DescribingChoice(open=True), now=NOW)
    return project


def practice_key(project: api.Project) -> str:
    """A practice pair, chosen by the command line once there is none."""
    with writing(project.store) as db:
        if not db.execute("SELECT 1 FROM practice").fetchone():
            db.execute(
                "INSERT INTO practice (practice_key, query, moment_id, grade, explanation, chosen_at) "
                "SELECT 'practice', 'a text', min(moment_id), 3, 'why', 0 FROM moment"
            )
    return "practice"


def past_the_gate(project: api.Project, who: Person | Operator, names: Iterable[str] = tuple(WALKED)) -> set[str]:
    """Which functions let somebody in; what else the api finds wrong with a call does not matter."""
    found = set()
    for name in sorted(names, key="take_back_queries".__eq__):  # the others need what it takes
        try:
            WALKED[name](project, who)
        except NotAllowed as refusal:
            if str(refusal) != "this clip is not on your desk":
                continue
        except (ReelRankError, OSError):
            pass
        found.add(name)
    return found


def functions() -> set[str]:
    return {name for name in api.__all__ if inspect.isfunction(getattr(api, name))}


def test_every_function_of_the_api_is_in_one_class() -> None:
    classes = [LEADS, IN_CHARGE, ANNOTATORS, SIGNED_IN, WAYS_IN, BY_KEY, MACHINE, OWN_FILES, SERVER]
    assert functions() == set().union(*classes), "say who may call it, and why, in this file"
    assert len(functions()) == sum(len(one) for one in classes)


def test_a_lead_passes_where_leads_do(judging: Judging) -> None:
    assert past_the_gate(judging.project, judging.lead) == {*LEADS, *IN_CHARGE, *SIGNED_IN}


def test_an_annotator_passes_where_annotators_do(judging: Judging) -> None:
    assert past_the_gate(judging.project, judging.annotators[0]) == {*ANNOTATORS, *SIGNED_IN}


def test_the_operator_of_the_machine_passes_where_commands_do(judging: Judging) -> None:
    # Elsewhere a person is needed, whose name goes on record: mypy refuses an operator there.
    assert past_the_gate(judging.project, OPERATOR, IN_CHARGE) == set(IN_CHARGE)


def test_what_a_caller_says_about_a_role_does_not_count(judging: Judging) -> None:
    me = judging.annotators[0]
    claims = Person(me.annotator_id, me.name, Role.LEAD)
    assert past_the_gate(judging.project, claims) == {*ANNOTATORS, *SIGNED_IN}


def test_only_leads_read_which_file_cannot_be_shown(judging: Judging) -> None:
    me, error = judging.annotators[0], VideoUnreadable("dog.mp4 is not a video file")
    assert api.why_not_shown(judging.project, judging.lead, error) == str(error)
    for who in (me, Person(me.annotator_id, me.name, Role.LEAD)):
        assert "dog" not in api.why_not_shown(judging.project, who, error)


def test_nobody_passes_and_whoever_was_suspended_since_no_more(judging: Judging) -> None:
    gone = judging.annotators[1]
    api.suspend(judging.project, judging.lead, gone.annotator_id, True, now=NOW)
    assert past_the_gate(judging.project, gone) == set()
    assert past_the_gate(judging.project, Person(NOBODY, "Nobody", Role.LEAD)) == set()


def test_who_stopped_to_lead_does_so_at_once(judging: Judging) -> None:
    with writing(judging.project.store) as db:
        db.execute("UPDATE annotator SET role = 'annotator' WHERE annotator_id = ?", [judging.lead.annotator_id])
    with pytest.raises(NotAllowed, match="only leads may do this; Lea is signed in as annotator"):
        api.case_counts(judging.project, judging.lead)


def test_a_refusal_tells_a_person_what_is_so(judging: Judging) -> None:
    with pytest.raises(NotAllowed, match="only leads may do this; Anna is signed in as annotator"):
        permissions.require_in_charge(judging.project.store, judging.annotators[0])
    with pytest.raises(NotAllowed, match="leads do not grade"):
        permissions.require_annotator(judging.project.store, judging.lead)


def test_nothing_but_the_gate_makes_a_lead_or_an_annotator() -> None:
    made = {
        file.relative_to(ROOT).as_posix()
        for file in sources("backend", "annotate_app")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Lead", "Annotator")
    }
    assert made == {"backend/campaign/setup/people/permissions.py"}


def test_pages_and_routes_decide_nothing_by_a_role() -> None:
    """They show by it (a menu, a badge, a word); whether somebody may do something is the gate's to say."""
    found = {
        (file.relative_to(ROOT).as_posix(), ast.unparse(node))
        for file in sources("annotate_app/server", "annotate_app/session", "annotate_app/screens")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare) and "Role." in ast.unparse(node)
    }
    assert found == {
        ("annotate_app/session/auth.py", "person.role is not Role.ANNOTATOR"),  # whose scripts wait for their turn
        ("annotate_app/session/notice.py", "person.role is Role.ANNOTATOR"),
        ("annotate_app/screens/people/__init__.py", "person.role is Role.ANNOTATOR"),
        ("annotate_app/screens/people/__init__.py", "person.role is Role.LEAD"),
        ("annotate_app/screens/people/__init__.py", "review.person.role is Role.LEAD"),
        ("annotate_app/screens/people/assigning.py", "one.person.role is Role.ANNOTATOR"),
        ("annotate_app/screens/descriptions/choice.py", "one.person.role is Role.ANNOTATOR"),
    }


def test_the_front_end_calls_nothing_that_asks_nobody() -> None:
    called = {
        node.attr
        for file in sources("annotate_app")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "api"
    }
    assert called & MACHINE == set()
    assert "OPERATOR" not in called
    assert called & set(WALKED)


def sources(*folders: str) -> list[Path]:
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
