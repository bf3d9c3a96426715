"""Set up the server's log on standard error: lines of text for people, or lines of JSON for programs.

One handler writes all messages, whichever library they come from. The log holds no secrets and no personal data. Our
own messages never name a password, cookie, token, invitation or query. This module removes what looks like a password,
cookie, token or invitation from messages of libraries and from tracebacks.
"""

import json
import logging
import re
import sys
import threading
import time
from types import TracebackType
from typing import Any

from backend.core.server_options import LogForm
from backend.core.text_files import visible

_TAKEN_OUT = r"\1[taken out]"
_SECRETS = (
    re.compile(r"(/session/invitation/)[^\s\"'?#&<>]+"),
    re.compile(r"(\brr_)[0-9A-Za-z]+_[0-9A-Za-z]+"),  # a personal token
    re.compile(r"(://)[^\s/@\"']+(?=@)"),  # user name and password in a URL
    # A name, a separator and a value, as headers, URLs, forms, JSON and Python write them.
    re.compile(r"(?i)((?:cookie|authorization)[\"']?\s*[:=,]\s*(?:b?[\"'])?)[^\"'\n]+"),
    re.compile(
        r"(?i)((?:password|passwd|token|secret|csrf|reelrank_\w{1,30})[\"']?\s*[:=]\s*)"
        r"(?:b?\"[^\"\n]*\"|b?'[^'\n]*'|[^\s\"'&;,}]+)"
    ),
)
_OURS = ("annotate_app", "backend")


def begin(form: LogForm) -> None:
    """Send the messages of all loggers of this process to standard error, as text or as JSON.

    Call it before importing libraries that add their own handlers: loggers that exist already keep theirs.
    """
    logging.setLoggerClass(_Through)
    handler = logging.StreamHandler(sys.stderr)
    if form is LogForm.JSON:
        handler.setFormatter(_Json())
    else:
        handler.setFormatter(_Text("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        handler.addFilter(_is_for_a_person)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


def without_secrets(text: str) -> str:
    """Return a text with passwords, tokens and other parts that look like secrets replaced by `[taken out]`.

    >>> without_secrets("GET /session/invitation/3xQ7 by postgresql://me:pw@db/x with password='horse' failed")
    'GET /session/invitation/[taken out] by postgresql://[taken out]@db/x with password=[taken out] failed'
    """
    for secret in _SECRETS:
        text = secret.sub(_TAKEN_OUT, text)
    return text


def _is_for_a_person(record: logging.LogRecord) -> bool:
    """Return whether a text log includes a record: all except uvicorn's messages about its start and stop."""
    return record.levelno > logging.INFO or not record.name.startswith("uvicorn")


class _Through(logging.Logger):
    """A logger that sends everything to the root logger's handlers, and ignores handlers that a library adds to it."""

    def callHandlers(self, record: logging.LogRecord) -> None:
        logging.root.callHandlers(record)


class _Text(logging.Formatter):
    """Log formatter for people: one line for each message, and a traceback below it."""

    default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        return visible(without_secrets(super().format(record)))


class _Json(logging.Formatter):
    """Log formatter for programs: one line of JSON for each message.

    Its fields are `at` (UTC), `level`, `logger`, `message`, and `exception` if there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "at": f"{at}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = without_secrets(self.formatException(record.exc_info))
        return visible(json.dumps(line, ensure_ascii=False))


def _uncaught(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    logging.getLogger(__name__).critical("the server fails", exc_info=(kind, error, where))


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        _uncaught(args.exc_type, args.exc_value, args.exc_traceback)
