"""The server's listening socket."""

import socket

from annotate_app.server.server_process import disable_send_delay


def test_connections_accepted_later_send_small_answers_at_once() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening, socket.socket() as bystander:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        disable_send_delay()
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not bystander.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
