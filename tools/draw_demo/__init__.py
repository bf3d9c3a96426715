"""Draws the demo's videos: short self-made animations of everyday actions, with exact captions."""

from tools.draw_demo.cast import CAST
from tools.draw_demo.clips import VIDEOS

__all__ = ["CAST", "VIDEOS"]
