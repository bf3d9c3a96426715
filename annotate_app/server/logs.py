"""What a server says on its standard error: a line for a person, or an object of JSON a line for a program.

All of it goes through one handler, whichever library says it. It holds nothing that opens a door, and nothing that is
somebody's: no message of ours names a password, cookie, token, invitation or query, and what looks like one of the
first four in a message of others, or in a traceback, is taken out here.
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
    re.compile(r"(://)[^\s/@\"']+(?=@)"),  # of an address: who, and the password
    # A name, what stands between, and the value: as headers, addresses, forms, JSON and Python write them.
    re.compile(r"(?i)((?:cookie|authorization)[\"']?\s*[:=,]\s*(?:b?[\"'])?)[^\"'\n]+"),
    re.compile(
        r"(?i)((?:password|passwd|token|secret|csrf|reelrank_\w+)[\"']?\s*[:=]\s*)"
        r"(?:b?\"[^\"\n]*\"|b?'[^'\n]*'|[^\s\"'&;,}]+)"
    ),
)
_OURS = ("annotate_app", "backend")


def begin(form: LogForm) -> None:
    """From here on all loggers of this process say what they say in this form, on standard error.

    Before the libraries are imported that bring handlers of their own: loggers made earlier keep theirs.
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
    """A text with what looks like a secret taken out.

    >>> without_secrets("GET /session/invitation/3xQ7 by postgresql://me:pw@db/x with password='horse' failed")
    'GET /session/invitation/[taken out] by postgresql://[taken out]@db/x with password=[taken out] failed'
    """
    for secret in _SECRETS:
        text = secret.sub(_TAKEN_OUT, text)
    return text


def _is_for_a_person(record: logging.LogRecord) -> bool:
    """Leave out how uvicorn starts and ends: the server itself says when it answers, and that it stopped."""
    return record.levelno > logging.INFO or not record.name.startswith("uvicorn")


class _Through(logging.Logger):
    """A logger that says everything through the handler of the root, whatever handlers a library gives it."""

    def callHandlers(self, record: logging.LogRecord) -> None:
        logging.root.callHandlers(record)


class _Text(logging.Formatter):
    """A line, and a traceback below it."""

    default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        return visible(without_secrets(super().format(record)))


class _Json(logging.Formatter):
    """`at` (UTC), `level`, `logger`, `message` and, where something failed, `exception`: always one line."""

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


def _uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
    if told.exc_value is not None:
        _uncaught(told.exc_type, told.exc_value, told.exc_traceback)
