"""A project whose videos have files, and a model that is asked about its pairs."""

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from backend.campaign.monitoring.model_judge.asking import ask_model
from backend.campaign.monitoring.model_judge.model import AskReport
from backend.campaign.nouns import OPERATOR
from backend.language.chat import ChatModel
from chat_server import Act, Answer, Asked, ChatServer
from scored import colour_at
from support import NOW, Judging

SECONDS = 62


def asked_now(judging: Judging, server: ChatServer, **options: Any) -> AskReport:
    """Ask the model at this server."""
    how: dict[str, Any] = {"at_once": 4, "timeout_s": 5.0, "retries": 0}
    how |= {name: options.pop(name) for name in how if name in options}
    return ask_model(judging.project, OPERATOR, ChatModel("eye", server.url, **how), **({"now": NOW + 100} | options))


def data_of(asked: Asked) -> dict[str, str]:
    """What a request gives to judge."""
    text = asked.body["messages"][1]["content"][0]["text"]
    match = re.fullmatch(r"<data>\n(.*)\n</data>", text)
    assert match, text
    data: dict[str, str] = json.loads(match[1])
    return data


def seconds_of(asked: Asked) -> list[int]:
    """From which second of the video each picture of a request is, by its colour."""
    every = np.array([colour_at(second)[::-1] for second in range(SECONDS)])
    found = []
    for part in asked.body["messages"][1]["content"][1:]:
        kind, _, data = part["image_url"]["url"].partition(";base64,")
        assert kind == "data:image/jpeg"
        picture = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)
        assert picture is not None
        assert picture.shape == (36, 64, 3)
        found.append(int(np.abs(every - picture[18, 32].astype(int)).sum(axis=1).argmin()))
    return found


def told(grade: int, tokens: tuple[int, int] | None = (1000, 20)) -> Answer:
    return Answer(json.dumps({"grade": grade, "reason": "A man sits."}), tokens)


def always(grade: int) -> Callable[[Asked], Act]:
    return lambda asked: told(grade)
