"""The surface of ReelRank: everything the front end, the command line and other programs may call.

Every name is imported at its first use: whoever wants a score loads no database.

Functions take an opened `Project` first. `now` is seconds since 1970, always given by the caller. Refusals are
`ReelRankError`s with a text for the person; anything else is a bug.
"""

from typing import TYPE_CHECKING

from backend.core import lazy

if TYPE_CHECKING:
    from backend.campaign.corpus.captions.decisions import (
        accept_rewrites,
        decide_rewrite,
        rewrite_queue,
        rewrite_summary,
        take_back_rewrite,
        waiting_rewrites,
    )
    from backend.campaign.corpus.captions.name_mapping import CastReport, cast_lines, correct_cast, propose_cast
    from backend.campaign.corpus.captions.rewriting import RewriteReport, rewrite_captions
    from backend.campaign.corpus.captions.rules.differences import RewriteSummary
    from backend.campaign.corpus.describing.frames import describe_frames
    from backend.campaign.corpus.describing.listing import (
        count_descriptions,
        describing_figures,
        description_counts,
        description_keys,
        descriptions_csv,
        find_descriptions,
    )
    from backend.campaign.corpus.describing.opening import (
        choose_describing,
        close_describing,
        describing_choice,
        describing_comes_first,
        may_describe,
    )
    from backend.campaign.corpus.describing.reviewing import (
        accept_description,
        description,
        return_description,
        take_back_description,
    )
    from backend.campaign.corpus.describing.rewording import describing_guideline, reword_describing
    from backend.campaign.corpus.describing.work import describe_clip, describe_work, note_describing_seen
    from backend.campaign.corpus.describing.writing import describe_exchange
    from backend.campaign.corpus.importing.formats import FORMATS as CORPUS_FORMATS
    from backend.campaign.corpus.importing.importing import ImportReport
    from backend.campaign.corpus.moments.clips import moment_clip, moment_thumbnail
    from backend.campaign.corpus.moments.editing import (
        change_moments,
        join_moments,
        moments_csv,
        moments_of_video,
        split_moment,
        take_moments,
        videos_and_moments,
    )
    from backend.campaign.corpus.moments.model import ProposeReport, RegisterReport, TakenMoments
    from backend.campaign.corpus.moments.proposing import propose_moments
    from backend.campaign.demo.building import build_demo, demo_people
    from backend.campaign.desk.clips import (
        clip_elsewhere,
        clip_for,
        gif_for,
        report_broken,
        report_clip,
        reported_clip,
        storyboard_for,
        why_not_shown,
    )
    from backend.campaign.desk.exchange import (
        desk,
        exam_act,
        exchange,
        read_guideline,
        record_grades,
        record_skips,
        shown,
    )
    from backend.campaign.doctor.backups import backup, backup_now, list_backups
    from backend.campaign.doctor.database import migrate, move, restore
    from backend.campaign.doctor.examination import DoctorReport, Finding, doctor
    from backend.campaign.judging.absences import pause_person, sign_out, sign_out_everywhere, suspend, unpause_person
    from backend.campaign.judging.broken_clips import block_clip, reported_clips, restore_clip
    from backend.campaign.judging.replies import my_replies, read_replies
    from backend.campaign.judging.skips import lift_skips, offer_again
    from backend.campaign.judging.work_assignments import assign, assignments_standing, unassign
    from backend.campaign.monitoring.activity.log import activity_csv, activity_people, count_activity, find_activity
    from backend.campaign.monitoring.activity.settings import campaign_settings
    from backend.campaign.monitoring.explore.rules import by_show as coverage_by_show
    from backend.campaign.monitoring.explore.tables import (
        agreed_queries,
        coverage,
        durations,
        explored_csv,
        explored_version,
        found_pair_count,
        found_pairs,
        funnel,
        relevances_along,
        same_words,
        source_standings,
    )
    from backend.campaign.monitoring.hours.report import expected_work, hours, payroll_csv
    from backend.campaign.monitoring.progress.clip_queue import (
        ClipsReport,
        bucket_troubles,
        cut_queued_clips,
        little_room,
    )
    from backend.campaign.monitoring.progress.progress import (
        progress,
        query_stuck,
        stuck,
        stuck_queries,
        waits,
        work_version,
    )
    from backend.campaign.monitoring.quality.agreement_board import agreement_board, agreement_version, other_relevances
    from backend.campaign.monitoring.quality.agreement_files import (
        agreement_csv,
        agreement_picture,
        agreement_picture_file,
        other_relevances_csv,
        write_other_relevances,
    )
    from backend.campaign.monitoring.quality.flags import behind_flag, flags, pairs_behind
    from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard
    from backend.campaign.monitoring.quality.my_work import my_work
    from backend.campaign.monitoring.quality.rules.board import as_json as agreement_json
    from backend.campaign.monitoring.quality.rules.board_tables import table as agreement_table
    from backend.campaign.monitoring.videos.adding import import_corpus, register_videos
    from backend.campaign.monitoring.videos.check import look_at_videos, video_states
    from backend.campaign.monitoring.videos.model import LookReport, VideoState
    from backend.campaign.nouns import OPERATOR, Operator
    from backend.campaign.qualification.exam.answer_key import KeyPreview as ExamKeyPreview
    from backend.campaign.qualification.exam.answer_key import KeyReport as ExamKeyReport
    from backend.campaign.qualification.exam.answer_key import (
        close_exam_round,
        exam_items,
        explain_exam_item,
        preview_exam_key,
    )
    from backend.campaign.qualification.exam.calibration import end_trial, start_trial, trial_csv, trial_round
    from backend.campaign.qualification.exam.exemptions import exempt_from_exam, grant_retake
    from backend.campaign.qualification.exam.model import Exam, ExamItem, ExamKey
    from backend.campaign.qualification.exam.previewing import ExamPreview, preview_exam, preview_exam_from_file
    from backend.campaign.qualification.exam.previewing import PreviewItem as ExamPreviewItem
    from backend.campaign.qualification.exam.results import (
        ExamAttempt,
        ExamOutcomes,
        ExamPerson,
        Missed,
        exam_outcomes,
        exam_outcomes_csv,
        exam_results,
        my_exam,
    )
    from backend.campaign.qualification.exam.rules.guessing import Constant as ExamConstant
    from backend.campaign.qualification.exam.rules.guessing import Guesses as ExamGuesses
    from backend.campaign.qualification.exam.rules.outcomes import PAPER_KAPPA, PAPER_MISSED
    from backend.campaign.qualification.exam.rules.outcomes import Estimate as ExamEstimate
    from backend.campaign.qualification.exam.rules.outcomes import Outcome as ExamOutcome
    from backend.campaign.qualification.exam.setting import (
        ExamReport,
        end_exam,
        exam_although,
        exam_held,
        set_exam,
        set_exam_from_file,
    )
    from backend.campaign.qualification.exam.taking import Act as ExamAct
    from backend.campaign.qualification.exam.using import UsedReport, exam_to_use, use_exam
    from backend.campaign.qualification.gold.questions import PAIRS as GOLD_PAIRS
    from backend.campaign.qualification.gold.questions import (
        GoldAnswer,
        GoldOptions,
        GoldPerson,
        GoldReport,
        end_gold,
        gold_results,
        set_gold,
    )
    from backend.campaign.qualification.guideline.examples import (
        choose_example,
        example_clip,
        examples,
        examples_chosen,
        withdraw_example,
    )
    from backend.campaign.qualification.guideline.model import Example
    from backend.campaign.qualification.guideline.reading import News as GuidelineNews
    from backend.campaign.qualification.guideline.reading import (
        guideline_due,
        guideline_news,
        guideline_version,
        note_guideline_seen,
    )
    from backend.campaign.qualification.guideline.rewording import (
        guideline_readers,
        guideline_versions,
        reword_guideline,
        set_guideline_from_file,
    )
    from backend.campaign.qualification.guideline.rules import changes as guideline_changes
    from backend.campaign.qualification.tutorial.choosing import (
        choose_practice,
        choose_practice_pair,
        practice_figures,
        set_practice_from_file,
        switch_tutorial,
        withdraw_practice,
    )
    from backend.campaign.qualification.tutorial.practising import answer_practice, practice_clip, practice_items
    from backend.campaign.qualification.tutorial.suggesting import practice_offers, practice_texts
    from backend.campaign.release.board.baselines import write_baseline, write_frame_features
    from backend.campaign.release.board.case_frames import report_frames, videos_with_file
    from backend.campaign.release.board.kept_runs import (
        add_run,
        add_truth,
        list_runs,
        list_truths,
        load_run,
        load_truth,
        remove_run,
        remove_truth,
    )
    from backend.campaign.release.board.leaderboard import (
        Leaderboard,
        leaderboard_version,
        score_kept_runs,
        truth_names,
    )
    from backend.campaign.release.board.rows import Kept
    from backend.campaign.release.board.truths import truth_of_project
    from backend.campaign.release.earlier.importing import import_judgements
    from backend.campaign.release.earlier.model import JudgementsReport
    from backend.campaign.release.earlier.raw_agreement import agreement_of_file, other_relevances_of_file
    from backend.campaign.release.earlier.raw_summary import summarise_raw
    from backend.campaign.release.export.contents import release_preview
    from backend.campaign.release.export.counting import release_statistics
    from backend.campaign.release.export.diffing import diff_csv, diff_releases
    from backend.campaign.release.export.formats.exporting import export_form
    from backend.campaign.release.export.formats.model import FormReport
    from backend.campaign.release.export.freezing import ReleaseReport, export_release, write_pseudo_train
    from backend.campaign.release.export.importing import ReleaseImport, import_release
    from backend.campaign.release.export.kept_releases import list_releases, release_changes, release_file
    from backend.campaign.release.export.model import KeptRelease, ReleaseOptions, ReleaseSelection
    from backend.campaign.release.export.rules.diffing import PairChange, QueryChange, ReleaseDiff
    from backend.campaign.release.export.statistics.rules import release_statistics_table
    from backend.campaign.release.export.terms import release_terms, set_release_terms
    from backend.campaign.release.export.validating import ValidationReport, validate_release
    from backend.campaign.release.statistics.from_files import file_statistics
    from backend.campaign.release.statistics.from_project import project_statistics
    from backend.campaign.release.statistics.model import Statistics
    from backend.campaign.review.adjudicating import adjudicate, confirm_discard, re_open, take_back
    from backend.campaign.review.notes import notes_csv, reply_to_note
    from backend.campaign.review.pair_lists import case, case_counts, case_page, recent_reasons
    from backend.campaign.review.probes import ProbeReport, write_probe_figures
    from backend.campaign.review.queries import (
        count_queries,
        find_queries,
        list_queries,
        query_pairs,
        query_place,
        query_review,
    )
    from backend.campaign.review.query_removal import TakenBack, take_back_queries
    from backend.campaign.review.status import next_step, status_counts
    from backend.campaign.selection.batches.next_batch import (
        decline_batch,
        next_batch,
        open_batch,
        take_back_decline,
        undo_batch,
    )
    from backend.campaign.selection.batches.rule_versions import batch_rule_versions, set_batch_rule
    from backend.campaign.selection.batches.suggestions import accept_suggestions, batch_shares, batch_suggestions
    from backend.campaign.selection.candidates.choosing import (
        CandidateReport,
        choose_candidates,
        choose_encoder,
        encoder_name,
    )
    from backend.campaign.selection.candidates.model import PoolingReport
    from backend.campaign.selection.candidates.pooling import pool_candidates
    from backend.campaign.selection.candidates.submitted_runs import CandidatePooling as PoolingOptions
    from backend.campaign.selection.pool_check.making import make_pool_check
    from backend.campaign.selection.pool_check.model import CheckReport as PoolCheckReport
    from backend.campaign.selection.pool_check.model import MadeReport as PoolCheckMade
    from backend.campaign.selection.pool_check.model import Share as PoolCheckShare
    from backend.campaign.selection.pool_check.reporting import pool_check_report
    from backend.campaign.selection.pools.building import BuildReport
    from backend.campaign.selection.pools.calibrating import calibrate_thresholds
    from backend.campaign.selection.pools.corpora import build_pools, build_pools_from_file
    from backend.campaign.selection.pools.figures import write_pool_figures
    from backend.campaign.selection.pools.negatives import write_negatives
    from backend.campaign.selection.pools.thresholds_file import StoredThresholds
    from backend.campaign.selection.queries.drawing import QueryReport, draw_queries
    from backend.campaign.selection.queries.editing import (
        change_query,
        count_drawn_queries,
        drawn_queries,
        queries_csv,
        remove_queries,
    )
    from backend.campaign.setup.people.accounts import (
        accept_invitation,
        accept_invitation_as,
        add_person,
        add_person_with_password,
        change_password,
        invited,
        list_people,
        new_invitation,
    )
    from backend.campaign.setup.people.passwords import PASSWORD_LENGTH
    from backend.campaign.setup.people.permissions import annotator_of, lead_of
    from backend.campaign.setup.people.sessions import (
        SESSION_S,
        knows_browser,
        person_for,
        remember_browser,
        sign_in,
        sign_in_as,
    )
    from backend.campaign.setup.project.folder import Project, open_project
    from backend.campaign.setup.project.model import Terms
    from backend.campaign.setup.project.places import is_project
    from backend.campaign.setup.project.sentence_encoder import init_project
    from backend.campaign.setup.serving.jobs import begin_work, end_work, look_at_work, put_work_away, tell_work
    from backend.campaign.setup.serving.server import address, not_ready, note_address, served_at
    from backend.campaign.setup.serving.shared_state import attempt_succeeded, begin_attempt, keep_draft, take_draft
    from backend.language.endpoint import Endpoint
    from backend.media.clips import ensure as cut_clip
    from backend.media.jobs import MEDIA_TYPES as CLIP_TYPES
    from backend.media.jobs import ClipJob, is_cut
    from backend.media.one_clip import cut
    from backend.media.probe import EXTENSIONS as VIDEO_EXTENSIONS
    from backend.media.report import CutReport
    from backend.scoring.analysis.cases import Case
    from backend.scoring.benchmarks import BENCHMARKS, benchmark_named
    from backend.scoring.evaluate import evaluate
    from backend.scoring.files.facts import Inputs
    from backend.scoring.files.release_folder import choose_truth
    from backend.scoring.pools.pooling import PoolConventions as Pooling
    from backend.scoring.pools.pooling import PoolFile
    from backend.scoring.pools.stats import PoolStatistics, pool_statistics
    from backend.scoring.presets import FORMER as FORMER_PRESETS
    from backend.scoring.presets import OPTION_VALUES as EVALUATION_OPTIONS
    from backend.scoring.report.figures import write_figure as write_score_figure
    from backend.scoring.report.page import report_page
    from backend.scoring.report.parts import board_pictures
    from backend.scoring.requested_values import split as split_measures
    from backend.scoring.run_files import RunFile, RunList, named_files, of_releases, read_run_list
    from backend.scoring.scoreboard import Scoreboard, score_runs
    from backend.scoring.scored_files import evaluate_files, file_inputs, score_files, score_splits
    from backend.scoring.statistics.sureness import Sureness, add_statistics
    from backend.scoring.studies.inputs import StudyInputs
    from backend.scoring.studies.running import (
        agreement_study,
        axioms_study,
        model_selection_study,
        noise_study,
        stability_study,
        theory_study,
        ties_study,
    )
    from backend.scoring.studies.study import Study
    from backend.scoring.studies.writing import write_study
    from backend.scoring.tables import SCORE_FORMATS, per_query_csv
    from backend.scoring.tables import to_csv as score_csv
    from backend.scoring.trec import MatchedRun, match_run
    from backend.scoring.views.benchmark import figures as score_figures
    from backend.scoring.views.brief import doubts as score_doubts
    from backend.scoring.views.brief import grid as score_grid
    from backend.scoring.views.brief import in_brief as scores_in_brief
    from backend.scoring.views.brief import left_out as scores_left_out
    from backend.scoring.views.case import FIRST as CASE_FIRST
    from backend.scoring.views.case import KINDS as CASE_KINDS
    from backend.scoring.views.case import CaseView, notable_queries
    from backend.scoring.views.case import bars_told as case_bars_told
    from backend.scoring.views.case import query_title as case_title
    from backend.scoring.views.case import view as score_case
    from backend.scoring.views.errors import examples as score_examples
    from backend.scoring.views.errors import outcomes as score_outcomes
    from backend.scoring.views.errors import percent as score_percent
    from backend.scoring.views.groups import groups as score_groups
    from backend.scoring.views.naming import legend as score_legend
    from backend.scoring.views.naming import named as score_names
    from backend.scoring.views.number_format import Shown
    from backend.scoring.views.paper import paper as score_paper
    from backend.scoring.views.pools import own_and_pool as score_own_and_pool
    from backend.scoring.views.pools import told as score_pools_told
    from backend.scoring.views.ranking import means as score_means_named
    from backend.scoring.views.ranking import narrow_means as score_means
    from backend.scoring.views.ranking import ranking as score_ranking
    from backend.scoring.views.ranking import sentence as score_sentence
    from backend.scoring.views.splits import is_grouped as scores_are_grouped
    from backend.scoring.views.splits import joined as joined_scores
    from backend.scoring.views.splits import parts_of as score_parts
    from backend.scoring.views.table import Table as ScoreTable
    from backend.store.upkeep import Backup, Restored
    from backend.systems.baseline_runs import BaselineReport, write_baseline_from_file
    from backend.systems.baselines import BASELINES, BaselineOptions
    from backend.systems.extracting import FeaturesReport
    from backend.systems.learning.trained_models import PredictReport, predict_run, train_model
    from backend.systems.windowing import Windowing
else:
    __getattr__, __dir__ = lazy.names(__name__, __file__)

__all__ = [
    "BASELINES",
    "BENCHMARKS",
    "CASE_FIRST",
    "CASE_KINDS",
    "CLIP_TYPES",
    "CORPUS_FORMATS",
    "EVALUATION_OPTIONS",
    "FORMER_PRESETS",
    "GOLD_PAIRS",
    "OPERATOR",
    "PAPER_KAPPA",
    "PAPER_MISSED",
    "PASSWORD_LENGTH",
    "SCORE_FORMATS",
    "SESSION_S",
    "VIDEO_EXTENSIONS",
    "AggregatorReport",
    "AgreementBoard",
    "Backup",
    "BaselineOptions",
    "BaselineReport",
    "BuildReport",
    "CandidateReport",
    "Case",
    "CaseView",
    "CastReport",
    "ClipJob",
    "ClipsReport",
    "CutReport",
    "DoctorReport",
    "Endpoint",
    "Exam",
    "ExamAct",
    "ExamAttempt",
    "ExamConstant",
    "ExamEstimate",
    "ExamGuesses",
    "ExamItem",
    "ExamKey",
    "ExamKeyPreview",
    "ExamKeyReport",
    "ExamOutcome",
    "ExamOutcomes",
    "ExamPerson",
    "ExamPreview",
    "ExamPreviewItem",
    "ExamReport",
    "Example",
    "FeaturesReport",
    "Finding",
    "FormReport",
    "GoldAnswer",
    "GoldOptions",
    "GoldPerson",
    "GoldReport",
    "GuidelineNews",
    "ImportReport",
    "Inputs",
    "JudgementsReport",
    "Kept",
    "KeptRelease",
    "Leaderboard",
    "LookReport",
    "MatchedRun",
    "Missed",
    "Operator",
    "PairChange",
    "PoolCheckMade",
    "PoolCheckReport",
    "PoolCheckShare",
    "PoolFile",
    "PoolStatistics",
    "Pooling",
    "PoolingOptions",
    "PoolingReport",
    "PredictReport",
    "ProbeReport",
    "Project",
    "ProposeReport",
    "QueryChange",
    "QueryReport",
    "RegisterReport",
    "ReleaseDiff",
    "ReleaseImport",
    "ReleaseOptions",
    "ReleaseReport",
    "ReleaseSelection",
    "Restored",
    "RewriteReport",
    "RewriteSummary",
    "RunFile",
    "RunList",
    "ScoreTable",
    "Scoreboard",
    "Shown",
    "Statistics",
    "StoredThresholds",
    "Study",
    "StudyInputs",
    "Sureness",
    "TakenBack",
    "TakenMoments",
    "Terms",
    "UsedReport",
    "ValidationReport",
    "VideoState",
    "Windowing",
    "accept_description",
    "accept_invitation",
    "accept_invitation_as",
    "accept_rewrites",
    "accept_suggestions",
    "activity_csv",
    "activity_people",
    "add_person",
    "add_person_with_password",
    "add_run",
    "add_statistics",
    "add_truth",
    "address",
    "adjudicate",
    "agreed_queries",
    "agreement_board",
    "agreement_csv",
    "agreement_json",
    "agreement_of_file",
    "agreement_picture",
    "agreement_picture_file",
    "agreement_study",
    "agreement_table",
    "agreement_version",
    "annotator_of",
    "answer_practice",
    "assign",
    "assignments_standing",
    "attempt_succeeded",
    "axioms_study",
    "backup",
    "backup_now",
    "batch_rule_versions",
    "batch_shares",
    "batch_suggestions",
    "begin_attempt",
    "begin_work",
    "behind_flag",
    "benchmark_named",
    "block_clip",
    "board_pictures",
    "bucket_troubles",
    "build_demo",
    "build_pools",
    "build_pools_from_file",
    "calibrate_thresholds",
    "campaign_settings",
    "case",
    "case_bars_told",
    "case_counts",
    "case_page",
    "case_title",
    "cast_lines",
    "change_moments",
    "change_password",
    "change_query",
    "choose_candidates",
    "choose_describing",
    "choose_encoder",
    "choose_example",
    "choose_practice",
    "choose_practice_pair",
    "choose_truth",
    "clip_elsewhere",
    "clip_for",
    "close_describing",
    "close_exam_round",
    "confirm_discard",
    "correct_cast",
    "count_activity",
    "count_descriptions",
    "count_drawn_queries",
    "count_queries",
    "coverage",
    "coverage_by_show",
    "cut",
    "cut_clip",
    "cut_queued_clips",
    "decide_rewrite",
    "decline_batch",
    "demo_people",
    "describe_clip",
    "describe_exchange",
    "describe_frames",
    "describe_work",
    "describing_choice",
    "describing_comes_first",
    "describing_figures",
    "describing_guideline",
    "description",
    "description_counts",
    "description_keys",
    "descriptions_csv",
    "desk",
    "diff_csv",
    "diff_releases",
    "doctor",
    "draw_queries",
    "drawn_queries",
    "durations",
    "encoder_name",
    "end_exam",
    "end_gold",
    "end_trial",
    "end_work",
    "evaluate",
    "evaluate_files",
    "exam_act",
    "exam_although",
    "exam_held",
    "exam_items",
    "exam_outcomes",
    "exam_outcomes_csv",
    "exam_results",
    "exam_to_use",
    "example_clip",
    "examples",
    "examples_chosen",
    "exchange",
    "exempt_from_exam",
    "expected_work",
    "explain_exam_item",
    "explored_csv",
    "explored_version",
    "export_form",
    "export_release",
    "file_inputs",
    "file_statistics",
    "find_activity",
    "find_descriptions",
    "find_queries",
    "flags",
    "found_pair_count",
    "found_pairs",
    "funnel",
    "gif_for",
    "gold_results",
    "grant_retake",
    "guideline_changes",
    "guideline_due",
    "guideline_news",
    "guideline_readers",
    "guideline_version",
    "guideline_versions",
    "hours",
    "import_corpus",
    "import_judgements",
    "import_release",
    "init_project",
    "invited",
    "is_cut",
    "is_project",
    "join_moments",
    "joined_scores",
    "keep_draft",
    "knows_browser",
    "lead_of",
    "leaderboard_version",
    "lift_skips",
    "list_backups",
    "list_people",
    "list_queries",
    "list_releases",
    "list_runs",
    "list_truths",
    "little_room",
    "load_run",
    "load_truth",
    "look_at_videos",
    "look_at_work",
    "make_pool_check",
    "match_run",
    "may_describe",
    "migrate",
    "model_selection_study",
    "moment_clip",
    "moment_thumbnail",
    "moments_csv",
    "moments_of_video",
    "move",
    "my_exam",
    "my_replies",
    "my_work",
    "named_files",
    "new_invitation",
    "next_batch",
    "next_step",
    "noise_study",
    "not_ready",
    "notable_queries",
    "note_address",
    "note_describing_seen",
    "note_guideline_seen",
    "notes_csv",
    "of_releases",
    "offer_again",
    "open_batch",
    "open_project",
    "other_relevances",
    "other_relevances_csv",
    "other_relevances_of_file",
    "pairs_behind",
    "pause_person",
    "payroll_csv",
    "per_query_csv",
    "person_for",
    "pool_candidates",
    "pool_check_report",
    "pool_statistics",
    "practice_clip",
    "practice_figures",
    "practice_items",
    "practice_offers",
    "practice_texts",
    "predict_run",
    "preview_exam",
    "preview_exam_from_file",
    "preview_exam_key",
    "progress",
    "project_statistics",
    "propose_cast",
    "propose_moments",
    "put_work_away",
    "queries_csv",
    "query_pairs",
    "query_place",
    "query_review",
    "query_stuck",
    "re_open",
    "read_guideline",
    "read_replies",
    "read_run_list",
    "recent_reasons",
    "record_grades",
    "record_skips",
    "register_videos",
    "release_changes",
    "release_file",
    "release_preview",
    "release_statistics",
    "release_statistics_table",
    "release_terms",
    "relevances_along",
    "remember_browser",
    "remove_queries",
    "remove_run",
    "remove_truth",
    "reply_to_note",
    "report_broken",
    "report_clip",
    "report_frames",
    "report_page",
    "reported_clip",
    "reported_clips",
    "restore",
    "restore_clip",
    "return_description",
    "reword_describing",
    "reword_guideline",
    "rewrite_captions",
    "rewrite_queue",
    "rewrite_summary",
    "same_words",
    "score_case",
    "score_csv",
    "score_doubts",
    "score_examples",
    "score_figures",
    "score_files",
    "score_grid",
    "score_groups",
    "score_kept_runs",
    "score_legend",
    "score_means",
    "score_means_named",
    "score_names",
    "score_outcomes",
    "score_own_and_pool",
    "score_paper",
    "score_parts",
    "score_percent",
    "score_pools_told",
    "score_ranking",
    "score_runs",
    "score_sentence",
    "score_splits",
    "scores_are_grouped",
    "scores_in_brief",
    "scores_left_out",
    "served_at",
    "set_batch_rule",
    "set_exam",
    "set_exam_from_file",
    "set_gold",
    "set_guideline_from_file",
    "set_practice_from_file",
    "set_release_terms",
    "shown",
    "sign_in",
    "sign_in_as",
    "sign_out",
    "sign_out_everywhere",
    "source_standings",
    "split_measures",
    "split_moment",
    "stability_study",
    "start_trial",
    "status_counts",
    "storyboard_for",
    "stuck",
    "stuck_queries",
    "summarise_raw",
    "suspend",
    "switch_tutorial",
    "take_back",
    "take_back_decline",
    "take_back_description",
    "take_back_queries",
    "take_back_rewrite",
    "take_draft",
    "take_moments",
    "tell_work",
    "theory_study",
    "ties_study",
    "train_model",
    "trial_csv",
    "trial_round",
    "truth_names",
    "truth_of_project",
    "unassign",
    "undo_batch",
    "unpause_person",
    "use_exam",
    "validate_release",
    "video_states",
    "videos_and_moments",
    "videos_with_file",
    "waiting_rewrites",
    "waits",
    "why_not_shown",
    "withdraw_example",
    "withdraw_practice",
    "work_version",
    "write_baseline",
    "write_baseline_from_file",
    "write_frame_features",
    "write_negatives",
    "write_other_relevances",
    "write_pool_figures",
    "write_probe_figures",
    "write_pseudo_train",
    "write_score_figure",
    "write_study",
]
