"""Describe the operations of a campaign over HTTP as an OpenAPI 3.1 document, made from their functions."""

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec

from backend import __version__
from backend.api.campaign import OPERATIONS
from backend.api.model import Needs, Operation
from backend.api.over_http import Refusal

_SCHEMAS = "#/components/schemas/"
_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_ABOUT_FILES = (
    "Keep the body of the request as a file, for one call. The `file` of the answer names it in the arguments of that "
    "call. A file that no call uses is deleted a day later."
)
_ABOUT_ME = "Return who the token acts for, and what it may do. `expires_at` is in seconds since 1970."


class SentFile(msgspec.Struct):
    """The server's answer to the upload of a file.

    `file` is the name by which the arguments of one later call refer to the uploaded file.
    """

    file: str


class Me(msgspec.Struct):
    """The person for whom a personal token acts, and what the token may do.

    `name` and `role` are the person's, `token` is the name of the token, and `expires_at` is in seconds since 1970.
    """

    name: str
    role: str
    token: str
    scope: str
    expires_at: float


@cache
def arguments_of(operation: Operation) -> type[msgspec.Struct]:
    """Return the type of the JSON object with the arguments of an operation.

    An argument that takes a file is a text in this object: the name of a file that was uploaded before.
    """
    texts = described(operation)[1]
    fields: list[Any] = []
    for argument in operation.signature.parameters.values():
        kind = argument.annotation
        if argument.name in operation.files:
            kind = str if argument.default is argument.empty else str | None
        if argument.name in texts:
            kind = Annotated[kind, msgspec.Meta(description=texts[argument.name])]
        fields.append((argument.name, kind, *([] if argument.default is argument.empty else [argument.default])))
    return msgspec.defstruct(operation.name, fields, kw_only=True, forbid_unknown_fields=True)


def described(operation: Operation) -> tuple[str, dict[str, str]]:
    """Return what the docstring of an operation says: its text before the arguments, and the text of each argument."""
    text = inspect.getdoc(operation.function) or ""
    about, _, rest = text.partition("\n\nArgs:\n")
    arguments = rest.partition("\n\n")[0]
    about = re.split(r"\n\n(?:Returns|Raises):\n", about)[0]
    about = "\n\n".join(" ".join(paragraph.split()) for paragraph in about.split("\n\n"))
    return about, {name: " ".join(words.split()) for name, words in _ARGUMENT.findall(arguments)}


def method_of(operation: Operation) -> str:
    """Return the HTTP method of an operation: POST if it changes the campaign, GET if it only reads."""
    return "POST" if operation.acts else "GET"


def permission(operation: Operation) -> str:
    """Return a sentence that says which personal tokens may call an operation: whose, and with which scope.

    Tokens belong to annotators and leads. The operator, who runs commands on the server, has none.
    """
    who = "an annotator" if operation.needs is Needs.ANNOTATOR else "a lead"
    return f"This needs a token of {who}, with the scope `act`." if operation.acts else f"This needs a token of {who}."


@cache
def document(base: str = "") -> dict[str, Any]:
    """Return the OpenAPI document about all operations, as dicts and lists that can be written as JSON.

    `base` is the part of the URL's path under which the server has the app, such as `/reelrank`; usually empty.
    """
    results = {name: one.signature.return_annotation for name, one in OPERATIONS.items()}
    kinds = {name: kind for name, kind in results.items() if kind is not Path}
    types = [Refusal, SentFile, Me, *map(arguments_of, OPERATIONS.values()), *kinds.values()]
    schemas, components = msgspec.json.schema_components(types, ref_template=_SCHEMAS + "{name}")
    answers = dict(zip(kinds, schemas[-len(kinds) :], strict=True))
    refusal, sent_file, me = schemas[:3]
    binary: dict[str, Any] = {"application/octet-stream": {"schema": {}}}
    paths: dict[str, Any] = {
        "/api/me": {"get": _described("me", _ABOUT_ME, {"application/json": {"schema": me}})},
        "/api/files/{name}": {
            "post": {
                **_described("send_file", _ABOUT_FILES, {"application/json": {"schema": sent_file}}, "201"),
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}],
                "requestBody": {"required": True, "content": binary},
            }
        },
    }
    for name, operation in OPERATIONS.items():
        content = {"application/json": {"schema": answers[name]}} if name in answers else binary
        entry = _described(name, f"{described(operation)[0]}\n\n{permission(operation)}", content)
        arguments = components[name]
        if operation.acts:
            body = {"application/json": {"schema": {"$ref": _SCHEMAS + name}}}
            entry["requestBody"] = {"required": True, "content": body}
        else:
            del components[name]
            entry["parameters"] = [
                {"name": one, "in": "query", "required": one in arguments["required"], "schema": schema}
                for one, schema in arguments["properties"].items()
            ]
        paths[f"/api/operations/{name}"] = {method_of(operation).lower(): entry}
    return {
        "openapi": "3.1.0",
        "info": {"title": "ReelRank", "version": __version__},
        "servers": [{"url": base or "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {
                "refused": {
                    "description": "The server or the operation refuses. The status tells why.",
                    "content": {"application/json": {"schema": refusal}},
                }
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(name: str, about: str, content: dict[str, Any], status: str = "200") -> dict[str, Any]:
    """Return what the OpenAPI document says about one operation, without its arguments.

    `name` is the operation, `about` its description, `content` describes the result, and `status` is the HTTP status
    of a success.
    """
    return {
        "operationId": name,
        "summary": about.partition("\n")[0],
        "description": about,
        "responses": {
            status: {"description": "The result.", "content": content},
            "default": {"$ref": "#/components/responses/refused"},
        },
    }
