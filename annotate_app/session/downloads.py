"""Files that Streamlit keeps for its download buttons, at `/media/`: for leads alone, and gone once their page is.

Every download of this app is a lead's; what else lies there, the marks of the header, is for everybody signed in. The
name of a file is a digest of its content, so an address that somebody was told would open it: the role decides, not
the address.
"""

import logging
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.media_file_storage import MediaFileStorageError

from annotate_app.session.plain_pages import gone_page
from backend.campaign.nouns import Person
from backend.core.errors import ReelRankError

PREFIX = "/media/"
_LOG = logging.getLogger(__name__)
_MAKING = "streamlit.runtime.backend_operation_handler"
"""Where Streamlit logs that a file of a button could not be made."""


async def answer(
    app: ASGIApp, person: Person, as_lead: Callable[[], Awaitable[object]], scope: Scope, receive: Receive, send: Send
) -> None:
    """Streamlit's answer with a file, unless it is no longer there or not this person's to have.

    Raises:
        NotAllowed: by `as_lead`, which checks the role; nothing is sent yet.
    """
    gone = False

    async def sender(message: Message) -> None:
        nonlocal gone
        if message["type"] == "http.response.start":
            gone = message["status"] == 404
            if Headers(raw=message["headers"]).get("content-disposition", "").startswith("attachment"):
                await as_lead()
        if not gone:
            await send(message)

    await app(scope, receive, sender)
    if gone:
        await gone_page(person)(scope, receive, send)


def tell_without_traceback() -> None:
    """A button of a page that is gone, or of somebody who may no longer, is no error of the server: one line tells."""
    logging.getLogger(_MAKING).addFilter(_is_error)


def _is_error(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, MediaFileStorageError):
        return True
    if error.__cause__ is not None and not isinstance(error.__cause__, ReelRankError):
        return True  # making the file failed, and the record tells how
    _LOG.warning("A file for download was asked for and not made: %s", error)
    return False
