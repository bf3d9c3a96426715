"""The server's process, as `reelrank serve` starts it: `python -m annotate_app [options of streamlit run]`.

`REELRANK_PROJECT` names the folder, `REELRANK_LOG` the form of the log.
"""

import os
import signal
import sys
from pathlib import Path

from annotate_app.server import logs, stopping
from backend.ground.logs import LOG_VARIABLE, LogForm
from backend.ground.private import private_umask

APP = Path(__file__).with_name("asgi.py")


def main() -> None:
    """Hand over to Streamlit, which hands over to uvicorn; both are imported when the log has begun."""
    os.umask(private_umask())  # it writes into the project alone; what people save elsewhere their browsers write
    form = LogForm(os.environ.get(LOG_VARIABLE) or LogForm.TEXT)
    for number in stopping.SIGNALS:
        signal.signal(number, stopping.leave)
    logs.begin(form)
    import streamlit.web.cli

    # A greeting is no object of JSON.
    quiet = ["--logger.hideWelcomeMessage", "true"] if form is LogForm.JSON else []
    sys.argv = ["streamlit", "run", str(APP), *quiet, *sys.argv[1:]]
    streamlit.web.cli.main()


if __name__ == "__main__":
    main()
