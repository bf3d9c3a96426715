"""Videos looked at anew: found by content, kept back while they cannot be shown, and told from what they were."""

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import cv2
import pytest

from backend.campaign.corpus.importing.model import Trouble
from backend.campaign.desk.clips import clip_for
from backend.campaign.desk.exchange import desk
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.videos.check import check_videos, import_corpus, video_states
from backend.campaign.monitoring.videos.model import VideoCheckReport, VideoState
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, NotAllowed, VideoUnreadable
from backend.media.clips import ensure as cut_clip
from numbered_videos import numbered, write_source
from support import NOW, Judging

COUNT = 6


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven short films, each with frames of its own: those of the corpus, and another one."""
    folder = tmp_path_factory.mktemp("films")
    for number in range(COUNT + 1):

        def draw(frame: int, number: int = number) -> object:
            return numbered(frame + 30 * number)

        write_source(folder / f"v{number}.mp4", range(30), Fraction(1, 25), draw)  # type: ignore[arg-type]
    return folder


@pytest.fixture
def folder(films: Path, judging: Judging, tmp_path: Path) -> Path:
    """The films of a project that knows them; the other one is beside them, not among them."""
    names = [row[0] for row in judging.project.store.db.conn.execute("SELECT name FROM video ORDER BY name")]
    assert len(names) == COUNT
    place = tmp_path / "films"
    place.mkdir()
    for number, name in enumerate(names):
        shutil.copy(films / f"v{number}.mp4", place / f"{name}.mp4")
    report = look(judging, videos=place)
    assert report.wrong == ()
    assert report.decoded
    return place


def look(judging: Judging, **more: object) -> VideoCheckReport:
    return check_videos(judging.project, OPERATOR, now=NOW, **more)  # type: ignore[arg-type]


def state(report: VideoCheckReport, video: str) -> VideoState:
    return next(one for one in report.videos if one.video == video)


def handed_out(judging: Judging, video: str) -> int:
    """Pairs of a video that wait for grades and are not kept back."""
    return judging.project.store.db.conn.execute(
        "SELECT count(*) FROM pair p JOIN moment m USING (moment_id) JOIN video v USING (video_id) WHERE v.name = ? "
        "AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id)",
        [video],
    ).fetchone()[0]


@pytest.fixture
def busiest(judging: Judging, folder: Path) -> str:
    """The video of most pairs, one of which somebody has graded."""
    pair = judging.pairs()[0]
    desk(judging.project, judging.annotators[0], now=NOW)
    judging.grade(0, pair.pair, 2)
    return pair.video


def test_what_was_measured_is_told(judging: Judging, folder: Path) -> None:
    one = video_states(judging.project, judging.lead)[0]
    assert (one.fps, one.frames, one.duration_s, one.codec) == (25, 30, pytest.approx(1.2), "h264")
    assert (one.width_px, one.height_px, one.has_audio, one.decoded, one.trouble) == (128, 48, False, True, None)
    assert one.shown
    with pytest.raises(NotAllowed):
        video_states(judging.project, judging.annotators[0])


def test_a_video_that_was_moved_or_renamed_is_found_by_its_content(judging: Judging, folder: Path) -> None:
    one, two, three = sorted(path.stem for path in folder.iterdir())[:3]
    (folder / "old").mkdir()
    (folder / f"{one}.mp4").rename(folder / "old" / "called otherwise.mp4")
    (folder / f"{two}.mp4").rename(folder / "swapped.mp4")
    (folder / f"{three}.mp4").rename(folder / f"{two}.mp4")
    (folder / "swapped.mp4").rename(folder / f"{three}.mp4")
    report = look(judging)
    assert report.wrong == ()
    assert dict(report.moved) == {
        one: str(folder / "old" / "called otherwise.mp4"),
        two: str(folder / f"{three}.mp4"),
        three: str(folder / f"{two}.mp4"),
    }
    assert look(judging).moved == ()


def test_two_names_of_one_content_and_a_folder_of_frames_are_found_again(tmp_path: Path, films: Path) -> None:
    project = init_project(tmp_path / "project", encoder="minilm")
    videos = tmp_path / "videos"
    (videos / "show").mkdir(parents=True)
    for number in range(4):
        assert cv2.imwrite(str(videos / "show" / f"{number}.png"), numbered(number))
    for name in ("a", "twin"):
        shutil.copy(films / "v0.mp4", videos / f"{name}.mp4")
    rows = [{"video": v, "start": 0, "end": 1, "caption": "A dog."} for v in ("a", "twin", "show")]
    (tmp_path / "m.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    import_corpus(project, OPERATOR, tmp_path / "m.jsonl", videos=videos, fps=Fraction(2), now=NOW)
    (videos / "a.mp4").rename(videos / "x.mp4")
    (videos / "twin.mp4").rename(videos / "y.mp4")
    (videos / "show").rename(videos / "play")
    report = check_videos(project, OPERATOR, now=NOW)
    assert report.wrong == ()
    places = {one.video: Path(one.path or "").name for one in report.videos}
    assert places == {"a": "x.mp4", "twin": "y.mp4", "show": "play"}
    assert {one.video: one.fps for one in report.videos}["show"] == 2


def test_all_of_them_elsewhere_are_found_there(judging: Judging, folder: Path) -> None:
    place = folder.rename(folder.parent / "another disk")
    assert {one.trouble for one in look(judging).videos} == {Trouble.MISSING}
    report = look(judging, videos=place)
    assert report.wrong == ()
    assert len(report.moved) == COUNT


def test_pairs_of_a_missing_video_wait_until_it_is_back(judging: Judging, folder: Path, busiest: str) -> None:
    before = handed_out(judging, busiest)
    away = (folder / f"{busiest}.mp4").rename(folder.parent / "away.mp4")
    found = state(look(judging), busiest)
    assert (found.trouble, found.message) == (Trouble.MISSING, f"{busiest}.mp4: no video file in {folder}")
    assert not found.shown
    assert (handed_out(judging, busiest), before > 0, found.judged) == (0, True, 1)
    assert f"{found.waiting} pairs wait for it." in found.advice
    assert {item.pair for item in desk(judging.project, judging.annotators[1], now=NOW).items}.isdisjoint(
        {pair.pair for pair in judging.pairs() if pair.video == busiest}
    )
    away.rename(folder / f"{busiest}.mp4")
    report = look(judging)
    assert (report.wrong, report.freed > 0, handed_out(judging, busiest)) == ((), True, before)
    assert doctor(judging.project, now=NOW).findings == ()


def test_what_a_person_reported_stays_though_the_file_is_well(judging: Judging, folder: Path, busiest: str) -> None:
    before = handed_out(judging, busiest)
    conn = judging.project.store.db.conn
    conn.execute(
        "INSERT INTO clip_fault (moment_id, reason, reported_at) SELECT min(m.moment_id), 'too dark', 0 FROM pair "
        "JOIN moment m USING (moment_id) JOIN video v USING (video_id) WHERE v.name = ?",
        [busiest],
    )
    look(judging)
    assert handed_out(judging, busiest) < before


def test_another_content_is_not_taken_for_the_video_unless_a_lead_says_so(
    judging: Judging, folder: Path, films: Path, busiest: str
) -> None:
    file = folder / f"{busiest}.mp4"
    pair = next(pair for pair in judging.pairs() if pair.video == busiest)
    job = clip_for(judging.project, judging.lead, pair.pair)
    shutil.copy(films / f"v{COUNT}.mp4", file)
    with pytest.raises(VideoUnreadable, match=f"{busiest}.mp4 has changed since it was added to the project"):
        cut_clip(job)  # before anybody looks
    with pytest.raises(InputError, match="dogs: is not a video of the project that has changed"):
        look(judging, accept=["dogs"])
    found = state(look(judging), busiest)
    assert (found.trouble, found.message) == (
        Trouble.CHANGED,
        f"{busiest}.mp4 has changed since it was added to the project",
    )
    assert "1 pair was graded with the former content; its grades stay." in found.advice
    assert handed_out(judging, busiest) == 0
    report = look(judging, accept=[busiest])
    assert (report.accepted, report.wrong) == ((busiest,), ())
    assert handed_out(judging, busiest) > 0
    assert clip_for(judging.project, judging.lead, pair.pair).path != job.path


def _texted(file: Path) -> None:
    file.write_text("<html>404 Not Found</html>")


def _halved(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [(_texted, "is not a video file"), (_halved, "is incomplete (its index is missing): copy it again")],
)
def test_what_cannot_be_read_is_told_and_the_others_are_well(
    judging: Judging, folder: Path, busiest: str, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(folder / f"{busiest}.mp4")
    report = look(judging)
    assert [(one.video, one.trouble, one.message) for one in report.wrong] == [
        (busiest, Trouble.UNREADABLE, f"{busiest}.mp4 {message}")
    ]
    assert "Replace it with an intact copy" in report.wrong[0].advice


def test_the_doctor_finds_moved_videos_again(judging: Judging, folder: Path, busiest: str) -> None:
    (folder / f"{busiest}.mp4").rename(folder / "called otherwise.mp4")
    [finding] = doctor(judging.project, now=NOW).findings
    assert (finding.check, finding.repaired) == ("videos", False)
    [finding] = doctor(judging.project, now=NOW, repair=True).findings
    assert finding.repaired
    assert doctor(judging.project, now=NOW).findings == ()


def test_the_doctor_sees_that_a_file_is_another_one(judging: Judging, folder: Path, films: Path, busiest: str) -> None:
    shutil.copy(films / f"v{COUNT}.mp4", folder / f"{busiest}.mp4")
    [finding] = doctor(judging.project, now=NOW).findings
    assert finding.check == "videos"
    assert any("another size" in example for example in finding.examples)


def test_a_database_that_names_a_private_file_without_its_content_brings_nothing_in(
    judging: Judging, folder: Path, films: Path, tmp_path: Path
) -> None:
    """Frames of it would be shown: it would count as a video that was found for the first time."""
    private = tmp_path / "private"
    private.mkdir()
    shutil.copy(films / f"v{COUNT}.mp4", private / "v0.mp4")
    shutil.copy(films / f"v{COUNT}.mp4", private / "v1.mp4")
    (judging.project.folder / "v2.mp4").symlink_to(private / "v1.mp4")
    (folder / "v1.mp4").unlink()
    judging.project.store.db.conn.execute(
        "UPDATE video SET path = ?, sha256 = NULL WHERE name = 'v0'", [str(private / "v0.mp4")]
    )
    judging.project.store.db.conn.execute("UPDATE video SET path = NULL, sha256 = NULL WHERE name = 'v1'")
    judging.project.store.db.conn.execute("UPDATE video SET path = 'v2.mp4' WHERE name = 'v2'")
    (folder / "v0.mp4").unlink()
    report = look(judging)
    assert [(one.video, one.trouble) for one in report.wrong] == [("v0", Trouble.MISSING), ("v1", Trouble.MISSING)]
    assert [name for name, _ in report.moved] == ["v2"]
    shutil.copy(films / "v1.mp4", folder / "v1.mp4")
    assert [one.video for one in look(judging).wrong] == ["v0"]  # where the others lie, by its name
    assert look(judging, videos=private).wrong == ()  # the lead has named the folder
