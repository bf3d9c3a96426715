"""Servers that start at once: a process that has imported what a server needs forks one whenever it is asked to.

    python nursery.py SOCKET

Whoever connects sends one line of JSON, `{"folder", "port", "log"}`, and gets the server's process id. The server does
what `reelrank serve` does, but for handing itself over to a fresh Python that would import it all again; that, too, is
tested, where tests start servers without a nursery, as those of the installed package do.
"""

import gc
import os
import signal
import socket
import sys
import threading
import traceback
from functools import cache
from importlib import import_module
from json import loads

import streamlit.web.cli  # noqa: F401  # servers need it
from streamlit.components.v2 import manifest_scanner

import annotate_app.__main__
from annotate_app.session import request_limits
from backend import cli
from backend.core import processes

NEEDED = (
    *("annotate_app.navigation", "annotate_app.server.routes", "loky", "psutil"),
    *("uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto"),
    *("starlette.applications", "starlette.middleware.sessions", "starlette.staticfiles"),
    *("streamlit.web.server.app_discovery", "streamlit.web.server.starlette.starlette_server"),
    *("streamlit.web.server.starlette.starlette_agent_routes", "streamlit.runtime.agent.mcp"),
    # What the first pages need that somebody looks at.
    *("PIL.Image", "pyarrow.pandas_compat", "scipy.sparse.csgraph", "scipy.special"),
    *("streamlit.dataframe.lazy_df_adapters", "streamlit.material_icon_names"),
)
NOT_OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def main(address: str) -> None:
    """Fork servers until whoever started this process has gone, which its standard input tells."""
    for name in NEEDED:
        import_module(name)
    # Each server would search all installed packages for components anew: half of what its start costs.
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    manifest_scanner.scan_component_manifests()
    # Tests of attacks get hundreds of refusals, which a server delays. Only test_bodies.py needs the delay.
    request_limits.REFUSALS_A_SECOND = 1000.0
    # Other tests keep the cores busy: a job that gave way to them would not even begin for a minute.
    begin = processes.alone
    processes.alone = lambda work, *arguments, niceness=0: begin(work, *arguments)
    threading.Thread(target=end_with_the_tests, daemon=True).start()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the servers here
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while True:
            asking, _ = listening.accept()
            with asking, asking.makefile("rw") as line:
                wanted = loads(line.readline())
                child = os.fork()
                if child == 0:
                    listening.close()
                    serve(**wanted)
                line.write(f"{child}\n")
                line.flush()


def end_with_the_tests() -> None:
    """Whoever started this process holds the other end of its standard input."""
    os.read(0, 1)
    os._exit(0)


def serve(folder: str, port: int, log: str) -> None:
    """Be `reelrank serve` from here on."""
    os.setsid()
    for number in NOT_OURS:
        signal.signal(number, signal.SIG_DFL)
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.execve = hand_over  # type: ignore[assignment]  # the same program goes on
    sys.argv = ["reelrank", "serve", folder, "--port", str(port)]
    try:
        cli.main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def hand_over(_program: str, command: list[str], environment: dict[str, str]) -> None:
    """What a fresh Python would do with this command line, `python -m annotate_app ...`."""
    os.environ.update(environment)
    sys.argv = command[2:]
    annotate_app.__main__.main()


if __name__ == "__main__":
    main(sys.argv[1])
