"""Nothing tells a gold pair, or a model's grade: two projects that differ in nothing else answer with the same bytes.

In one project a pair waits for its fourth grade, which is this person's to give; in its twin that grade has been given,
the pair is settled, and the same person is asked about it as gold. In another twin, models have graded all pairs.
Everything goes through the real routes, over real clips.
"""

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import Desks
from annotate_app.session.guard import Guard
from backend.campaign.desk import exchange
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.staffing import sign_out
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.qualification.answers.key_file import KeyFile
from backend.campaign.qualification.gold.questions import GoldOptions, set_gold
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.ids import PairKey
from backend.encoders import sentence
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import ClipJob
from model_grades import says
from player_harness import make_clip
from support import NOW, VERBS, WordEncoder, have_read, person_of, sit

ME, OTHERS, PASSWORD = "Mirabel", ("Anna", "Boris", "Carla", "Dev"), "long enough for everybody"
HOUR = 3600.0
LATER = NOW + 2 * HOUR
"""When everything others did before is final."""


@dataclass
class Twin:
    """One of the two projects, and what its server answered."""

    project: Project
    client: TestClient
    at: list[float]
    gold: str
    heard: list[Any] = field(default_factory=list)

    def get(self, path: str) -> None:
        answer = self.client.get(path)
        self.heard.append((path, answer.status_code, answer.headers.raw, answer.content))

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        self.at[0] += 7.0
        answer = self.client.post(path, json=body, headers={"X-ReelRank": "1"})
        self.heard.append((path, answer.status_code, answer.headers.raw, answer.content))
        found: dict[str, Any] = json.loads(answer.content) if answer.content else {}
        return found

    def clips(self, pair: str) -> None:
        for path in (f"/clips/{pair}.mp4", f"/clips/{pair}.mp4?context=1", f"/clips/{pair}.webp"):
            self.get(path)

    def grade(self, pair: str, grade: int, key: str, note: str | None = None) -> dict[str, Any]:
        event: dict[str, Any] = {"pair": pair, "grade": grade, "key": key, "note": note}
        event |= {"active_ms": 2100, "elapsed_ms": 2500, "contexts": 1}
        return self.post("/desk/exchange", grades=[event], shown=pair)

    def look(self) -> dict[str, Any]:
        """What a page that is loaded anew gets."""
        desk: dict[str, Any] = self.post("/desk/exchange")["desk"]
        return desk

    def until_gold(self) -> dict[str, Any]:
        """Work until the pair is on screen; the desk then."""
        desk = self.look()
        for nth in range(60):
            pair = desk["items"][0]["pair"]
            self.post("/desk/shown", pair=pair)
            self.clips(pair)
            if pair == self.gold:
                return desk
            desk = self.grade(pair, nth % 5, f"before-{nth}")["desk"]
        raise AssertionError("the pair never came")

    def go_on(self, desk: dict[str, Any], pairs: int = 8) -> None:
        """What follows."""
        for nth in range(pairs):
            pair = desk["items"][0]["pair"]
            self.clips(pair)
            desk = self.grade(pair, (nth + 2) % 5, f"after-{nth}")["desk"]

    def sql(self, query: str, *values: object) -> list[Any]:
        with closing(sqlite3.connect(self.project.folder / "reelrank.db")) as db:
            return db.execute(query, values).fetchall()

    def me(self) -> Person:
        return person_of(self.project, ME)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """Both projects' folders, and the pair in which they differ."""
    folder = tmp_path_factory.mktemp("twins")
    lines = []
    for n in range(48):
        start = n // 2 * 0.5
        line = {"video": f"v{n % 2}", "start": start, "end": start + 1.6, "duration": 14}
        lines.append(json.dumps(line | {"caption": f"Person {n % 5} {VERBS[n % 8]} in room {n}."}))
    (folder / "moments.jsonl").write_text("\n".join(lines))
    for n in range(2):
        make_clip(folder / f"v{n}.mp4", n, seconds=14, width=160, height=90)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        project = init_project(folder / "ordinary", encoder="minilm")
        import_corpus(project, OPERATOR, folder / "moments.jsonl", "jsonl", videos=folder, now=NOW)
        draw_queries(project, OPERATOR, val=1, test=1, seed=5, now=NOW)
        choose_candidates(project, OPERATOR, now=NOW)
    me, *others = (
        add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=NOW) for name in (ME, *OTHERS)
    )
    have_read(project)

    def grade(project: Project, person: Person, pair: str, grade: int) -> None:
        event = GradeEvent(PairKey(pair), grade, f"{person.name}-{pair}", 2000)
        sit(project, person, [pair], now=NOW + 60)
        (receipt,) = exchange.record_grades(project, person, [event], now=NOW + 60)
        assert receipt.status == "saved", receipt.message

    mine = exchange.desk(project, me, now=NOW).items  # they are at work in one query,
    for item in mine[:2]:
        grade(project, me, item.pair, 1)
    begun = {item.query for item in mine}
    (query,) = (one for one in list_queries(project, OPERATOR) if one.query not in begun)
    pair = query_pairs(project, OPERATOR, query.query_id)[3].pair  # and the pair is of the other one
    for person, value in zip(others, (0, 4, 2), strict=False):
        grade(project, person, pair, value)
    project.store.close()
    shutil.copytree(folder / "ordinary", folder / "gold")
    twin = open_project(folder / "gold")
    grade(twin, others[3], pair, 2)
    review = next(one for one in query_pairs(twin, OPERATOR, query.query_id) if one.pair == pair)
    assert (review.verdict, review.relevance) == ("consensus", 2)
    (folder / "key.csv").write_text(f"pair_id,grade\n{review.pair_id},2\n")
    set_gold(twin, OPERATOR, GoldOptions(share=0.5), KeyFile.at(folder / "key.csv"), now=NOW + 61)
    with closing(sqlite3.connect(twin.folder / "reelrank.db")) as db:
        db.execute("UPDATE campaign SET gold_key = 'always the same'")
        db.commit()
    twin.store.close()
    (folder / "clips").mkdir()
    return folder / "ordinary", folder / "gold", pair


@contextmanager
def serving(folder: Path, gold: str) -> Iterator[Twin]:
    project, at = open_project(folder), [LATER]
    clips: ClipWorker[ClipJob] = ClipWorker(cut_clip)
    app = Starlette(
        routes=Desks(lambda: project, clips, clock=lambda: at[0]).routes(),
        middleware=[Middleware(Guard, project=lambda: project)],
    )
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as client:
        client.cookies.set("reelrank_session", sign_in(project, ME, PASSWORD, now=time.time()))
        yield Twin(project, client, at, gold)
    clips.stop()
    project.store.close()


def walk(made: tuple[Path, Path, str], to: Path, act: Callable[[Twin], None]) -> list[Twin]:
    """The same walk through a copy of both projects."""
    twins = []
    for folder in made[:2]:
        copy = shutil.copytree(folder, to / folder.name, ignore=shutil.ignore_patterns("cache"))
        # The same clips: two cuts of one moment may differ in a few bytes.
        shutil.copytree(made[0].parent / "clips", copy / "cache")
        with serving(copy, made[2]) as twin:
            act(twin)
            twin.heard.append(asdict(my_work(twin.project, twin.me(), now=twin.at[0] + HOUR)))
        twins.append(twin)
        shutil.copytree(copy / "cache", made[0].parent / "clips", dirs_exist_ok=True)
    return twins


def graded(twin: Twin) -> None:
    twin.go_on(twin.grade(twin.until_gold()["items"][0]["pair"], 2, "it")["desk"])


def taken_back(twin: Twin) -> None:
    desk = twin.until_gold()
    twin.grade(twin.gold, 4, "it", "is this a cup?")
    twin.look()
    twin.clips(twin.gold)
    twin.grade(twin.gold, 1, "once more")
    twin.grade(twin.gold, 1, "once more")  # the answer was lost
    desk = twin.grade(twin.gold, 3, "and again", "")["desk"]
    twin.go_on(desk, 3)
    twin.at[0] += 16 * 60  # too late
    twin.grade(twin.gold, 2, "too late")
    twin.go_on(twin.look(), 3)


def skipped_and_graded(twin: Twin) -> None:
    twin.until_gold()
    skip = {"pair": twin.gold, "kind": "cannot_judge", "reason": "dark", "key": "skip"}
    desk = twin.post("/desk/exchange", skips=[skip])["desk"]
    twin.clips(twin.gold)
    twin.go_on(desk, 2)
    twin.grade(twin.gold, 2, "after all")  # refused, at both
    twin.post("/desk/exchange", skips=[skip | {"key": "skip again"}])
    twin.go_on(twin.look(), 3)


def skipped_for_good(twin: Twin) -> None:
    twin.until_gold()
    skip = {"pair": twin.gold, "kind": "skip", "reason": "", "key": "skip"}
    desk = twin.post("/desk/exchange", skips=[skip])["desk"]
    for nth in range(60):  # to the end of all work, where skipped pairs are counted
        if not desk["items"]:
            break
        desk = twin.grade(desk["items"][0]["pair"], nth % 5, f"on-{nth}")["desk"]
    assert (desk["state"], desk["skipped"]) == ("finished", 1)


def loaded_anew_and_away(twin: Twin) -> None:
    twin.until_gold()
    twin.look()
    twin.at[0] += 20 * 60  # the lease runs out, and nobody comes
    twin.look()
    sign_out(twin.project, str(twin.client.cookies["reelrank_session"]), now=twin.at[0])
    twin.client.cookies.set("reelrank_session", sign_in(twin.project, ME, PASSWORD, now=time.time()))
    twin.clips(twin.gold)  # not on the desk just now
    desk = twin.look()
    twin.go_on(desk, 4)


def wrong_in_every_way(twin: Twin) -> None:
    desk = twin.until_gold()
    other = desk["items"][1]["pair"]
    twin.grade(twin.gold, 9, "no grade")
    twin.grade(twin.gold, 2, "it")
    twin.grade(other, 3, "it")  # a key that was used
    twin.grade(other, 3, "other")
    twin.grade(twin.gold, 3, "other")
    twin.post("/desk/exchange", skips=[{"pair": twin.gold, "kind": "skip", "reason": "", "key": "too late"}])
    twin.post("/desk/shown", pair=twin.gold)
    twin.go_on(twin.look(), 3)


def broken(twin: Twin) -> None:
    twin.until_gold()
    desk = twin.post("/desk/broken", pair=twin.gold, what="no picture")["desk"]
    twin.clips(twin.gold)
    twin.go_on(desk, 3)


@pytest.mark.parametrize(
    "act",
    [
        graded,
        taken_back,
        *(
            pytest.param(act, marks=pytest.mark.long)
            for act in (skipped_and_graded, skipped_for_good, loaded_anew_and_away, wrong_in_every_way, broken)
        ),
    ],
)
def test_gold_and_an_ordinary_pair_answer_with_the_same_bytes(
    made: tuple[Path, Path, str], tmp_path: Path, act: Callable[[Twin], None]
) -> None:
    ordinary, gold = walk(made, tmp_path, act)
    for nth, (one, other) in enumerate(zip(ordinary.heard, gold.heard, strict=True)):
        assert one == other, nth
    assert len(gold.heard) > 30
    # And they did differ: what was graded in one is a judgement, in the other an answer that counts nowhere.
    (me,) = gold.sql("SELECT annotator_id FROM annotator WHERE name = ?", ME)[0]
    given = "SELECT count(*) FROM {} WHERE annotator_id = ? AND pair_id = (SELECT pair_id FROM pair WHERE pair_key = ?)"
    judged = [twin.sql(given.format("judgement"), me, twin.gold)[0][0] for twin in (ordinary, gold)]
    answered = [twin.sql(given.format("gold_answer"), me, twin.gold)[0][0] for twin in (ordinary, gold)]
    assert judged == [answered[1], 0]
    assert answered[0] == 0
    assert answered[1] == {graded: 1, taken_back: 3, wrong_in_every_way: 1}.get(
        act, 1 if act is loaded_anew_and_away else 0
    )


def test_a_project_in_which_models_graded_every_pair_answers_with_the_same_bytes(
    made: tuple[Path, Path, str], tmp_path: Path
) -> None:
    """Neither a grade nor a reason, and no other order of pairs."""
    asked = open_project(shutil.copytree(made[0], tmp_path / "before" / "asked"))
    queries = list_queries(asked, OPERATOR)
    pairs = [pair.pair_id for query in queries for pair in query_pairs(asked, OPERATOR, query.query_id)]
    says(asked, {pair: 4 - nth % 5 for nth, pair in enumerate(pairs)}, reason="qqmodel")
    asked.store.close()
    plain, with_model = walk((made[0], asked.folder, made[2]), tmp_path, graded)
    for nth, (one, other) in enumerate(zip(plain.heard, with_model.heard, strict=True)):
        assert one == other, nth
    assert len(with_model.heard) > 30
    count = "SELECT count(*) FROM model_grade WHERE reason = 'qqmodel'"
    assert (plain.sql(count), with_model.sql(count)) == ([(0,)], [(len(pairs),)])
