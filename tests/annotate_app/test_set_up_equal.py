"""What the page Set up makes of a project is what the commands make of it, row by row of the database."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.session import auth
from backend import cli
from backend.campaign import demo
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.project.settings_file import replace_lines
from backend.encoders import sentence
from support import NOW, WordEncoder

pytestmark = pytest.mark.long

OWN = "text\tsplit\nSomebody sings in a kitchen\tval\nA dog sleeps\ttest\n"
TYPED = "typed on the page Set up"
"""What the page calls what was typed; the commands take a file of this name."""
APART = {"pair_key", "token_hash", "actor", "added_by"}
"""Keys drawn at random, and who it was: a lead here, nobody there."""


@pytest.fixture
def by_commands(corpus_project: Project, tmp_path: Path) -> Project:
    """A second project like the first one."""
    people.add(corpus_project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    return open_project(shutil.copytree(corpus_project.folder, tmp_path / "commands"))


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """What the page works on: the corpus that the commands work on too, or nothing yet."""
    if "by_commands" in request.fixturenames:
        corpus: Project = request.getfixturevalue("corpus_project")
        return corpus
    made = init_project(tmp_path / "page" / "project", encoder="minilm")
    replace_lines(made.folder, {"media_roots": f"media_roots = [{str(tmp_path)!r}]"})
    return open_project(made.folder)


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a command as the console script does."""

    def run(*words: object) -> None:
        monkeypatch.setattr(sys, "argv", ["reelrank", *map(str, words)])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        assert not leaving.value.code

    return run


def rows(project: Project) -> dict[str, list[dict[str, object]]]:
    """Every row of every table, without what must differ."""
    db = project.store.db.conn
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: [
            {name: value for name, value in zip(row.keys(), row, strict=True) if name not in APART}
            for row in db.execute(f'SELECT * FROM "{name}"')
        ]
        for name in tables
        # What a server has under way is of the page alone, and each project has a secret of its own.
        if name not in ("job", "campaign_secret")
    }


@pytest.fixture
def at_once(at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """At one instant too, and without chance."""
    monkeypatch.setattr("time.time", lambda: NOW)
    # Pairs get their numbers in random order: here in that of their ranks.
    monkeypatch.setattr("secrets.SystemRandom.sample", lambda _, rows, count: list(rows)[:count])


def test_the_page_and_the_commands_make_the_same_project(
    by_commands: Project,
    project: Project,
    at_once: None,
    open_screen: Callable[..., AppTest],
    type_in: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lead = list_people(project, OPERATOR)[0].person
    monkeypatch.setattr(auth, "current", lambda: lead)
    (tmp_path / TYPED).write_text(OWN)
    folder = by_commands.folder
    type_in("queries", folder, "--from", tmp_path / TYPED, "--val", 2, "--test", 1, "--seed", 7, "--stratify", "video")
    type_in("candidates", folder, "--batch-size", 5, "--probe", 1, "--seed", 3, "--encoder", "minilm")
    type_in("users", "add", folder, "Ana", "--role", "annotator")

    app = open_screen("set_up")
    app.text_area(key="queries_typed").set_value(OWN)
    for name, value in (("val", 2), ("test", 1), ("seed", 7)):
        app.number_input(key=f"queries_{name}").set_value(value)
    app.selectbox(key="queries_spread").set_value("video")
    app.button(key="look_at_queries").click().run()
    app.button(key="take_queries").click().run()
    for name, value in (("batch", 5), ("probe", 1), ("seed", 3)):
        app.number_input(key=f"candidates_{name}").set_value(value)
    app.button(key="choose_candidates").click().run()
    app.text_input(key="new_name").set_value("Ana")
    app.selectbox(key="new_role").set_value("annotator")
    app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    assert not app.exception
    assert not app.error

    ours, theirs = rows(project), rows(by_commands)
    assert ours == theirs
    assert {name for name, found in ours.items() if found} >= {"query", "candidate", "batch", "pair", "seat", "event"}


def test_so_they_do_from_videos_and_a_file_to_captions_without_names(
    project: Project,
    at_once: None,
    open_screen: Callable[..., AppTest],
    type_in: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    videos, file = tmp_path / "videos", tmp_path / "moments.csv"
    videos.mkdir()
    for clip in (one := sorted(demo.clip_folder().glob("*.mp4")))[:2]:
        shutil.copy(clip, videos / clip.name)
    texts = ("Anna waves.", "Boris and Anna sit.", "Then Dev goes.")
    lines = [f"{one[0].name},{n},{n + 1},{text}\n" for n, text in enumerate(texts)]
    file.write_text("film,start,end,caption\n" + "".join(lines))
    theirs = init_project(tmp_path / "commands" / "project", encoder="minilm")
    for made in (project, theirs):
        people.add(made.store, OPERATOR, "Lea", Role.LEAD, now=NOW)

    type_in("moments", theirs.folder, "--videos", videos)
    type_in("moments", theirs.folder, "--by", "windows", "--lengths", "5", "--stride", "1")
    type_in("import", theirs.folder, file, "--columns", "video=film")
    type_in("cast", theirs.folder)
    cast = theirs.folder / "cast.csv"
    cast.write_text(cast.read_text().replace("Dev,a man", "Dev,an old man"))
    type_in("rewrite", theirs.folder)

    lead = list_people(project, OPERATOR)[0].person
    monkeypatch.setattr(auth, "current", lambda: lead)
    app = open_screen("set_up")
    app.text_input(key="set_up_folder").set_value(str(videos))
    app.button(key="preview_videos").click().run()
    app.button(key="add_videos").click().run()
    app.segmented_control(key="moments_how").set_value("Windows").run()
    app.text_input(key="moments_lengths").set_value("5")
    app.number_input(key="moments_stride").set_value(1.0)
    app.button(key="propose_moments").click().run()
    app.text_input(key="set_up_file").set_value(str(file))
    app.text_input(key="set_up_columns").set_value("video=film")
    app.button(key="look_at_file").click().run()
    app.button(key="import_file").click().run()
    app.button(key="look_for_names").click().run()
    app.text_input(key="cast-Dev-a man").set_value("an old man")
    app.button(key="save_cast").click().run()
    app.button(key="rewrite_captions").click().run()
    assert not app.exception
    assert not app.error

    found = rows(project)
    assert found == rows(theirs)
    assert {name for name, there in found.items() if there} >= {"video", "moment", "caption", "event"}
    assert (project.folder / "cast.csv").read_bytes() == cast.read_bytes()
