"""Days and instants in the reader's language; numbers have one form in every language, see decision 101."""

from datetime import date, datetime

from annotate_app.language import marked, tr

_SHORT = (
    *(marked("Jan", _context="month"), marked("Feb", _context="month"), marked("Mar", _context="month")),
    *(marked("Apr", _context="month"), marked("May", _context="month"), marked("Jun", _context="month")),
    *(marked("Jul", _context="month"), marked("Aug", _context="month"), marked("Sep", _context="month")),
    *(marked("Oct", _context="month"), marked("Nov", _context="month"), marked("Dec", _context="month")),
)
_LONG = (
    *(marked("January"), marked("February"), marked("March"), marked("April"), marked("May"), marked("June")),
    *(marked("July"), marked("August"), marked("September"), marked("October"), marked("November")),
    marked("December"),
)


def day(on: date, *, year: bool = False) -> str:
    """A day, with its year where days of several stand together.

    >>> day(date(2025, 10, 9)), day(date(2025, 10, 9), year=True)
    ('9 Oct', '9 Oct 2025')
    """
    if year:
        return tr("{day} {month} {year}", day=on.day, month=_short(on), year=on.year)
    return tr("{day} {month}", day=on.day, month=_short(on))


def month(on: date) -> str:
    """The month that a day is of.

    >>> month(date(2026, 3, 1))
    'March 2026'
    """
    return tr("{month} {year}", month=tr(_LONG[on.month - 1]), year=on.year)


def instant(at: datetime) -> str:
    """A day with its year, and the time of day.

    >>> instant(datetime(2025, 10, 9, 10, 53))
    '9 Oct 2025, 10:53'
    """
    return tr("{day}, {time}", day=day(at, year=True), time=f"{at:%H:%M}")


def _short(on: date) -> str:
    return tr(_SHORT[on.month - 1], _context="month")
