"""The command line: exit codes, clean JSON, messages that say what to do, help with an example everywhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backend import cli
from backend.campaign.corpus.importing.formats import FORMATS as CORPUS_FORMATS
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people.permissions import sign_in
from cli.conftest import Run
from scored import write_video
from support import Judging


def test_the_public_commands_keep_their_names() -> None:
    """Those that other programs may rely on, also where a longer name is the documented one now."""
    wanted = "demo init import cast rewrite queries candidates probe-figures pseudo-train serve status export "
    wanted += (
        "stats consensus agreement evaluate backup migrate move clip clips import-judgements restore doctor flags "
        "hours log settings validate releases terms diff match-run import-release moments probe baseline features "
        "train predict"
    )
    groups = {
        "measures": "agreement stability noise ties model-selection theory axioms benchmarks",
        "guideline": "show set",
        "tutorial": "set status on off",
        "exam": "preview set close use status results off retake exempt",
        "gold": "set status off",
        "trial": "start status end export",
        "batches": "show accept rule",
        "truths": "add list remove",
        "runs": "add list remove",
        "describe": "show open close list export guideline",
        "users": "add",
    }
    root = cli.command()
    context = root.make_context("reelrank", [], resilient_parsing=True)
    assert [name for name in wanted.split() if root.get_command(context, name) is None] == []
    for name, below in groups.items():
        assert set(below.split()) <= set(root.commands[name].commands)  # type: ignore[attr-defined]


def test_what_few_commands_need_is_not_loaded_for_all() -> None:
    """Half a second of every command, and a third of the server's memory."""
    heavy = ["torch", "scipy", "altair", "vl_convert", "cv2"]
    code = (
        f"import sys, annotate_app.server.routes, backend.cli; print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_status_json_is_json_alone_and_says_what_the_contract_names(reelrank: Run, judging: Judging) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    code, out, err = reelrank("status", judging.project.folder, "--json")
    counts = json.loads(out)
    assert (code, err) == (0, "")
    assert set(counts) >= {
        *("videos", "moments", "captions", "queries", "batches", "pairs", "judgements", "annotators"),
        *("encoder", "sources", "schema"),
    }
    assert set(counts["queries"]) == {"val", "test", "train"}
    assert counts["queries_by_batches"] == {"val": {"1": 2}, "test": {"1": 1}}
    assert set(counts["pairs"]) == {
        *("open", "escalated", "consensus", "discarded", "adjudicated", "blocked", "set_aside")
    }
    assert sum(counts["pairs"].values()) == 60
    assert counts["judgements"] == 1
    assert counts == status_counts(judging.project, OPERATOR)


def test_status_speaks_plainly_and_tells_hashes_and_schema_only_when_asked(
    reelrank: Run, judging: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = f"minilm kind=minilm tokens=256 weights={64 * 'a'} files={12 * 'b'}"
    plain = status_counts(judging.project, OPERATOR)
    told = {**plain, "encoder": identity, "sources": [identity, "run B"]}
    monkeypatch.setattr("backend.campaign.review.status.status_counts", lambda project, by: told)
    out = reelrank.out("status", judging.project.folder)
    assert re.findall(r"_|schema|\b[0-9a-f]{12,}\b|\bm\d{3}", out) == []
    assert "Candidates from: minilm, run B\n" in out
    assert re.search(r"^pairs +settled by annotators +0$", out, re.MULTILINE)
    verbose = reelrank.out("status", judging.project.folder, "--verbose")
    assert verbose.startswith(out.partition("\nCandidates")[0])
    assert f"Candidates from: {identity}, run B\n" in verbose
    assert f"Version of the database: {plain['schema']}\n" in verbose


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["status", "nowhere"], "nowhere is not a project (no reelrank.db): run `reelrank init nowhere`"),
        (["migrate", "nowhere"], "is not a project"),
        (["consensus", "no.csv"], "no.csv: cannot be read: No such file or directory"),
        (["clip", "no.mp4", "1", "2", "out.mp4"], "no.mp4"),
        (["evaluate", "--truth", "no.json", "--run", "no.json"], "no.json"),
    ],
)
def test_a_refusal_is_one_message_and_code_1(
    reelrank: Run, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    err = reelrank.refusal(*arguments)
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "p", "f", "--format", "xml"], f"'xml' is not one of {', '.join(list(CORPUS_FORMATS)[:5])}"),
        (["import", "p", "f", "--columns", "start"], "'start' is not of the form NAME=COLUMN,NAME=COLUMN"),
        (["import", "p", "f", "--columns", "start=a,start=b"], "gives a name twice"),
        (["candidates", "p", "--batch-size", "41"], "41 is not in the range 1<=x<=40"),
        (["evaluate", "--truth", "t", "--run", "r", "--k", "ten"], "'ten' is not a list of numbers"),
        (["evaluate", "--truth", "t", "--run", "r", "--option", "gain=cubic"], "gain is one of linear, exp2"),
        (["users", "add", "p", "Ana", "--role", "king"], "'annotator', 'lead'"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_wrong_usage_is_code_2_and_names_what_is_right(reelrank: Run, arguments: list[str], message: str) -> None:
    code, _, err = reelrank(*arguments)
    assert code == 2
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.jsonl", b"", "empty.jsonl: the file is empty"),
        ("latin.jsonl", '{"video": "é"}'.encode("latin-1"), "latin.jsonl, row 1: "),
        ("short.jsonl", b'{"video": "a", "start": 1, "end": 2}\n', "short.jsonl, row 1: "),
    ],
)
def test_a_bad_file_leaves_the_project_as_it_was(
    reelrank: Run, judging: Judging, tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    before = status_counts(judging.project, OPERATOR)
    assert message in reelrank.refusal("import", judging.project.folder, tmp_path / name, "--format", "jsonl")
    assert status_counts(judging.project, OPERATOR) == before


def test_users_are_added_by_link_or_by_password(reelrank: Run, judging: Judging) -> None:
    folder = judging.project.folder
    assert (
        reelrank.out("users", "add", folder, "Eve", "--role", "annotator", "--url", "https://x.org/")
        .splitlines()[-1]
        .startswith("https://x.org/session/invitation/")
    )
    assert "at least 8 characters" in reelrank.refusal(
        "users", "add", folder, "Flo", "--role", "lead", "--password-stdin", stdin="short\n"
    )
    reelrank.out("users", "add", folder, "Flo", "--role", "lead", "--password-stdin", stdin="long enough\n")
    assert sign_in(judging.project, "Flo", "long enough", now=1.0)


def test_settings_that_are_not_understood_name_the_file(reelrank: Run, judging: Judging) -> None:
    settings = judging.project.folder / "reelrank.toml"
    settings.write_text(settings.read_text().replace("lease_minutes = 15", "lease_minutes = -1"))
    err = reelrank.refusal("status", judging.project.folder)
    assert "reelrank.toml" in err
    assert "lease_minutes" in err


@pytest.mark.parametrize("change", [("--encoder", "minilm"), ("--dtype", "bf16"), ("--batch-size", "40")], ids=" ".join)
def test_settings_of_stored_candidate_lists_are_not_changed_by_a_refused_command(
    reelrank: Run, judging: Judging, change: tuple[str, str]
) -> None:
    settings = judging.project.folder / "reelrank.toml"
    settings.write_text(settings.read_text().replace('encoder = "minilm"', 'encoder = "my/model"'))
    before = settings.read_text()
    assert "candidate lists already exist" in reelrank.refusal("candidates", judging.project.folder, *change)
    assert settings.read_text() == before


def test_an_encoder_that_is_not_there_leaves_the_settings_alone(reelrank: Run, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    assert reelrank("init", folder, "--encoder", "minilm")[0] == 0
    before = (folder / "reelrank.toml").read_text()
    assert "there is no such folder; --encoder minilm works offline" in reelrank.refusal(
        "candidates", folder, "--encoder", "/no/such/model"
    )
    assert (folder / "reelrank.toml").read_text() == before


def test_what_a_clip_is_written_as_its_extension_says(reelrank: Run, tmp_path: Path) -> None:
    video = write_video(tmp_path / "video.mp4", 6)
    for name, begins in (("a.mp4", b"\0\0\0"), ("A.WEBM", b"\x1a\x45\xdf\xa3"), ("a.gif", b"GIF89a")):
        assert reelrank.out("clip", video, "1", "4", tmp_path / name).endswith(f"{name}: 6 frames, 3.000 s\n")
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert "a.avi: has no extension of a clip: end its name in .mp4, .webm or .gif" in reelrank.refusal(
        "clip", video, "1", "4", tmp_path / "a.avi"
    )


def test_a_clip_is_not_cut_over_its_own_video_nor_into_a_folder(reelrank: Run, shared: Path, tmp_path: Path) -> None:
    """The clip took the place of the video, and a folder or a missing place ended in a traceback."""
    video = tmp_path / "video.mp4"
    video.write_bytes((shared / "data" / "videos" / "bottles.mp4").read_bytes())
    before = video.read_bytes()
    (tmp_path / "link.mp4").symlink_to(video)
    for out, why in (
        (video, "is the video itself: name another file"),
        (tmp_path / "link.mp4", "is the video itself: name another file"),
        (tmp_path, "is a folder: name a file"),
        (Path("/proc/nowhere/clip.mp4"), "/proc cannot be written: No such file or directory"),
        (video / "clip.mp4", f"cannot be written: {video} is not a folder"),
    ):
        assert why in reelrank.refusal("clip", video, "1", "1.5", out)
    assert video.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"video.mp4", "link.mp4"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "pair_id,worker,relevance\na,1,2\na,2,2\nb,1,3\n",
            "1 discarded (1 of them without enough grades)",
        ),
        (
            "pair_id,worker,relevance,round,adjudicated\na,1,2,1,\na,2,2,1,\nb,1,3,1,\nc,1,0,1,4\nc,2,4,1,4\n",
            "1 in consensus, 1 adjudicated, 0 discarded, 1 without enough grades",
        ),
        ("pair_id,worker,relevance\na,1,2\na,2,2\n", "1 in consensus, 0 discarded\n"),
    ],
)
def test_consensus_names_what_lacks_grades(reelrank: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "raw.csv").write_text(text)
    assert said in reelrank.out("consensus", tmp_path / "raw.csv")


def test_init_makes_a_project_with_another_scale_and_says_its_grades(reelrank: Run, tmp_path: Path) -> None:
    assert "Grades: 0 Does not match, 1 Matches; two agree if they are equal." in reelrank.out(
        "init", tmp_path / "p", "--encoder", "minilm", "--scale", "matches"
    )
    err = reelrank.refusal("init", tmp_path / "q", "--encoder", "minilm", "--scale", "stars")
    assert not ((tmp_path / "q").exists())
    assert "stars" in err
