"""Statements say the same on both engines: what SQLite answers is what PostgreSQL has to answer."""

import sqlite3
from collections.abc import Iterator

import pytest

from backend.store.dialect import translated
from backend.store.postgresql import PostgresStore
from postgres import Cluster

TABLES = (
    "CREATE TABLE seat (pair bigint, who bigint, until double precision, shown bigint)",
    "CREATE TABLE word (word_id bigint PRIMARY KEY, text text, payload text, at double precision)",
)
ROWS = {
    "INSERT INTO seat VALUES (?, ?, ?, ?)": [
        (1, 7, 10.5, 1),
        (1, None, None, 0),
        (2, 8, None, 1),
        (2, 7, 3.25, 0),
        (3, None, None, None),
    ],
    "INSERT INTO word VALUES (?, ?, ?, ?)": [
        (1, "Red cup", '{"why": "late", "n": 3}', 0.0),
        (2, "100% sure_thing", '{"why": null}', 86399.5),
        (3, "red CUP", "{}", 1700000000.25),
    ],
}
SAME = {
    "conditions are counted": "SELECT sum(who IS NULL), coalesce(sum(until > 5), 0), count(*) FROM seat",
    "a condition is a value": "SELECT who IS NULL, until > ? AS late, NOT shown FROM seat ORDER BY pair, who, until",
    "a number is a condition": "SELECT count(*) FROM seat WHERE shown AND NOT (? AND who IS NULL)",
    "a case of conditions": "SELECT CASE WHEN shown THEN who = 7 ELSE until IS NULL END FROM seat ORDER BY pair, who",
    "a case of values": "SELECT CASE shown WHEN 1 THEN 'seen' WHEN 0 THEN 'not' ELSE '?' END FROM seat ORDER BY 1",
    "if": "SELECT iif(shown, 2, 3) + iif(until IS NULL, 10, 20) FROM seat ORDER BY 1",
    "the lesser of two": "SELECT min(pair, 2), max(pair, 2.5), min(pair) FROM seat GROUP BY pair ORDER BY 1, 2",
    "nothing comes first": "SELECT who FROM seat ORDER BY who, pair",
    "nothing comes last": "SELECT who FROM seat ORDER BY who DESC, pair",
    "a name in HAVING": "SELECT pair, count(*) AS places FROM seat GROUP BY pair HAVING places > 1 ORDER BY pair",
    "a name in WHERE": "SELECT pair * 2 AS double FROM seat WHERE double > 2 ORDER BY -double, pair",
    "case is not heeded": "SELECT word_id FROM word WHERE text LIKE ? ESCAPE '!' ORDER BY word_id",
    "signs of a pattern": "SELECT word_id FROM word WHERE text LIKE '%!%%' ESCAPE '!'",
    "no such pattern": "SELECT word_id FROM word WHERE text NOT LIKE 'RED%' ORDER BY word_id",
    "texts joined": "SELECT group_concat(word_id, ' ') FROM (SELECT word_id FROM word ORDER BY word_id)",
    "distinct texts joined": "SELECT group_concat(DISTINCT pair) FROM seat WHERE pair = 2",
    "a value of JSON": "SELECT payload ->> 'why' FROM word ORDER BY word_id",
    "ids of JSON": "SELECT text FROM word WHERE word_id IN (SELECT value FROM json_each(?)) ORDER BY word_id",
    "in nothing": "SELECT count(*) FROM seat WHERE pair IN () OR pair NOT IN ()",
    "the same or both nothing": "SELECT count(*) FROM seat WHERE who IS ?",
    "all nothing": "SELECT count(*) FROM seat WHERE coalesce(who, until) IS NULL",
    "the rest": "SELECT pair % 2, 7 / 2, 7 / 2.0 FROM seat ORDER BY pair LIMIT 1",
    "whole numbers": "SELECT CAST(until AS INTEGER), CAST('12' AS INTEGER) FROM seat WHERE until > 0 ORDER BY 1",
    "no limit": "SELECT word_id FROM word ORDER BY word_id LIMIT ?",
    "rounded": "SELECT round(until, 1), round(until) FROM seat WHERE until IS NOT NULL ORDER BY 1",
    "a day": "SELECT date(at, 'unixepoch'), strftime('%Y-%m-%dT%H:%M:%SZ', at, 'unixepoch') FROM word ORDER BY word_id",
    "sums and means": "SELECT sum(pair), avg(pair), sum(until), count(DISTINCT pair) FROM seat",
    "there is one": "SELECT EXISTS (SELECT 1 FROM seat WHERE pair = 3), 2 IN (SELECT pair FROM seat), TRUE",
    "filtered": "SELECT count(*) FILTER (WHERE shown), count(*) FILTER (WHERE until IS NULL) FROM seat",
    "advice about the order": "SELECT count(*) FROM seat AS s CROSS JOIN seat AS o USING (pair) WHERE +s.pair > 1",
}
GIVEN = {
    "a condition is a value": [4],
    "a number is a condition": [True],
    "case is not heeded": ["%red%"],
    "ids of JSON": ["[1, 3]"],
    "no limit": [-1],
    "the same or both nothing": [None],
}


@pytest.fixture(scope="module")
def both(cluster: Cluster) -> Iterator[tuple[sqlite3.Connection, PostgresStore]]:
    """The same rows in both."""
    file, server = sqlite3.connect(":memory:"), PostgresStore(cluster.address(cluster.new()))
    for table in TABLES:
        file.execute(table)
        with server.one() as raw:
            raw.execute(table.encode())
    for statement, rows in ROWS.items():
        file.executemany(statement, rows)
        assert server.conn.executemany(statement, rows).rowcount == len(rows)
    yield file, server
    server.close()
    file.close()


@pytest.mark.parametrize("what", SAME)
def test_both_say_the_same(both: tuple[sqlite3.Connection, PostgresStore], what: str) -> None:
    file, server = both
    given = GIVEN.get(what, [])
    wanted = file.execute(SAME[what], given).fetchall()
    assert wanted
    assert [tuple(row) for row in server.conn.execute(SAME[what], given)] == wanted


def test_writing_says_how_much_it_did(both: tuple[sqlite3.Connection, PostgresStore]) -> None:
    for connection in (both[0], both[1].conn):
        again = [(1, "again"), (9, "new")]
        add = "INSERT OR IGNORE INTO word (word_id, text) VALUES (?, ?)"
        assert connection.executemany(add, again).rowcount == 1
        change = "UPDATE word SET text = :text, at = (text IS NULL) WHERE word_id = 9 RETURNING text, at"
        assert tuple(connection.execute(change, {"text": "newer"}).fetchone()) == ("newer", 0.0)
        put = "INSERT INTO word (word_id, text) VALUES (9, ?) ON CONFLICT (word_id) DO UPDATE SET text = excluded.text"
        connection.execute(put, ["newest"])
        assert connection.execute("SELECT text FROM word WHERE word_id = 9").fetchone()[0] == "newest"
        assert connection.execute("DELETE FROM word WHERE word_id = 9").rowcount == 1


def test_a_statement_is_said_anew_once() -> None:
    statement = "SELECT 1 FROM seat WHERE pair = 123456789"
    before = translated.cache_info()
    assert translated(statement) == translated(statement)
    after = translated.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 1)
