"""The notes that stand are found by their pair: by their person it took minutes over the published campaign."""

from backend.campaign.setup.project.folder import Project


def test_no_note_is_looked_for_among_all_judgements_of_a_person(corpus_project: Project) -> None:
    db = corpus_project.store.db.conn
    for where in ("", "WHERE pair_id = 1 AND annotator_id = 1"):
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN SELECT * FROM standing_note {where}")]
        of_later_ones = [step for step in plan if step.startswith(("SEARCH l ", "SCAN l"))]
        assert of_later_ones
        assert all("(pair_id=?" in step or "rowid=?" in step for step in of_later_ones), plan
