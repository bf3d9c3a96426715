"""The server's process, as `reelrank serve` starts it: `python -m annotate_app [options of streamlit run]`.

`REELRANK_PROJECT` names the folder, `REELRANK_LOG` the form of the log; once it answers, it prints `REELRANK_READY`.
"""

import os
import signal
import sys
from pathlib import Path

from annotate_app.server import logs, server_process
from backend.core.file_system import private_umask
from backend.core.processes import END_SIGNALS
from backend.core.server_options import LOG_VARIABLE, LogForm

APP = Path(__file__).with_name("asgi.py")


def main() -> None:
    """Hand over to Streamlit, which hands over to uvicorn; both are imported when the log has begun."""
    os.umask(private_umask())  # it writes into the project alone; what people save elsewhere their browsers write
    form = LogForm(os.environ.get(LOG_VARIABLE) or LogForm.TEXT)
    for number in END_SIGNALS:
        signal.signal(number, server_process.leave)
    logs.begin(form)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
        import streamlit.web.cli

        # Streamlit would greet before the app answers.
        sys.argv = ["streamlit", "run", str(APP), "--logger.hideWelcomeMessage", "true", *sys.argv[1:]]
        streamlit.web.cli.main()
    except SystemExit as leaving:
        if not leaving.code:
            server_process.say_stopped()
        raise


if __name__ == "__main__":
    main()
