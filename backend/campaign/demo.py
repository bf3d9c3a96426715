"""Build the demo project from the clips that come with ReelRank, through the same stages that a user goes through.

*Reads* the demo's clips. *Writes* a whole project. Simulated judgements are added on request. They are marked as
simulated in the database, on every screen of the lead and in every release.
"""

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.corpus.importing import importing as corpus
from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.judging import grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.rows import pair_status, seats
from backend.campaign.nouns import OPERATOR, Annotator, Role, Verdict
from backend.campaign.qualification.guideline import practice_pairs as tutorial
from backend.campaign.qualification.guideline import versions
from backend.campaign.release.board import kept_runs
from backend.campaign.review import status
from backend.campaign.review.rows import reviews
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries import drawing
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people_rows
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import places
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.places import require_inside
from backend.core.atomic_output import require_new_folder
from backend.core.errors import ProjectError, SchemaOutOfDate
from backend.core.file_system import make_private, make_private_folder
from backend.core.ids import QueryId
from backend.core.leftovers import OURS
from backend.core.locking import locked
from backend.core.messages import said
from backend.core.progress import Progress, steps_of
from backend.encoders import sentence
from backend.store.connection import writing

LEAD = "Lea"
ANNOTATORS = ("Ana", "Ben", "Cleo", "Dan")
PASSWORD = "reelrank-demo"
"""Everybody's password in the demo, which is served to this machine only."""

VAL_QUERIES, TEST_QUERIES, SEED = 8, 4, 7
SIMULATED_SHARE = 0.75
"""Share of the queries that get simulated judgements with `--judged`; the others are left for people to try."""


def build_demo(
    folder: Path, *, judged: bool, now: float, progress: Progress, begins: Callable[[], object] = lambda: None
) -> Project:
    """Return the demo project in a folder; build it first if the folder does not have it yet.

    Args:
        folder: the folder of the demo project.
        judged: whether to add simulated judgements, which are marked as simulated.
        now: seconds since 1970.
        progress: called with (name of the step, steps done, all steps).
        begins: called before the project is built, once the folder was found to be usable.

    Raises:
        ProjectError: the folder holds something else, or another command is building the demo there; see also
            `open_project`.
        SchemaOutOfDate: another version of ReelRank built it.
    """
    if places.is_project(folder):
        try:
            project = projects.open_project(folder)
        except SchemaOutOfDate as error:
            raise SchemaOutOfDate(
                said(
                    "{refusal}, or delete {folder} and start a new demo",
                    refusal=error.args[0],
                    folder=folder,
                )
            ) from None
        _require_demo(project)
        if judged:
            _judge(project, now=now, progress=progress)
        return project
    with new_folder(folder) as part:
        begins()
        project = _build(part, now=now, progress=progress)
        if judged:
            _judge(project, now=now, progress=progress)
        project.store.close()
    return projects.open_project(folder)


def demo_people() -> tuple[str, Sequence[str], str]:
    """Return (name of the lead, names of the annotators, the password that they all share) of the demo project."""
    return LEAD, ANNOTATORS, PASSWORD


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to build the demo in; at the end of the `with` block, rename it to `folder`.

    The temporary folder lies beside `folder` and has a fixed name. So the next attempt can remove what an interrupted
    one left behind.

    Raises:
        ProjectError: `folder` has files already or cannot be made, or another command is building the demo there.
    """
    place = folder.resolve()
    if place.is_dir() and any(place.iterdir()) and place != Path.cwd():
        raise ProjectError(
            said(
                "{folder} has files but no ReelRank project: name another folder, such as `reelrank demo "
                "my-demo` or `make demo DEMO=my-demo`",
                folder=folder,
            )
        )
    require_new_folder(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    own = place.with_name(f"{OURS}{place.name}")
    try:
        with locked(own.with_name(f"{own.name}.lock"), wait=False):
            if own.is_symlink():  # somebody else made it, and the demo would be built in its target
                own.unlink()
            shutil.rmtree(own, ignore_errors=True)
            try:
                yield own / place.name
                (own / place.name).rename(place)
            finally:
                shutil.rmtree(own, ignore_errors=True)
    except BlockingIOError:
        raise ProjectError(
            said("another command is building the demo in {folder}: wait until it is done", folder=folder)
        ) from None


def _require_demo(project: Project) -> None:
    """Check that a project is the demo.

    Raises:
        ProjectError: one of the demo's users is not in the project.
    """
    if not {LEAD, *ANNOTATORS} <= set(people_rows.names(project.store.db)):
        raise ProjectError(
            said(
                "{folder} is a project of its own, or a demo that was never finished: name another folder, such as "
                "`reelrank demo my-demo` or `make demo DEMO=my-demo`",
                folder=project.folder,
            )
        )


def _build(folder: Path, *, now: float, progress: Progress) -> Project:
    """Create the demo project in a new folder, with videos, captions, queries, candidates and users.

    Args:
        folder: a new project folder.
        now: seconds since 1970.
        progress: called with (name of the step, steps done, all steps).
    """
    spec = sentence.resolve("minilm")
    encoder = sentence.load(spec)
    clips, videos = clip_folder(), folder / "videos"
    require_inside(folder)
    make_private_folder(videos)
    for clip in clips.glob("*.mp4"):
        shutil.copyfile(clip, videos / clip.name)
        make_private(videos / clip.name)
    project = projects.create(folder, encoder=spec.name, encoder_kind=spec.kind, cast=cast())
    corpus.import_file(
        project,
        OPERATOR,
        clips / MOMENTS,
        "jsonl",
        videos=videos,
        decode=False,  # they are our own clips, so none is damaged
        now=now,
        progress=steps_of(progress, "measuring videos"),
    )
    rewrite_captions(project, OPERATOR, encoder=encoder, now=now, progress=progress)
    drawing.draw_queries(project, OPERATOR, val=VAL_QUERIES, test=TEST_QUERIES, seed=SEED, now=now)
    choose_candidates(project, OPERATOR, encoder=encoder, now=now, progress=progress)
    for name in (LEAD, *ANNOTATORS):
        role = Role.LEAD if name == LEAD else Role.ANNOTATOR
        person = people.add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=now)
        if role is Role.ANNOTATOR:  # the demo starts with a clip; people who are invited later get the tutorial
            versions.note_guideline_seen(project, person, 1, now=now)
    tutorial.set_practice_from_file(project, OPERATOR, clips / PRACTICE, now=now)
    return project


def _judge(project: Project, *, now: float, progress: Progress) -> None:
    """Add simulated judgements and example runs to the demo, unless it already has simulated judgements."""
    if not status.counts(project.store)["simulated"]:
        _simulate(project, now=now, progress=progress)
        keep_runs(project, now=now)


def _simulate(project: Project, *, now: float, progress: Progress) -> int:
    """Add simulated grades to the pairs (query and moment) of the first queries; return the number of grades.

    Each pair has a hidden relevance, which is higher if the query and the moment's caption are more similar. Each
    simulated annotator adds random noise to it. So some annotators agree and others disagree. Some disputed pairs are
    settled by two more grades, others are discarded.
    """
    store = project.store
    added = (
        people.add(store, OPERATOR, f"Simulated annotator {n}", Role.ANNOTATOR, now=now, simulated=True)
        for n in range(1, 5)
    )
    crowd = [permissions.require_annotator(store, person) for person in added]
    rng = random.Random(SEED)
    queries = reviews.query_reviews(store.db)
    queries = queries[: round(len(queries) * SIMULATED_SHARE)]
    total = 0
    for done, query in enumerate(queries, start=1):
        total += _judge_query(project, query.query_id, crowd, rng, now=now)
        progress("simulating judgements", done, len(queries))
    return total


def keep_runs(project: Project, *, now: float) -> None:
    """Add three example runs (ranked results of search systems) to the demo, built from the candidates of each query.

    Candidates are the moments chosen for grading because their captions are similar to the query. The first run ranks
    them by this similarity. No real system has the captions, so this run is marked as an upper bound. The second has
    the same ranking, but starts and ends are shifted at random. The third ranks the candidates at random.
    """
    rng = random.Random(SEED)
    lengths = corpus_rows.video_durations(project.store.db)
    by_similarity: dict[str, list[list[Any]]] = {}
    for query in reviews.query_reviews(project.store.db):
        pairs = reviews.pairs_of_query(project.store.db, query.query_id)
        by_similarity[str(query.query_id)] = [[p.video, p.start_s, p.end_s, p.similarity] for p in pairs]

    def loose(video: str, start_s: float, end_s: float) -> list[Any]:
        early, late = (rng.uniform(-0.2, 0.5) * (end_s - start_s) for _ in range(2))
        return [video, round(max(0.0, start_s - early), 2), round(min(lengths[video], end_s + late), 2)]

    runs = {
        "similarity (demo)": by_similarity,
        "similarity, loose boundaries (demo)": {
            query: [[*loose(*moment[:3]), moment[3]] for moment in moments] for query, moments in by_similarity.items()
        },
        "any order (demo)": {
            query: [[*moment[:3], 1 / rank] for rank, moment in enumerate(rng.sample(moments, len(moments)), start=1)]
            for query, moments in by_similarity.items()
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, run) in enumerate(runs.items(), start=1):
            file = Path(folder) / f"demo-run-{number}.json"
            file.write_bytes(msgspec.json.encode(run))
            kept_runs.add_run(project, OPERATOR, file, name=name, upper_bound=number == 1, now=now)


def _judge_query(project: Project, query_id: QueryId, crowd: list[Annotator], rng: random.Random, *, now: float) -> int:
    """Add two simulated grades to each pair of a query, or four if the first two differ too much.

    Return the number of grades.
    """
    grade_count, highest = 0, project.campaign.scale.highest
    for pair in reviews.pairs_of_query(project.store.db, query_id):
        latent = (highest + highest / 10) * max(0.0, pair.similarity or 0.0) ** 1.3
        order = rng.sample(crowd, len(crowd))
        for nth, person in enumerate(order):
            if nth == 2 and pair_status.verdict(project.store.db, pair.pair_id) is not Verdict.ESCALATED:
                break
            grade = min(highest, max(0, round(rng.gauss(latent, 0.9))))
            event = GradeEvent(pair.pair, grade, f"simulated-{pair.pair}-{nth}", active_ms=rng.randrange(1500, 9000))
            with writing(project.store) as db:
                seats.claim(db, person.annotator_id, pair.pair_id, now=now, until=now)
            grades.record_grade(project.store, person, event, now=now, simulated=True)
            grade_count += 1
    return grade_count


MOMENTS = "moments.jsonl"
"""The captions file in the folder of the demo's clips, in format jsonl."""


PRACTICE = "practice.csv"
"""The file of the tutorial's practice pairs in the folder of the demo's clips."""


class _Cast(msgspec.Struct):
    cast: dict[str, str]


def clip_folder() -> Path:
    """Return the folder of the demo's clips: beside this module in an installed wheel, `assets/demo` in a checkout."""
    installed = Path(__file__).with_name("demo_clips")  # see [tool.hatch.build.targets.wheel.force-include]
    return installed if installed.is_dir() else Path(__file__).parents[2] / "assets" / "demo"


def cast() -> dict[str, str]:
    """Return the phrase that replaces each character's name in the captions of the demo's clips."""
    return msgspec.toml.decode((clip_folder() / "cast.toml").read_bytes(), type=_Cast).cast
