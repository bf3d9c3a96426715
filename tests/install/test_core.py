"""What the wheel does without any extra: it scores, compares, reports and studies; everything else names its extra.

The environment holds the wheel and what it requires, and nothing else of this one. The test of POSIX-only modules runs
in this environment, where everything could be imported.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from installing import ELSEWHERE, ROOT, Installed, closure, install, lend, requirements, run

EXAMPLE = ROOT / "assets" / "example"
TRUTH, RUN, POOLS = EXAMPLE / "val.json", EXAMPLE / "run.json", EXAMPLE / "pools.json"
BOTH = ["--run", f"a={RUN}", "--run", f"b={EXAMPLE / 'run.csv'}"]


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with what it requires."""
    there = install(wheel, tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("home"))
    lend(there, closure(requirements()).values())
    return there


def reelrank(there: Installed, *arguments: object) -> str:
    return run(there.reelrank, *map(str, arguments), cwd=there.home)


@pytest.mark.long
def test_the_core_scores_with_statistics_charts_and_a_report(core: Installed) -> None:
    asked = ["evaluate", "--truth", TRUTH, *BOTH]
    files = ["--chart", "by-k=k.svg", "--chart", "order=o.png", "--report", "report.html", "--per-query", "q.csv"]
    statistics = ["--intervals", "--baseline", "a", "--by", "duration", "--errors"]
    found = reelrank(core, *asked, *files, *statistics, "--jobs", 2, "--format", "json")
    assert '"p_t": ' in found
    assert "</html>" in (core.home / "report.html").read_text(encoding="utf-8")
    assert all((core.home / name).stat().st_size for name in ("k.svg", "o.png", "q.csv"))
    assert "ndcg" in reelrank(core, *asked).lower()


@pytest.mark.long
def test_the_core_scores_in_pools_and_by_benchmarks(core: Installed) -> None:
    pools = ["--pool", POOLS, "--run", EXAMPLE / "pools_run.json", "--own-video", "--report", "pools.html"]
    assert "recall" in reelrank(core, "evaluate", *pools, "--format", "csv")
    files = ["--truth", EXAMPLE / "qvhighlights.jsonl", "--run", EXAMPLE / "qvhighlights_run.jsonl"]
    assert "MR-full-mAP" in reelrank(core, "evaluate", *files, "--benchmark", "qvhighlights")
    for file in (POOLS, EXAMPLE / "moments.jsonl"):
        assert "queries" in reelrank(core, "mvmr", "stats", file)


@pytest.mark.long
@pytest.mark.parametrize("study", ["agreement", "noise", "theory"])
def test_the_core_studies_measures(core: Installed, study: str) -> None:
    given = [] if study == "theory" else ["--truth", TRUTH, *BOTH]
    few = ["--sets", 5] if study == "noise" else []
    assert reelrank(core, "measures", study, *given, *few, "--out", study)


@pytest.mark.long
def test_the_core_reads_truths_releases_and_raw_annotations(core: Installed) -> None:
    release = core.home / "release"
    release.mkdir()
    (release / "val.json").write_bytes(TRUTH.read_bytes())
    changed = core.home / "changed"
    changed.mkdir()
    (changed / "val.json").write_bytes(TRUTH.read_bytes().replace(b'"relevance": 4', b'"relevance": 3'))
    reelrank(core, "match-run", "--truth", TRUTH, "--run", RUN, "run.trec", "--qrels", "val.qrels")
    assert (core.home / "val.qrels").stat().st_size
    assert "verbs" in reelrank(core, "stats", EXAMPLE / "corpora" / "tvr.jsonl")
    assert "queries" in reelrank(core, "stats", release)
    assert "alpha" in reelrank(core, "consensus", EXAMPLE / "raw_annotation.csv")
    assert "Alpha" in reelrank(core, "agreement", EXAMPLE / "raw_annotation.csv", "--others", "others.csv")
    assert reelrank(core, "diff", release, changed)


@pytest.mark.long
def test_every_command_explains_itself_in_the_core(core: Installed) -> None:
    code = """
import sys
from typer.main import get_command
from backend import cli
from backend.core import extras

def explain(command, path):
    for name, part in getattr(command, "commands", {}).items():
        explain(part, [*path, name])
    try:
        command.main([*path[len(path):], "--help"], prog_name=" ".join(["reelrank", *path]))
    except SystemExit as leaving:
        assert not leaving.code, path

explain(cli.command(), [])
print(len([name for name in sys.modules if name in extras.MODULES["app"]]))
"""
    told = core.python(code)
    assert told.count("Usage: ") > 80
    assert told.splitlines()[-1] == "0"


TORCH_FIRST = """\
reelrank: `reelrank {command}` needs the extra "{extra}", which is not installed. \
Install the CPU build of PyTorch first, then the extra:
  pip install torch --index-url https://download.pytorch.org/whl/cpu
  pip install "reelrank[{extra}]"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "extra", "arguments"),
    [
        ("serve", "app", ["project"]),
        ("mvmr figures", "app", [POOLS, "figures"]),
        ("train", "train", [EXAMPLE / "train.toml"]),
    ],
)
def test_a_command_of_an_extra_says_how_to_install_it(
    core: Installed, command: str, extra: str, arguments: list[str | Path]
) -> None:
    assert core.refused(*command.split(), *arguments) == TORCH_FIRST.format(command=command, extra=extra)


@pytest.mark.long
def test_a_data_frame_says_that_it_needs_pandas(core: Installed) -> None:
    code = """
from reelrank import evaluate
span = {"start": 0, "end": 9}
found = evaluate({"q": [{"video": "a", **span, "relevance": 4}]}, {"q": [["a", 0, 9, 0.9]]})
try:
    found.to_frame()
except ImportError as error:
    print(error)
"""
    told = (
        '`to_frame()` needs the extra "pandas", which is not installed. Install it:\n  pip install "reelrank[pandas]"'
    )
    assert core.python(code) == f"{told}\n"


@pytest.mark.long
def test_a_module_that_no_extra_brings_is_a_bug(core: Installed) -> None:
    code = """
import sys
from backend import api, cli
sys.argv = ["reelrank", "measures", "benchmarks"]
sys.modules["backend.scoring.benchmarks"] = None
try:
    cli.main()
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert core.python(code) == "backend.scoring.benchmarks\n"


@pytest.mark.long
def test_training_imports_the_core_and_its_own_extra() -> None:
    """In this environment, where the app's packages could be imported."""
    code = """
import builtins
from backend.core import extras

ordinary, barred = builtins.__import__, extras.MODULES["app"] - extras.MODULES["train"]

def imported(name, globals=None, locals=None, fromlist=(), level=0):
    ours = (globals or {}).get("__name__", "").partition(".")[0] == "backend"
    assert not ours or name.partition(".")[0] not in barred, name
    return ordinary(name, globals, locals, fromlist, level)

builtins.__import__ = imported
from backend.systems.learning.trained_models import predict_run, train_model

"""
    run(sys.executable, "-c", code, cwd=ROOT)


POSIX_MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
# "Availability: Unix", or less than Windows and macOS both, in Python's documentation of os and signal.
POSIX_NAMES = {
    "os": (
        *(
            "fork",
            "getuid",
            "geteuid",
            "getgid",
            "kill",
            "killpg",
            "mkfifo",
            "nice",
            "pread",
            "pwrite",
            "register_at_fork",
        ),
        *(
            "sched_getaffinity",
            "sendfile",
            "setsid",
            "statvfs",
            "sysconf",
            "uname",
            "wait",
            "waitpid",
            "fchown",
            "chown",
        ),
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_TMPFILE", "posix_fadvise"),
    ),
    "signal": (
        *("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPROF", "SIGUSR1", "SIGVTALRM", "SIGWINCH"),
        *("alarm", "pthread_kill", "setitimer", "ITIMER_PROF", "ITIMER_VIRTUAL", "pthread_sigmask"),
    ),
    "time": ("tzset", "pthread_getcpuclockid"),
}
ON_WINDOWS = f"""
import builtins, importlib, os, pkgutil, sys, types

ordinary = builtins.__import__

def without(module, names):
    '''The module as other systems have it.'''
    other = types.ModuleType(module.__name__)
    other.__dict__.update({{name: value for name, value in vars(module).items() if name not in names}})
    return other

elsewhere = {{name: without(importlib.import_module(name), names) for name, names in {POSIX_NAMES!r}.items()}}

def imported(name, globals=None, locals=None, fromlist=(), level=0):
    if (globals or {{}}).get("__name__", "").partition(".")[0] in ("backend", "reelrank"):
        if name in {POSIX_MODULES!r}:
            raise ModuleNotFoundError(f"{{name}} is only there on POSIX", name=name)
        if name in elsewhere:
            return elsewhere[name]
    return ordinary(name, globals, locals, fromlist, level)

builtins.__import__ = imported
"""


def test_scoring_needs_nothing_that_only_posix_systems_have(tmp_path: Path) -> None:
    """Our modules import as on Windows: without such modules, and without such functions of os and signal."""
    code = f"""{ON_WINDOWS}
import reelrank
from backend import api, cli
import backend.scoring
for name in reelrank.__all__:
    getattr(reelrank, name)
for module in pkgutil.walk_packages(backend.scoring.__path__, "backend.scoring."):
    importlib.import_module(module.name)
sys.argv = ["reelrank", "evaluate", "--truth", {str(TRUTH)!r}, "--run", {str(RUN)!r}, "--report", "report.html"]
cli.main()
"""
    command = [sys.executable, "-c", code]
    environment = {**ELSEWHERE, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ndcg" in done.stdout.lower()
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_barrier_of_the_test_above_bars(tmp_path: Path) -> None:
    code = f"""{ON_WINDOWS}
for module in ("backend.core.locking", "backend.store.upkeep"):
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        print(error.name)
"""
    command = [sys.executable, "-c", code]
    environment = {**ELSEWHERE, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "fcntl\nfcntl\n"
