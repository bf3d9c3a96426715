"""What may pass a websocket: messages that our pages send, and answers that tell nothing of the server's machine."""

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from backend.campaign.nouns import Role

_OF_ALL = frozenset({"rerun_script", "stop_script", "app_heartbeat"})
# What else Streamlit would do for anybody who asks: empty everybody's caches, read the server's git, write files beside
# the app for programs that write code.
_SENT_BY = {Role.ANNOTATOR: _OF_ALL, Role.LEAD: _OF_ALL | {"file_urls_request", "backend_operation_request"}}
_NAMELESS = "-"


class NotOurs(Exception):
    """A message that is none of Streamlit's."""


def kind_of(data: bytes, role: Role) -> str:
    """Return which message a page sent, or an empty text for one that no page of this role sends.

    Raises:
        NotOurs: these bytes are no message.
    """
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise NotOurs from error
    kind = message.WhichOneof("type") or ""
    if kind not in _SENT_BY[role]:
        return ""
    if kind == "backend_operation_request":
        operation = message.backend_operation_request
        if not (operation.HasField("deferred_file") or operation.HasField("dataframe_chunk")):
            return ""
    return str(kind)


def without_machine(data: bytes) -> bytes:
    """Take out of an answer where the server's files are, and which versions and machine it runs on.

    Streamlit sends them at the beginning of every run, for its own statistics, which are off.
    """
    message = ForwardMsg.FromString(data)
    kind = message.WhichOneof("type")
    if kind == "new_session":
        new = message.new_session
        new.main_script_path = new.name
        for section in (new.initialize.environment_info, new.initialize.user_info):
            for field in section.DESCRIPTOR.fields:
                if field.type == field.TYPE_STRING:
                    setattr(section, field.name, _NAMELESS)
        return bytes(message.SerializeToString())
    if kind == "session_event" and message.session_event.HasField("script_compilation_exception"):
        error = message.session_event.script_compilation_exception
        error.ClearField("stack_trace")
        error.ClearField("message")
        return bytes(message.SerializeToString())
    return data
