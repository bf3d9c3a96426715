"""Videos of a web server taken into a project, looked at again, and cut."""

import json
import shutil
from pathlib import Path

from backend.campaign.monitoring.videos.check import check_videos, import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project
from backend.core.addresses import place_of
from range_server import serving
from support import NOW

DEMO = Path(__file__).parents[4] / "assets" / "demo"


def test_videos_at_addresses_are_taken_found_well_and_kept_by_their_address(project: Project, tmp_path: Path) -> None:
    served = tmp_path / "served"
    served.mkdir()
    shutil.copy(DEMO / "dog_dinner.mp4", served)
    (served / "all.txt").write_text("dog_dinner.mp4\n")
    file = tmp_path / "moments.jsonl"
    file.write_text(json.dumps({"video": "dog_dinner", "start": 1.0, "end": 2.0, "caption": "A dog eats."}) + "\n")
    with serving(served) as web:
        report = import_corpus(project, OPERATOR, file, videos=place_of(f"{web.address}/all.txt"), now=NOW)
        assert (report.measured, report.troubles) == (1, ())
        looked = check_videos(project, OPERATOR, now=NOW)
        assert [(one.path, one.trouble) for one in looked.videos] == [(f"{web.address}/dog_dinner.mp4", None)]
        web.refuse = 403
        assert "cannot be read with the keys" in check_videos(project, OPERATOR, now=NOW).wrong[0].message
        web.refuse = 0
        assert check_videos(project, OPERATOR, now=NOW).wrong == ()
