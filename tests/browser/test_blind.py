"""What an annotator's browser gets to know: the query and the clip, and nothing that could bias a grade.

The project carries marks in everything an annotator must not learn: words in captions, names and reasons, numbers in
times, ranks and similarities. Every byte the browser receives is recorded, and no mark may be in it.
"""

import hashlib
import http.client
import io
import json
import shutil
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import av
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from app_server import AppServer, sign_in
from backend.campaign.desk import exchange
from backend.campaign.desk.clips import report_clip
from backend.campaign.judging.model import GradeEvent, SkipEvent, SkipKind
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.review.adjudicating import adjudicate, reply_to_note
from backend.campaign.review.model import ReviewList
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from hands import page_is_done, pair_on_show, press, saved, skip
from player_harness import make_clip
from recorder import Recorder
from support import DISPUTED, VERBS, WordEncoder, cases, have_read, person_of, sit

pytestmark = pytest.mark.browser

ME, OTHER, ANOTHER, LEAD = "Mirabel", "Zyxwv", "Utsrq", "Wvutsr"
PASSWORD = "long enough for everybody"
WORDS = (
    "qqnote",
    "qqreply",
    "qqcaption",
    "qqvideo",
    "qqencoder",
    "qqrun",
    "qqskip",
    "qqdecision",
    "qqfault",
    "qqtitle",
    "qqfolder",
    "qqmodel",
    "qqsaw",
    "argon2",
)
TIMES = (".0173091", ".5173091", ".1527093", ".6527093")
"""How the starts and ends of all moments go on after their whole seconds."""

RANK, SIMILARITY, ACTIVE_MS = 4_917_301_000_000, 0.83479105, 7_654_321
# Whether another window of the same person is at work (`elsewhere`) says nothing of a pair.
DESK = {"state", "items", "previous", "today", "in_all", "waiting", "skipped", "replies", "warned", "exam", "elsewhere"}
DESK |= {"quota_today", "quota_in_all"}  # what a lead asks of this person, and nothing of anybody else
# Whether a clip is its `whole` video is no secret: a context of nothing tells it too.
ITEM = {"pair", "query", "position", "total", "duration_s", "grade", "whole", "note"}
LEADS_PAGES = ("rewrites", "queries", "progress", "people", "release", "disputes")
Numbers = list[float | int]


@dataclass
class Marked:
    """The project with its marks, and the server over it."""

    server: AppServer
    project: Project
    numbers: Numbers
    digests: list[str]

    @cached_property
    def marks(self) -> dict[str, bytes]:
        """Every mark in every form in which it could travel."""
        found = {}
        for word in (*WORDS, *TIMES, OTHER, ANOTHER, LEAD, *self.digests, str(self.server.project)):
            found[word] = word.lower().encode()
            found[f"{word} as UTF-16"] = word.lower().encode("utf-16-le")
        for text in (str(RANK)[:8], str(SIMILARITY)[2:9], str(ACTIVE_MS)):
            found[text] = text.encode()
        for number in self.numbers:
            found[f"{number} as a double"] = struct.pack("<d", number).lower()
            if isinstance(number, int):
                found[f"{number} as a varint"] = varint(number).lower()
        return found

    def sql(self, query: str, *values: object) -> list[Any]:
        """Rows straight from the database."""
        with closing(sqlite3.connect(self.server.project / "reelrank.db")) as db:
            return db.execute(query, values).fetchall()


def varint(number: int) -> bytes:
    """A whole number as Protobuf writes it."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def make_video(path: Path, seed: int) -> None:
    """A video of 14 s with words in its metadata, as real ones have."""
    plain = path.with_suffix(".plain.mp4")
    make_clip(plain, seed, seconds=14, width=160, height=90)
    with av.open(str(plain)) as source, av.open(str(path), "w") as out:
        out.metadata.update({"title": "qqtitle of the film", "comment": "qqtitle again"})
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    plain.unlink()


def build(folder: Path) -> Project:
    """A project at work: two queries of 20 pairs, settled, disputed, decided, skipped, blocked and open ones."""
    videos = folder / "qqfolder-videos"
    videos.mkdir(parents=True)
    lines = []
    for n in range(48):
        start = n // 2 * 0.5 + 0.0173091
        caption = f"Person {n % 5} {VERBS[n % 8]} in room {n}."
        line = {"video": f"qqvideo{n % 2}", "start": round(start, 7), "end": round(start + 1.6354002, 7)}
        lines.append(json.dumps(line | {"caption": caption, "duration": 14}))
    (folder / "moments.jsonl").write_text("\n".join(lines))
    for n in range(2):
        make_video(videos / f"qqvideo{n}.mp4", n)
    project = init_project(folder / "blind", encoder="minilm")
    now = time.time() - 3600
    import_corpus(project, OPERATOR, folder / "moments.jsonl", "jsonl", videos=videos, now=now)
    draw_queries(project, OPERATOR, val=1, test=1, seed=5, now=now)
    choose_candidates(project, OPERATOR, now=now)
    lead, other, another, _ = (
        add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=now)
        for name, role in ((LEAD, Role.LEAD), (OTHER, Role.ANNOTATOR), (ANOTHER, Role.ANNOTATOR), (ME, Role.ANNOTATOR))
    )
    have_read(project)
    first, second = (query_pairs(project, OPERATOR, query.query_id) for query in list_queries(project, OPERATOR))

    def grade(person: Person, pair: str, grade: int, nth: int) -> None:
        note = f"qqnote by {person.name}"
        event = GradeEvent(pair, grade, f"{person.name}-{nth}", ACTIVE_MS + nth, note=note)  # type: ignore[arg-type]
        sit(project, person, [pair], now=now + nth)
        (receipt,) = exchange.record_grades(project, person, [event], now=now + nth)
        assert receipt.status == "saved", receipt.message

    for nth, pair in enumerate(first):
        grade(other, pair.pair, nth % 5, nth)
    for nth, pair in enumerate(first[:9]):
        grade(another, pair.pair, (nth % 5 + 3 * (nth % 3)) % 5, nth)  # every third pair alike, the others apart
    disputed = [pair.pair for pair in cases(project, OPERATOR, *DISPUTED)]
    assert len(disputed) >= 3
    adjudicate(project, lead, disputed[0], 2, "qqdecision: I looked twice", now=now + 100)
    for noted in cases(project, lead, ReviewList.NOTES):
        for given in noted.grades:
            assert given.note is not None
            reply_to_note(project, lead, given.note.note, "qqreply to all", now=now + 100)
    skip = SkipEvent(second[0].pair, SkipKind.CANNOT_JUDGE, "qqskip: all too dark", "skip-1")
    sit(project, other, [second[0].pair], now=now + 101)
    exchange.record_skips(project, other, [skip], now=now + 101)
    report_clip(project, lead, second[1].pair, "qqfault: no picture", now=now + 102)
    with closing(sqlite3.connect(project.folder / "reelrank.db")) as db:
        db.execute("UPDATE caption SET text = text || ' qqcaption' || caption_id, reason = 'qqcaption'")
        for table in ("candidate", "pair"):
            db.execute(
                f"UPDATE {table} SET rank = rank + ?, similarity = ? + rank * 1e-9, encoder = 'qqencoder'",
                [RANK, SIMILARITY],
            )
        db.execute("UPDATE source SET name = 'qqencoder'")
        db.execute(
            "INSERT INTO source (source_id, kind, name, sha256, depth, part) VALUES (9, 'run', 'qqrun', ?, 20, 2)",
            [hashlib.sha256(b"qqrun").hexdigest()],
        )
        db.execute(
            "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) "
            "SELECT query_id, moment_id, 9, rank, similarity, start_s, end_s FROM candidate "
            "JOIN moment USING (moment_id)"
        )
        db.execute(
            "INSERT INTO model_grade (pair_id, query, model, host, prompt_version, outcome, grade, reason, requests, "
            "asked_at) SELECT pair_id, text, 'qqmodel-7b', 'qqmodel.example', 'qqmodel-prompt', 'graded', "
            "pair_id % 5, 'qqsaw a man', 1, ? FROM pair JOIN query USING (query_id)",
            [now],
        )
        db.execute("UPDATE batch SET part = 2 WHERE batch_id = (SELECT max(batch_id) FROM batch)")
        db.commit()
    return project


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AppServer]) -> Marked:
    folder = tmp_path_factory.mktemp("qqfolder")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        project = build(folder)
    server = serve(project.folder)
    marked = Marked(server, project, [], [])
    columns = ("SELECT rank FROM pair", "SELECT similarity FROM pair", "SELECT start_s FROM moment")
    marked.numbers = sorted({row[0] for column in columns for row in marked.sql(column)} - {0})
    digests = "SELECT sha256 FROM video UNION SELECT sha256 FROM source WHERE kind = 'run'"
    marked.digests = [row[0] for row in marked.sql(digests)]
    return marked


@pytest.fixture
def recorder(marked: Marked) -> Iterator[Recorder]:
    recorder = Recorder(marked.server.port)
    yield recorder
    recorder.close()


@contextmanager
def entered(browser: Browser, recorder: Recorder, name: str = ME) -> Iterator[tuple[BrowserContext, Page]]:
    """A browser of somebody's own, signed in, all of it through the recorder."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(recorder.url)
    sign_in(page, name, PASSWORD)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    yield context, page
    context.close()


def kept(context: BrowserContext, page: Page) -> bytes:
    """What the browser holds: the page with all its shadow trees, both stores, cookies."""
    inside = page.evaluate(
        """() => {
            const whole = (root) => root.innerHTML + [...root.querySelectorAll("*")].map((element) =>
                (element.shadowRoot ? whole(element.shadowRoot) : "") + (element.value ?? "")).join("");
            return JSON.stringify([document.title, location.href, {...localStorage}, {...sessionStorage}])
                + whole(document.documentElement);
        }"""
    )
    return (inside + json.dumps(context.cookies())).encode()


def leaks(marked: Marked, *texts: bytes) -> list[str]:
    """The marks found in these bytes."""
    lowered = [text.lower() for text in texts]
    return [name for name, form in marked.marks.items() if any(form in text for text in lowered)]


def call(url: str, path: str, cookie: str = "", method: str = "GET", **headers: str) -> tuple[int, bytes, bytes]:
    """One request with its path just as it stands: (status, body, headers)."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    with closing(connection):
        given = {"Cookie": cookie} if cookie else {}
        connection.request(method, path, headers={**given, **headers})
        answer = connection.getresponse()
        body = b"" if answer.status == 101 else answer.read()  # a websocket would go on for ever
        return answer.status, body, str(answer.headers).encode()


def cookie_of(marked: Marked, name: str) -> str:
    """A session of one person."""
    return f"reelrank_session={permissions.sign_in(marked.project, name, PASSWORD, now=time.time())}"


def a_clip(marked: Marked, more: str = "") -> tuple[str, bytes, bytes]:
    """A clip on my desk as a browser gets it: (cookie, file, headers)."""
    desk = exchange.desk(marked.project, person_of(marked.project, ME), now=time.time())
    cookie = cookie_of(marked, ME)
    status, clip, headers = call(marked.server.url, f"/clips/{desk.items[0].pair}.mp4{more}", cookie)
    assert status == 200
    return cookie, clip, headers


def test_nothing_that_could_bias_a_grade_reaches_the_browser(
    browser: Browser, marked: Marked, recorder: Recorder
) -> None:
    with entered(browser, recorder) as (context, page):
        hosts: set[str] = set()
        page.on("request", lambda request: hosts.add(request.url.split("/")[2] if "//" in request.url else ""))
        pair_on_show(page)
        query = page.get_by_test_id("query").inner_text()
        for key in "0142":
            press(page, key)
        pair_on_show(page)
        with page.expect_response(lambda response: "context=1" in response.url):
            page.keyboard.press("x")
        held = [kept(context, page)]
        page.keyboard.press("g")
        expect(page.get_by_role("dialog", name="How to grade")).to_be_visible()
        held.append(kept(context, page))
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        press(page, "u")
        press(page, "3")
        page.keyboard.press("l")
        recent = page.get_by_role("dialog", name="Your last grades")
        expect(recent.get_by_role("listitem").first).to_be_visible()
        page.keyboard.press("l")
        expect(recent).to_be_hidden()
        skip(page, "1")
        saved(page)
        page.reload()
        for _ in range(8):
            press(page, "2")
        saved(page)
        held.append(kept(context, page))
        answer = page.request.post(
            f"{recorder.url}/desk/exchange", data={"grades": []}, headers={"X-ReelRank": "1", "Origin": recorder.url}
        ).json()
        page.goto(f"{recorder.url}/my-work")
        expect(page.get_by_role("heading", name="My work", exact=True)).to_be_visible()
        page_is_done(page)
        held.append(kept(context, page))

    # The recorder saw it all: documents, the websocket, answers with the query and my own name, whole clips.
    received = recorder.received()
    everything = b"\n".join(received)
    assert b"content-encoding: " not in everything.lower()
    assert b"permessage-deflate" not in everything.lower()
    assert b"101 Switching Protocols" in everything
    sockets = [bytes_ for bytes_ in received if b"101 Switching Protocols" in bytes_]
    assert any(query.encode() in bytes_ and ME.encode() in bytes_ for bytes_ in sockets)
    assert everything.count(b"ftyp") >= 12
    assert b'"receipts":[{' in everything
    assert query.encode() in held[0]

    assert hosts - {""} <= {recorder.url.removeprefix("http://")}, "the desk talks to somebody else"
    assert leaks(marked, *received, *held) == []
    # Whatever is added to a desk is a decision about blindness, and is to be made here too.
    assert answer["desk"].keys() <= DESK
    assert answer["desk"]["items"]
    assert all(item.keys() <= ITEM for item in [*answer["desk"]["items"], answer["desk"]["previous"]])
    for word in (b'"val"', b'"test"', b'"split"', b"similarity", b"escalated", b"consensus", b"adjudicated"):
        assert word not in json.dumps(answer).encode()


@pytest.mark.long
def test_the_leads_pages_refuse_an_annotator_without_a_word_of_what_they_show(
    browser: Browser, marked: Marked, recorder: Recorder
) -> None:
    with entered(browser, recorder) as (context, page):
        held = []
        for path in LEADS_PAGES:
            page.goto(f"{recorder.url}/{path}?query=1")
            expect(page.get_by_text("This page is for leads.")).to_be_visible()
            held.append(kept(context, page))
    received = recorder.received()
    assert sum(bytes_.count(b"This page is for leads.") for bytes_ in received) >= len(LEADS_PAGES)
    assert leaks(marked, *received, *held) == []
    # The same search finds the marks where they belong, on a lead's screen.
    with entered(browser, recorder, LEAD) as (_, page):
        page.goto(f"{recorder.url}/disputes")
        expect(page.get_by_text("qqcaption").first).to_be_visible()
        page.goto(f"{recorder.url}/people")
        expect(page.get_by_text(OTHER).first).to_be_visible()
    found = leaks(marked, *recorder.received())
    assert {"qqcaption", "qqvideo", OTHER, LEAD} <= set(found)


@pytest.mark.parametrize("more", ["", "?context=1"])
def test_a_clip_says_nothing_about_where_it_comes_from(marked: Marked, more: str) -> None:
    _, clip, headers = a_clip(marked, more)
    with av.open(io.BytesIO(clip)) as container:
        said = dict(container.metadata)
        for stream in container.streams:
            said |= stream.metadata
        assert container.duration is not None
        seconds = container.duration / 1e6
        assert seconds > 1.8 if more else 1.5 < seconds < 1.8
    assert said.keys() <= {
        *("major_brand", "minor_version", "compatible_brands", "encoder", "handler_name", "vendor_id", "language"),
    }
    assert leaks(marked, clip, headers) == []
    assert b"title" not in clip
    # The original does tell, so that this search can find something.
    source = next((marked.server.project.parent / "qqfolder-videos").glob("*.mp4")).read_bytes()
    assert b"qqtitle" in source


def test_somebody_elses_pair_is_refused_like_one_that_does_not_exist(marked: Marked) -> None:
    cookie, _, _ = a_clip(marked)
    me = person_of(marked.project, ME).annotator_id
    foreign = marked.sql(
        "SELECT pair_key FROM pair WHERE pair_id NOT IN (SELECT pair_id FROM seat WHERE annotator_id = ?) AND "
        "pair_id NOT IN (SELECT pair_id FROM skip WHERE annotator_id = ?)",
        me,
        me,
    )
    assert foreign
    invented = call(marked.server.url, "/clips/AAAAAAAAAAAAAAAA.mp4", cookie)
    assert invented[0] == 403
    for (key,) in foreign:
        status, body, headers = call(marked.server.url, f"/clips/{key}.mp4", cookie)
        assert (status, body) == invented[:2]
        assert leaks(marked, body, headers) == []


def test_no_file_of_the_project_lies_at_a_path_that_can_be_guessed(marked: Marked) -> None:
    mine, clip, _ = a_clip(marked)
    folder = marked.server.project
    cached = next((folder / "cache").rglob("*.mp4"))
    video = next((folder.parent / "qqfolder-videos").glob("*.mp4"))
    pair, number = marked.sql("SELECT pair_key, pair_id FROM pair")[0]
    names = [
        *("reelrank.db", "reelrank.db-wal", "reelrank.toml", f"videos/{video.name}", f"qqfolder-videos/{video.name}"),
        *(str(video)[1:], str(folder / "reelrank.db")[1:], str(cached)[1:], video.name, cached.name),
        str(cached.relative_to(folder)),
    ]
    prefixes = [
        *("/", "/static/", "/app/static/", "/media/", "/session/", "/clips/", "/component/", "/_stcore/", "/project/"),
        *(
            "/lead/",
            "/clips/..%2f",
            "/session/..%2f",
            "/static/../../",
            "/static/..%2f..%2f",
            "/app/static/..%2f..%2f",
            "//",
        ),
        *("/session/%2e%2e/%2e%2e/", "/clips/....//", "/static/%252e%252e/", "/examples/", "/session/invitation/"),
    ]
    paths = [prefix + name for prefix in prefixes for name in names]
    paths += [f"/clips/{number}.mp4", f"/clips/{cached.stem}.mp4", f"/clips/{pair}", f"/clips/{video.stem}.mp4"]
    paths += [f"/clips/{pair}.mp4%00", f"/clips/{pair}.mp4?path=../../reelrank.db", "/_stcore/metrics", "/clips/.mp4"]
    paths += [f"/clips/{pair}.gif", f"/moments.webp?video={video.stem}&start=0&end=1"]  # for leads
    digests = {hashlib.sha256(data).digest() for data in (clip, cached.read_bytes(), video.read_bytes())}
    for cookie in ("", mine):
        for path in paths:
            if path.startswith(f"/clips/{pair}.mp4?"):
                continue  # my own pair or not, that is an ordinary request
            status, body, headers = call(marked.server.url, path, cookie)
            assert b"SQLite format 3" not in body, path
            assert b"ftyp" not in body[:64], path
            assert not body.startswith((b"GIF8", b"RIFF")), path
            assert b"[cast]" not in body, path
            assert hashlib.sha256(body).digest() not in digests, path
            # A path that is sent back has only what its sender knew.
            asked = {mark for mark, form in marked.marks.items() if form in path.lower().encode()}
            assert set(leaks(marked, body, headers)) <= asked, path
            assert status in (200, 303, 307, 308, 400, 401, 403, 404, 405, 410), (path, status)


def test_strangers_learn_nothing_at_all(marked: Marked) -> None:
    query = marked.sql("SELECT text FROM query")[0][0].encode()
    paths = [
        *("/", "/grade", "/queries", "/session/sign-in", "/session/sign_in.css", "/manifest.json", "/favicon.png"),
        *("/_stcore/health", "/_stcore/host-config", "/_stcore/stream", "/_stcore/metrics", "/_stcore/message"),
        *("/_stcore/upload_file/a/b", "/static/", "/static/index.html", "/media/a.mp4", "/component/reelrank_player/"),
        *(
            "/_stcore/bidi-components/reelrank_player",
            "/app/static/",
            "/clips/a.mp4",
            "/desk/exchange",
            "/auth/login",
            "/lead/waiting",
        ),
    ]
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    answers = [call(marked.server.url, path) for path in paths]
    answers += [call(marked.server.url, path, method="POST") for path in ("/desk/exchange", "/desk/broken", "/grade")]
    refused = call(marked.server.url, "/_stcore/stream", **upgrade)
    assert refused[0] == 403  # not 101: there is no websocket without a session
    for status, body, headers in [*answers, refused]:
        assert leaks(marked, body, headers) == []
        assert query not in body
        assert ME.encode() not in body + headers
        assert status not in (500, 101)


def test_keys_do_not_follow_the_ranks(marked: Marked) -> None:
    rows = marked.sql("SELECT query_id, rank, pair_id, pair_key FROM pair ORDER BY query_id, rank")
    for query_id in {row[0] for row in rows}:
        keys = [key for query, _, _, key in rows if query == query_id]
        assert len(keys) == 20
        assert keys not in (sorted(keys), sorted(keys, reverse=True))
    assert all(len(key) >= 16 for *_, key in rows)


def test_what_others_think_changes_nothing_on_a_desk(marked: Marked, tmp_path: Path) -> None:
    """Two projects, alike but for captions, ranks, similarities and what others gave: a newcomer sees the same."""
    copies = [tmp_path / "as-it-is", tmp_path / "otherwise"]
    with closing(sqlite3.connect(marked.server.project / "reelrank.db")) as live:
        for folder in copies:
            shutil.copytree(marked.server.project, folder, ignore=shutil.ignore_patterns("*.db*", "cache"))
            with closing(sqlite3.connect(folder / "reelrank.db")) as copy:
                live.backup(copy)
    with closing(sqlite3.connect(copies[1] / "reelrank.db")) as db:
        db.execute("DROP TRIGGER judgement_no_update")
        db.execute("DROP TRIGGER adjudication_no_update")
        db.execute("UPDATE judgement SET grade = 4 - grade, active_ms = 1")  # as far apart as before
        db.execute("UPDATE adjudication SET relevance = 0, reason = 'another'")
        db.execute("UPDATE consensus SET relevance = 4 - relevance, mean = 4 - mean")
        db.execute("UPDATE caption SET text = 'something else ' || caption_id")
        db.execute("UPDATE source SET name = 'another', depth = 1")
        db.execute("DELETE FROM model_grade WHERE pair_id % 2 = 0")
        db.execute("UPDATE skip SET reason = 'another', kind = 'skip' WHERE kind = 'cannot_judge'")
        db.execute("UPDATE query SET split = CASE split WHEN 'val' THEN 'test' ELSE 'val' END")
        for table in ("candidate", "pair"):
            db.execute(f"UPDATE {table} SET rank = {2 * RANK} - rank, similarity = 0.9 - similarity")
        db.execute("UPDATE annotator SET name = 'Somebody else ' || annotator_id WHERE name <> ?", [ME])
        db.commit()
    now = time.time() + 86_400  # everybody's leases are over
    walks = []
    for folder in copies:
        project = open_project(folder)
        newcomer = add_person_with_password(project, OPERATOR, "Newcomer", Role.ANNOTATOR, PASSWORD, now=now)
        have_read(project)
        desk, walk = exchange.desk(project, newcomer, now=now), []
        for step in range(60):
            walk.append(asdict(desk))
            if not desk.items:
                break
            event = GradeEvent(desk.items[0].pair, 2, f"walk-{step}")
            receipts, desk = exchange.exchange(project, newcomer, [event], [], now=now + step)
            walk.append({"receipts": [asdict(receipt) for receipt in receipts]})
        walks.append(walk)
    assert walks[0] == walks[1]
    assert len(walks[0]) > 20
