"""The lead's page Set up over real projects: what is done says the project itself, what takes long runs elsewhere."""

import math
import re
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app import language
from annotate_app.session import auth
from backend.campaign import demo
from backend.campaign.corpus.captions.name_mapping import cast_lines
from backend.campaign.corpus.moments.editing import moments_of_video
from backend.campaign.corpus.moments.model import Origin
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.monitoring.videos.check import register_videos
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.project.settings_file import replace_lines
from backend.campaign.setup.serving.jobs import (
    begin_job,
    dismiss_job,
    end_job,
    list_jobs,
    report_progress,
)
from backend.campaign.setup.serving.model import JobKind, JobOutcome, JobState, OutcomeTable
from backend.core.events import EventGroup
from reading import read, words
from support import NOW, Judging

Open = Callable[..., AppTest]


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """An empty one, or the test's corpus."""
    if "corpus_project" in request.fixturenames:
        found: Project = request.getfixturevalue("corpus_project")
    else:
        found = init_project(tmp_path / "project", encoder="minilm")
    replace_lines(found.folder, {"media_roots": f"media_roots = [{str(tmp_path)!r}]"})
    return open_project(found.folder)


@pytest.fixture
def lead(project: Project) -> Person:
    return people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)


@pytest.fixture
def open_page(open_screen: Open, lead: Person, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page as the lead."""
    monkeypatch.setattr(auth, "current", lambda: lead)
    return partial(open_screen, "set_up")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two of the demo's clips, and a file that is none."""
    folder = tmp_path / "videos"
    folder.mkdir()
    for clip in sorted(demo.clip_folder().glob("*.mp4"))[:2]:
        shutil.copy(clip, folder / clip.name)
    (folder / "letter.mp4").write_text("Dear Lea")
    return folder


def steps(app: AppTest) -> dict[str, bool]:
    """The steps by their titles, and whether each is open."""
    return {read(one.label.replace("*", "")): one.proto.expanded for one in app.expander}


def test_videos_of_a_folder_are_previewed_and_added_on_confirmation_only(
    open_page: Open, at_once: None, project: Project, folder: Path
) -> None:
    app = open_page()
    assert steps(app)["1. Videos — none yet"]
    app.text_input(key="set_up_folder").set_value(str(folder))
    app.button(key="preview_videos").click().run()
    assert "1. Videos — none yet" in steps(app)
    assert re.search(r"2 new videos, \d+\.\d minutes in total\.", words(app))
    assert "1 file is refused." in words(app)
    assert "Nothing is added yet." in words(app)
    wrong, new = (table.value for table in app.table)
    assert wrong["Refused"].tolist() == ["letter\\.mp4"]
    assert len(new) == 2
    assert sum(element.value.count("data:image/webp;base64,") for element in app.get("html")) == 2
    assert app.button(key="add_videos").label == "Add 2 videos"
    app.button(key="add_videos").click().run()
    assert "1. Videos — 2 videos" in steps(app)
    assert re.search(r"2 videos added, \d+\.\d minutes in total\.", words(app))
    app.button(key="dismiss_job").click().run()
    assert not app.table


def test_a_preview_that_was_dismissed_adds_nothing(
    open_page: Open, at_once: None, project: Project, lead: Person, folder: Path
) -> None:
    app = open_page()
    app.text_input(key="set_up_folder").set_value(str(folder))
    app.button(key="preview_videos").click().run()
    dismiss_job(project, lead, list_jobs(project, lead, now=time.time())[0].key, now=time.time())
    app.button(key="add_videos").click().run()
    assert "Somebody dismissed the preview. Preview the folder again." in words(app)
    assert "1. Videos — none yet" in steps(app)


def test_every_lead_reads_of_the_same_work_in_their_own_language(
    open_page: Open, at_once: None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page()
    app.text_input(key="set_up_folder").set_value(str(folder))
    app.button(key="preview_videos").click().run()
    assert f"Previewing the videos in {folder} is done." in words(app).replace("*", "")
    monkeypatch.setattr(language, "chosen", lambda *_: "de")
    german = open_page()
    assert re.search(r"2 neue Videos, zusammen \d+\.\d Minuten\.", words(german))
    wrong, taken = (table.value for table in german.table)
    assert "Warum" in list(wrong)
    assert set(taken["Ton"]) <= {"ja", "nein"}


def test_a_folder_that_is_none_is_refused_in_words(open_page: Open, at_once: None, tmp_path: Path) -> None:
    app = open_page()
    app.text_input(key="set_up_folder").set_value(str(tmp_path / "no such folder"))
    app.button(key="preview_videos").click().run()
    assert "is not a folder: name the folder that the video files lie in" in words(app)
    assert "Nothing was changed." in words(app)


def test_a_folder_that_nobody_allowed_is_refused_before_any_work(
    open_page: Open, at_once: None, project: Project, lead: Person, tmp_path: Path
) -> None:
    app = open_page()
    assert f"You may use these folders and everything in them: {project.folder}, {tmp_path}" in words(app)
    for typed in ("/root", "~root", "../../../root", "/etc"):
        app.text_input(key="set_up_folder").set_value(typed)
        app.button(key="preview_videos").click().run()
        assert "is not in a folder that this server allows" in words(app)
    for file, folder in (("/root/x.csv", ""), ("x.csv", "/root")):
        app.text_input(key="set_up_file").set_value(file)
        app.text_input(key="set_up_file_videos").set_value(folder)
        app.button(key="look_at_file").click().run()
        assert "/root" in words(app)
        assert "is not in a folder that this server allows" in words(app)
    assert list_jobs(project, lead, now=time.time()) == []


def test_videos_are_removed_from_the_page(open_page: Open, at_once: None, project: Project, folder: Path) -> None:
    register_videos(project, OPERATOR, folder, now=NOW)
    app = open_page()
    app.session_state["removing"] = True
    app.run()
    names = app.multiselect(key="remove_videos").options
    assert len(names) == 2
    app.multiselect(key="remove_videos").set_value(names[:1]).run()
    app.button(key="confirm_remove_videos").click().run()
    assert "1 video removed. Its file is still on the server." in words(app)
    assert "1. Videos — 1 video" in steps(app)


def test_a_file_is_looked_at_and_then_imported_as_it_was_looked_at(
    open_page: Open, at_once: None, project: Project, tmp_path: Path
) -> None:
    lines = "film,start,end,caption,duration\na,1,3,A dog runs.,9\na,4,2,A cat sits.,9\n"
    file = tmp_path / "moments.csv"
    file.write_text(lines)
    app = open_page()
    app.text_input(key="set_up_file").set_value(str(file))
    app.text_input(key="set_up_columns").set_value("video=film")
    app.button(key="look_at_file").click().run()
    assert "moments.csv, row 3: end 2.0 is not after start 4.0" in words(app)
    assert not status_counts(project, OPERATOR)["videos"]

    file.write_text(lines.replace(",4,2,", ",4,6,"))
    app.button(key="look_at_file").click().run()
    assert "moments.csv: format csv, told from its content." in words(app)
    assert app.table[0].value["Would be new"].tolist() == ["1", "2", "2"]
    assert not status_counts(project, OPERATOR)["captions"]
    app.button(key="import_file").click().run()
    assert app.table[0].value["New"].tolist() == ["1", "2", "2"]
    assert "2. Annotation files — 2 captions" in steps(app)
    (entry, *_) = find_activity(project, OPERATOR, ActivityFilter(EventGroup.MATERIAL), first=0, most=1)
    assert (entry.kind, entry.by) == ("corpus_imported", "Lea")


def test_names_are_found_corrected_and_taken_out_of_the_captions(
    open_page: Open, at_once: None, corpus_project: Project
) -> None:
    app = open_page()
    assert "4. Names — original captions" in steps(app)
    app.button(key="look_for_names").click().run()
    assert "4 names, 4 of them new: 2 women, 2 men, 0 persons, 0 others, 0 undecided." in words(app)
    app.text_input(key="cast-Dev-a man").set_value("a friend of Anna")
    app.button(key="save_cast").click().run()
    assert "cast.csv, row 5: " in words(app)
    app.text_input(key="cast-Dev-a man").set_value("an old man")
    app.text_input(key="cast-Boris-a man").set_value("")
    app.button(key="save_cast").click().run()
    assert "2 names saved." in words(app)
    app.text_input(key="cast_name").set_value("Rex")
    app.text_input(key="cast_becomes").set_value("a dog")
    app.button(key="add_to_cast").click().run()
    lines = cast_lines(corpus_project, OPERATOR)
    assert {line.name: line.becomes for line in lines} == {
        **{"Anna": "a woman", "Carla": "a woman", "Dev": "an old man"},
        **{"Boris": "", "Rex": "a dog"},
    }
    # Nobody pressed "Save names": rewriting saves them first.
    app.text_input(key="cast-Dev-an old man").set_value("an older man")
    app.button(key="rewrite_captions").click().run()
    # Every fourth of the 48 captions is of Boris, of whom nobody has said what he becomes.
    assert "48 captions: 36 accepted at once, 12 wait for your decision" in words(app)
    assert "4. Names — 48 captions rewritten, 12 to decide" in steps(app)
    app.button(key="rewriting_changed").click().run()
    assert "36 imprecise captions, 36 of them changed" in words(app)
    assert dict(zip(*(app.table[0].value[name] for name in ("Replacement words", "Count")), strict=True)) == {
        "a woman": "24",
        "an older man": "12",
    }


@pytest.mark.long
def test_moments_are_proposed_from_the_videos_alone(
    open_page: Open, at_once: None, project: Project, folder: Path
) -> None:
    app = open_page()
    assert "3. Moments — none yet" in steps(app)
    assert "Add videos first." in words(app)
    found = register_videos(project, OPERATOR, folder, now=NOW)
    app = open_page()
    assert steps(app)["3. Moments — none yet"]
    app.button(key="propose_moments").click().run()
    (shots,) = {line.split(" — ")[1] for line in steps(app) if line.startswith("3. ")}
    assert shots == "3 moments: 3 shots"  # a clip is one shot, and that of 25.6 s is split
    app.segmented_control(key="moments_how").set_value("Windows").run()
    app.text_input(key="moments_lengths").set_value("two")
    app.button(key="propose_moments").click().run()
    assert "'two' is not a list of lengths. Enter seconds, such as 5, 10, 20." in words(app)
    app.text_input(key="moments_lengths").set_value("1")
    app.number_input(key="moments_stride").set_value(1.0)
    app.button(key="propose_moments").click().run()
    told = [line for line in steps(app) if line.startswith("3. ")]
    assert told == ["3. Moments — 47 moments: 3 shots, 44 windows"]  # of 17.84 s and of 25.6 s
    for video in found.videos:
        moments = moments_of_video(project, OPERATOR, video.name)
        windows = [m for m in moments if m.origin is Origin.WINDOWS]
        assert len(windows) == math.ceil(video.facts.duration_s)
        assert {round(m.end_s - m.start_s, 6) for m in windows} == {1.0}
        assert (windows[0].start_s, windows[-1].end_s) == (0, video.facts.duration_s)
    assert "Describing is closed" in "".join(one.proto.body for one in app.get("html"))


def test_what_the_form_lacks_is_said_before_any_work(open_page: Open, project: Project, lead: Person) -> None:
    app = open_page()
    for file, columns, told in (
        ("", "", "choose an annotation file first"),
        (
            "/etc/passwd",
            "",
            "/etc/passwd is not an annotation file: its name must end in one of .json, .jsonl, .csv, .txt",
        ),
        ("moments.csv", "video", "the columns at 'video' are not of the form start=begin,end=finish"),
    ):
        app.text_input(key="set_up_file").set_value(file)
        app.text_input(key="set_up_columns").set_value(columns)
        app.button(key="look_at_file").click().run()
        assert told in words(app)
        assert list_jobs(project, lead, now=NOW) == []
    app.text_input(key="set_up_columns").set_value("")
    app.text_input(key="set_up_file_fps").set_value("0")
    app.button(key="look_at_file").click().run()
    assert "'0' frames per second is not a number above 0, such as 3 or 24000/1001" in words(app)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (JobState.INTERRUPTED, "was interrupted, because the server stopped. Nothing was changed: start it again."),
        (JobState.FAILED, "failed. Nothing was changed. The server's log has the reason."),
    ],
)
def test_whatever_became_of_the_work_is_told(
    open_page: Open, project: Project, lead: Person, state: JobState, told: str
) -> None:
    silent_since = time.time() - 61  # nobody says that a process was killed with its server
    key = begin_job(project, lead, JobKind.SET_UP, "videos", "Measuring *all*", {}, now=silent_since)
    if state is not JobState.INTERRUPTED:
        end_job(project, key, state, JobOutcome(), now=silent_since)
    assert f"Measuring *all* {told}" in words(open_page()).replace("**Measuring *all***", "Measuring *all*")


def test_work_under_way_is_shown_to_every_lead(open_page: Open, project: Project) -> None:
    other = people.add(project.store, OPERATOR, "Max", Role.LEAD, now=NOW)
    key = begin_job(project, other, JobKind.SET_UP, "videos", "Measuring", {}, now=time.time())
    report_progress(project, key, "measuring videos", 3, 9, now=time.time())
    app = open_page()
    assert "Started by Max" in words(app)
    assert [(one.proto.value, read(one.proto.text)) for one in app.get("progress")] == [
        (33, "measuring videos: 3 of 9")
    ]


def test_the_cells_of_an_outcome_are_shown_as_they_are(open_page: Open, project: Project, lead: Person) -> None:
    outcome = JobOutcome(["<b>1</b> *new*"], [OutcomeTable(["Video"], [["a_b_c :smile:"]])])
    key = begin_job(project, lead, JobKind.SET_UP, "videos", "Measuring", {}, now=NOW)
    end_job(project, key, JobState.DONE, outcome, now=NOW)
    app = open_page()
    assert "<b>1</b> *new*" in words(app)
    assert read(app.table[0].value["Video"][0]) == "a_b_c :smile:"


def test_it_comes_first_until_a_pair_was_handed_out(judging: Judging, tmp_path: Path) -> None:
    from annotate_app.screens import set_up

    empty = init_project(tmp_path / "empty", encoder="minilm")
    assert set_up.is_first(empty, people.add(empty.store, OPERATOR, "Lea", Role.LEAD, now=NOW))
    assert not set_up.is_first(judging.project, judging.lead)


def test_what_is_wrong_with_videos_is_told_and_they_are_looked_at_again(
    open_page: Open, at_once: None, project: Project, folder: Path, lead: Person
) -> None:
    (folder / "letter.mp4").unlink()
    for link in list(folder.iterdir()):
        video = link.read_bytes()
        link.unlink()
        link.write_bytes(video)
    register_videos(project, OPERATOR, folder, now=NOW)
    one, two = sorted(file.stem for file in folder.iterdir())
    (folder / f"{two}.mp4").rename(folder / "called otherwise.mp4")
    (folder / f"{one}.mp4").write_bytes(sorted(demo.clip_folder().glob("*.mp4"))[2].read_bytes())
    app = open_page()
    app.button(key="look_at_videos").click().run()
    assert "1 of them has a problem." in words(app)
    [again] = (table.value for table in app.table)
    assert read(again["Found again"].tolist()[0]) == two
    assert "1. Videos — 2 videos, 1 with a problem" in steps(app)
    told = read("\n".join(element.value for element in app.get("html")))
    assert f"{one}.mp4 has changed since it was added to the project" in told
    app.multiselect(key="accept_videos").set_value([one])
    app.button(key="look_at_videos").click().run()
    assert f"New content accepted: {one}." in read(words(app))
    assert "1. Videos — 2 videos" in steps(app)


def test_what_was_sent_and_never_taken_is_told(open_page: Open, at_once: None, project: Project, folder: Path) -> None:
    (folder / "letter.mp4").unlink()
    shutil.copytree(folder, project.folder / "videos")
    names = sorted(file.name for file in folder.iterdir())
    app = open_page()
    assert f"Uploaded but not added: {', '.join(names)}" in words(app)
    app.text_input(key="videos_fps").set_value("many")
    app.button(key="preview_sent").click().run()
    assert "'many' frames per second is not a number above 0" in words(app)
    app.text_input(key="videos_fps").set_value("3")
    app.button(key="preview_sent").click().run()
    app.button(key="add_videos").click().run()
    assert "1. Videos — 2 videos" in steps(app)
    app.button(key="dismiss_job").click().run()
    assert "Sent, but not added" not in words(app)
