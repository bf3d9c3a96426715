"""The surface of ReelRank: everything the front end, the command line and other programs may call.

Functions take an opened `Project` first. `now` is seconds since 1970, always given by the caller. Refusals are
`ReelRankError`s with a text for the person; anything else is a bug.
"""

from backend.api.campaigns import import_judgements
from backend.api.desk import clip_for, desk, exchange, record_grades, record_skips, report_clip, restore_clip
from backend.api.examples import choose_example, example_clip, examples, examples_chosen, withdraw_example
from backend.api.lead import (
    adjudicate,
    blocked,
    disagreements,
    list_queries,
    offer_again,
    open_batch,
    query_pairs,
    skipped,
)
from backend.api.my_work import my_work
from backend.api.people import (
    accept_invitation,
    accept_invitation_as,
    add_person,
    add_person_with_password,
    change_password,
    invited,
    list_people,
    new_invitation,
    person_for,
    sign_in,
    sign_in_as,
    sign_out,
    sign_out_everywhere,
    suspend,
)
from backend.api.progress import backup_now, progress
from backend.api.projects import (
    accept_rewrites,
    build_demo,
    choose_candidates,
    choose_encoder,
    demo_people,
    draw_queries,
    export_release,
    export_zip,
    import_corpus,
    init_project,
    list_releases,
    open_project,
    rewrite_captions,
    status_counts,
    summarise_raw,
    waiting_rewrites,
    write_pseudo_train,
)
from backend.api.runs import (
    add_run,
    add_truth,
    list_runs,
    list_truths,
    load_run,
    load_truth,
    remove_run,
    remove_truth,
    truth_of_project,
)
from backend.api.upkeep import backup, doctor, migrate, restore
from backend.core.metrics.presets import OPTION_VALUES as EVALUATION_OPTIONS
from backend.media.clips import ClipJob, CutReport, cut
from backend.media.clips import ensure as cut_clip
from backend.stages.candidates import CandidateReport
from backend.stages.captions import RewriteReport
from backend.stages.corpus import ImportReport
from backend.stages.doctor import DoctorReport, Finding
from backend.stages.earlier_judgements import JudgementsReport
from backend.stages.evaluate import evaluate
from backend.stages.export import ReleaseReport
from backend.stages.people import PASSWORD_LENGTH, SESSION_S
from backend.stages.queries import QueryReport
from backend.stages.scoreboard import evaluate_files
from backend.store.examples import Example
from backend.store.project import Project
from backend.store.releases import ReleaseRow
from backend.store.runs import Kept
from backend.store.upkeep import Restored

__all__ = [
    "EVALUATION_OPTIONS",
    "PASSWORD_LENGTH",
    "SESSION_S",
    "CandidateReport",
    "ClipJob",
    "CutReport",
    "DoctorReport",
    "Example",
    "Finding",
    "ImportReport",
    "JudgementsReport",
    "Kept",
    "Project",
    "QueryReport",
    "ReleaseReport",
    "ReleaseRow",
    "Restored",
    "RewriteReport",
    "accept_invitation",
    "accept_invitation_as",
    "accept_rewrites",
    "add_person",
    "add_person_with_password",
    "add_run",
    "add_truth",
    "adjudicate",
    "backup",
    "backup_now",
    "blocked",
    "build_demo",
    "change_password",
    "choose_candidates",
    "choose_encoder",
    "choose_example",
    "clip_for",
    "cut",
    "cut_clip",
    "demo_people",
    "desk",
    "disagreements",
    "doctor",
    "draw_queries",
    "evaluate",
    "evaluate_files",
    "example_clip",
    "examples",
    "examples_chosen",
    "exchange",
    "export_release",
    "export_zip",
    "import_corpus",
    "import_judgements",
    "init_project",
    "invited",
    "list_people",
    "list_queries",
    "list_releases",
    "list_runs",
    "list_truths",
    "load_run",
    "load_truth",
    "migrate",
    "my_work",
    "new_invitation",
    "offer_again",
    "open_batch",
    "open_project",
    "person_for",
    "progress",
    "query_pairs",
    "record_grades",
    "record_skips",
    "remove_run",
    "remove_truth",
    "report_clip",
    "restore",
    "restore_clip",
    "rewrite_captions",
    "sign_in",
    "sign_in_as",
    "sign_out",
    "sign_out_everywhere",
    "skipped",
    "status_counts",
    "summarise_raw",
    "suspend",
    "truth_of_project",
    "waiting_rewrites",
    "withdraw_example",
    "write_pseudo_train",
]
