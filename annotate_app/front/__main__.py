"""Serve a project by several processes at one port, as `reelrank serve --processes N` does.

    python -m annotate_app.front HOST PORT PROCESSES

The environment says the rest, as for `python -m annotate_app`.
"""

import asyncio
import os
import signal
import sys

from annotate_app.front.supervisor import Service, Supervisor, listen
from annotate_app.server import logs, server_process
from backend.core.processes import END_SIGNALS
from backend.core.server_options import (
    FIRST_LINK_VARIABLE,
    LOG_VARIABLE,
    METRICS_VARIABLE,
    READY_VARIABLE,
    LogForm,
    nth_place,
)


def main() -> None:
    """Run the processes until a signal comes; exit with 0 then, or with 1 if they cannot start."""
    for number in END_SIGNALS:
        signal.signal(number, server_process.leave)
    host, port, processes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    logs.begin(LogForm(os.environ.get(LOG_VARIABLE) or LogForm.TEXT))
    ready, metrics = os.environ.get(READY_VARIABLE, ""), os.environ.get(METRICS_VARIABLE, "")
    first_link = os.environ.get(FIRST_LINK_VARIABLE, "").partition("\n")[2]
    environments = [
        {**os.environ, READY_VARIABLE: "", METRICS_VARIABLE: nth_place(metrics, number)} for number in range(processes)
    ]
    service = Service("", SERVER, environments, keeps=True)
    supervisor = Supervisor(listen(host, port), [service], lambda: server_process.print_started(ready, first_link))
    code = asyncio.run(supervisor.run())
    if code == 0:
        server_process.print_stopped()
    sys.exit(code)


SERVER = [
    *(sys.executable, "-m", "annotate_app"),
    # Streamlit listens at an address of its own until it is ready, which nobody is told.
    *("--server.address", "127.0.0.1", "--server.port", "0", "--server.headless", "true"),
]


if __name__ == "__main__":
    main()
