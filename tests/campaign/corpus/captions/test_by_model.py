"""A language model as a rewriter: nothing is asked twice, a kill loses nothing, the check has the last word."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from backend.campaign.corpus.captions.decisions import rewrite_summary, waiting_rewrites
from backend.campaign.corpus.captions.model import CheckCounts, RewriteReport
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import EndpointUnavailable
from backend.encoders import sentence
from backend.language.chat import KEY
from backend.language.endpoint import Endpoint
from backend.language.names import FlairTagger
from backend.language.prompts import TVR_RANKING, prompt_of
from chat_server import Act, Answer, Asked, ChatServer, Refuse, lines, serving, well, without_names
from support import MOMENTS, NOW, PEOPLE, WordEncoder

TEXTS = sorted({moment.caption for moment in MOMENTS})
SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def project(corpus_project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The small project, with a cast and a key."""
    monkeypatch.setenv(KEY, SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    with (corpus_project.folder / "reelrank.toml").open("a") as file:
        file.writelines(f'"{name}" = "a person"\n' for name in PEOPLE)
    return open_project(corpus_project.folder)


def rewritten(project: Project, server: ChatServer, **options: object) -> RewriteReport:
    given = {"batch": 10, "at_once": 2, "timeout_s": 5.0, "retries": 0, **options}
    endpoint = Endpoint("small", server.url, **given)  # type: ignore[arg-type]
    return rewrite_captions(project, OPERATOR, endpoint=endpoint, now=NOW)


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute(sql)]


def test_every_text_is_asked_once_and_never_again(project: Project) -> None:
    with serving() as server:
        report = rewritten(project, server)
        again = rewritten(project, server)
    assert Counter(server.captions()) == dict.fromkeys(TEXTS, 1)
    assert (report.at_once, report.after_retry, report.waiting, report.texts) == (48, 0, 0, len(TEXTS))
    assert (report.usage.requests, report.usage.tokens_in, report.usage.tokens_out) == (5, 500, 50)
    assert (again.at_once, again.usage.requests, again.usage_ever) == (48, 0, report.usage)
    made = rows(project, "SELECT DISTINCT rule_version, attempts FROM caption WHERE kind = 'rewritten'")
    assert made == [("openai:small prompt-1 t=0", 1)]
    assert {text for (text,) in rows(project, "SELECT text FROM caption WHERE kind = 'rewritten'")} == {
        without_names(text) for text in TEXTS
    }


def test_what_the_check_refuses_is_asked_once_more_a_little_warmer(project: Project) -> None:
    anna, boris, carla = (next(text for text in TEXTS if text.startswith(name)) for name in PEOPLE[:3])

    def act(asked: Asked) -> Act:
        """Keeps Anna until it is warmer, Boris for ever, and says something else than Carla's."""
        kept = {anna, boris} if asked.temperature == 0 else {boris}
        answers = [caption if caption in kept else without_names(caption) for caption in asked.captions]
        return Answer(
            lines(
                "Xylophone." if caption == carla else answer
                for caption, answer in zip(asked.captions, answers, strict=True)
            )
        )

    with serving(act) as server:
        report = rewritten(project, server)
    assert sorted(c for asked in server.asked if asked.temperature == 0.2 for c in asked.captions) == [
        anna,
        boris,
        carla,
    ]
    assert (report.at_once, report.after_retry, report.waiting) == (45, 1, 2)
    # By hand: of 48 texts one of Anna and one of Boris keep a name, and one of Carla says something else.
    assert report.checks == (
        CheckCounts("openai:small prompt-1 t=0", 48, 45, dissimilar=1, named=2, tagged=None, unanswered=0),
        CheckCounts("openai:small prompt-1 t=0.2", 3, 1, dissimilar=1, named=1, tagged=None, unanswered=0),
    )
    event = json.loads(str(rows(project, "SELECT payload FROM event WHERE kind = 'captions_rewritten'")[-1][0]))
    assert event["checks"] == [asdict(counts) for counts in report.checks]
    made = {
        (str(version)[-5:], attempts, accepted): count
        for version, attempts, accepted, count in rows(
            project,
            "SELECT rule_version, attempts, accepted, count(*) FROM caption WHERE kind = 'rewritten' GROUP BY 1, 2, 3",
        )
    }
    assert made == {("1 t=0", 1, 1): 45, ("t=0.2", 2, 1): 1, ("t=0.2", 2, 0): 2}
    assert {(published, text): reason for published, text, reason in waiting_rewrites(project)} == {
        (boris, boris): "it still has a name: Boris",
        (carla, "Xylophone."): next(r for _, t, r in waiting_rewrites(project) if t == "Xylophone."),
    }


def test_an_endpoint_that_breaks_down_keeps_what_it_answered_and_the_captions_as_they_were(
    project: Project,
) -> None:
    with serving(lambda asked: well(asked) if asked.number <= 2 else Refuse(404)) as server:
        with pytest.raises(EndpointUnavailable, match=r"127\.0\.0\.1: error 404"):
            rewritten(project, server, at_once=1)
        assert rows(project, "SELECT count(*) FROM rewrite_answer") == [(20,)]
        assert rows(project, "SELECT count(*) FROM caption WHERE kind = 'rewritten'") == [(0,)]
        server.act = well
        report = rewritten(project, server)
    assert Counter(Counter(server.captions()).values()) == {1: 38, 2: 10}  # the broken request's ten
    assert (report.at_once, report.usage.requests, report.usage_ever.requests) == (48, 3, 5)


COMMAND = """
import sys
from backend import cli
from backend.encoders import sentence
from support import WordEncoder
sentence.load = lambda spec: WordEncoder()
cli.main()
"""


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "Ctrl-C"])
def test_a_command_stopped_in_the_middle_goes_on_where_it_was(project: Project, how: signal.Signals) -> None:
    third = threading.Event()

    def act(asked: Asked) -> Act:
        if asked.number == 3:
            third.set()
            server.over.wait(60)  # until whoever asked is gone
        return well(asked)

    command = [sys.executable, "-c", COMMAND, "rewrite", str(project.folder), "--rewriter", "openai"]
    with serving(act) as server:
        command += ["--model", "small", "--base-url", server.url, "--at-once", "1"]
        stopped = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": ":".join(sys.path)}
        )
        try:
            assert third.wait(60)
            stopped.send_signal(how)
            _, said = stopped.communicate(timeout=60)
        finally:
            stopped.kill()
        assert stopped.returncode == (-how if how == signal.SIGKILL else 1)
        assert how == signal.SIGKILL or said == (
            "reelrank: stopped; the answers so far are kept: run the same command again to continue\n"
        )
        assert rows(project, "SELECT count(*) FROM rewrite_answer") == [(20,)]
        report = rewritten(project, server)
    given_up = server.asked[2].captions
    assert Counter(server.captions()) == {text: 2 if text in given_up else 1 for text in TEXTS}
    assert (report.at_once, report.usage.requests, report.usage_ever.requests) == (48, 3, 5)


def test_the_key_is_nowhere_in_the_project(project: Project) -> None:
    with serving() as server:
        rewritten(project, server)
    assert server.asked[0].authorization == f"Bearer {SECRET}"
    project.store.db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert rows(project, "SELECT DISTINCT host FROM rewrite_request") == [("127.0.0.1",)]


@pytest.mark.parametrize("table", ["rewrite_request", "rewrite_answer"])
def test_what_was_asked_and_answered_is_never_changed(project: Project, table: str) -> None:
    with serving() as server:
        rewritten(project, server)
    for act in (f"DELETE FROM {table}", f"UPDATE {table} SET request_id = request_id"):
        with pytest.raises(Exception, match=f"{table} is append-only"):
            project.store.db.conn.execute(act)


def test_the_tagger_that_the_project_names_looks_over_every_rewrite(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = project.folder / "reelrank.toml"
    settings.write_text(
        settings.read_text().replace('ner = ""', 'ner = "small"').replace('ner_python = ""', 'ner_python = "/a/python"')
    )
    seen: list[tuple[str, str]] = []

    def names(tagger: FlairTagger, texts: Sequence[str], *, progress: object = None) -> list[tuple[str, ...]]:
        seen.extend((tagger.identity, tagger.python) for _ in texts)
        return [("somebody",) if "tea" in text else () for text in texts]

    monkeypatch.setattr(FlairTagger, "names", names)
    with serving(lambda asked: Answer(lines(without_names(c).lower() for c in asked.captions))) as server:
        report = rewritten(open_project(project.folder), server)
    tea = [text for text in TEXTS if "tea" in text]
    assert (report.at_once, report.waiting) == (48 - len(tea), len(tea))
    assert {reason for _, _, reason in waiting_rewrites(project)} == {"it still has a name: somebody"}
    assert seen == [("flair:small", "/a/python")] * (48 + len(tea))
    event = rows(project, "SELECT payload FROM event WHERE kind = 'captions_rewritten'")[-1][0]
    assert json.loads(str(event))["tagger"] == "flair:small"
    named = [(counts.named, counts.tagged, counts.dissimilar) for counts in report.checks]
    assert named == [(len(tea), len(tea), 0)] * 2


def test_answers_to_another_prompt_are_other_answers(project: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Leave out names.")
    mine = prompt_of(str(tmp_path / "mine.txt"))
    with serving() as server:
        rewritten(project, server)
        server.act = lambda asked: Answer("\n".join(map(without_names, asked.captions)))
        for prompt in (TVR_RANKING, mine):
            report = rewritten(project, server, prompt=prompt)
            assert (report.at_once, report.usage.requests) == (48, 5)
            version = f"openai:small {prompt.version} t=0"
            assert [counts.version for counts in report.checks] == [version]
            assert rows(project, "SELECT DISTINCT rule_version FROM caption WHERE kind = 'rewritten'") == [(version,)]
            assert rewrite_summary(project, OPERATOR).versions == ((version, 48),)
    assert Counter(server.captions()) == dict.fromkeys(TEXTS, 3)
