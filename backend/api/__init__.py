"""The surface of ReelRank: everything the front end, the command line and other programs may call.

Functions take an opened `Project` first. `now` is seconds since 1970, always given by the caller. Refusals are
`ReelRankError`s with a text for the person; anything else is a bug.
"""

from backend.api.desk import clip_for, desk, record_grades, report_clip, restore_clip
from backend.api.lead import adjudicate, blocked, disagreements, list_queries, open_batch, query_pairs
from backend.api.people import (
    accept_invitation,
    add_person,
    add_person_with_password,
    invited,
    list_people,
    person_for,
    sign_in,
    sign_out,
    suspend,
)
from backend.api.projects import (
    accept_rewrites,
    backup,
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
    migrate,
    open_project,
    rewrite_captions,
    status_counts,
    summarise_raw,
    waiting_rewrites,
    write_pseudo_train,
)
from backend.core.metrics.presets import OPTION_VALUES as EVALUATION_OPTIONS
from backend.media.clips import ClipJob, CutReport, cut
from backend.media.clips import ensure as cut_clip
from backend.stages.candidates import CandidateReport
from backend.stages.captions import RewriteReport
from backend.stages.corpus import ImportReport
from backend.stages.evaluate import evaluate, evaluate_files
from backend.stages.export import ReleaseReport
from backend.stages.people import PASSWORD_LENGTH, SESSION_S
from backend.stages.queries import QueryReport
from backend.store.project import Project
from backend.store.releases import ReleaseRow

__all__ = [
    "EVALUATION_OPTIONS",
    "PASSWORD_LENGTH",
    "SESSION_S",
    "CandidateReport",
    "ClipJob",
    "CutReport",
    "ImportReport",
    "Project",
    "QueryReport",
    "ReleaseReport",
    "ReleaseRow",
    "RewriteReport",
    "accept_invitation",
    "accept_rewrites",
    "add_person",
    "add_person_with_password",
    "adjudicate",
    "backup",
    "blocked",
    "build_demo",
    "choose_candidates",
    "choose_encoder",
    "clip_for",
    "cut",
    "cut_clip",
    "demo_people",
    "desk",
    "disagreements",
    "draw_queries",
    "evaluate",
    "evaluate_files",
    "export_release",
    "export_zip",
    "import_corpus",
    "init_project",
    "invited",
    "list_people",
    "list_queries",
    "list_releases",
    "migrate",
    "open_batch",
    "open_project",
    "person_for",
    "query_pairs",
    "record_grades",
    "report_clip",
    "restore_clip",
    "rewrite_captions",
    "sign_in",
    "sign_out",
    "status_counts",
    "summarise_raw",
    "suspend",
    "waiting_rewrites",
    "write_pseudo_train",
]
