"""Stands between a browser and the server and keeps every byte the browser receives, in the clear."""

import json
import re
import socket
import threading
from typing import Any

_COMPRESSED = re.compile(rb"^(Accept-Encoding|Sec-WebSocket-Extensions):", re.IGNORECASE | re.MULTILINE)
_REQUEST = (b"GET ", b"POST ", b"HEAD ", b"PUT ", b"OPTIONS ", b"DELETE ")


class Recorder:
    """A relay for plain HTTP and websockets on a port of its own.

    Compression is turned off by renaming the headers that ask for it, so that what is searched is what was sent.
    Each connection is kept by itself: bytes of two answers never mix.
    """

    def __init__(self, port: int) -> None:
        self._behind = ("127.0.0.1", port)
        self._connections: list[bytearray] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def received(self) -> list[bytes]:
        """What came back so far, one item a connection."""
        return [bytes(connection) for connection in self._connections]

    def desks(self) -> list[dict[str, Any]]:
        """Return every desk among the bytes received, as it was sent."""
        found, decoder = [], json.JSONDecoder()
        for received in self.received():
            text = received.decode("utf-8", "replace")
            for start in (match.start() for match in re.finditer(r'\{"receipts":\[', text)):
                found.append(decoder.raw_decode(text, start)[0]["desk"])
        return found

    def close(self) -> None:
        """Take no further connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listener.accept()
                server = socket.create_connection(self._behind)
            except OSError:
                return
            kept = bytearray()
            self._connections.append(kept)
            threading.Thread(target=self._forward, args=(browser, server), daemon=True).start()
            threading.Thread(target=self._keep, args=(server, browser, kept), daemon=True).start()

    @staticmethod
    def _forward(browser: socket.socket, server: socket.socket) -> None:
        try:
            while chunk := browser.recv(65536):
                server.sendall(_COMPRESSED.sub(b"X-Not-Asked:", chunk) if chunk.startswith(_REQUEST) else chunk)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            server.close()

    @staticmethod
    def _keep(server: socket.socket, browser: socket.socket, kept: bytearray) -> None:
        try:
            while chunk := server.recv(65536):
                kept += chunk
                browser.sendall(chunk)
        except OSError:
            pass
        finally:
            browser.close()
            server.close()
