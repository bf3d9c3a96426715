"""Days, instants and counted things in the reader's language; numbers have one form in all, see decision 101."""

from datetime import date, datetime

from annotate_app.language import marked, marked_n, tr

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
COUNTED = {
    one.removeprefix("{n} "): (one, several)
    for one, several in (
        marked_n("{n} annotator", "{n} annotators"),
        marked_n("{n} answer", "{n} answers"),
        marked_n("{n} assignment", "{n} assignments"),
        marked_n("{n} batch", "{n} batches"),
        marked_n("{n} candidate", "{n} candidates"),
        marked_n("{n} caption", "{n} captions"),
        marked_n("{n} clip", "{n} clips"),
        marked_n("{n} day", "{n} days"),
        marked_n("{n} description", "{n} descriptions"),
        marked_n("{n} entry", "{n} entries"),
        marked_n("{n} frame", "{n} frames"),
        marked_n("{n} further pair", "{n} further pairs"),
        marked_n("{n} grade", "{n} grades"),
        marked_n("{n} graded moment", "{n} graded moments"),
        marked_n("{n} imprecise caption", "{n} imprecise captions"),
        marked_n("{n} imported judgement", "{n} imported judgements"),
        marked_n("{n} simulated judgement", "{n} simulated judgements"),
        marked_n("{n} item", "{n} items"),
        marked_n("{n} moment", "{n} moments"),
        marked_n("{n} name", "{n} names"),
        marked_n("{n} note", "{n} notes"),
        marked_n("{n} older one", "{n} older ones"),
        marked_n("{n} other", "{n} others"),
        marked_n("{n} other pair", "{n} other pairs"),
        marked_n("{n} pair", "{n} pairs"),
        marked_n("{n} person", "{n} people"),
        marked_n("{n} prediction", "{n} predictions"),
        marked_n("{n} query", "{n} queries"),
        marked_n("{n} rate", "{n} rates"),
        marked_n("{n} reply", "{n} replies"),
        marked_n("{n} run", "{n} runs"),
        marked_n("{n} shot", "{n} shots"),
        marked_n("{n} simulated one", "{n} simulated ones"),
        marked_n("{n} skip", "{n} skips"),
        marked_n("{n} test query", "{n} test queries"),
        marked_n("{n} text", "{n} texts"),
        marked_n("{n} video", "{n} videos"),
        marked_n("{n} wrong video", "{n} wrong videos"),
    )
}
"""The texts for a number of something, by what it is called in English."""


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
