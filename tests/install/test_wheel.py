"""What a stranger installs: an sdist and its wheel build, and the wheel alone does what ReelRank does.

Nothing here reaches a network. The wheel lies in an environment outside the checkout, and beside it everything that
this environment holds; test_core.py has what the wheel does without its extras.
"""

import json
import math
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import pytest

from app_server import AppServer
from backend.campaign.setup.serving.server import served_at
from installing import ELSEWHERE, ROOT, Installed, install, run

pytestmark = pytest.mark.long


def test_the_sdist_holds_what_the_checkout_holds(wheel: Path) -> None:
    """But for what is about the place where it is developed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no checkout of git")
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    kept = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    assert {name for name in kept - held if not name.startswith(".github/")} == set()
    assert not [name for name in held if name.endswith((".db", ".pyc", "/.env"))]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with the wheel, then a line that leads to the packages of this one.

    Python follows no such line found behind another, so an editable ReelRank among those packages stays out.
    """
    there = install(wheel, tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("home"))
    lines = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (there.packages / "needed.pth").write_text("\n".join(lines), encoding="utf-8")
    return there


@pytest.fixture(scope="module")
def demo(installed: Installed) -> Path:
    """The demo, built by the installed command."""
    said = run(installed.reelrank, "demo", "demo", "--no-serve", cwd=installed.home)
    assert "16 videos, 96 moments, 240 pairs to grade" in said
    return installed.home / "demo"


def test_the_wheel_holds_the_packages_whole_and_the_clips_and_no_other_name(wheel: Path) -> None:
    packages = [*ROOT.glob("reelrank/**/*"), *ROOT.glob("annotate_app/**/*"), *ROOT.glob("backend/**/*")]
    wanted = {
        path.relative_to(ROOT).as_posix() for path in packages if path.is_file() and "__pycache__" not in path.parts
    }
    wanted |= {f"backend/campaign/demo_clips/{path.name}" for path in (ROOT / "assets/demo").iterdir()}
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert {"reelrank/py.typed", "backend/py.typed"} <= wanted
    assert len(set(names)) == len(names)


def test_everything_is_imported_from_the_wheel(installed: Installed) -> None:
    code = """
import json, sys, annotate_app, backend, reelrank
print(json.dumps([[module.__file__ for module in (annotate_app, backend, reelrank)], sys.path]))
"""
    files, searched = json.loads(installed.python(code))
    assert all(Path(file).is_relative_to(installed.environment) for file in files), files
    assert str(ROOT) not in searched


def test_scores_come_from_the_documented_import(installed: Installed) -> None:
    """Worked by hand: relevance 2 found first and 4 second, of these two."""
    code = """
from reelrank import evaluate
span = {"start": 0, "end": 9}
truth = {"q": [{"video": "a", **span, "relevance": 4}, {"video": "b", **span, "relevance": 2}]}
run = {"q": [["b", 0, 9, 0.9], ["a", 0, 9, 0.8]]}
print(evaluate(truth, run, k=[2], mu=[0.5], measures=["ndcg"])["mean"]["ndcg@2,0.5"])
"""
    by_hand = (2 + 4 / math.log2(3)) / (4 + 2 / math.log2(3))
    assert float(installed.python(code)) == pytest.approx(by_hand, abs=1e-12)


def test_the_demo_is_built_from_the_clips_in_the_wheel(demo: Path) -> None:
    kept = {path.name: path.read_bytes() for path in (ROOT / "assets/demo").glob("*.mp4")}
    assert {path.name: path.read_bytes() for path in (demo / "videos").iterdir()} == kept


def test_the_sign_in_page_is_served_with_its_looks_and_ctrl_c_ends_it_in_one_line(
    installed: Installed, demo: Path
) -> None:
    log = installed.home / "server.log"
    server = AppServer(demo, log, program=[str(installed.reelrank)], cwd=installed.home, env=ELSEWHERE)
    try:
        server.start()
        assert log.read_text() == f"Serving {demo} on {server.url}  (stop with Ctrl-C)\n"
        assert served_at(demo) == server.url
        for path, found in (("/", "<h1>Sign in</h1>"), ("/session/sign_in.css", "font"), ("/session/mark.svg", "<svg")):
            with urllib.request.urlopen(server.url + path, timeout=30) as answer:
                assert found in answer.read().decode(), path
        assert server.process is not None
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait() == 0
        assert log.read_text().partition("\n")[2] == "\nStopped.\n"
        assert served_at(demo) == ""
    finally:
        server.kill()
