"""A slower way to a database server: every byte arrives a while later, as over a network.

`python slow_link.py FROM TO DELAY_S` listens at the Unix socket FROM, passes everything on to the socket TO, and back,
each way `DELAY_S` later. It prints a line when it listens. Bytes keep their order and do not wait for each other.
"""

import asyncio
import sys
from pathlib import Path


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    """Write what is read, each part after the delay, until it ends."""
    loop = asyncio.get_running_loop()
    while part := await reader.read(1 << 16):
        loop.call_later(delay_s, writer.write, part)
    loop.call_later(delay_s, writer.close)


async def main(listens: Path, to: Path, delay_s: float) -> None:
    """Serve until the process is ended."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(to)
        await asyncio.gather(pass_on(reader, server_writer, delay_s), pass_on(server_reader, writer, delay_s))

    server = await asyncio.start_unix_server(connected, listens)
    print("listening", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])))
