"""Worker processes that start clean, whatever Streamlit has made of the main module.

A spawned process normally runs its parent's main module again. Streamlit installs the app's script as the main
module of the server, so a worker started while somebody looks at a page would run that page.
"""

import multiprocessing.context
import multiprocessing.process
import sys
import types
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


class _CleanProcess(multiprocessing.context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: multiprocessing.process.BaseProcess) -> Any:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            return multiprocessing.context.SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class _CleanContext(multiprocessing.context.SpawnContext):
    Process = _CleanProcess


def pool(
    processes: int, initializer: Callable[..., object] | None = None, initargs: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """A pool of spawned processes; a fork would copy the server's locks in whatever state they are."""
    return ProcessPoolExecutor(processes, mp_context=_CleanContext(), initializer=initializer, initargs=initargs)
