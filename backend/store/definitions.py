"""The tables of a project as PostgreSQL makes them: from those that SQLite's migrations made, so that they are one.

Whatever a database of SQLite says of itself is read and said anew, in an order in which each thing finds what it needs.
"""

import re
from collections.abc import Iterator

from sqlglot import exp, parse_one

from backend.store.dialect import written
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
PREPARATION = ("CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",)
"""Names are the same whatever their case, as with SQLite's collation of this name."""


def table_names(db: SqliteDatabase) -> list[str]:
    """The tables of a database of SQLite, each after those that it points to."""
    left = dict(parts(db, "table"))
    names: list[str] = []
    while left:
        ready = [name for name, sql in left.items() if not _needs(sql) & (left.keys() - {name})]
        names += ready
        for name in ready:
            del left[name]
    return names


def tables(db: SqliteDatabase) -> Iterator[str]:
    """The statements that make the tables of a database of SQLite in an empty one of PostgreSQL."""
    yield from PREPARATION
    made = dict(parts(db, "table"))
    for name in table_names(db):
        yield _table(made[name])


def the_rest(db: SqliteDatabase) -> Iterator[str]:
    """The statements that make its indexes, views and triggers, which come after the rows."""
    for kind in ("index", "view"):
        for _, sql in parts(db, kind):
            yield _said(written(parse_one(sql, read="sqlite")))
    for _, sql in parts(db, "trigger"):
        yield from _trigger(sql)


def parts(db: SqliteDatabase, kind: str) -> list[tuple[str, str]]:
    """(name, SQL) of each `table`, `index`, `view` or `trigger` of a database of SQLite, in the order of making."""
    rows = db.conn.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL "
        "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid",
        [kind],
    )
    return [(name, sql) for name, sql in rows]


def _said(statement: str) -> str:
    """Without the doubled signs of statements that take values."""
    return statement.replace("%%", "%")


def _needs(sql: str) -> set[str]:
    return set(re.findall(r"REFERENCES \"?(\w+)", sql))


def _table(sql: str) -> str:
    """Without what only SQLite has; a number that counts the rows counts them here too."""
    plain = re.sub(r"\)\s*(STRICT|WITHOUT ROWID|,|\s)*$", ")", sql)
    tree = parse_one(plain.replace("AUTOINCREMENT", ""), read="sqlite")
    for column in tree.find_all(exp.ColumnDef):
        kind = column.args["kind"]
        counts = kind.is_type("int") and any(
            isinstance(one.kind, exp.PrimaryKeyColumnConstraint) for one in column.constraints
        )
        column.set("kind", exp.DataType.build(_TYPES[kind.this.name]))
        if counts:
            always = exp.GeneratedAsIdentityColumnConstraint(this=False)
            column.append("constraints", exp.ColumnConstraint(kind=always))
    for valid in list(tree.find_all(exp.Anonymous)):
        if valid.name.lower() == "json_valid":
            valid.replace(exp.Not(this=exp.Is(this=exp.cast(valid.expressions[0], "json"), expression=exp.Null())))
    return _said(written(tree))


def _trigger(sql: str) -> Iterator[str]:
    """A refusal; what it depends on may look at other tables, which only a function may there."""
    found = _TRIGGER.search(sql)
    if found is None:
        raise ValueError(f"no trigger of ours: {sql}")
    name, act, says = found["name"], found["act"], found["says"].replace("%", "%%")
    when = "TRUE"
    if found["when"]:
        condition = parse_one(f"SELECT 1 WHERE {found['when']}", read="sqlite")
        when = _said(written(condition)).partition(" WHERE ")[2]
    row = "OLD" if act == "DELETE" else "NEW"
    yield (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {when} THEN "
        f"RAISE EXCEPTION '{says}' USING ERRCODE = 'check_violation'; END IF; RETURN {row}; END $$"
    )
    of = f" OF {found['column']}" if found["column"] else ""
    yield f"CREATE TRIGGER {name} BEFORE {act}{of} ON {found['table']} FOR EACH ROW EXECUTE FUNCTION {name}()"
