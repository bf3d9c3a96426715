"""An empty project, for whatever is taken into one."""

from pathlib import Path

import pytest

from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Nothing was imported yet."""
    return init_project(tmp_path / "project", encoder="minilm")
