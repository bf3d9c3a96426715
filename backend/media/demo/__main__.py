"""Renders the named videos into a folder: `python -m backend.media.demo FOLDER NAME...`; says each name when done.

`render_corpus` starts one of these a core.
"""

import sys
from pathlib import Path

import cv2

from backend.media.demo.render import render_video

if __name__ == "__main__":
    cv2.setNumThreads(1)
    for name in sys.argv[2:]:
        render_video(name, Path(sys.argv[1]))
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
