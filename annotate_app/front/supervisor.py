"""Accept connections at one port, and hand each to one of several server processes; start anew those that die.

This process reads the head of the first request of a connection, chooses a process by its path and cookies
(`routing.py`), and passes the connection itself on, as a file descriptor. It sees nothing of what follows: uploads,
clips and websockets go between the browser and that process alone.
"""

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from annotate_app.front.routing import chosen, cookies_of, first_part, home_of, is_enough
from backend.core.processes import END_SIGNALS
from backend.core.server_options import HANDOVER_VARIABLE

_LOG = logging.getLogger(__name__)
HEAD_S = 30.0
"""Seconds within which the head of the first request has to arrive."""
WAIT_S = 60.0
"""The most seconds that a connection waits for a process that is starting."""
STOP_S = 9.0
"""Seconds from the signal until processes are killed that did not end by themselves, which takes them 8 at most."""
LONGEST_PAUSE_S = 30.0
"""The longest pause before a process is started anew that keeps ending."""
STEADY_S = 60.0
"""A process that lived for this many seconds is started anew without a pause."""
_PIECE_BYTES = 16 * 1024
_RETRY_S = 0.02


@dataclass(slots=True)
class Service:
    """Processes that answer the same addresses.

    Args:
        name: the first part of the paths that it answers; "" for all paths that no other service has.
        command: the command line of a process.
        environments: one environment for each process.
        keeps: whether a process may keep connections open, because no other service could be meant.
    """

    name: str
    command: Sequence[str]
    environments: Sequence[Mapping[str, str]]
    keeps: bool
    controls: dict[int, socket.socket] = field(default_factory=dict)
    """The sockets of the processes that are ready, by number."""
    turn: int = 0
    """How many connections of browsers without a process have come."""

    async def hand_over(self, connection: socket.socket, head: bytes) -> None:
        """Pass a connection to one of the processes; wait while none is ready or the chosen one takes nothing."""
        cookies = cookies_of(head)
        turn = self.turn
        self.turn += home_of(cookies) is None
        while True:
            if self.controls:
                number = chosen(sorted(self.controls), cookies, turn)
                try:
                    socket.send_fds(self.controls[number], [head], [connection.fileno()])
                    return
                except (BrokenPipeError, ConnectionResetError):
                    self.controls.pop(number, None)
                    continue
                except OSError:
                    pass  # its queue is full
            await asyncio.sleep(_RETRY_S)


class Supervisor:
    """Runs the processes of all services and hands connections to them.

    `listening` is a bound socket that listens. `started` is called once all processes are ready.
    """

    def __init__(self, listening: socket.socket, services: Sequence[Service], started: Callable[[], object]) -> None:
        self._listening = listening
        self._services = {service.name: service for service in services}
        self._started = started
        self._waiting = sum(len(service.environments) for service in services)
        """How many processes have yet to become ready for the first time."""
        self._running: set[asyncio.subprocess.Process] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._end: asyncio.Future[int]

    async def run(self) -> int:
        """Serve until a signal comes, or a process cannot start; return the exit code."""
        loop = asyncio.get_running_loop()
        self._end = loop.create_future()
        for number in END_SIGNALS:
            loop.add_signal_handler(number, self._finish, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
        kept = [
            loop.create_task(self._keep(service, number))
            for service in self._services.values()
            for number in range(len(service.environments))
        ]
        code = await self._end
        self._listening.close()
        for task in list(self._tasks):
            task.cancel()
        for process in self._running:
            process.terminate()
        _, late = await asyncio.wait(kept, timeout=STOP_S)
        if late:
            _LOG.warning("%d processes did not end by themselves", len(self._running))
            for process in self._running:
                process.kill()
            await asyncio.wait(late)
        return code

    def _finish(self, code: int) -> None:
        if not self._end.done():
            self._end.set_result(code)

    async def _keep(self, service: Service, number: int) -> None:
        """Run one process of a service, and start it anew whenever it ends."""
        pause_s, is_first = 0.0, True
        while not self._end.done():
            began = time.monotonic()
            ready, code = await self._run(service, number, is_first)
            if self._end.done():
                return
            if is_first and not ready:
                self._finish(code if code > 0 else 1)  # it has said why
                return
            is_first = False
            pause_s = 0.0 if time.monotonic() - began > STEADY_S else min(max(1.0, 2 * pause_s), LONGEST_PAUSE_S)
            _LOG.warning(
                "server process %d%s %s: starting it anew%s",
                number + 1,
                f" of {service.name}" if service.name else "",
                f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}",
                f" in {pause_s:.0f} s" if pause_s else "",
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await asyncio.shield(self._end)

    async def _run(self, service: Service, number: int, is_first: bool) -> tuple[bool, int]:
        """Run a process until it ends; return whether it was ever ready, and its exit code."""
        loop, is_ready = asyncio.get_running_loop(), False
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control.setblocking(False)
        with control:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    *service.command,
                    env={
                        **service.environments[number],
                        HANDOVER_VARIABLE: f"{theirs.fileno()} {number} {int(service.keeps)}",
                    },
                    pass_fds=[theirs.fileno()],
                    process_group=0,  # a terminal's Ctrl-C reaches this process alone, which ends the others in order
                )
            self._running.add(process)
            if self._end.done():
                process.terminate()
            with suppress(ConnectionResetError):
                while await loop.sock_recv(control, 16):
                    is_ready, service.controls[number] = True, control
                    if is_first:
                        self._count_ready()
            if service.controls.get(number) is control:
                del service.controls[number]
            code = await process.wait()
            self._running.discard(process)
            return is_ready, code

    def _count_ready(self) -> None:
        self._waiting -= 1
        if self._waiting == 0 and not self._end.done():
            self._started()
            self._begin(self.accept())

    async def accept(self) -> None:
        """Accept connections and pass each on, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listening)
            except OSError as error:  # no file descriptor is free, or the client has gone
                _LOG.warning("cannot accept a connection: %s", error.strerror)
                await asyncio.sleep(_RETRY_S)
                continue
            self._begin(self._pass_on(connection))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, connection: socket.socket) -> None:
        loop, head = asyncio.get_running_loop(), b""
        connection.setblocking(False)
        with connection, suppress(TimeoutError, OSError):
            async with asyncio.timeout(HEAD_S):
                while not is_enough(head):
                    piece = await loop.sock_recv(connection, _PIECE_BYTES)
                    if not piece:
                        return
                    head += piece
            service = self._services.get(first_part(head)) or self._services[""]
            async with asyncio.timeout(WAIT_S):
                await service.hand_over(connection, head)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; "::" stands for all addresses of the machine, those of IPv4 too."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server(
        (host, port), family=family, backlog=2048, dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6()
    )
    listening.setblocking(False)
    return listening
