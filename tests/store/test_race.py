"""Eight people in eight processes want the same pairs at the same moment."""

import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from backend import api
from bench import campaign

PROCESSES, PAIRS = 8, 300


def test_eight_processes_give_every_pair_exactly_the_grades_it_needs(tmp_path: Path) -> None:
    project = campaign.open_project(tmp_path / "project", PAIRS)
    people = campaign.add_annotators(project, PROCESSES)
    project.store.close()
    worker = Path(__file__).with_name("race_worker.py")
    processes = [
        subprocess.Popen(
            [sys.executable, worker, project.folder, person.name, str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n, person in enumerate(people)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [json.loads(process.communicate(timeout=90)[0]) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [found["errors"] for found in said] == [[]] * PROCESSES  # "database is locked" would be one
    assert sum(found["refused"] for found in said) == 0
    assert sum(found["met_again"] for found in said) == 0

    sql = project.store.db.conn
    grades: dict[int, dict[int, int]] = defaultdict(dict)
    rows = sql.execute("SELECT pair_id, seat_no, annotator_id, grade FROM judgement").fetchall()
    for pair, seat_no, _, grade in rows:
        assert seat_no not in grades[pair]
        grades[pair][seat_no] = grade
    assert len(grades) == PAIRS
    assert len({(row[0], row[2]) for row in rows}) == len(rows) == sum(len(found["graded"]) for found in said)
    apart = {pair for pair, given in grades.items() if abs(given[1] - given[2]) > 1}
    assert len(apart) > PAIRS / 10
    assert all(sorted(given) == ([1, 2, 3, 4] if pair in apart else [1, 2]) for pair, given in grades.items())
    seats = sql.execute("SELECT pair_id, seat_no, annotator_id FROM seat WHERE lease_until IS NULL").fetchall()
    assert {tuple(row) for row in seats} == {(row[0], row[1], row[2]) for row in rows}
    assert sql.execute("SELECT count(*) FROM seat").fetchone()[0] == len(rows)
    assert api.doctor(project, now=time.time()).findings == ()
