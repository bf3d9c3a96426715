"""Tables of a few rows that the pages draw as HTML: a grade has its colour, a number may be a bar."""

from collections.abc import Iterable, Sequence


def table(head: Iterable[str], rows: Iterable[Sequence[str]], style: str = "") -> str:
    """A table; its cells are HTML, so whoever fills them escapes what people wrote."""
    labels = "".join(f"<th scope='col'>{label}</th>" for label in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table class='rr-grades {style}'><tr>{labels}</tr>{body}</table>"


def grade(value: int) -> str:
    """A grade in its colour."""
    return f"<span class='rr-grade rr-r{value}'>{value}</span>"


def bar(value: float, most: float, more: str = "", form: str = ",") -> str:
    """A number before a bar that is as long as its share of `most`; `more` (HTML) stands behind the number."""
    return f"<span class='rr-pace' style='--share:{value / most:.3f}'>{value:{form}}{more}</span>"
