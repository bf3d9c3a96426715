"""SQL that inserts the gathered rows of all parts with the ids of one campaign."""

import re
from collections.abc import Sequence

from backend.campaign.parts.model import MAPPED, NUMBERS, ORDERS, PAYLOAD_IDS, SUBJECTS, TABLES, Joining, TableRows
from backend.campaign.parts.rows.keys import columns, in_order, origins, own_id
from backend.campaign.setup.project.model import PROJECT_SPLIT
from backend.store.engine import Connection, Database

_NEW = re.compile(r"new\((\w+), (\w+)\)")


def join(db: Database, last: Sequence[dict[str, int]]) -> tuple[str, str, str, int, int] | None:
    """Insert the staged rows of all parts into the new project, in the transaction of `folder.filling`.

    `last` has the largest ids just after the split, for part 1 first.

    Returns:
        None, or, if a row differs between parts: (words for the table, name, column, part, other part). Then undo all.
    """
    for name in in_order(db.conn):
        table = TABLES[name]
        if table.joining in MAPPED:
            _number(db.conn, name, table, [ids.get(name, 0) for ids in last])
            if different := _different(db.conn, name, table):
                return different
        if table.joining is not Joining.LEFT_OUT:
            _insert(db.conn, name, table)
    _settle_accounts(db.conn)
    # A new version of the guideline is in force everywhere once the last part has it.
    db.conn.execute(
        "UPDATE guideline_version SET since = "
        "(SELECT max(v.since) FROM staged_guideline_version v WHERE v.version = guideline_version.version)"
    )
    return None


def _number(conn: Connection, name: str, table: TableRows, last: Sequence[int]) -> None:
    """Make the table `map_NAME`: for each staged row its id in the joined project, and whether it is the one to insert.

    Ids of the time before the split stay. Later rows of all parts are numbered on from the largest of these ids, in the
    order of time, as in one campaign.
    """
    own = own_id(conn, name)
    conn.execute(f"CREATE INDEX temp.staged_{name}_id ON staged_{name} (_part, {own})")
    conn.execute(
        f"CREATE TEMP TABLE map_{name} (part INTEGER, old INTEGER, new INTEGER, first INTEGER, PRIMARY KEY (part, old))"
    )
    cases = " ".join(f"WHEN {part} THEN {largest}" for part, largest in enumerate(last, start=1))
    kept = f"s.{own} <= CASE s._part {cases} END"
    same = table.key or (f"CASE WHEN {kept} THEN 0 ELSE s._part END", f"s.{own}")
    keys, then = [f"k{n}" for n in range(len(same))], [f"t{n}" for n in range(len(table.then))]
    listed = ", ".join(
        f"{_mapped_sql(sql)} AS {alias}"
        for sql, alias in [(table.at or "0", "at"), *zip(same, keys, strict=True), *zip(table.then, then, strict=True)]
    )
    conn.execute(
        f"""
        INSERT INTO map_{name} (part, old, new, first)
        WITH listed AS (SELECT s._part AS part, s.{own} AS old, {kept} AS kept, {listed} FROM staged_{name} s),
        grouped AS (
          SELECT *, first_value(part) OVER same AS first_part, first_value(old) OVER same AS first_old FROM listed
          WINDOW same AS (PARTITION BY {", ".join(keys)} ORDER BY kept DESC, at, part, old)),
        firsts AS (
          SELECT *, kept AND row_number() OVER (PARTITION BY kept, old ORDER BY part) = 1 AS stays FROM grouped
          WHERE part = first_part AND old = first_old),
        numbered AS (
          SELECT part, old, CASE WHEN stays THEN old ELSE {max(last)} + row_number() OVER (
            PARTITION BY stays ORDER BY {", ".join(["at", *then, "part", "old"])}) END AS new FROM firsts)
        SELECT g.part, g.old, n.new, g.part = g.first_part AND g.old = g.first_old
        FROM grouped g JOIN numbered n ON n.part = g.first_part AND n.old = g.first_old
        """
    )


def _different(conn: Connection, name: str, table: TableRows) -> tuple[str, str, str, int, int] | None:
    """Return the first row that several parts have with different values, as `join` returns it."""
    own = own_id(conn, name)
    for column in table.equal:
        row = conn.execute(
            f"SELECT {_named_by(table)}, o._part, s._part FROM map_{name} m "
            f"JOIN staged_{name} s ON s._part = m.part AND s.{own} = m.old "
            f"JOIN map_{name} f ON f.new = m.new AND f.first "
            f"JOIN staged_{name} o ON o._part = f.part AND o.{own} = f.old "
            f"WHERE NOT m.first AND s.{column} <> o.{column} LIMIT 1"
        ).fetchone()
        if row:
            return table.words, str(row[0]), column, row[1], row[2]
    return None


def _named_by(table: TableRows) -> str:
    return next(sql for sql in ("s.text", "s.name", "s.query") if any(sql in key for key in table.key))


def _insert(conn: Connection, name: str, table: TableRows) -> None:
    """Insert the staged rows of one table, with the ids of the joined project."""
    own, foreign, listed = own_id(conn, name), origins(conn, name), columns(conn, name)
    values = [_event_value(column) if name == "event" else "" for column in listed]
    values = [
        value
        or (
            "m.new"
            if mapped and column == own
            else _looked_up(foreign[column], column)
            if column in foreign
            else f"s.{column}"
        )
        for mapped in [table.joining in MAPPED]
        for column, value in zip(listed, values, strict=True)
    ]
    into = f'"{name}" ({", ".join(listed)}) SELECT {", ".join(values)} FROM staged_{name} s'
    match table.joining:
        case Joining.RULE:
            conn.execute(f"INSERT INTO {into} WHERE s._part = 1")
        case Joining.LINK:
            conn.execute(f"INSERT OR IGNORE INTO {into} ORDER BY s._part")
        case _:
            some = "OR IGNORE" if table.first_only else ""
            gone = f"AND s.kind <> '{PROJECT_SPLIT.kind}'" if name == "event" else ""
            conn.execute(
                f"INSERT {some} INTO {into} JOIN map_{name} m ON m.part = s._part AND m.old = s.{own} "
                f"WHERE m.first {gone} ORDER BY m.new"
            )


def _event_value(column: str) -> str:
    """Return SQL for the subject or the payload of an event, with new ids; "" for other columns.

    The pairs of a batch that was taken back have no new id. Their subjects say which part they were in.
    """
    if column == "subject":
        cases = " ".join(
            f"WHEN s.subject GLOB '{kind}:[0-9]*' THEN coalesce('{kind}:' || (SELECT m.new FROM map_{kind} m WHERE "
            f"m.part = s._part AND m.old = CAST(substr(s.subject, {len(kind) + 2}) AS INTEGER)), "
            "s.subject || ' of part ' || s._part)"
            for kind in SUBJECTS
        )
        return f"CASE {cases} ELSE s.subject END"
    if column == "payload":
        cases = " ".join(
            f"WHEN s.kind = '{event.kind}' AND json_type(s.payload, '$.{key}') = 'integer' THEN json_set(s.payload, "
            f"'$.{key}', (SELECT m.new FROM map_{table} m WHERE m.part = s._part AND m.old = s.payload ->> '{key}')) "
            f"WHEN s.kind = '{event.kind}' AND json_type(s.payload, '$.{key}') = 'array' THEN json_set(s.payload, "
            f"'$.{key}', (SELECT json_group_array(m.new) FROM json_each(s.payload, '$.{key}') e "
            f"LEFT JOIN map_{table} m ON m.part = s._part AND m.old = e.value))"
            for (event, key), table in PAYLOAD_IDS.items()
        )
        removed = " ".join(
            f"WHEN s.kind = '{event.kind}' THEN json_remove(s.payload, {', '.join(paths)})"
            for event, paths in ORDERS.items()
        )
        return f"CASE {cases} {removed} ELSE s.payload END"
    return ""


def _settle_accounts(conn: Connection) -> None:
    """Give each user the password and language of the first part in which they have one.

    Who is suspended in any part stays so. Who is archived in all parts stays so.
    """
    of = "FROM staged_annotator s WHERE name_key(s.name) = name_key(annotator.name)"
    conn.execute(
        "UPDATE annotator SET "
        f"password_hash = (SELECT s.password_hash {of} AND s.password_hash IS NOT NULL ORDER BY s._part LIMIT 1), "
        f"language = (SELECT s.language {of} AND s.language IS NOT NULL ORDER BY s._part LIMIT 1), "
        f"suspended = (SELECT max(s.suspended) {of}), "
        f"archived_at = (SELECT CASE WHEN count(*) = count(s.archived_at) THEN max(s.archived_at) END {of})"
    )


def _mapped_sql(sql: str) -> str:
    return _NEW.sub(lambda match: _looked_up(match[1], match[2]), sql)


def _looked_up(table: str, column: str) -> str:
    """Return SQL for the id in the joined project to which a column of a staged row `s` refers."""
    found = f"(SELECT x.new FROM map_{table} x WHERE x.part = s._part AND x.old = s.{column})"
    return f"coalesce({found}, 0)" if column in {column for _, column in NUMBERS} else found
