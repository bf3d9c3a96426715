"""Small pictures of moments and videos in the lists of leads, fetched by URL as they come into view."""

from urllib.parse import urlencode

from annotate_app.session.addresses import full_path


def address(video: str, start_s: float, end_s: float) -> str:
    """Where the picture in the middle of a moment is; for the one of a whole video, from 0 to its duration."""
    return full_path("/moments.webp?") + urlencode({"video": video, "start": start_s, "end": end_s})
