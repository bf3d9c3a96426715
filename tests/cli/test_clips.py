"""`reelrank clips`: what it cuts, what it says, and how it ends."""

from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project
from backend.core.where import Where
from cli.conftest import Run
from scored import write_video
from support import NOW, Judging


def test_what_is_queued_is_cut_once_and_what_fails_is_named(judging: Judging, reelrank: Run, on_cluster: Where) -> None:
    project, folder = judging.project, judging.project.folder.parent
    (folder / "videos").mkdir()
    for n in range(6):
        write_video(folder / "videos" / f"v{n}.mp4", 60 if n == 2 else 61)
    import_corpus(project, OPERATOR, folder / "moments.jsonl", videos=folder / "videos", now=NOW)
    (folder / "videos" / "v2.mp4").write_text("no video any more")
    spans = {(pair.video, pair.start_s) for pair in judging.pairs()}
    broken = [span for span in spans if span[0] == "v2"]
    assert broken
    code, out, _ = reelrank("clips", project.folder, "--jobs", "1")
    first, *rest = out.splitlines()
    count = f"{len(spans)} clips: 0 existed, {len(spans) - len(broken)} cut, {len(broken)} failed"
    assert (code, first.startswith(count)) == (1, True), out
    assert out.count("v2.mp4 is not a video file") == len(broken)
    assert len(rest) == 2 + len(broken)
    code, out, _ = reelrank("clips", project.folder, "--jobs", "1")
    assert f"{len(spans) - len(broken)} existed, 0 cut, {len(broken)} failed" in out
    write_video(folder / "videos" / "v2.mp4", 60)
    assert ", 0 failed (" in reelrank.out("clips", project.folder, "--jobs", "1", "--next")
    cut = {path.name for path in project.clips.folder.iterdir()}
    for path in project.clips.folder.iterdir():
        path.unlink()
    assert ", 0 failed (" in reelrank.out("clips", project.folder, "--cluster", on_cluster.cluster, "--next")
    assert {path.name for path in project.clips.folder.iterdir()} == cut


def test_a_project_without_pairs_has_nothing_to_cut(corpus_project: Project, reelrank: Run) -> None:
    assert reelrank.out("clips", corpus_project.folder) == "Nothing to cut: no pair waits for grades.\n"


def test_a_cluster_has_its_own_processes_and_has_to_be_there(corpus_project: Project, reelrank: Run) -> None:
    code, _, err = reelrank("clips", corpus_project.folder, "--jobs", "2", "--cluster", "tcp://127.0.0.1:1")
    assert (code, "does not go with --cluster" in err) == (2, True)
