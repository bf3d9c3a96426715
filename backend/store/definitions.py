"""Derive the PostgreSQL tables of a project from those that the migrations create in SQLite.

The definitions are read from an SQLite database and translated. Each comes after those to which it refers. `reelrank
doctor` compares PostgreSQL databases with them.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from functools import cache

from psycopg import sql
from sqlglot import exp, parse_one

from backend.store import sqlite
from backend.store.dialect import Raw, translated, written
from backend.store.engine import SqliteDatabase

_TYPES = {
    "INT": "bigint",
    "BIGINT": "bigint",
    "FLOAT": "double",
    "DOUBLE": "double",
    "TEXT": "text",
    "VARBINARY": "bytea",
}
_TRIGGER = re.compile(
    r"CREATE TRIGGER (?P<name>\w+)\s+BEFORE (?P<act>INSERT|UPDATE|DELETE)(?: OF (?P<column>\w+))? "
    r"ON \"?(?P<table>\w+)\"?"
    r"(?:\s+WHEN (?P<when>.*?))?\s+BEGIN SELECT RAISE\(ABORT, '(?P<says>[^']*)'\); END",
    re.DOTALL,
)
PREPARATION = "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
"""Makes comparisons of names ignore case, as SQLite's collation of this name does."""


def table_names(db: SqliteDatabase) -> list[str]:
    """Return the names of an SQLite database's tables; each comes after the tables to which it refers."""
    left = dict(parts(db, "table"))
    names: list[str] = []
    while left:
        ready = [name for name, sql in left.items() if not _needs(sql) & (left.keys() - {name})]
        names += ready
        for name in ready:
            del left[name]
    return names


def tables(db: SqliteDatabase) -> Iterator[str]:
    """Yield the PostgreSQL statements that create the same tables as in an SQLite database, without foreign keys."""
    yield PREPARATION
    statements = dict(parts(db, "table"))
    for name in table_names(db):
        yield _table(statements[name])[0]


def keys_indexes_and_triggers(db: SqliteDatabase) -> Iterator[str]:
    """Yield the PostgreSQL statements that create an SQLite database's foreign keys, indexes, views and triggers.

    Run them after the rows are inserted: to check a foreign key for all rows at once takes a fraction of the time.
    """
    for _, statement in parts(db, "table"):
        yield from _table(statement)[1]
    for kind in ("index", "view"):
        for _, statement in parts(db, kind):
            yield _undouble_percent(translated(statement))
    for _, statement in parts(db, "trigger"):
        yield from _trigger(statement)


def removals(db: SqliteDatabase) -> Iterator[str]:
    """Yield the PostgreSQL statements that remove what `tables` and `indexes_and_triggers` create, with all rows."""
    for name, _ in reversed(parts(db, "view")):
        yield f'DROP VIEW "{name}"'
    for name in reversed(table_names(db)):
        yield f'DROP TABLE "{name}"'
    for name, _ in parts(db, "trigger"):
        yield f'DROP FUNCTION "{name}"'
    yield "DROP COLLATION nocase"


def parts(db: SqliteDatabase, kind: str) -> list[tuple[str, str]]:
    """Return (name, SQL) of each `table`, `index`, `view` or `trigger` of an SQLite database, in order of creation."""
    rows = db.conn.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL "
        "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid",
        [kind],
    )
    return [(name, sql) for name, sql in rows]


def _undouble_percent(statement: str) -> str:
    """Replace each `%%` by `%`. Only statements with parameters need doubled percent signs."""
    return statement.replace("%%", "%")


def _needs(sql: str) -> set[str]:
    return set(re.findall(r"REFERENCES \"?(\w+)", sql))


@cache  # both generators above need it, and to parse all tables takes half a second
def _table(sql: str) -> tuple[str, tuple[str, ...]]:
    """Translate a `CREATE TABLE` statement from SQLite to PostgreSQL, and return its foreign keys apart from it.

    Options that only SQLite has are dropped. An integer primary key becomes an identity column.
    """
    plain = re.sub(r"\)\s*(STRICT|WITHOUT ROWID|,|\s)*$", ")", sql)
    tree = parse_one(plain.replace("AUTOINCREMENT", ""), read="sqlite")
    keys = []
    for column in tree.find_all(exp.ColumnDef):
        kind = column.args["kind"]
        counts = kind.is_type("int") and any(
            isinstance(constraint.kind, exp.PrimaryKeyColumnConstraint) for constraint in column.constraints
        )
        column.set("kind", exp.DataType.build(_TYPES[kind.this.name]))
        if counts:
            always = exp.GeneratedAsIdentityColumnConstraint(this=False)
            column.append("constraints", exp.ColumnConstraint(kind=always))
        for constraint in list(column.constraints):
            if isinstance(constraint.kind, exp.Reference):
                keys.append(f"FOREIGN KEY ({column.this.sql('postgres')}) {constraint.kind.sql('postgres')}")
                constraint.pop()
    for key in list(tree.find_all(exp.ForeignKey)):
        keys.append(key.sql("postgres"))
        key.pop()
    for valid in list(tree.find_all(exp.Anonymous)):
        if valid.name.lower() == "json_valid":
            valid.replace(exp.Not(this=exp.Is(this=exp.cast(valid.expressions[0], "json"), expression=exp.Null())))
    table = tree.find(exp.Table)
    alterations = tuple(f"ALTER TABLE {table} ADD {key}" for key in keys)
    return _undouble_percent(written(tree)), alterations


@cache
def _trigger(sql: str) -> tuple[str, str]:
    """Return the PostgreSQL statements that create the function and the trigger of an SQLite `CREATE TRIGGER`.

    The trigger refuses changes of a table. Its condition goes into a function, because the condition of a PostgreSQL
    trigger may not query other tables.
    """
    match = _TRIGGER.search(sql)
    if match is None:
        raise ValueError(f"no trigger of ours: {sql}")
    name, action, says = match["name"], match["act"], match["says"].replace("%", "%%")
    when = "TRUE"
    if match["when"]:
        condition = parse_one(f"SELECT 1 WHERE {match['when']}", read="sqlite")
        when = _undouble_percent(written(condition)).partition(" WHERE ")[2]
    row = "OLD" if action == "DELETE" else "NEW"
    column = f" OF {match['column']}" if match["column"] else ""
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {when} THEN "
        f"RAISE EXCEPTION '{says}' USING ERRCODE = 'check_violation'; END IF; RETURN {row}; END $$",
        f"CREATE TRIGGER {name} BEFORE {action}{column} ON {match['table']} FOR EACH ROW EXECUTE FUNCTION {name}()",
    )


# Disabled triggers are left out: they protect nothing.
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


def differences(raw: Raw, before: str | None = None) -> list[str]:
    """Return the tables, indexes, triggers and views that differ from those that the migrations create.

    Missing and unexpected ones are included. Tables are compared by the names of their columns and the number of their
    foreign keys. Indexes, triggers and views are compared only by name. `before` is the first migration that the
    database lacks, if its schema is an older one.
    """
    with closing(sqlite.fresh(before)) as made:
        expected = {(kind, name) for kind, name, _ in sqlite.schema(made)}
        tables = {
            name: (
                {column.name for column in made.table(name).columns},
                len({row[0] for row in made.conn.execute(f'PRAGMA foreign_key_list("{name}")')}),
            )
            for name in table_names(made)
        }
    existing = {(row[0], row[1]) for row in raw.execute(THINGS)}
    columns: dict[str, set[str]] = {}
    for row in raw.execute(COLUMNS):
        columns.setdefault(row[0], set()).add(row[1])
    pointing = [row[0] for row in raw.execute(REFERENCES)]
    changed = {
        ("table", name)
        for name, shape in tables.items()
        if ("table", name) in existing and shape != (columns.get(name), pointing.count(name))
    }
    return sorted(f"{kind} {name}" for kind, name in (expected ^ existing) | changed)


def dangling(raw: Raw) -> list[str]:
    """Return a description of each row with a broken foreign key: the row to which it refers does not exist.

    A restore with constraints disabled can leave such rows.
    """
    messages = []
    for table, parent, columns, keys in raw.execute(REFERENCES).fetchall():
        mine = [sql.Identifier("c", column) for column in columns]
        query = sql.SQL("SELECT concat_ws(', ', {shown}) FROM {table} c WHERE {set} AND NOT EXISTS ({there})").format(
            shown=sql.SQL(", ").join(mine),
            table=sql.Identifier(table),
            set=sql.SQL(" AND ").join(sql.SQL("{} IS NOT NULL").format(identifier) for identifier in mine),
            there=sql.SQL("SELECT 1 FROM {} p WHERE {}").format(
                sql.Identifier(parent),
                sql.SQL(" AND ").join(
                    sql.SQL("{} = {}").format(sql.Identifier("p", key), identifier)
                    for key, identifier in zip(keys, mine, strict=True)
                ),
            ),
        )
        listed = f"{', '.join(columns)}"
        messages += [f"{table} with {listed} {row[0]} -> {parent}" for row in raw.execute(query)]
    return messages
