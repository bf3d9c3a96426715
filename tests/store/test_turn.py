"""Threads that write to one database have their turns in the order in which they came."""

import threading
import time
from collections.abc import Callable

from backend.store.turn import Turn


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, however busy the machine is."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_first_come_first_served() -> None:
    turn, order = Turn(), list[int]()

    def work(number: int) -> None:
        assert turn.acquire(60)
        order.append(number)
        turn.release()

    assert turn.acquire(0)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        until(lambda number=number: len(turn._waiting) == number)  # type: ignore[misc]
    assert order == []
    turn.release()
    for thread in threads:
        thread.join()
    assert order == list(range(8))
    assert turn.acquire(0), "it is free again"


def test_who_writes_again_and_again_lets_others_write_in_between() -> None:
    turn, order = Turn(), list[str]()

    def work() -> None:
        assert turn.acquire(60)
        order.append("other")
        turn.release()

    other = threading.Thread(target=work)
    for n in range(3):
        assert turn.acquire(60)
        if n == 0:
            other.start()
            until(lambda: bool(turn._waiting))
        order.append("greedy")
        turn.release()
    other.join()
    assert order == ["greedy", "other", "greedy", "greedy"]


def test_who_has_waited_long_enough_goes_and_takes_no_turn() -> None:
    turn = Turn()
    assert turn.acquire(0)
    assert not turn.acquire(0.01)
    assert not turn.acquire(0)
    turn.release()
    assert turn.acquire(0), "nobody who has gone is waited for"
    turn.release()


def test_nobody_is_inside_beside_another_whoever_gives_up() -> None:
    turn, inside, most, done = Turn(), 0, 0, 0
    counting = threading.Lock()

    def work(number: int) -> None:
        nonlocal inside, most, done
        for _ in range(200):
            if turn.acquire(60 if number % 2 else 0.0005):
                with counting:
                    inside += 1
                    most = max(most, inside)
                time.sleep(0)
                with counting:
                    inside -= 1
                    done += 1
                turn.release()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert done >= 600, "those who wait long have all had their turn"
    assert turn.acquire(0)
