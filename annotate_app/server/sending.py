"""What a page of this server sends as JSON, and who sent it."""

from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from annotate_app.language import tr
from annotate_app.server.clips import refused
from annotate_app.session.bodies import BodyRefused, json_body
from annotate_app.session.guard import is_own_page, person_of
from backend.core.ids import AnnotatorId


class Sent(msgspec.Struct):
    """A body; `person` is whom the page was made for."""

    person: AnnotatorId | None = None


_Kind = TypeVar("_Kind", bound=Sent)


async def sent_by(request: Request, kind: type[_Kind]) -> _Kind | Response:
    """The body of a request, or the answer that refuses it."""
    if request.headers.get("x-reelrank") != "1" or not is_own_page(request):
        return refused(403, tr("This request did not come from a page of this server."))
    try:
        sent = await json_body(request, kind)
    except BodyRefused as refusal:
        return refused(400, str(refusal))
    if sent.person not in (None, person_of(request).annotator_id):
        # An old tab on a shared computer: what it did must not become the doing of whoever signed in since.
        return refused(
            401, tr("{name} is signed in now. Sign in again to go on as yourself.", name=person_of(request).name)
        )
    return sent
