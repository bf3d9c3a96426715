"""Commands that are killed at any moment and run again end as if nobody had killed them, and leave nothing behind.

A command runs in a fork of this process, in a process group of its own. Those that cut clips are programs of their own,
because threads that cut do not survive a fork. SIGKILL goes to the process or to the group, at a random moment between
the first file that an undisturbed run writes and its end. Then the command runs again. `make test-long` kills
each command 30 times; commands that ended before their kill do not count.
"""

import json
import os
import random
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import pytest

from backend import cli
from backend.campaign.doctor.database import backup, move
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export import card, freezing
from backend.campaign.setup.project import settings_file
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.project.settings_text import template
from backend.campaign.setup.serving import rules
from backend.core.leftovers import OURS, PART
from backend.encoders import sentence
from backend.store import sqlite
from backend.store.definitions import table_names
from cli.test_import_judgements import PAIRS, RAW
from commands import reelrank
from old_schemas import to_postgresql
from postgres import SQLITE_FIRST, Cluster
from scored import write_video
from support import MOMENTS, NOW, Judging, WordEncoder, small_clips

pytestmark = pytest.mark.long
KILLS = int(os.environ.get("REELRANK_KILLS", "1"))
M001 = Path(__file__).parents[1] / "store" / "m001.sql"
DONE = re.compile(r"[Nn]othing (to do|is left to do)")
"""What a command says that finds its work done."""
MOST_ATTEMPTS = 30
"""How many commands may be started for each kill that has to come before their end."""
PATIENCE_S = 120.0
PATHS = {"PYTHONPATH": str(Path(__file__).parents[2])}
MOMENT = re.compile(r"\d{8}-\d{6}")
RUNS = "job"
"""The table with a row for each run of a command that is a background job in a browser."""
RANDOM = {"pair_key", "secret", "lock", "token", "sha256_of_manifest"}
"""Columns whose values nobody can foresee."""
LATEST = 0.8
"""The share of a command's time after which it is killed at the latest, if it writes nothing before."""

Make = Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """A command: which state it needs, and its arguments; DIR is the project, NEW an empty database of PostgreSQL.

    On the engine "postgresql there" the project begins in a file or is missing, and NEW is in the environment, too.
    """

    start: str
    arguments: str
    engines: tuple[str, ...] = ("sqlite", "postgresql")
    forked: bool = True


CASES = {
    "init": Case("nothing", "init DIR --encoder minilm --scale matches", ("sqlite", "postgresql there")),
    "import-release": Case("released", "import-release release DIR", ("sqlite", "postgresql there")),
    "import": Case("empty", "import DIR moments.jsonl --jobs 1"),
    "rewrite": Case("imported", "rewrite DIR"),
    "queries": Case("imported", "queries DIR --val 2 --test 1 --seed 5"),
    "candidates": Case("drawn", "candidates DIR"),
    "import-judgements": Case("empty", "import-judgements DIR raw.csv --pairs pairs.csv"),
    "migrate": Case("old", "migrate DIR"),
    "restore": Case("settled", "restore DIR monday.db", ("sqlite",)),
    "backup": Case("settled", "backup DIR tuesday.db"),
    "clips": Case("with videos", "clips DIR --jobs 1", forked=False),
    "clips in processes": Case("with videos", "clips DIR --jobs 2", ("sqlite",), forked=False),
    "move there": Case("settled", "move DIR NEW", ("postgresql there",)),
    "move back": Case("settled", "move DIR file", ("postgresql",)),
    **{
        f"export {name}": Case("settled", f"export DIR out --unfinished --format {name}")
        for name in ("tvr-ranking", "trec", "parquet", "qvhighlights")
    },
    "pseudo-train": Case("settled", "pseudo-train DIR out"),
}


@pytest.fixture(scope="session")
def starts(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a folder with the files that commands read, and a project in a state; each state once."""
    made: dict[str, Path] = {}

    def empty(folder: Path) -> None:
        lines = [
            {"video": m.video, "start": m.start_s, "end": m.end_s, "caption": m.caption, "duration": 60}
            for m in MOMENTS
        ]
        (folder / "moments.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "raw.csv").write_text(RAW)
        (folder / "pairs.csv").write_text(PAIRS)
        init_project(folder / "project", encoder="minilm").store.close()

    def imported(folder: Path) -> None:
        empty(folder)
        project = open_project(folder / "project")
        import_corpus(project, OPERATOR, folder / "moments.jsonl", "jsonl", now=NOW)
        project.store.close()

    def drawn(folder: Path) -> None:
        imported(folder)
        assert _ended(_started(folder, "queries DIR --val 2 --test 1 --seed 5"))[0] == 0

    def old(folder: Path) -> None:
        own = folder / "project"
        own.mkdir()
        (own / "reelrank.toml").write_text(
            template().format(name='"old"', encoder='"minilm"', encoder_kind='"minilm"', cast="")
        )
        with closing(sqlite3.connect(own / "reelrank.db")) as db:
            db.executescript(M001.read_text())
            db.execute("PRAGMA journal_mode = wal")

    def settled(folder: Path) -> None:
        shutil.copytree(judging_made.project.folder, folder / "project")
        judging = Judging(open_project(folder / "project"), judging_made.lead, judging_made.annotators)
        backup(judging.project, folder / "monday.db")
        for pair in judging.pairs()[:25]:
            for who in (0, 1):
                judging.grade(who, pair.pair, 3)
        judging.project.store.close()

    def released(folder: Path) -> None:
        settled(folder)
        assert _ended(_started(folder, "export DIR release --unfinished"))[0] == 0
        shutil.rmtree(folder / "project")

    def with_videos(folder: Path) -> None:
        empty(folder)
        shutil.rmtree(folder / "project")
        shutil.copytree(judging_made.project.folder, folder / "project")
        (folder / "videos").mkdir()
        for number in range(6):
            write_video(folder / "videos" / f"v{number}.mp4", 60)
        small_clips(folder / "project")
        project = open_project(folder / "project")
        import_corpus(project, OPERATOR, folder / "moments.jsonl", videos=folder / "videos", now=NOW)
        project.store.close()

    makers: dict[str, Make] = {
        **{"empty": empty, "imported": imported, "drawn": drawn, "old": old},
        **{"settled": settled, "with videos": with_videos, "released": released, "nothing": lambda folder: None},
    }

    def start(state: str) -> Path:
        if state not in made:
            made[state] = tmp_path_factory.mktemp("start")
            makers[state](made[state])
        return made[state]

    return start


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On a disk, where writing takes its time."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("engine", SQLITE_FIRST)
@pytest.mark.parametrize("name", CASES)
def test_a_killed_command_that_is_run_again_ends_as_if_nobody_had_killed_it(
    name: str,
    engine: str,
    starts: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    case = CASES[name]
    if engine not in case.engines and f"{engine} there" not in case.engines:
        pytest.skip("does not apply")
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    # What draws figures has threads, which a fork lacks.
    monkeypatch.setattr(freezing, "figures", lambda documents: dict.fromkeys(card.FIGURES, b"not drawn"))
    cluster: Cluster | None = request.getfixturevalue("cluster") if engine == "postgresql" else None
    template_database = ""
    start = starts(case.start)
    if cluster and engine in case.engines:
        start = Path(shutil.copytree(start, tmp_path / "moved"))
        template_database = cluster.new()
        if case.start == "old":
            to_postgresql(start / "project", cluster.address(template_database))
        else:
            move(start / "project", cluster.address(template_database), now=NOW)

    last = ""

    def fresh(place: Path) -> str:
        """Copy the project from before the command, and return the command's arguments there.

        The database of the copy made before is dropped.
        """
        nonlocal last
        shutil.copytree(start, place)
        if cluster is None:
            return case.arguments
        last = cluster.new(template_database or "template1", instead_of=last)
        new = cluster.address(last)
        if template_database:
            settings_file.set_database(place / "project", new)
            return case.arguments
        if "NEW" not in case.arguments:
            monkeypatch.setenv(settings_file.ADDRESS_VARIABLE, new)
        return case.arguments.replace("NEW", new)

    place = tmp_path / "place"  # always the same: events have digests of where files were written
    if case.forked:  # what is imported once here is not imported in each fork
        arguments = fresh(place)
        with monkeypatch.context() as patch:
            patch.chdir(place)
            reelrank(*_words(arguments))
        shutil.rmtree(place)
    arguments = fresh(place)
    before, took_s = _measured(place, arguments, case.forked)
    wanted = _state(place)
    chance = random.Random(name)
    told: Counter[str] = Counter()
    while told["killed"] < KILLS:
        number = told["attempts"]
        assert told["attempts"] < MOST_ATTEMPTS * KILLS, told
        shutil.rmtree(place)
        arguments = fresh(place)
        child, output = _started(place, arguments, case.forked)
        begun = time.monotonic()  # a fork of a large process takes longer than some commands
        if _ends_within(child, took_s * chance.uniform(before, 1)):
            took_s = (took_s + time.monotonic() - begun) / 2
        with suppress(ProcessLookupError):
            (os.kill if number % 2 else os.killpg)(child, signal.SIGKILL)
        code, out = _ended((child, output))
        told["attempts"] += 1
        told["killed"] += code == -signal.SIGKILL
        told["left something"] += bool(_leftovers(place))
        code, out = _ended(_started(place, arguments, case.forked))
        if "already being cut" in out:  # a job counts as running until nothing was heard of it for some seconds
            _silent_for(place, rules.QUIET_S)
            code, out = _ended(_started(place, arguments, case.forked))
        assert code == 0, (number, code, out)
        told["was done"] += bool(DONE.search(out))
        assert _leftovers(place) == [], (number, out)
        assert _differences(_state(place), wanted) == [], (number, code, out)
    print(f"{name} ({engine}), {before * took_s:.2f} to {took_s:.2f} s: {dict(told)}")


def _silent_for(place: Path, seconds: float) -> None:
    """Let the last report of the project's jobs be so much older, instead of waiting."""
    project = open_project(place / "project")
    with project.store.writing() as db:
        db.conn.execute("UPDATE job SET heard_at = heard_at - ?", [seconds])
    project.store.close()


def _measured(place: Path, arguments: str, forked: bool) -> tuple[float, float]:
    """Run a command undisturbed; return which share of its time passes before it writes a file, and its time in s."""

    def files() -> set[tuple[str, int]]:
        listed = set()
        for folder, folders, names in os.walk(place):  # it passes over folders that are removed meanwhile
            for name in {*folders, *names} - {".output"}:  # what it prints
                with suppress(FileNotFoundError):
                    path = os.path.join(folder, name)
                    listed.add((path, os.stat(path).st_mtime_ns))
        return listed

    present, first_s = files(), 0.0
    child, output = _started(place, arguments, forked)
    begun = time.monotonic()
    while not _ends_within(child, 0.001):
        if not first_s and files() != present:
            first_s = time.monotonic() - begun
    took_s = time.monotonic() - begun
    code, out = _ended((child, output))
    assert code == 0, out
    return min(first_s / took_s, LATEST), took_s


def _ends_within(child: int, most_s: float) -> bool:
    """Wait until a process has ended, but only so long; return whether it has."""
    process = os.pidfd_open(child)
    try:
        return bool(select.select([process], [], [], most_s)[0])
    finally:
        os.close(process)


def _words(arguments: str) -> list[str]:
    return ["project" if word == "DIR" else word for word in arguments.split()]


def _started(place: Path, arguments: str, forked: bool = True) -> tuple[int, Path]:
    """Start a command in a fork in a folder; return its process and the file of its output."""
    output = place / ".output"
    if not forked:
        with output.open("wb") as file:
            command = [sys.executable, "-m", "backend", *_words(arguments)]
            program = subprocess.Popen(
                command, stdout=file, stderr=file, cwd=place, start_new_session=True, env=os.environ | PATHS
            )
        program.returncode = 0  # `_ended` waits for it
        return program.pid, output
    child = os.fork()
    if child:
        with suppress(ProcessLookupError, PermissionError):
            os.setpgid(child, child)
        return child, output
    code = 70
    try:
        signal.alarm(int(PATIENCE_S))
        os.setpgid(0, 0)
        os.chdir(place)
        file = os.open(output, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(file, 1)
        os.dup2(file, 2)
        sys.stdout = sys.stderr = open(1, "w", closefd=False)  # noqa: SIM115
        sys.argv = ["reelrank", *_words(arguments)]
        cli.main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc(file=sys.stdout)
    finally:
        with suppress(ValueError):
            sys.stdout.flush()
        os._exit(code)


def _ended(started: tuple[int, Path]) -> tuple[int, str]:
    """Wait until a command and all of its processes have ended; return its exit code and output, which is removed."""
    child, output = started
    deadline = time.monotonic() + PATIENCE_S
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    while _group_lives(child):
        assert time.monotonic() < deadline, "its workers did not end with it"
        time.sleep(0.05)
    text = output.read_text() if output.exists() else ""
    output.unlink(missing_ok=True)
    return code, text


def _group_lives(group: int) -> bool:
    """Whether a process of a group still runs; what ended and was not asked for by its new parent does not."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of, *_ = file.read_text().rpartition(")")[2].split()
            if int(of) == group and state not in "ZX":
                return True
    return False


def _leftovers(place: Path) -> list[str]:
    names = [path.relative_to(place).as_posix() for path in place.rglob("*")]
    names = [name for name in names if "/cache/job-" not in name]  # of the list of jobs, which ends with their rows
    return sorted(name for name in names if OURS in name or PART in name or name.endswith((".lock", ".tmp")))


def _differences(found: dict[str, list[str]], wanted: dict[str, list[str]]) -> list[tuple[str, str, list[str]]]:
    """Return for each file or table what is too many and what is missing."""
    return [
        (name, word, lines)
        for name in sorted({*found, *wanted})
        for word, one, other in (("more", found, wanted), ("missing", wanted, found))
        if (lines := sorted((Counter(one.get(name, [])) - Counter(other.get(name, []))).elements()))
    ]


def _state(place: Path) -> dict[str, list[str]]:
    """The rows of the project's database and the files, without times; vectors are cached in pieces that may differ."""
    files: dict[str, list[str]] = {}
    for path in sorted(place.rglob("*")):
        name = MOMENT.sub("TIME", path.relative_to(place).as_posix())
        if (
            name.startswith(("project/cache/embeddings", "project/cache/job-"))
            or name.endswith(("-wal", "-shm"))
            or path.is_dir()
        ):
            continue
        assert not any(one.split(" ")[0] == name for one in files), name  # no second copy but for its time
        if path.suffix == ".db" and path.name != "reelrank.db":
            with closing(sqlite3.connect(path)) as db:
                tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                files |= {
                    f"{name} {table}": _rows(
                        db.execute, table, [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
                    )
                    for table in tables
                }
        elif path.name not in ("reelrank.db", "reelrank.toml"):
            files[name] = _pictures(path) if path.suffix == ".mp4" else [sha256(path.read_bytes()).hexdigest()]
    project = open_project(place / "project")
    try:
        with closing(sqlite.fresh()) as schema:
            files |= {
                f"database {table}": _rows(
                    project.store.db.conn.execute,
                    table,
                    [one.name for one in schema.table(table).columns],
                    numbered=(place / "project" / "reelrank.db").exists(),
                )
                for table in table_names(schema)
                if table != RUNS
            }
    finally:
        project.store.close()
    return files


def _pictures(path: Path) -> list[str]:
    """The pictures of a clip with their times: an encoder may write the same ones in two ways, with a byte more."""
    with av.open(str(path)) as clip:
        pictures = [(frame.pts, frame.to_ndarray(format="rgb24").tobytes()) for frame in clip.decode(video=0)]
    return [f"{pts} {sha256(content).hexdigest()}" for pts, content in pictures]


def _rows(
    execute: Callable[[str], Iterable[Sequence[object]]], table: str, columns: Sequence[str], *, numbered: bool = True
) -> list[str]:
    """Return the rows of a table; without `numbered`, row numbers are left out, which PostgreSQL never gives again."""
    columns = [name for name in columns if numbered or not name.endswith("_id")]
    kept = [f'"{name}"' for name in columns if name not in RANDOM and name != "at" and not name.endswith("_at")]
    rows = execute(f'SELECT {", ".join(kept)} FROM "{table}"') if kept else []
    return sorted(MOMENT.sub("TIME", repr(tuple(row))) for row in rows)
