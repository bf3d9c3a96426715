"""Fixtures shared by all tests."""

import gc
import json
import logging
import os
import random
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from argon2 import PasswordHasher
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from backend.campaign.doctor.database import move
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.release.export import card, freezing
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import settings_file
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.where import Where
from backend.encoders import sentence
from backend.store import connection, files
from postgres import Cluster, binary
from support import JUMPS, MOMENTS, NOW, PEOPLE, Judging, WordEncoder, have_read

# Nothing in the default run may reach a network: the encoder that runs travels inside a package.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# The many programs that tests start would each compile ours anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell starts what runs in its background deaf to Ctrl-C, which the programs that tests start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
# "Saved means saved, also when the power fails" is nothing that a test can see: where memory serves as a disk with
# room, thousands of small projects need not wait for the real one.
MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


# Random orders of work are the same in every run, so that what fails once fails again.
candidates_rows.secrets = cast(
    Any, SimpleNamespace(token_urlsafe=secrets.token_urlsafe, SystemRandom=lambda: random.Random(1))
)
files.secrets = cast(Any, SimpleNamespace(token_bytes=lambda size: sha256(b"tests").digest()[:size]))

# A busy machine makes no example wrong.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

BROWSER = "tests/browser/"
# What takes longest begins first, so that no process is left alone with it at the end; the rest goes by name.
LONG = (
    *("tests/browser/test_first_run.py", "tests/browser/test_every_screen.py", "tests/browser/test_front_ends.py"),
    *("tests/browser/test_flow.py", "tests/browser/test_leaderboard.py"),
    *("tests/browser/test_attacker.py", "tests/browser/test_set_up.py"),
    *("tests/browser/test_trial_round.py", "tests/browser/test_describe.py", "tests/browser/test_exam_round.py"),
    *("tests/browser/test_account.py", "tests/browser/test_exam.py", "tests/store/test_crash.py"),
    *("tests/install/test_pythons.py", "tests/install/test_wheel.py", "tests/encoders/"),
)
MODELS = (
    *("tests/encoders/", "tests/training/", "tests/systems/"),
    *("tests/campaign/selection/pools/test_checking.py", "tests/campaign/selection/pools/test_whole_videos.py"),
    *("tests/cli/test_mvmr.py", "tests/cli/test_learning.py"),
)
"""Run by one process, because what runs a model takes 5 s to load."""
ON_CLUSTER = (
    *("tests/core/test_cluster.py", "tests/media/test_together.py", "tests/media/test_frame_folders.py"),
    *("tests/cli/test_clips.py", "tests/cli/test_moments.py", "tests/cli/test_evaluate.py"),
    "tests/scoring/studies/test_studies.py",
)
"""Run by the same process, because a cluster takes its part of the cores as long as it is there."""


QUIET_CLUSTER = {
    # Dask's own tries come before ours; for each of them a worker has to come back.
    "distributed.scheduler.allowed-failures": 0,
    # What it watches itself by costs a tenth of a processor as long as it is there, and nobody looks.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "1s",
}


class _ByFile(LoadScopeScheduling):
    """A process runs whole files, which share servers and what they build; one runs all files that load a model.

    The first process begins with those in a browser, which wait a lot, the others with those that compute; whoever is
    through helps with what is left, from its end.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return MODELS[0] if file.startswith((*MODELS, *ON_CLUSTER)) else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        in_browser = sorted((file for file in self.workqueue if file.startswith(BROWSER)), key=_turn)
        others = sorted((file for file in self.workqueue if not file.startswith(BROWSER)), key=_turn)
        ours, theirs = (in_browser, others) if node is self.nodes[0] else (others, in_browser)
        self.workqueue.move_to_end([*ours, *reversed(theirs)][0], last=False)
        super()._assign_work_unit(node)


def _turn(file: str) -> tuple[int, str]:
    return LONG.index(file) if file in LONG else len(LONG), file


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL of this process's tests, which skip where there is none."""
    if binary("initdb") is None:
        pytest.skip("no PostgreSQL here (no initdb)")
    cluster = Cluster()
    cluster.start()
    _clusters.append(cluster)
    yield cluster
    _clusters.remove(cluster)
    cluster.remove()


_clusters: list[Cluster] = []


@pytest.fixture(scope="module", autouse=True)
def databases_go() -> Iterator[None]:
    """Hundreds of databases of the tests before would fill the memory."""
    yield
    for started in _clusters:
        started.drop()


@pytest.fixture(scope="session")
def on_cluster() -> Iterator[Where]:
    """The two workers of a Dask cluster, each a process; the tests skip where there is no Dask."""
    distributed = pytest.importorskip("distributed")
    from dask import config

    with (
        config.set(QUIET_CLUSTER),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as local,
    ):
        yield Where(cluster=local.scheduler_address)


@pytest.fixture
def random_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the campaigns of a test as unpredictable as a user's."""
    monkeypatch.setattr(candidates_rows, "secrets", secrets)
    monkeypatch.setattr(files, "secrets", secrets)


@pytest.fixture(autouse=True)
def main_module_stays() -> Iterator[None]:
    """A page that is tested becomes the main module, which every process that is spawned later would try to run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(params=JUMPS.values(), ids=JUMPS)
def jump(request: pytest.FixtureRequest) -> tuple[float, float]:
    """What the clock said when something began, and what it says a moment later."""
    before, after = request.param
    return before, after


@pytest.fixture
def engine() -> str:
    """What keeps the databases of projects; a file of tests may ask for both."""
    return "sqlite"


@pytest.fixture
def kept(engine: str, request: pytest.FixtureRequest) -> Callable[[Path], Project]:
    """Brings a project that nobody has open to what keeps databases here."""

    def bring(folder: Path) -> Project:
        if engine == "postgresql":
            cluster: Cluster = request.getfixturevalue("cluster")
            move(folder, cluster.address(cluster.new()), now=NOW)
        return open_project(folder)

    return bring


def pytest_configure(config: pytest.Config) -> None:
    """Processes beside one another need no threads for sums: those of each would turn waiting for the others' cores."""
    if config.getoption("numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if config.getoption("markexpr") == "bench":
        from bench.tables import Seconds

        config.pluginmanager.register(Seconds())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Benches load what they measure, torch too: not in every process, where none of them is asked for."""
    asked = config.getoption("markexpr") == "bench" or any("bench" in argument for argument in config.args)
    return True if collection_path.name.endswith("_bench.py") and not asked else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what needs a cluster of Dask, which takes seconds to start, to `make test-long`.

    In `make test`, each property test tries a quarter of its examples. State machines set their own numbers.
    """
    properties: dict[int, Any] = {}  # those with parameters are several items
    for item in items:
        if "on_cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)
        if handle := getattr(getattr(item, "obj", None), "hypothesis", None):
            properties[id(handle)] = getattr(item.obj, "__func__", item.obj)  # type: ignore[attr-defined]
    if "not long" in config.getoption("markexpr"):
        for test in properties.values():
            own = getattr(test, "_hypothesis_internal_use_settings", settings())
            test._hypothesis_internal_use_settings = settings(own, max_examples=max(1, own.max_examples // 4))


def pytest_collection_finish() -> None:
    """What has been collected stays: Python looks for garbage among what comes after it, and less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Who runs what, where there are several processes."""
    return _ByFile(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and golden values beside the project; tests that need it skip without it."""
    folder = Path(os.environ.get("REELRANK_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared data beside the project (set REELRANK_SHARED to its folder)")
    return folder


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server far from Greenwich, whose days are others."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


hash_as_served = permissions._hasher


@pytest.fixture(scope="session", autouse=True)
def passwords_hash_fast() -> Iterator[None]:
    """A password costs a tenth of a second of both cores on purpose, and hundreds of tests sign somebody in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permissions, "_hasher", cache(lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)))
        yield


@pytest.fixture
def passwords_hash_as_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost what they cost everywhere but in tests."""
    monkeypatch.setattr(permissions, "_hasher", hash_as_served)


@pytest.fixture(scope="session")
def packages_are_searched_once() -> Iterator[None]:
    """Streamlit searches all installed packages for components before each page that is tested: 0.3 s of nothing."""
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `corpus_project` copies: making it takes six times as long."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = "".join(
        json.dumps({"video": m.video, "start": m.start_s, "end": m.end_s, "caption": m.caption, "duration": 60}) + "\n"
        for m in MOMENTS
    )
    (folder / "moments.jsonl").write_text(lines)
    project = init_project(folder / "project", encoder="minilm")
    import_corpus(project, OPERATOR, folder / "moments.jsonl", "jsonl", now=NOW)
    project.store.close()
    return folder


@pytest.fixture
def corpus_project(corpus_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with 48 captioned moments in 6 videos, and an encoder that needs no model."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    # A quarter of a second a release, and many tests make one; those that look at figures draw them.
    monkeypatch.setattr(freezing, "figures", lambda documents: dict.fromkeys(card.FIGURES, b"not drawn"))
    shutil.copytree(corpus_folder, tmp_path, dirs_exist_ok=True)
    return open_project(tmp_path / "project")


@pytest.fixture(scope="session")
def make_twelve_pairs() -> Callable[..., Path]:
    """Makes a project of twelve pairs of two queries, a lead and annotators; nobody has it open any more."""

    def made(folder: Path, *annotators: str, settings: Callable[[str], str] = str) -> Path:
        lines = [
            json.dumps({"video": m.video, "start": m.start_s, "end": m.end_s, "caption": m.caption, "duration": 60})
            for m in MOMENTS[:6]
        ]
        (folder / "moments.jsonl").write_text("\n".join(lines))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sentence, "load", lambda spec: WordEncoder())
            begun = init_project(folder / "project", encoder="minilm")
            begun.store.close()  # now, and not while examples copy the folder
            file = begun.folder / "reelrank.toml"
            file.write_text(settings(file.read_text()))
            project = open_project(begun.folder)
            import_corpus(project, OPERATOR, folder / "moments.jsonl", "jsonl", now=NOW)
            draw_queries(project, OPERATOR, val=1, test=1, seed=5, now=NOW)
            choose_candidates(project, OPERATOR, now=NOW)
        lead = people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
        them = [people.add(project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in annotators]
        have_read(project)
        Judging(project, lead, them).give_videos_files()
        project.store.db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        project.store.close()
        return project.folder

    return made


@pytest.fixture(scope="session")
def judging_made(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Judging:
    """What `judging` copies."""
    project = open_project(shutil.copytree(corpus_folder / "project", tmp_path_factory.mktemp("judging") / "project"))
    draw_queries(project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        choose_candidates(project, OPERATOR, now=NOW)
    with connection.writing(project.store):
        lead = people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
        annotators = [people.add(project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in PEOPLE]
        have_read(project)
    project.store.close()
    return Judging(project, lead, annotators)


@pytest.fixture(scope="session")
def judging_moved(judging_made: Judging, cluster: Cluster) -> str:
    """The name of the database that `judging` copies where PostgreSQL keeps it."""
    folder = Path(shutil.copytree(judging_made.project.folder, judging_made.project.folder.parent / "moved"))
    name = cluster.new(stays=True)
    move(folder, cluster.address(name), now=NOW)
    return name


@pytest.fixture
def judging(
    judging_made: Judging, corpus_project: Project, engine: str, request: pytest.FixtureRequest
) -> Iterator[Judging]:
    """Two validation queries and one test query, 20 pairs each, a lead, and four annotators who read the guideline."""
    corpus_project.store.close()
    project = corpus_project
    shutil.copytree(judging_made.project.folder, project.folder, dirs_exist_ok=True)
    if engine == "postgresql":
        cluster: Cluster = request.getfixturevalue("cluster")
        name = cluster.new(request.getfixturevalue("judging_moved"))
        (project.folder / "reelrank.db").unlink()
        settings_file.set_database(project.folder, cluster.address(name))
        project = open_project(project.folder)
    yield Judging(project, judging_made.lead, [*judging_made.annotators])
    project.store.close()
