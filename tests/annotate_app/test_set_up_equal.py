"""What the page Set up makes of a project is what the commands make of it, row by row of the database."""

import shutil
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.session import auth
from backend import api, cli
from backend.campaign.nouns import Role
from backend.campaign.people import accounts as people
from backend.ground import processes
from support import NOW

OWN = "text\tsplit\nSomebody sings in a kitchen\tval\nA dog sleeps\ttest\n"
TYPED = "typed on the page Set up"
"""What the page calls what was typed; the commands take a file of this name."""
APART = {"pair_key", "token_hash", "actor", "added_by"}
"""Keys drawn at random, and who it was: a lead here, nobody there."""


@pytest.fixture
def by_commands(corpus_project: api.Project, tmp_path: Path) -> api.Project:
    """A second project like the first one."""
    people.add(corpus_project.store, api.OPERATOR, "Lea", Role.LEAD, now=NOW)
    return api.open_project(shutil.copytree(corpus_project.folder, tmp_path / "commands"))


@pytest.fixture
def project(corpus_project: api.Project) -> api.Project:
    return corpus_project


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a command as the console script does."""

    def run(*words: object) -> None:
        monkeypatch.setattr(sys, "argv", ["reelrank", *map(str, words)])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        assert not leaving.value.code

    return run


def rows(project: api.Project) -> dict[str, list[dict[str, object]]]:
    """Every row of every table, without what must differ."""
    db = project.store.db.conn
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: [
            {name: value for name, value in zip(row.keys(), row, strict=True) if name not in APART}
            for row in db.execute(f'SELECT * FROM "{name}"')
        ]
        for name in tables
    }


def test_the_page_and_the_commands_make_the_same_project(
    by_commands: api.Project,
    project: api.Project,
    open_screen: Callable[..., AppTest],
    type_in: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def alone(work: Callable[..., None], *arguments: object) -> Future[None]:
        future: Future[None] = Future()
        work(*arguments)
        future.set_result(None)
        return future

    lead = api.list_people(project, api.OPERATOR)[0].person
    monkeypatch.setattr(auth, "current", lambda: lead)
    monkeypatch.setattr(processes, "alone", alone)
    monkeypatch.setattr("os.nice", lambda by: 0)
    monkeypatch.setattr("time.time", lambda: NOW)
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
