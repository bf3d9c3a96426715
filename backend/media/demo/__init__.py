"""The demo corpus: short self-made animations of everyday actions, drawn by code, with exact captions."""

from backend.media.demo.cast import CAST
from backend.media.demo.render import VIDEOS, captioned_moments, render_corpus

__all__ = ["CAST", "VIDEOS", "captioned_moments", "render_corpus"]
