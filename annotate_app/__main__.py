"""Start the server process, as `reelrank serve` does: `python -m annotate_app [options of streamlit run]`.

It reads three environment variables. `REELRANK_PROJECT` is the project's folder, `REELRANK_LOG` the format of the log
(`text` or `json`), and `REELRANK_READY` a text to print once the server answers requests.
"""

import os
import signal
import sys
from pathlib import Path

from annotate_app.server import logs, server_process
from backend.campaign.setup.project.setting_entries import PROJECT
from backend.core.file_system import private_umask
from backend.core.processes import END_SIGNALS
from backend.core.server_options import LOG_VARIABLE, LogForm

APP = Path(__file__).with_name("asgi.py")


def main() -> None:
    """Set up the log, then run Streamlit, which runs the web server uvicorn."""
    os.umask(private_umask())  # the server writes only into the project, so no file needs wider permissions
    form = LogForm(os.environ.get(LOG_VARIABLE) or LogForm.TEXT)
    for number in END_SIGNALS:
        signal.signal(number, server_process.leave)
    logs.begin(form)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
        import streamlit.web.cli

        # Streamlit would print its welcome before the app answers requests.
        sys.argv = ["streamlit", "run", str(APP), "--logger.hideWelcomeMessage", "true", *_secrets(), *sys.argv[1:]]
        streamlit.web.cli.main()
    except SystemExit as leaving:
        if not leaving.code:
            server_process.print_stopped()
        raise


def _secrets() -> list[str]:
    """Return the option with the project's settings for single sign-on, if it has any; see docs/serving.md."""
    file = Path(os.environ.get(PROJECT.key, "")) / ".streamlit" / "secrets.toml"
    return ["--secrets.files", str(file)] if file.is_file() else []


if __name__ == "__main__":
    main()
