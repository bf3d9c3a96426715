"""What joining keeps, renumbers, leaves behind and refuses."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.doctor.database import move
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.staffing import pause_person, suspend
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.parts.joining import join
from backend.campaign.parts.model import TABLES
from backend.campaign.parts.rows import joined as joined_rows
from backend.campaign.parts.splitting import split
from backend.campaign.qualification.exam.answer_key import use_exam
from backend.campaign.qualification.exam.model import ExamKey
from backend.campaign.qualification.exam.setting import end_exam, set_exam
from backend.campaign.qualification.gold.questions import GoldOptions, set_gold
from backend.campaign.qualification.guideline.versions import reword_guideline
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import ProjectError
from backend.store import sqlite
from exam_rounds import Round
from postgres import Cluster
from split_worlds import World, lead_of, released
from support import NOW, PARTLY, PEOPLE, Judging, grade_by_key, person_of, sit

LATER_S = 7200.0
"""Seconds after which grades can no longer be corrected."""


@pytest.fixture
def world(new_world: Callable[..., World], tmp_path: Path) -> World:
    return new_world(tmp_path)


def sql(project: Project, statement: str, *values: object) -> list[tuple[object, ...]]:
    return [tuple(row) for row in Judging(project, lead_of(project), []).rows(statement, *values)]


def queries(world: World) -> list[str]:
    return list(dict.fromkeys(query for query, _, _ in world.pairs(world.one)))


def test_every_table_has_its_place() -> None:
    assert set(TABLES) == {name for name in sqlite.fresh().table_names() if not name.startswith(("sqlite", "_sqlite"))}


def test_later_batches_and_people_are_numbered_as_in_one_campaign(world: World) -> None:
    first, second, third = queries(world)
    where = {query: [place for place in world.pairs(world.one) if place[0] == query] for query in queries(world)}
    world.grade(where[third][0], "Élise", 4)
    world.grade(where[second][0], "Fay", 4)
    world.grade(where[first][0], "ÉLISE", 3)
    assert world.open_next(third)
    assert world.open_next(first)
    assert world.open_next(second)
    later = [place for place in world.pairs(world.one) if place not in where[place[0]]]
    assert len(later) == 60
    for place in later[::7]:
        world.grade(place, "élise", 2)
        world.grade(place, "Anna", 2)

    ids = [set(sum(sql(part, "SELECT pair_id FROM pair"), ())) for part in world.parts]
    assert sum(map(len, ids)) == len(set.union(*ids)) == 120  # no number is in two parts

    joined, _ = world.joined()
    numbers = "SELECT q.text, v.name, m.start_s, p.pair_id, p.batch_id FROM pair p JOIN query q USING (query_id) "
    numbers += "JOIN moment m USING (moment_id) JOIN video v USING (video_id) ORDER BY p.pair_id"
    assert sql(joined, numbers) == sql(world.one, numbers)
    # Élise began before Fay, and is one person whatever the case of her name.
    assert sql(joined, "SELECT annotator_id, name FROM annotator ORDER BY 1")[-2:] == [(6, "Élise"), (7, "Fay")]
    assert released(joined, world.folder / "a") == released(world.one, world.folder / "b")


def test_the_log_tells_of_the_same_pairs(world: World) -> None:
    query = queries(world)[2]
    assert world.open_next(query)
    place = [place for place in world.pairs(world.one) if place[0] == query][-1]
    world.lead_acts(place, "adjudicate", 4)
    joined, _ = world.joined()
    # What came of the split itself is in the parts' log, or about the project.
    told = [
        [
            (entry.at, entry.by, entry.words, entry.about)
            for entry in find_activity(project, OPERATOR, ActivityFilter(), first=0, most=500)
        ]
        for project in (joined, world.one)
    ]
    assert [entry for entry in told[0] if "parts" not in entry[2]] == told[1]
    assert any("relevance 4" in words for _, _, words, _ in told[0])
    # What came before a batch is told by numbers, which are other ones now: times tell instead.
    numbered = "SELECT 1 FROM event WHERE kind = 'batch_opened' AND payload ->> 'last' IS NOT NULL"
    assert [len(sql(project, numbered)) for project in (world.one, joined)] == [1, 0]


def test_accounts(world: World) -> None:
    one, two, three = world.parts
    for project, password in ((one, "first password"), (two, "second password"), (three, "third password")):
        if project is not one:
            add_person_with_password(project, OPERATOR, "Eve", Role.ANNOTATOR, password, now=NOW + 10)
    add_person_with_password(one, OPERATOR, "Gus", Role.ANNOTATOR, "gus' password", now=NOW + 11)
    suspend(three, lead_of(three), person_of(three, "Boris").annotator_id, True, now=NOW + 12)
    for part in (one, two):
        pause_person(part, lead_of(part), person_of(part, "Carla").annotator_id, "until Monday", now=NOW + 13)
    joined, report = world.joined()
    assert report.annotators == 6
    assert report.other_passwords == ("Eve",)
    assert sign_in(joined, "Eve", "second password", now=NOW + 20)
    assert sign_in(joined, "Gus", "gus' password", now=NOW + 20)
    assert person_of(joined, "Boris").suspended
    assert sql(joined, "SELECT count(*) FROM pause WHERE ended_at IS NULL") == [(1,)]


def test_pairs_on_desks_become_free_and_releases_stay_behind(world: World) -> None:
    place = next(iter(world.pairs(world.one)))
    world.grade(place, "Anna", 3)
    world.grade(place, "Boris", 3)
    part = world.owner(place)
    export_release(part, OPERATOR, None, PARTLY, now=NOW + 50)
    other = list(world.pairs(part).values())[1]
    sit(part, person_of(part, "Anna"), [other.pair], now=NOW + 51)
    joined, _ = world.joined()
    assert sql(part, "SELECT count(*) FROM seat WHERE lease_until IS NOT NULL") == [(1,)]
    assert sql(joined, "SELECT count(*) FROM seat WHERE lease_until IS NOT NULL") == [(0,)]
    assert list_releases(joined, lead_of(joined)) == []
    assert doctor(joined, now=NOW + 60).findings == ()


def test_files_of_the_project_come_along(
    new_world: Callable[..., World], tmp_path: Path, judging_made: Judging
) -> None:
    world = new_world(tmp_path)
    (world.one.folder / "videos").mkdir()
    (world.one.folder / "videos" / "v0.mp4").write_bytes(b"a video")
    (world.one.folder / "cast.csv").write_text("Rachel,a woman\n")
    made = split(world.one, 2, tmp_path / "again", now=NOW)
    joined = join([part.folder for part in made], tmp_path / "together", now=NOW)
    for folder in (*(part.folder for part in made), joined.folder):
        assert (folder / "videos" / "v0.mp4").read_bytes() == b"a video"
        assert (folder / "cast.csv").read_text() == "Rachel,a woman\n"


def test_parts_in_postgresql(world: World, cluster: Cluster) -> None:
    places = list(world.pairs(world.one))
    for place in (places[0], places[25], places[59]):
        for name, grade in (("Anna", 0), ("Boris", 4), ("Eve", 4), ("Carla", 4)):
            world.grade(place, name, grade)
    assert world.open_next(queries(world)[1])
    moved = world.parts[1]
    moved.store.close()
    move(moved.folder, cluster.address(cluster.new()), now=NOW)
    world.parts[1] = open_project(moved.folder)
    world.grade(places[26], "Anna", 2)
    world.grade(places[26], "Boris", 2)
    query = queries(world)[2]
    assert world.open_next(query)
    joined, _ = world.joined()
    assert released(joined, world.folder / "a") == released(world.one, world.folder / "b")
    assert doctor(joined, now=world.now).findings == ()
    world.parts[1].store.close()


def refused(world: World, folders: list[Path] | None = None) -> str:
    out = world.folder / "refused"
    with pytest.raises(ProjectError) as error:
        join(folders or [part.folder for part in world.parts], out, now=NOW)
    assert not out.exists()
    assert not list(world.folder.glob(".reelrank*"))
    return str(error.value)


def test_folders_that_are_not_the_parts_of_one_split(world: World) -> None:
    one, two, three = (part.folder for part in world.parts)
    assert "project/one" not in str(one)
    assert f"{world.one.folder} is not a part" in refused(world, [one, two, world.one.folder])
    assert f"{two} and {two} are both part 2" in refused(world, [one, two, two, three])
    assert "1 of 3 parts are not named (number 2)" in refused(world, [three, one])
    others = [part.folder for part in split(world.one, 3, world.folder / "others", now=NOW)]
    assert "are parts of different splits" in refused(world, [one, two, others[2]])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("guideline", "the versions of the guideline"),
        ("tolerance", "the settings of grading"),
        ("terms", "the licence and citation"),
        ("name", "the setting `name`"),
        ("role", "the user “eve” differs"),
        ("caption", "the caption “"),
        ("exam", "each hold an exam now"),
        ("query", "both have query 99 (“a new one”)"),
        ("text", "(“a new one”)"),
    ],
)
def test_parts_with_other_rules(world: World, change: str, named: str) -> None:
    one, two, three = world.parts
    match change:
        case "guideline":
            new = replace(two.campaign.grading, example_query="Somebody waves.")
            reword_guideline(two, OPERATOR, new, "clearer", now=NOW + 5)
        case "tolerance":
            sql(three, "UPDATE campaign SET tolerance = 2")
        case "terms":
            set_release_terms(one, OPERATOR, licence="CC-BY-4.0", now=NOW + 5)
        case "name":
            file = two.folder / "reelrank.toml"
            file.write_text(file.read_text().replace('name = "project"', 'name = "other"'))
        case "role":
            add_person_with_password(one, OPERATOR, "Eve", Role.ANNOTATOR, "a long password", now=NOW + 5)
            add_person_with_password(three, OPERATOR, "eve", Role.LEAD, "a long password", now=NOW + 6)
        case "caption":
            sql(two, "UPDATE caption SET accepted = 0 WHERE caption_id = 3")
        case "exam":
            for part in (one, three):
                Judging(part, lead_of(part), []).give_videos_files()
                set_exam(part, OPERATOR, queries=1, pairs=2, seed=1, key=ExamKey.OWN, now=NOW + 5)
        case "query" | "text":
            for number, part in enumerate((one, two)):
                query_id = 99 + (number if change == "text" else 0)
                values = "(?, 'a new one', 'val', 9, 'own')"
                sql(part, f"INSERT INTO query (query_id, text, split, position, source) VALUES {values}", query_id)
    said = refused(world)
    assert named in said
    assert sum(str(part.folder) in said for part in world.parts) == 2


def test_exams_and_gold_questions_of_two_parts_come_along(new_world: Callable[..., World], tmp_path: Path) -> None:
    world = new_world(tmp_path, 2, videos=True)
    for number, part in enumerate(world.parts):
        at, people = NOW + 100 * number, [person_of(part, name) for name in PEOPLE]
        judging = Judging(part, lead_of(part), people)
        held = Round(judging)
        held.hold("median", queries=1, pairs=3)
        for who in range(4):
            held.finish(who, 2)
        held.close()
        use_exam(part, OPERATOR, now=NOW + 20)
        end_exam(part, OPERATOR, now=NOW + 21 + number)
        first = [pair for pair in judging.pairs() if pair.query == judging.pairs()[0].query]
        for pair in first[:12]:
            for who in (0, 1):
                sit(part, people[who], [pair.pair], now=at + 30)
                grade_by_key(judging, who, pair.pair, 3, at=at + 30, key=f"{number} {who} {pair.pair}")
        set_gold(part, OPERATOR, GoldOptions(share=0.5), now=at + LATER_S)
        given = 0
        while (items := desk(part, people[2], now=at + LATER_S).items) and given < 8:
            event = GradeEvent(items[0].pair, 3, f"gold {number} {given}", 2000, 2000)
            assert record_grades(part, people[2], [event], now=at + LATER_S + given)[0].status == "saved"
            given += 1
        assert given == 8
    joined, _ = world.joined()
    assert [found.check for found in doctor(joined, now=NOW + 300).findings] == ["videos"]
    for table, columns in {
        "exam_item": "pair_key, right_grade",
        "exam_answer JOIN exam_item USING (item_id) JOIN exam_attempt USING (attempt_id) JOIN annotator a "
        "USING (annotator_id)": "a.name, pair_key, exam_answer.grade, number",
        "judgement JOIN annotator a USING (annotator_id)": "a.name, pair_key, grade, revision, graded_at, event_key",
        "gold_pair": "pair_key, right_grade, chosen",
        "gold_answer JOIN annotator a USING (annotator_id)": "a.name, pair_key, grade, graded_at, "
        "(SELECT j.event_key FROM judgement j WHERE j.judgement_id = after_judgement)",
    }.items():
        # Whatever its number: what was said of which pair, by whom.
        rows = f"SELECT {columns} FROM {table} JOIN pair USING (pair_id)"
        there = [row for part in world.parts for row in sql(part, rows)]
        assert there, table
        assert sorted(map(repr, sql(joined, rows))) == sorted(map(repr, there)), table
    numbers = "SELECT e.payload ->> 'number' FROM event e JOIN exam x ON x.exam_id = e.payload ->> 'exam'"
    assert len(sql(joined, f"{numbers} WHERE e.kind = 'exam_handed_in'")) == 8
    assert sql(joined, "SELECT count(DISTINCT payload ->> 'exam') FROM event WHERE kind = 'exam_handed_in'") == [(2,)]


def test_nothing_half_written_is_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    settle = joined_rows._settle_accounts

    def killed(conn: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(joined_rows, "_settle_accounts", killed)
    with pytest.raises(KeyboardInterrupt):
        world.joined()
    assert not (world.folder / "joined").exists()
    monkeypatch.setattr(joined_rows, "_settle_accounts", settle)
    joined, _ = world.joined()
    assert doctor(joined, now=NOW).findings == ()
    with pytest.raises(ProjectError, match="exists already and is not empty"):
        world.joined()
