"""Where a server answers Prometheus, as the command line takes it and the front end does it."""

METRICS_VARIABLE = "REELRANK_METRICS"
"""The environment variable that tells a server the address; an empty one turns counting off."""


def place_of(address: str) -> tuple[str, int]:
    """Host and port of an address without a scheme.

    Raises:
        ValueError: it is none.

    >>> place_of("127.0.0.1:9108"), place_of("[::1]:9108")
    (('127.0.0.1', 9108), ('::1', 9108))
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not (port.isdecimal() and 0 < int(port) < 65536):
        raise ValueError(f"{address} is no address: write HOST:PORT, such as 127.0.0.1:9108")
    return host.removeprefix("[").removesuffix("]"), int(port)
