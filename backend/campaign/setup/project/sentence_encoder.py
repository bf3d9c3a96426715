"""Create a project with its sentence encoder, and load the encoder that a project's settings name.

The encoder turns queries and captions into vectors, to find candidates. *Reads* the settings and the files of the
encoder. *Writes* the folder of a new project.
"""

from pathlib import Path

from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import scale_file
from backend.campaign.setup.project.folder import Project
from backend.core.where import HERE, Where, placed
from backend.encoders import sentence
from backend.encoders.sentence import DEFAULT_NAME, Encoder, EncoderSpec


def init_project(
    folder: Path, *, encoder: str | None = None, kind: str | None = None, scale: str | None = None
) -> Project:
    """Create an empty project, and return it.

    Args:
        folder: the folder of the project, which is created.
        encoder: the sentence encoder that chooses candidates: a name on the model hub, a folder, or `minilm`; SimCSE
            from the model hub if None.
        kind: how the encoder makes its vectors, `sup`, `unsup` or `minilm`; recognised from its name if None.
        scale: the name of a scale of grades (`matches`) or the path of a scale file; TVR-Ranking's five grades if None.

    Raises:
        ProjectError: there is a project already, or the folder cannot be written.
        EncoderUnavailable: the encoder cannot be found.
    """
    spec = sentence.resolve(encoder or DEFAULT_NAME, kind)
    grading = scale_file.load_scale(scale) if scale else None
    return projects.create(folder, encoder=spec.name, encoder_kind=spec.kind, grading=grading)


def encoder_spec(project: Project) -> EncoderSpec:
    """Return the specification of the encoder that the project's settings name: its name, kind and number format."""
    settings = project.settings
    return sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype)


def load_encoder(project: Project, where: Where = HERE) -> Encoder:
    """Load the sentence encoder of a project; `where` says on which machines it is to run, by default on this one.

    Raises:
        EncoderUnavailable: the encoder cannot be found.
    """
    return placed(sentence.load(encoder_spec(project)), where)
