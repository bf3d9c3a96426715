"""Annotators in a process each, for test_race.py: `race_worker.py FOLDER NAME...`.

The program imports everything once and forks a process for each. All begin at once, work until no pair of the project
is left, and the program prints what happened to each, as a JSON list.
"""

import json
import multiprocessing
import random
import sys
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

from backend.campaign.desk import exchange
from backend.campaign.judging import queue
from backend.campaign.judging.model import GradeEvent, ReceiptStatus
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import open_project
from backend.core.ids import PairKey

PATIENCE_S = 60.0


def work(folder: Path, name: str, seed: int, together: Barrier) -> dict[str, object]:
    """What an annotator met with."""
    chance = random.Random(seed)
    graded: set[PairKey] = set()
    refused, met_again, errors = 0, 0, []
    try:
        project = open_project(folder)
        person = next(row.person for row in list_people(project, OPERATOR) if row.person.name == name)
        together.wait(PATIENCE_S)
        begun = time.monotonic()
        desk = exchange.desk(project, person, now=time.time())
        while time.monotonic() - begun < PATIENCE_S:
            met_again += sum(item.pair in graded for item in desk.items)
            if desk.items:
                key = desk.items[0].pair
                event = GradeEvent(key, chance.choice((0, 1, 2, 2, 3, 3)), f"{name}-{len(graded)}", 1000)
                receipts, desk = exchange.exchange(project, person, [event], [], now=time.time())
                refused += receipts[0].status is ReceiptStatus.REFUSED
                graded.add(key)
            else:
                # Others may still open further seats with their grades.
                counts = status_counts(project, OPERATOR)["pairs"]
                if counts["open"] + counts["escalated"] == 0:
                    break
                time.sleep(0.02)
                desk = exchange.desk(project, person, now=time.time())
    except Exception as error:  # whatever it is: nobody may meet one
        errors.append(repr(error))
    return {"graded": sorted(graded), "refused": refused, "met_again": met_again, "errors": errors}


def main(folder: str, *names: str) -> None:
    project = open_project(Path(folder))
    person = next(row.person for row in list_people(project, OPERATOR) if row.person.name == names[0])
    exchange.desk(project, person, now=time.time())  # so that statements are translated once, and not by each process
    queue.sign_off(project.store, person, now=time.time())
    status_counts(project, OPERATOR)
    project.store.close()
    forking = multiprocessing.get_context("fork")
    together, told = forking.Barrier(len(names)), forking.SimpleQueue()
    processes = [
        forking.Process(target=lambda *of: told.put(work(*of)), args=(Path(folder), name, seed, together))
        for seed, name in enumerate(names)
    ]
    for process in processes:
        process.start()
    print(json.dumps([told.get() for _ in processes]))
    for process in processes:
        process.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
