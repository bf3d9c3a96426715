"""The settings of a project: those of `reelrank.toml` are fields, with type, range, default, unit and meaning.

The file is checked by these types when it is read, and a new one is made from them. `SETTINGS` lists those of the file,
the database and the environment.
"""

import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from backend.campaign.setup.project.model import People
from backend.campaign.setup.project.setting_entries import CAMPAIGN, ENVIRONMENT, Home, SettingEntry
from backend.core.addresses import Address, place_of
from backend.core.messages import said
from backend.media.jobs import DEFAULT_CACHE_BYTES, DEFAULT_CONTEXT_S, DEFAULT_HEIGHT_PX, ClipForm

GIB = 1024**3
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """What is told of a setting of the file beside its type and its default.

    A new file has `comment` above it (None: `meaning`), with a blank line before that where a `group` begins. A setting
    with an `example` has its line commented out there. One that is not `listed` is left out of what leads read. See
    `SettingEntry` for `label` and `operator_only`.
    """

    meaning: str
    _: KW_ONLY
    label: str = ""
    operator_only: str = ""
    comment: str | None = ""
    unit: str = ""
    example: str | float | tuple[str, ...] | None = None
    group: bool = False
    listed: bool = True


class RewriteSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How imprecise captions are made."""

    people: Annotated[
        People,
        SettingInfo(
            said("How several people of one caption are put in its imprecise form."),
            label=said("Several people in a caption"),
            comment='Several people of one caption: "counted" ("two people hug", so that like captions become one '
            'query), "joined" ("two women hug", and a man and a woman are "two people"), or "apart" ("a woman and '
            'another woman hug").',
            listed=False,
        ),
    ] = "counted"
    ner: Annotated[
        str,
        SettingInfo(
            said("A model of flair's that looks for names which rewriting left."),
            operator_only=said("It loads a model on the server."),
            comment='A model of flair\'s that looks for names which rewriting left, such as "ner" ("" for none), and '
            'the Python that has flair, such as "/home/me/flair/bin/python" ("" for ReelRank\'s own). See '
            "docs/pipeline.md.",
            listed=False,
        ),
    ] = ""
    ner_python: Annotated[
        str,
        SettingInfo(
            said("The Python that has flair; none for ReelRank's own."),
            operator_only=said("It starts a program on the server."),
            listed=False,
        ),
    ] = ""


Rate = Annotated[float, Meta(ge=0, le=1_000_000)]


class PaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What an hour of work is paid; None computes no pay."""

    hourly_rate: Annotated[
        Rate | None,
        SettingInfo(
            said("What an hour of work is paid; without it no pay is computed."), label=said("Hourly rate"), example=11
        ),
    ] = None
    currency: Annotated[str, SettingInfo(said("In which currency."), label=said("Currency"))] = "USD"
    rates: Annotated[
        dict[str, Rate], SettingInfo(said("Rates of one person's own, by name."), label=said("Own rates"))
    ] = {}


class ClipSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How clips are made and kept."""

    format: Annotated[
        ClipForm,
        SettingInfo(
            said("H.264 and AAC, or VP9 and Opus, which are free of patents."),
            label=said("Format of clips"),
            comment='"mp4" (H.264 and AAC: played everywhere, quickest to cut) or "webm" (VP9 and Opus, free of '
            "patents).",
        ),
    ] = ClipForm.MP4
    height: Annotated[
        int,
        Meta(ge=144, le=2160),
        SettingInfo(
            said("Lines of a picture at most."),
            label=said("Height of clips"),
            comment="Lines of a picture at most; smaller videos stay as they are.",
            unit="lines",
        ),
    ] = DEFAULT_HEIGHT_PX
    context_s: Annotated[
        float,
        Meta(gt=0, le=60),
        SettingInfo(
            said("What is shown before and after a moment to whoever asks (key X)."),
            label=said("Context"),
            comment="Seconds shown before and after a moment to whoever asks for its context.",
            unit="s",
        ),
    ] = DEFAULT_CONTEXT_S
    cache_gb: Annotated[
        float,
        Meta(gt=0, le=1_000_000),
        SettingInfo(
            said("How many clips cache/clips keeps at most; those used longest ago go first."),
            operator_only=said("It takes disk space of the server."),
            comment="How many GB of clips are kept at most; those used longest ago go first.",
            unit="GB",
        ),
    ] = DEFAULT_CACHE_BYTES / GIB
    bucket: Annotated[
        str,
        SettingInfo(
            said("Where several front ends share their clips, so that each is cut once."),
            operator_only=said("It is an address, and needs keys on the server."),
            comment="A bucket of clips that several front ends share, so that each is cut once, and for how many "
            "seconds an address lasts that sends desks to it; without the second line clips go through the server (see "
            "docs/operations.md).",
            example="s3://lab/clips",
        ),
    ] = ""
    signed_s: Annotated[
        float,
        Meta(ge=0, le=600),
        SettingInfo(
            said("How long an address lasts that sends desks to the bucket; 0 has clips go through the server."),
            operator_only=said("It belongs to the bucket of clips."),
            unit="s",
            example=60,
        ),
    ] = 0.0

    def __post_init__(self) -> None:
        """Refuse a bucket that is none, or that takes no files."""
        if self.bucket and (self.shared is None or self.shared.in_web):
            message = said(
                'bucket is "{bucket}": write one that takes files, such as "s3://lab/clips", or no line',
                bucket=self.bucket,
            )
            raise ValueError(message)

    @property
    def shared(self) -> Address | None:
        """Where several front ends share their clips."""
        place = place_of(self.bucket)
        return place if isinstance(place, Address) else None


class ProjectSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What `reelrank.toml` may say."""

    name: Annotated[
        str, SettingInfo(said("What people call the project."), label=said("Name of the project"), listed=False)
    ]
    encoder: Annotated[
        str,
        SettingInfo(
            said("The sentence encoder that chooses candidates."),
            operator_only=said("It names a model or a folder on the server."),
            comment='The sentence encoder that chooses candidates: a hub name, a local folder, or "minilm" (works '
            "offline).",
            group=True,
        ),
    ]
    encoder_kind: Annotated[
        Literal["sup", "unsup", "minilm"],
        SettingInfo(
            said("How its vectors are made."),
            operator_only=said("It belongs to the encoder."),
            comment='How its vectors are made: "sup" or "unsup" (SimCSE with and without supervision), or "minilm".',
        ),
    ]
    encoder_dtype: Annotated[
        Literal["fp32", "bf16"],
        SettingInfo(
            said("What the encoder computes in."),
            label=said("Precision of the encoder"),
            comment='What it computes in: "fp32", or "bf16", which is faster on many processors and gives slightly '
            "other similarities.",
        ),
    ] = "fp32"
    database: Annotated[
        str,
        SettingInfo(
            said("Where the database is in PostgreSQL; without it, the file `reelrank.db` of the folder."),
            operator_only=said("It is an address."),
            comment="Where the database is: in the file reelrank.db of this folder, or in PostgreSQL (see "
            "docs/operations.md).",
            example="postgresql://reelrank@db.example/campaign",
            group=True,
            listed=False,
        ),
    ] = ""
    public_address: Annotated[
        str,
        SettingInfo(
            said(
                "Where people open the app; links name it. Without it: the address at which the lead opened the page."
            ),
            comment="Where people open the app, if a proxy is in front; links that people are sent name it.",
            operator_only=said("It is an address: people type their passwords there."),
            example="https://grade.example.org",
            listed=False,
        ),
    ] = ""
    lease_minutes: Annotated[
        float,
        Meta(ge=1, le=10_080),
        SettingInfo(
            said("For how long a pair is kept for the person who has it on the desk."),
            label=said("Lease"),
            comment=None,
            unit="minutes",
            group=True,
        ),
    ] = 15
    media_roots: Annotated[
        tuple[str, ...],
        SettingInfo(
            said("Folders of the server whose videos leads may add in the browser."),
            comment="Folders of this machine from which leads may add videos and annotation files in the browser; the "
            "project's own folder always counts. Without this line: also the folders that its videos lie in. Only "
            "whoever can edit this file changes it.",
            example=("/data/videos",),
            group=True,
            operator_only=said("It opens folders of the server to leads."),
        ),
    ] = ()
    clips: Annotated[
        ClipSettings,
        SettingInfo(
            "How clips are made and kept.",
            comment="How the clips of moments are made, and kept in cache/clips (may be deleted at any time). Clips "
            "made otherwise are cut anew when somebody asks for them.",
            group=True,
        ),
    ] = ClipSettings()
    pay: Annotated[
        PaySettings,
        SettingInfo(
            "What an hour of work is paid.",
            comment="What an hour of work is paid, for the page Hours (no line: no pay is computed), and in which "
            'currency. A line under [pay.rates], such as "Ana" = 12.5, is a rate of one person\'s own.',
            group=True,
        ),
    ] = PaySettings()
    rewrite: Annotated[RewriteSettings, SettingInfo("How imprecise captions are made.", group=True)] = RewriteSettings()
    cast: Annotated[
        dict[str, str],
        SettingInfo(
            said("Names in captions, and the words that take their place; goes over `cast.csv`."),
            label=said("Names in captions"),
            comment="Who appears in the videos, and the words that take the place of each name in imprecise queries. "
            "`reelrank cast` writes a proposal into cast.csv; what stands here goes over it.",
            group=True,
            listed=False,
        ),
    ] = {}

    def __post_init__(self) -> None:
        """Refuse a public address that is none."""
        if self.public_address and not is_web_address(self.public_address):
            message = said(
                'public_address is "{address}": write one such as "https://grade.example.org", or no line',
                address=self.public_address,
            )
            raise ValueError(message)


def is_web_address(text: str) -> bool:
    """Return whether a text is an address at which a browser can open the app.

    >>> is_web_address("https://lab.example.org/annotate"), is_web_address("lab.example.org")
    (True, False)
    """
    return bool(_WEB_ADDRESS.fullmatch(text))


def settings_of(section: type[Struct] = ProjectSettings, path: str = "") -> Iterator[SettingEntry]:
    """The settings of the file, those of a section by `section.key`."""
    for field in fields(section):
        about, inner = about_field(field), bare_type(field)
        if is_section(inner):
            yield from settings_of(inner, f"{path}{field.name}.")
            continue
        limits = next((one for one in _metadata(field.type) if isinstance(one, Meta)), Meta())
        default = field.default.value if isinstance(field.default, Enum) else field.default
        yield SettingEntry(
            f"{path}{field.name}",
            about.meaning,
            default if isinstance(default, (str, int, float)) and default != "" else None,
            home=Home.FILE,
            unit=about.unit,
            least=limits.ge,
            above=limits.gt,
            most=limits.le,
            choices=_choices(inner),
            listed=about.listed,
            label=about.label,
            operator_only=about.operator_only,
        )


def about_field(field: FieldInfo) -> SettingInfo:
    """Return what is told of a field of the settings."""
    return next(one for one in field.type.__metadata__ if isinstance(one, SettingInfo))


def bare_type(field: FieldInfo) -> Any:
    """Return the type of a field without what it is annotated with."""
    return get_args(field.type)[0]


def is_section(kind: Any) -> bool:
    """Return whether a type is a section of the file."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def _metadata(kind: Any) -> Iterator[Any]:
    """Everything that a type, or one that it may be, is annotated with."""
    yield from getattr(kind, "__metadata__", ())
    for inner in get_args(kind):
        yield from _metadata(inner)


def _choices(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


SETTINGS = (*settings_of(), *CAMPAIGN, *ENVIRONMENT)
"""Every setting, once."""
BY_KEY = {setting.key: setting for setting in SETTINGS}
