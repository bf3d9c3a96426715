"""Worker processes that start clean, whatever the main module is, and end with whoever started them.

A spawned process normally runs its parent's main module again: the whole command line, or, where Streamlit has
installed the app's script as the main module of the server, the page that somebody looks at. And a worker whose
parent is killed waits for work for ever, because it holds the other end of its own queue.
"""

import multiprocessing
import multiprocessing.context
import multiprocessing.process
import os
import sys
import threading
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
    """A pool of spawned processes; a fork would copy locks (of threads, bars, BLAS) in whatever state they are."""
    arguments = (initializer, initargs)
    return ProcessPoolExecutor(processes, mp_context=_CleanContext(), initializer=_begin, initargs=arguments)


def _begin(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    """Runs in a worker when it starts."""
    parent = multiprocessing.parent_process()

    def leave_with_it() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=leave_with_it, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)
