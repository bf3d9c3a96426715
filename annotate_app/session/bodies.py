"""Reading what browsers send, with a limit on its size."""

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

MAX_FORM_BYTES = 8 * 1024
MAX_JSON_BYTES = 1024 * 1024


async def body(request: Request, limit: int) -> bytes:
    """The request's body; more than `limit` bytes are refused with 413 before they are read."""
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > limit:
            raise HTTPException(413, "Too much was sent at once.")
    return bytes(received)


async def form(request: Request) -> dict[str, str]:
    """The fields of a posted form; a field sent twice counts with its last value."""
    raw = await body(request, MAX_FORM_BYTES)
    try:
        return dict(parse_qsl(raw.decode("utf-8"), keep_blank_values=True, max_num_fields=10))
    except ValueError as error:
        raise HTTPException(400, "The form could not be read.") from error
