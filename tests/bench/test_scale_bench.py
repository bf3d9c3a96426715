"""What larger campaigns are reckoned with: bytes of moments and judgements, approximate search beside the exact one.

faiss is in no extra, because the figures do not ask for it; `pip install faiss-cpu` to have its part measured.
"""

import shutil
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.corpus.captions.rows import searchable_captions
from backend.campaign.doctor.database import backup
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging import grades
from backend.campaign.monitoring.progress.progress import progress, stuck, waits
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.monitoring.videos.adding import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.model import QueryFilter
from backend.campaign.review.queries import find_queries
from backend.campaign.review.status import case_counts, status_counts
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from backend.encoders.cache import encode_cached
from backend.encoders.search import top_moments
from backend.encoders.sentence import FloatArray
from bench import campaign
from bench.tables import sized, table
from bench.test_encoding_bench import made_up_around
from bench.test_load import looked_for

pytestmark = pytest.mark.bench

K, FETCHED = 40, 160
"""Candidates of a query, and how many an index is asked for, to be put in order by their exact similarity."""
ASKED = 500
TIMES = sized(2, 10)
LISTS = (32, 128, 256)
"""Lists of an index that a query looks into."""
NOW = 1_790_000_000.0


def cpu_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def size_of(project: Project) -> int:
    """Bytes of the database, closed and put in order."""
    project.store.db.conn.execute("VACUUM")
    project.store.db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (project.folder / "reelrank.db").stat().st_size


@pytest.fixture
def settled_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A settled campaign of TVR-Ranking's size, to be copied."""
    return campaign.settled_folder(tmp_path_factory.getbasetemp())


def test_bytes_of_a_moment_and_of_a_judgement(tmp_path: Path, settled_folder: Path) -> None:
    pairs = 20_000
    few, many = (
        size_of(campaign.open_project(tmp_path / str(moments), pairs, moments=moments)) for moments in (20_000, 120_000)
    )
    settled = open_project(Path(shutil.copytree(settled_folder, tmp_path / "settled")))
    judgements = settled.store.db.conn.execute("SELECT count(*) FROM judgement").fetchone()[0]
    with_them = size_of(settled)
    unjudged = size_of(
        campaign.open_project(tmp_path / "open", (campaign.QUERIES + campaign.FRESH_QUERIES) * campaign.BATCH)
    )
    table(
        "Bytes in the database",
        [
            ("a moment with its caption", f"{(many - few) / 100_000:.0f}"),
            ("a judgement, its seat and its share of the consensus", f"{(with_them - unjudged) / judgements:.0f}"),
        ],
        ("sqlite-utils",),
        "what|bytes",
    )


def test_a_campaign_several_times_as_large(tmp_path: Path, settled_folder: Path) -> None:
    acts: list[tuple[str, Callable[[Project], object]]] = [
        ("open it, pages checked", lambda project: open_project(project.folder).store.close()),
        ("status counts", lambda project: status_counts(project, OPERATOR)),
        ("progress, with its forecast", lambda project: progress(project, OPERATOR, now=NOW)),
        ("what is stuck", lambda project: stuck(project, OPERATOR)),
        ("what waits for a lead", lambda project: waits(project, OPERATOR)),
        ("a page of the lead's queries", lambda project: find_queries(project, OPERATOR, QueryFilter())),
        ("what leads decide", lambda project: case_counts(project, OPERATOR)),
        ("agreement board, figures alone", lambda project: agreement_board(project, OPERATOR, resamples=0)),
        ("consensus made anew", lambda project: grades.rebuild_verdicts(project.store)),
        ("backup", lambda project: backup(project, project.folder / "backup.db")),
        ("doctor", lambda project: doctor(project, now=NOW)),
        ("release", lambda project: export_release(project, OPERATOR, project.folder / "out", now=NOW)),
    ]
    columns = []
    for times in (1, TIMES):
        folder = tmp_path / str(times)
        project = (
            open_project(Path(shutil.copytree(settled_folder, folder)))
            if times == 1
            else campaign.settled_project(folder, times)
        )
        (steady,) = campaign.add_annotators(project, 1, "steady")
        inside, across = looked_for(project, steady, 20)
        columns.append(
            [
                f"{size_of(project) / 1e6:,.0f} MB",
                *(f"{1000 * statistics.median(took):.1f} ms" for took in (inside, across)),
                *(f"{cpu_of(partial(act, project)):.2f} s" for _, act in acts),
            ]
        )
        shutil.rmtree(project.folder)
    what = ("database", "grade + next in a batch", "grade + first of a new batch", *(name for name, _ in acts))
    judged = campaign.QUERIES * campaign.BATCH
    table(
        "CPU of one thread, once",
        list(zip(what, *columns, strict=True)),
        ("sqlite-utils",),
        f"what|{judged:,} pairs, {2 * judged:,} grades|{TIMES} times as many",
    )


def test_approximate_search_beside_the_exact_one(shared: Path, tmp_path: Path) -> None:
    faiss = pytest.importorskip("faiss")
    faiss.omp_set_num_threads(1)
    project = init_project(tmp_path / "project", encoder="minilm")
    for file in ("tvr/tvr_val_release.jsonl", "activitynet/train.json", "charades_sta/charades_train.json"):
        import_corpus(project, OPERATOR, shared / "data" / file, now=NOW)
    texts = sorted({caption.text.strip() for caption in searchable_captions(project.store.db)})
    real = encode_cached(sentence.load(sentence.resolve("minilm")), texts, project.embeddings)
    asked = real[np.random.default_rng(1).choice(len(real), ASKED, replace=False)]
    near = made_up_around(real, 1_000_000)
    rows = []
    for name, captions, lists in ((f"{len(real):,} real captions", real, 1024), ("1,000,000 made up", near, 2048)):
        rows += _beside(faiss, name, captions, asked, lists)
    table(
        f"Top {K} of {ASKED} queries, one thread; an index gives {FETCHED}, put in order exactly",
        rows,
        ("faiss-cpu", "numpy"),
        "what|CPU a query|share of the exact list|CPU to build",
    )


def _beside(faiss: object, name: str, captions: FloatArray, asked: FloatArray, lists: int) -> list[tuple[str, ...]]:
    alone = [[number] for number in range(len(captions))]
    exact: list[FloatArray] = []
    took = cpu_of(lambda: exact.append(top_moments(asked, captions, alone, K).moment_ids.reshape(ASKED, K)))
    rows = [(f"{name}: exact", f"{1000 * took / ASKED:.2f} ms", "1", "")]
    index = faiss.index_factory(captions.shape[1], f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)  # type: ignore[attr-defined]

    def build() -> None:
        index.train(captions[:: max(1, len(captions) // (lists * 40))])
        index.add(captions)

    built = cpu_of(build)
    for looked in LISTS:
        index.nprobe = looked
        found: list[FloatArray] = []

        def search(found: list[FloatArray] = found) -> None:
            _, some = index.search(asked, FETCHED)
            for query, row in zip(asked, some, strict=True):
                there = row[row >= 0]
                found.append(there[np.argsort(-(captions[there] @ query), kind="stable")[:K]])

        took = cpu_of(search)
        shares = [len(np.intersect1d(*both)) / K for both in zip(exact[0], found, strict=True)]
        label = f"{name}: {looked} of {lists} lists"
        rows.append((label, f"{1000 * took / ASKED:.2f} ms", f"{np.mean(shares):.3f}", f"{built:.0f} s"))
    return rows
