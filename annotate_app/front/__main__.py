"""Serve a project by several processes at one port, or several projects, as `reelrank serve` does.

    python -m annotate_app.front HOST PORT PROCESSES [PROJECT...]
    python -m annotate_app.front entrance PROJECT...

Without projects, the environment names the only one. It says the rest, as for `python -m annotate_app`. Several
projects are served below the names of their folders, each by processes of its own. The first form starts the second.
"""

import asyncio
import itertools
import os
import signal
import sys
from pathlib import Path

from annotate_app.front.supervisor import Service, Supervisor, listen
from annotate_app.server import logs, server_process
from backend.campaign.setup.project.setting_entries import PROJECT
from backend.core.processes import END_SIGNALS
from backend.core.server_options import (
    BASE_PATH_VARIABLE,
    FIRST_LINK_VARIABLE,
    LOG_VARIABLE,
    METRICS_VARIABLE,
    READY_VARIABLE,
    LogForm,
    nth_place,
)


def main() -> None:
    """Run the processes, or the entrance, until a signal comes; exit with 0 then, or with 1 if they cannot start."""
    for number in END_SIGNALS:
        signal.signal(number, server_process.leave)
    logs.begin(LogForm(os.environ.get(LOG_VARIABLE) or LogForm.TEXT))
    if sys.argv[1] == ENTRANCE:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
        from annotate_app.front import entrance  # its libraries come after the log, which has to write for them

        entrance.serve([Path(folder) for folder in sys.argv[2:]])
        return
    host, port, processes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ready, metrics = os.environ.get(READY_VARIABLE, ""), os.environ.get(METRICS_VARIABLE, "")
    first_link = os.environ.get(FIRST_LINK_VARIABLE, "").partition("\n")[2]
    places = iter(nth_place(metrics, number) for number in itertools.count())

    def service(name: str, **more: str) -> Service:
        environments = [
            {**os.environ, READY_VARIABLE: "", METRICS_VARIABLE: next(places), **more} for _ in range(processes)
        ]
        return Service(name, SERVER, environments, keeps=not name)

    if folders := [Path(folder) for folder in sys.argv[4:]]:
        services = [
            Service(
                "",
                [sys.executable, "-m", "annotate_app.front", ENTRANCE, *map(str, folders)],
                [{**os.environ, READY_VARIABLE: ""}],
                keeps=False,
            ),
            *(
                service(folder.name, **{PROJECT.key: str(folder), BASE_PATH_VARIABLE: f"/{folder.name}"})
                for folder in folders
            ),
        ]
    else:
        services = [service("")]
    supervisor = Supervisor(listen(host, port), services, lambda: server_process.print_started(ready, first_link))
    code = asyncio.run(supervisor.run())
    if code == 0:
        server_process.print_stopped()
    sys.exit(code)


ENTRANCE = "entrance"
SERVER = [
    *(sys.executable, "-m", "annotate_app"),
    # Streamlit listens at an address of its own until it is ready, which nobody is told.
    *("--server.address", "127.0.0.1", "--server.port", "0", "--server.headless", "true"),
]


if __name__ == "__main__":
    main()
