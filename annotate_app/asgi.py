"""Assemble the ASGI app: Streamlit's pages, our routes, the session check, and workers that cut clips.

Start it with `python -m annotate_app` and the project's folder in `REELRANK_PROJECT`, as `reelrank serve DIR` does.
Streamlit reads this file to find `app`. It also finds `.streamlit/config.toml` beside this file, whatever the working
directory is.
"""

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime import Runtime

from annotate_app.front import handover
from annotate_app.front.handover import HomeProcess
from annotate_app.server import jobs, monitoring, server_process
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.monitoring import Health
from annotate_app.server.routes import own_routes
from annotate_app.server.server_process import disable_send_delay, limit_messages, print_started, running_server
from annotate_app.server.webhooks import Rounds
from annotate_app.session import auth, guard, oidc
from annotate_app.session.addresses import BasePath, is_own_path
from annotate_app.session.first_project import FirstProject
from annotate_app.session.guard import Guard
from annotate_app.session.threads import request_threads
from annotate_app.session.websocket import LARGEST_MESSAGE_BYTES, bind_sessions
from annotate_app.shared.waiting import MORE_COUNTS, menu_answer
from backend.core import processes
from backend.core.errors import ReelRankError
from backend.core.server_options import (
    BASE_PATH_VARIABLE,
    FIRST_LINK_VARIABLE,
    METRICS_VARIABLE,
    READY_VARIABLE,
    checked_base_path,
)
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import ClipJob

handed_over = handover.from_environment()
"""How connections come, if this is one of several processes behind one port."""
own_address, _, first_link = os.environ.pop(FIRST_LINK_VARIABLE, "").partition("\n")
"""Address of the server and one-time link, if the folder is empty; see `annotate_app.session.first_project`."""
try:
    if not first_link:
        auth.project()
    base_path = checked_base_path(os.environ.get(BASE_PATH_VARIABLE, ""))
except (ReelRankError, ValueError) as refusal:
    sys.exit(f"ReelRank: {refusal}")
if base_path and is_own_path(base_path):
    sys.exit(f"ReelRank: the base path {base_path} begins like an address of the app: choose another one")

MORE_COUNTS.append(jobs.in_menu)
_SWITCH_S = 0.001
"""Switch interval of Python's threads, in seconds. A request needs the interpreter many times, and with the default of
5 ms it takes far longer while a page's script runs."""
clips: ClipWorker[ClipJob] = ClipWorker(cut_clip)
videos: ClipWorker[ClipJob] = ClipWorker(cut_clip)  # its process starts when the first video is described


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Prepare the server before its first request, and stop its background workers after the last request."""
    oidc.warn_if_incomplete()
    guard.shorten_download_errors()
    monitoring.begin(os.environ.get(METRICS_VARIABLE, ""), {"clips": clips, "videos": videos}, auth.project)
    clips.start()
    disable_send_delay()
    limit_messages(LARGEST_MESSAGE_BYTES)
    bind_sessions(Runtime.instance())
    sys.setswitchinterval(_SWITCH_S)
    if handed_over is None:
        server_process.limit_shutdown_time()
    else:
        handed_over.begin(running_server())
        server_process.limit_shutdown_time(handed_over.stop)
    # All pages are imported now, not while the first person waits. They stay, so the garbage collector can skip them.
    import_module("annotate_app.navigation")
    gc.collect()
    gc.freeze()
    if handed_over is None:
        print_started(os.environ.get(READY_VARIABLE, ""), first_link)
    webhooks = asyncio.create_task(Rounds(auth.project).run())
    try:
        yield
    finally:
        webhooks.cancel()
        clips.stop()
        videos.stop()
        processes.end_all()
        request_threads.stop()
        with suppress(ReelRankError):  # no project was created
            auth.project().store.close()


app = st.App(
    Path(__file__).with_name("main.py"),
    routes=[*own_routes(auth.project, clips, menu_answer, videos), *Health(auth.project).routes()],
    middleware=[
        Middleware(BasePath, base=base_path),
        *([Middleware(HomeProcess, handover=handed_over)] if handed_over else []),
        *([Middleware(FirstProject, project=auth.project, own=own_address, link=first_link)] if first_link else []),
        Middleware(Guard, project=auth.project),
    ],
    lifespan=lifespan,
)
