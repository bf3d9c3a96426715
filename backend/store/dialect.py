"""Translate SQL statements from SQLite to PostgreSQL, and results back to the types that SQLite returns.

All SQL in this code is written for SQLite, which runs it as it is. For PostgreSQL each statement is parsed and
rewritten once. Some functions have other names (`min(a, b)`, `group_concat`, `json_each`), and `LIKE` has to ignore
case.

The main difference is truth values. SQLite has none: `sum(a IS NULL)` counts, and a column of 0 and 1 is a condition.
PostgreSQL refuses both. So a condition used as a value becomes a number, and a number used as a condition is compared
with 0. Both engines then give the same numbers.

Some SQLite features cannot be translated and must not be used: `rowid`, `lastrowid`, and columns that are selected
beside aggregates without being grouped by.

Truth values are sent and returned as the numbers 1 and 0, sums of integers are integers, and rows can be read by index
and by name.
"""

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

import psycopg
from psycopg import ClientCursor
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper, TextLoader
from sqlglot import exp, parse_one

from backend.store.engine import Parameters

_TRUTHS = (exp.Predicate, exp.Not, exp.Connector, exp.Boolean, exp.Escape)
_FORMATS = {
    "%Y-%m-%d": "YYYY-MM-DD",
    "%Y-%m-%dT%H:%M:%SZ": 'YYYY-MM-DD"T"HH24:MI:SS"Z"',
}


@lru_cache(maxsize=8192)
def translated(sql: str) -> str:
    """Translate one SQLite statement to PostgreSQL, with `%s` or `%(name)s` for its `?` or `:name`.

    >>> translated("SELECT sum(lease_until IS NULL) FROM seat WHERE pair_id = ?")
    'SELECT SUM(CAST((lease_until IS NULL) AS INT)) FROM seat WHERE pair_id = %s'
    >>> translated("INSERT OR IGNORE INTO seat (pair_id, seat_no) VALUES (:pair, 3)")
    'INSERT INTO seat (pair_id, seat_no) VALUES (%(pair)s, 3) ON CONFLICT DO NOTHING'
    """
    return written(parse_one(sql, read="sqlite"))


@lru_cache(maxsize=1024)
def joined(statements: tuple[str, ...]) -> tuple[bytes, tuple[tuple[int, str], ...]]:
    """Return one PostgreSQL statement for several SELECTs of SQLite, whose row has a JSON list of the rows of each.

    Returns:
        The statement, with `$1`, `$2` ... for its parameters, which psycopg need not look for in a long text. Then, for
        each of these, to which SELECT it belongs, from 0, and its name there.

    >>> joined(("SELECT 1", "SELECT kind FROM exam WHERE exam_id = :exam"))  # doctest: +NORMALIZE_WHITESPACE
    (b"SELECT (SELECT coalesce(json_agg(json_build_array(c0)), '[]') FROM (SELECT 1) AS t (c0)),
              (SELECT coalesce(json_agg(json_build_array(c0)), '[]')
               FROM (SELECT kind FROM exam WHERE exam_id = $1) AS t (c0))", ((1, 'exam'),))
    """
    lists, places = [], dict[tuple[int, str], int]()
    for number, sql in enumerate(statements):

        def numbered(name: re.Match[str], number: int = number) -> str:
            return f"${places.setdefault((number, name[1]), len(places) + 1)}"

        columns = cast(exp.Query, parse_one(sql, read="sqlite")).selects
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        one = re.sub(r"%\((\w+)\)s", numbered, translated(sql)).replace("%%", "%")
        lists.append(f"(SELECT coalesce(json_agg(json_build_array({names})), '[]') FROM ({one}) AS t ({names}))")
    return f"SELECT {', '.join(lists)}".encode(), tuple(places)


def written(tree: exp.Expr) -> str:
    """Return the PostgreSQL text of a parsed SQLite statement."""
    _know_names_everywhere(tree)
    for node in _from_inside(tree):
        replacement = _translate_node(node)
        if replacement is not node:
            node.replace(replacement)
    _name_what_is_selected_from(tree)
    _tell_truth_from_numbers(tree)
    return tree.sql("postgres")


def _from_inside(tree: exp.Expr) -> list[exp.Expr]:
    """Return all nodes of a parsed statement; each node comes after the nodes inside it."""
    return list(reversed(list(tree.dfs())))


def _know_names_everywhere(tree: exp.Expr) -> None:
    """Replace column aliases in WHERE, HAVING and ORDER BY by the expressions for which they stand.

    PostgreSQL accepts an alias only in ORDER BY, and there only outside an expression.
    """
    for select in tree.find_all(exp.Select):
        aliases = {item.alias: item.this for item in select.expressions if isinstance(item, exp.Alias)}
        for clause in ("where", "having", "order") if aliases else ():
            part = select.args.get(clause)
            for column in list(part.find_all(exp.Column)) if part else ():
                aliased = None if column.table else aliases.get(column.name)
                if aliased is None or column.find_ancestor(exp.Select) is not select:
                    continue
                if clause == "order" and isinstance(column.parent, exp.Ordered):
                    continue
                if not (isinstance(aliased, exp.Column) and aliased.name == column.name and not aliased.table):
                    column.replace(exp.paren(aliased.copy()))


def _name_what_is_selected_from(tree: exp.Expr) -> None:
    for number, subquery in enumerate(list(tree.find_all(exp.Subquery))):
        if isinstance(subquery.parent, (exp.From, exp.Join)) and not subquery.alias:
            subquery.set("alias", exp.TableAlias(this=exp.to_identifier(f"unnamed_{number}")))


def _translate_node(node: exp.Expr) -> exp.Expr:
    """Return the node of a parsed SQLite statement as PostgreSQL needs it; most nodes are returned unchanged."""
    match node:
        case exp.Literal() if node.is_string and "%" in node.this:
            return exp.Literal.string(node.this.replace("%", "%%"))
        case exp.Like():
            return exp.ILike(**{part: value for part, value in node.args.items() if value is not None})
        case exp.Insert() if node.args.get("alternative") == "IGNORE":
            node.set("alternative", None)
            node.set("conflict", exp.OnConflict(action=exp.var("DO NOTHING")))
        case exp.OnConflict():
            keys = node.args.get("conflict_keys") or []
            node.set("conflict_keys", [key.this if isinstance(key, exp.Ordered) else key for key in keys])
        case exp.Join() if node.args.get("using") and node.args.get("kind") == "CROSS":
            node.set("kind", None)  # CROSS only fixes the join order in SQLite
        case exp.Round():  # SQLite rounds halves up; PostgreSQL does so for decimals only
            digits = exp.Round(this=exp.cast(node.this, "decimal"), decimals=node.args.get("decimals"))
            return exp.cast(digits, "double")
        case exp.Cast() if node.to.is_type("int", "bigint"):
            return exp.cast(exp.Anonymous(this="TRUNC", expressions=[exp.cast(node.this, "double")]), "bigint")
        case exp.Cast() if node.to.is_type("float"):
            return exp.cast(node.this, "double")
        case exp.GroupConcat():
            return _string_agg(node)
        case exp.Is() if isinstance(node.this, exp.Coalesce) and isinstance(node.expression, exp.Null):
            # Only SQLite allows coalesce() over values of different types.
            each = [node.this.this, *node.this.expressions]
            return exp.paren(exp.and_(*(exp.Is(this=argument.copy(), expression=exp.Null()) for argument in each)))
        case exp.In() if not any(node.args.get(part) for part in ("expressions", "query", "field", "unnest")):
            return exp.false()
        case exp.Limit() if isinstance(node.expression, exp.Placeholder):
            all_rows = [node.expression.copy(), exp.Literal.number(-1)]  # no limit is -1 in SQLite, NULL in PostgreSQL
            node.set("expression", exp.Anonymous(this="NULLIF", expressions=all_rows))
        case exp.Mod():
            return exp.Anonymous(this="MOD", expressions=[node.this, node.expression])
        case exp.JSONExtractScalar():
            node.set("this", exp.cast(node.this, "json"))
        case exp.Select() if _is_over_elements(node):
            _take_elements(node)
        case exp.Anonymous():
            return _translate_function(node)
    return node


def _string_agg(node: exp.GroupConcat) -> exp.Expr:
    """Translate `group_concat` to `string_agg`, which takes only text and always needs a separator."""
    argument, separator = node.this, node.args.get("separator") or exp.Literal.string(",")
    distinct = isinstance(argument, exp.Distinct)
    text: exp.Expr = exp.cast((argument.expressions[0] if distinct else argument).copy(), "text")
    return exp.Anonymous(
        this="STRING_AGG", expressions=[exp.Distinct(expressions=[text]) if distinct else text, separator.copy()]
    )


def _is_over_elements(select: exp.Select) -> bool:
    source = select.args.get("from_")
    table = source.this.this if source is not None and isinstance(source.this, exp.Table) else None
    return isinstance(table, exp.Anonymous) and table.name.lower() == "json_each"


def _take_elements(select: exp.Select) -> None:
    """Translate the subquery `SELECT value FROM json_each(?)`, which returns the elements of a JSON list as rows.

    All JSON lists in this code's statements hold integer ids.
    """
    table = select.args["from_"].this
    listed = exp.Anonymous(this="JSON_ARRAY_ELEMENTS_TEXT", expressions=[exp.cast(table.this.expressions[0], "json")])
    alias = exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier("value")])
    table.replace(exp.Table(this=listed, alias=alias))
    for column in select.expressions:
        column.replace(exp.cast(column.copy(), "bigint"))


def _translate_function(node: exp.Anonymous) -> exp.Expr:
    name, arguments = node.name.lower(), node.expressions
    match name:
        case "date":
            return _format_time(arguments[0], "%Y-%m-%d", [word.name for word in arguments[1:]])
        case "strftime":
            return _format_time(
                arguments[1], arguments[0].name.replace("%%", "%"), [word.name for word in arguments[2:]]
            )
    return node


def _format_time(seconds: exp.Expr, form: str, words: list[str]) -> exp.Expr:
    """Translate an SQLite function call that formats a time as text.

    `seconds` is the time since 1970, `form` the strftime format, and `words` are the further arguments of the call. The
    text is in UTC. If `words` has `localtime`, it is in the time zone of the connection (see `configure`).
    """
    at: exp.Expr = exp.Anonymous(this="TO_TIMESTAMP", expressions=[seconds])
    if "localtime" not in words:
        at = exp.AtTimeZone(this=at, zone=exp.Literal.string("UTC"))
    return exp.Anonymous(this="TO_CHAR", expressions=[at, exp.Literal.string(_FORMATS[form])])


def _tell_truth_from_numbers(tree: exp.Expr) -> None:
    for node in _from_inside(tree):
        place = node
        while isinstance(place.parent, exp.Paren):
            place = place.parent
        parent = place.parent
        if parent is None or isinstance(node, (exp.Paren, exp.Null)):
            continue
        is_truth = isinstance(node, _TRUTHS)
        if _wants_truth(parent, place):
            if not is_truth:
                node.replace(exp.NEQ(this=exp.paren(node.copy()), expression=exp.Literal.number(0)))
        elif is_truth and not _is_assignment(parent, node) and not isinstance(parent, (exp.Is, exp.Escape)):
            if isinstance(node, exp.Boolean):
                node.replace(exp.Literal.number(int(node.this)))
            else:
                node.replace(exp.cast(exp.paren(node.copy()), "int"))


def _wants_truth(parent: exp.Expr, node: exp.Expr) -> bool:
    match parent:
        case exp.Connector() | exp.Not() | exp.Where() | exp.Having() | exp.CheckColumnConstraint() | exp.Check():
            return True
        case exp.Join():
            return node.arg_key == "on"
        case exp.If():
            return node.arg_key == "this" and not (isinstance(parent.parent, exp.Case) and parent.parent.this)
    return False


def _is_assignment(parent: exp.Expr, node: exp.Expr) -> bool:
    """Return whether a node that was parsed as a comparison is in fact an assignment (`SET a = 1`)."""
    return (
        isinstance(node, exp.EQ) and isinstance(parent, (exp.Update, exp.OnConflict)) and node.arg_key == "expressions"
    )


Raw = psycopg.Connection["NamedRow"]
ONCE = 1
"""How often a statement has run before the server keeps it prepared."""
STATEMENTS = 1000
"""The most prepared statements that a connection keeps; the code has fewer."""


class NamedRow(tuple[Any, ...]):
    """A row whose values can be read by index and by column name.

    `places` maps each column name to its index.
    """

    places: Mapping[str, int]

    def __getitem__(self, key: Any) -> Any:
        """Return a value by index or column name, or values by slice."""
        return super().__getitem__(self.places[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        """Return the column names, in order."""
        return list(self.places)


def named_rows(cursor: Any) -> Callable[[Any], NamedRow]:
    """Return a function that makes a `NamedRow` from a row's values, for psycopg's `row_factory`.

    The names are those of the cursor's columns.
    """
    return _rows_of(tuple(column.name for column in cursor.description or ()))


@lru_cache(maxsize=4096)
def _rows_of(names: tuple[str, ...]) -> type[NamedRow]:
    return type("NamedRow", (NamedRow,), {"places": {name: place for place, name in enumerate(names)}})


def cursor_for(raw: Raw, parameters: Parameters) -> "psycopg.Cursor[NamedRow]":
    """Return a cursor for a statement with these parameters: one that prepares statements, or one that does not.

    Preparing a statement on the server saves time when it runs again. It needs the type of each parameter, and None has
    no type. So if a parameter is None, the cursor writes the values into the text of the statement instead.
    """
    values = parameters.values() if isinstance(parameters, Mapping) else parameters
    return ClientCursor(raw) if any(value is None for value in values) else raw.cursor()


def configure(raw: Raw) -> None:
    """Set up a new connection so that it reads and writes values as SQLite does."""
    raw.prepare_threshold = ONCE
    raw.prepared_max = STATEMENTS
    raw.adapters.register_dumper(bool, _TruthAsNumber)
    raw.adapters.register_dumper(int, Int8Dumper)  # one type for all sizes, so one prepared statement
    raw.adapters.register_dumper(str, StrDumper)  # always text, so the server does not guess a type
    raw.adapters.register_loader("bool", _NumberFromTruth)
    raw.adapters.register_loader("numeric", _NumberFromDecimal)
    raw.adapters.register_loader("json", TextLoader)  # callers decode JSON themselves, as with SQLite
    zone = os.environ.get("TZ") or _zone()
    # Without JIT: as long as the planner has no statistics, compiling a statement of 1 ms can take a second. With plans
    # that hold for all values: it takes longer to plan what each key press asks than to run it. Without plans that read
    # whole tables: those made while a table was empty would last until the server has statistics.
    raw.execute(
        "SELECT set_config('TimeZone', %s, false), set_config('jit', 'off', false), "
        "set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false)",
        [zone],
    )


def _zone() -> str:
    place = os.path.realpath("/etc/localtime")
    return place.partition("zoneinfo/")[2] or "UTC"


class _TruthAsNumber(Dumper):
    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _NumberFromTruth(Loader):
    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


class _NumberFromDecimal(Loader):
    """A psycopg loader that reads decimals as `int` if they are whole (sums of integers), else as `float` (means)."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)
