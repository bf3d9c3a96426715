"""The order in which clips are cut, as data and on the event loop: nobody's requests hold up somebody else's desk."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request

import quick_cutter
from annotate_app.server.answers import cut_clip
from annotate_app.server.clip_worker import ClipQueue, ClipWorker, Priority
from annotate_app.session.request_limits import MOST_CLIPS_AT_ONCE, RequestLimits, TooMuch
from backend.campaign.nouns import Person, Role
from backend.core.ids import AnnotatorId, PairKey
from backend.media.jobs import ClipCache, ClipJob
from served import Browser, client, held
from small_project import SmallProject

__all__ = ["client", "held"]  # fixtures

ANA, BEN = AnnotatorId(1), AnnotatorId(2)
PEOPLE = st.integers(1, 4).map(AnnotatorId)
PRIORITIES = st.sampled_from(Priority)
MOST = 3


@given(st.lists(st.one_of(st.tuples(PEOPLE, PRIORITIES), st.none()), max_size=60))
def test_the_best_priority_goes_first_and_nobody_is_served_twice_before_another(
    asked: list[tuple[AnnotatorId, Priority] | None],
) -> None:
    """Everybody asks for clips of their own; None cuts one."""
    queue: ClipQueue[tuple[AnnotatorId, Priority, int]] = ClipQueue()
    waiting: list[tuple[AnnotatorId, Priority, int]] = []
    since: dict[AnnotatorId, Counter[AnnotatorId]] = {}
    """Who was served since a person last was, or began to wait."""
    for number, one in enumerate([*asked, *[None] * len(asked)]):
        if one is not None:
            person, priority = one
            if not any(who == person and what == priority for who, what, _ in waiting):
                since.setdefault(person, Counter())
            waiting.append((person, priority, number))
            queue.add(waiting[-1], person, priority)
            continue
        key = queue.next()
        if key is None:
            assert not waiting
            continue
        person, priority, _ = key
        assert priority == min(what for _, what, _ in waiting)
        assert key == min((one for one in waiting if one[:2] == (person, priority)), key=lambda one: one[2])
        waiting.remove(key)
        for other in {who for who, what, _ in waiting if what == priority} - {person}:
            since.setdefault(other, Counter())[person] += 1
            assert since[other][person] <= 1, "somebody was served twice while another waited at the same priority"
        since[person] = Counter()
        for other in since:
            if not any(who == other and what == priority for who, what, _ in waiting):
                since[other] = Counter()
    assert queue.next() is None


@given(st.lists(st.tuples(st.sampled_from(["add", "leave", "next"]), PEOPLE, PRIORITIES, st.integers(0, 5))))
def test_a_clip_is_cut_once_at_its_best_place_for_whoever_still_wants_it(
    acts: list[tuple[str, AnnotatorId, Priority, int]],
) -> None:
    """Beside a plain list of every wish, and of the clips in the order in which they came."""
    queue: ClipQueue[int] = ClipQueue(MOST)
    wishes: list[tuple[AnnotatorId, Priority, int]] = []
    came: list[int] = []
    for act, person, priority, clip in acts:
        wish = (person, priority, clip)
        if act == "add":
            mine = {found for who, _, found in wishes if who == person}
            awaited = {found for who, what, found in wishes if who == person and what is not Priority.AHEAD}
            left = None
            if clip not in mine and len(mine) == MOST:
                given_up = next((found for found in came if found in mine - awaited), None)
                if given_up is None:
                    with pytest.raises(TooMuch):
                        queue.add(clip, person, priority)
                    continue
                wishes.remove((person, Priority.AHEAD, given_up))
                left = given_up if all(found != given_up for _, _, found in wishes) else None
            assert queue.add(clip, person, priority) == left
            if priority is not Priority.AHEAD or wish not in wishes:
                wishes.append(wish)
        elif act == "leave":
            known = wish in wishes
            if known:
                wishes.remove(wish)
            assert queue.leave(clip, person, priority) == (known and all(found != clip for _, _, found in wishes))
        elif (served := queue.next()) is not None:
            assert (min(what for _, what, _ in wishes), served) in {(what, found) for _, what, found in wishes}
            wishes = [one for one in wishes if one[2] != served]
        else:
            assert not wishes
        there = {found for _, _, found in wishes}
        came = [*(found for found in came if found in there), *sorted(there - {*came})]
        assert there == {found for found in range(6) if found in queue}
        assert queue.counts() == Counter(min(what for _, what, other in wishes if other == found) for found in there)


def job(name: str) -> ClipJob:
    return ClipJob(Path("video.mp4"), "", 0, 1, Path(f"{name}.mp4"), ClipCache(Path()))


class Worker(ClipWorker[ClipJob]):
    """Cuts in no time and notes what, once it may go."""

    def __init__(self) -> None:
        super().__init__(quick_cutter.cut)
        self.cut: list[str] = []
        self.go = asyncio.Event()
        self.wishes = 0

    def ask(self, job: ClipJob, person: AnnotatorId, priority: Priority) -> asyncio.Future[Path]:
        self.wishes += 1
        return super().ask(job, person, priority)

    async def _cut_in_pool(self, job: ClipJob) -> Path:
        await self.go.wait()
        self.cut.append(job.path.stem)
        return job.path


def on_loop(work: Callable[[Worker], Any]) -> list[str]:
    """Run `work` beside a worker, and return what was cut, in order."""

    async def run() -> list[str]:
        clips = Worker()
        await asyncio.wait_for(work(clips), 20)
        return clips.cut

    return asyncio.run(run())


def test_forty_requests_of_one_person_delay_anothers_clip_by_the_one_being_cut() -> None:
    async def work(clips: Worker) -> None:
        flood = [clips.ask(job(f"a{n}"), ANA, Priority.CONTEXT) for n in range(40)]
        ahead = clips.ask(job("ahead"), BEN, Priority.AHEAD)
        desk = clips.ask(job("desk"), BEN, Priority.DESK)
        around = clips.ask(job("around"), BEN, Priority.CONTEXT)
        clips.go.set()
        await asyncio.gather(*flood, ahead, desk, around)

    order = on_loop(work)
    assert order[:5] == ["a0", "desk", "ahead", "a1", "around"]
    assert order[5:] == [f"a{n}" for n in range(2, 40)]


def test_desk_clips_of_two_people_take_turns_and_one_for_both_is_cut_once() -> None:
    async def work(clips: Worker) -> None:
        flood = [clips.ask(job(f"a{n}"), ANA, Priority.DESK) for n in range(5)]
        own = [clips.ask(job(f"b{n}"), BEN, Priority.DESK) for n in range(2)]
        assert clips.ask(job("a4"), BEN, Priority.CONTEXT) is flood[4]
        assert clips.ask(job("a0"), BEN, Priority.DESK) is flood[0]  # it is being cut
        assert clips.queued == (6, 0)
        clips.go.set()
        await asyncio.gather(*flood, *own)

    assert on_loop(work) == ["a0", "b0", "a1", "b1", "a2", "a3", "a4"]


def request_of(person: Person, gone: asyncio.Event) -> Request:
    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http", "reelrank.person": person}, receive)


def test_who_has_gone_keeps_no_place_unless_somebody_else_wants_the_clip() -> None:
    ana, lea = Person(ANA, "Ana", Role.ANNOTATOR), Person(AnnotatorId(3), "Lea", Role.LEAD)

    async def work(clips: Worker) -> None:
        first = clips.ask(job("first"), BEN, Priority.DESK)
        gone, stays = asyncio.Event(), asyncio.Event()
        left = [
            asyncio.ensure_future(cut_clip(request_of(ana, gone), clips, lambda n=n: job(f"{n}"))) for n in range(3)
        ]
        shared = asyncio.ensure_future(cut_clip(request_of(lea, stays), clips, lambda: job("1")))
        while clips.wishes != 5:
            await asyncio.sleep(0)
        gone.set()
        assert [type(one) for one in await asyncio.gather(*left, return_exceptions=True)] == [ClientDisconnect] * 3
        assert clips.queued == (1, 0)
        clips.go.set()
        assert (await shared).path.stem == "1"
        await first

    assert on_loop(work) == ["first", "1"]


def test_a_clip_cut_ahead_makes_room_for_one_that_the_same_person_waits_for() -> None:
    async def work(clips: Worker) -> None:
        clips._queue = ClipQueue(2)
        ahead = [clips.ask(job(f"ahead{n}"), ANA, Priority.AHEAD) for n in range(3)]
        desk = clips.ask(job("desk"), ANA, Priority.DESK)
        with pytest.raises(TooMuch):
            await ahead[1]
        around = clips.ask(job("around"), ANA, Priority.CONTEXT)
        with pytest.raises(TooMuch, match="Too many clips at once"):
            clips.ask(job("more"), ANA, Priority.DESK)
        clips.go.set()
        await asyncio.gather(ahead[0], desk, around)

    assert on_loop(work) == ["ahead0", "desk", "around"]


def test_every_address_asks_at_the_priority_of_what_it_gives(
    client: Browser, held: list[PairKey], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Priority] = []
    real = ClipWorker.ask

    def noting(worker: Any, found: Any, person: AnnotatorId, priority: Priority) -> Any:
        asked.append(priority)
        return real(worker, found, person, priority)

    monkeypatch.setattr(ClipWorker, "ask", noting)
    for who, path, priority in [
        ("Ana", f"/clips/{held[0]}.mp4", Priority.DESK),
        ("Ana", f"/clips/{held[0]}.mp4?context=1", Priority.CONTEXT),
        ("Ana", f"/clips/{held[0]}.webp", Priority.EXTRA),
        ("Lea", f"/clips/{held[1]}.gif", Priority.EXTRA),
        ("Lea", "/moments.mp4?video=v1&start=1&end=2", Priority.EXTRA),
        ("Lea", "/moments.webp?video=v1&start=1&end=2", Priority.EXTRA),
    ]:
        asked.clear()
        assert client.signed_in(who).get(path).status_code == 200
        assert asked == [priority]


def test_a_person_has_so_many_clips_under_way(client: Browser, real_project: SmallProject, held: list[PairKey]) -> None:
    """As if their requests were being answered."""
    patience = next(
        layer._limits for layer in _layers(client.app) if isinstance(getattr(layer, "_limits", None), RequestLimits)
    )
    me = real_project.person("Ana").annotator_id
    patience._under_way[me, MOST_CLIPS_AT_ONCE] = MOST_CLIPS_AT_ONCE
    for path in (
        f"/clips/{held[0]}.mp4",
        f"/clips/{held[0]}.webp",
        "/examples/1.mp4",
        "/practice/x.mp4",
        "/describe/videos/1.mp4",
    ):
        answer = client.signed_in("Ana").get(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert client.get("/my-work").status_code == 200
    assert client.signed_in("Lea").get(f"/clips/{held[0]}.mp4").status_code == 200


def _layers(app: Any) -> list[Any]:
    found = [app.middleware_stack]
    while hasattr(found[-1], "app") or hasattr(found[-1], "_app"):
        found.append(getattr(found[-1], "app", None) or found[-1]._app)
    return found
