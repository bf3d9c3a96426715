"""Read from the schema which columns hold ids of which tables."""

from backend.campaign.parts.model import MAPPED, NUMBERS, TABLES
from backend.store.engine import Connection


def columns(conn: Connection, table: str) -> list[str]:
    """Return the names of the columns of a table."""
    return [row[1] for row in conn.execute(f'PRAGMA main.table_info("{table}")')]


def own_id(conn: Connection, table: str) -> str:
    """Return the column with a table's own ids, which join may change; "" if its key refers to other tables."""
    if TABLES[table].joining not in MAPPED:
        return ""
    return str(next(row[1] for row in conn.execute(f'PRAGMA main.table_info("{table}")') if row[5]))


def origins(conn: Connection, table: str) -> dict[str, str]:
    """Return, for each column of a table that holds ids that join may change, the table whose ids they are.

    A column such as `judgement.pair_id` refers to a seat, whose column refers to the pair.
    """
    found = {column: of for (place, column), of in NUMBERS.items() if place == table}
    for column, parent, key in _foreign(conn, table):
        own = own_id(conn, parent)
        if own and key in ("", own):
            found[column] = parent
        elif key and parent != table and (origin := origins(conn, parent).get(key)):
            found[column] = origin
        elif not key and not own and parent != table:
            # The primary key of the other table is itself a reference, such as `note.judgement_id`.
            above = origins(conn, parent)
            (primary,) = [row[1] for row in conn.execute(f'PRAGMA main.table_info("{parent}")') if row[5]]
            if primary in above:
                found[column] = above[primary]
    return found


def in_order(conn: Connection) -> list[str]:
    """Return the names of all tables; each comes after the tables to which its columns refer."""
    needs = {
        name: ({parent for _, parent, _ in _foreign(conn, name)} | set(origins(conn, name).values())) - {name}
        for name in TABLES
    }
    needs["event"] = {name for name in TABLES if name != "event" and TABLES[name].joining in MAPPED}
    names: list[str] = []
    while needs:
        ready = [name for name, others in needs.items() if not others & needs.keys()]
        names += ready
        for name in ready:
            del needs[name]
    return names


def _foreign(conn: Connection, table: str) -> list[tuple[str, str, str]]:
    """Return (column, other table, its column; "" for its primary key) for each foreign key of a table."""
    return [(row[3], row[2], row[4] or "") for row in conn.execute(f'PRAGMA main.foreign_key_list("{table}")')]
