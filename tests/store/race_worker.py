"""One annotator in a process of their own, for test_race.py: `race_worker.py FOLDER NAME SEED`.

Says "ready", waits for a line, works until no pair of the project is left, and prints what happened as JSON.
"""

import json
import random
import sys
import time
from pathlib import Path

from backend import api
from backend.campaign.judging.model import GradeEvent, ReceiptStatus
from backend.ground.ids import PairKey

PATIENCE_S = 60.0


def main(folder: str, name: str, seed: str) -> None:
    project = api.open_project(Path(folder))
    person = next(row.person for row in api.list_people(project, api.OPERATOR) if row.person.name == name)
    chance = random.Random(seed)
    graded: set[PairKey] = set()
    refused, met_again, errors = 0, 0, []
    for one in api.__all__:
        getattr(api, one)  # loaded now, so that all begin at once
    print("ready", flush=True)
    sys.stdin.readline()
    begun = time.monotonic()
    try:
        desk = api.desk(project, person, now=time.time())
        while time.monotonic() - begun < PATIENCE_S:
            met_again += sum(item.pair in graded for item in desk.items)
            if desk.items:
                key = desk.items[0].pair
                event = GradeEvent(key, chance.choice((0, 1, 2, 2, 3, 3)), f"{name}-{len(graded)}", 1000)
                receipts, desk = api.exchange(project, person, [event], [], now=time.time())
                refused += receipts[0].status is ReceiptStatus.REFUSED
                graded.add(key)
            else:
                # Others may still open further seats with their grades.
                counts = api.status_counts(project, api.OPERATOR)["pairs"]
                if counts["open"] + counts["escalated"] == 0:
                    break
                time.sleep(0.02)
                desk = api.desk(project, person, now=time.time())
    except Exception as error:  # whatever it is: nobody may meet one
        errors.append(repr(error))
    print(json.dumps({"graded": sorted(graded), "refused": refused, "met_again": met_again, "errors": errors}))


if __name__ == "__main__":
    main(*sys.argv[1:])
