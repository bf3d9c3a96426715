"""What the doctor asks of a database in PostgreSQL itself: its tables and rules, and references that lead nowhere."""

from contextlib import closing

from psycopg import sql

from backend.store import sqlite
from backend.store.definitions import table_names
from backend.store.values import Raw

# A trigger that is switched off is as good as none.
THINGS = """
  SELECT 'table', tablename FROM pg_catalog.pg_tables WHERE schemaname = 'public'
  UNION ALL SELECT 'view', viewname FROM pg_catalog.pg_views WHERE schemaname = 'public'
  UNION ALL SELECT 'trigger', tgname FROM pg_catalog.pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'
  UNION ALL SELECT 'index', c.relname FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'i' AND n.nspname = 'public'
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conindid = c.oid)
"""
COLUMNS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
REFERENCES = """
  SELECT c.relname, p.relname,
    ARRAY(SELECT attname::text FROM unnest(k.conkey) WITH ORDINALITY n(number, place)
      JOIN pg_catalog.pg_attribute ON attrelid = k.conrelid AND attnum = n.number ORDER BY place),
    ARRAY(SELECT attname::text FROM unnest(k.confkey) WITH ORDINALITY n(number, place)
      JOIN pg_catalog.pg_attribute ON attrelid = k.confrelid AND attnum = n.number ORDER BY place)
  FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
    JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
  WHERE k.contype = 'f' ORDER BY 1, 2, 3
"""


def differences(raw: Raw) -> list[str]:
    """Tables, indexes, triggers and views that are not as the migrations make them.

    Of a table its columns are compared, and to how many tables it points.
    """
    with closing(sqlite.fresh()) as made:
        wanted = {(kind, name) for kind, name, _ in sqlite.schema(made)}
        tables = {
            name: (
                {column.name for column in made.table(name).columns},
                len({row[0] for row in made.conn.execute(f'PRAGMA foreign_key_list("{name}")')}),
            )
            for name in table_names(made)
        }
    there = {(row[0], row[1]) for row in raw.execute(THINGS)}
    found: dict[str, set[str]] = {}
    for row in raw.execute(COLUMNS):
        found.setdefault(row[0], set()).add(row[1])
    pointing = [row[0] for row in raw.execute(REFERENCES)]
    changed = {
        ("table", name)
        for name, shape in tables.items()
        if ("table", name) in there and shape != (found.get(name), pointing.count(name))
    }
    return sorted(f"{kind} {name}" for kind, name in (wanted ^ there) | changed)


def dangling(raw: Raw) -> list[str]:
    """Rows that point to rows which do not exist, as a restore with rules switched off may leave them."""
    found = []
    for table, parent, columns, keys in raw.execute(REFERENCES).fetchall():
        mine = [sql.Identifier("c", column) for column in columns]
        query = sql.SQL("SELECT concat_ws(', ', {shown}) FROM {table} c WHERE {set} AND NOT EXISTS ({there})").format(
            shown=sql.SQL(", ").join(mine),
            table=sql.Identifier(table),
            set=sql.SQL(" AND ").join(sql.SQL("{} IS NOT NULL").format(one) for one in mine),
            there=sql.SQL("SELECT 1 FROM {} p WHERE {}").format(
                sql.Identifier(parent),
                sql.SQL(" AND ").join(
                    sql.SQL("{} = {}").format(sql.Identifier("p", key), one)
                    for key, one in zip(keys, mine, strict=True)
                ),
            ),
        )
        named = f"{', '.join(columns)}"
        found += [f"{table} with {named} {row[0]} -> {parent}" for row in raw.execute(query)]
    return found
