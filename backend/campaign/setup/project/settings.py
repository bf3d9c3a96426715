"""Define the settings of a project: the fields of these types are the settings in `reelrank.toml`.

The type of a field has the range, unit and meaning of the setting. The types check the file when it is read, and a new
file is made from them. `SETTINGS` lists all settings, including those in the database and in environment variables.
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
    """The description of a setting in `reelrank.toml`, attached to the field that holds its value.

    In a new `reelrank.toml`, `comment` stands above the setting, or `meaning` if `comment` is None. If `group` is True,
    a blank line comes before it. An `example`, if there is one, is written into a line that is commented out.
    `SettingEntry` explains `listed`, `label` and `operator_only`.
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
    """The settings for rewriting captions so that they leave out specifics such as names."""

    people: Annotated[
        People,
        SettingInfo(
            said("How a caption that names several people is rewritten."),
            label=said("Several people in a caption"),
            comment='How to rewrite a caption that names several people: "counted" ("two people hug", so '
            'that similar captions become one query), "joined" ("two women hug", but a man and a '
            'woman become "two people"), or "apart" ("a woman and another woman hug").',
            listed=False,
        ),
    ] = "counted"
    ner: Annotated[
        str,
        SettingInfo(
            said("The flair model that looks for names left in rewrites."),
            operator_only=said("It loads a model on the server."),
            comment='The flair model that looks for names left in rewrites, such as "ner" ("" for none), and '
            'the Python that has flair, such as "/home/me/flair/bin/python" ("" for ReelRank\'s own). '
            "See docs/captions.md.",
            listed=False,
        ),
    ] = ""
    ner_python: Annotated[
        str,
        SettingInfo(
            said("The Python that has flair. Empty: ReelRank's own."),
            operator_only=said("It starts a program on the server."),
            listed=False,
        ),
    ] = ""


Rate = Annotated[float, Meta(ge=0, le=1_000_000)]


class PaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What annotators are paid for an hour of work. Without a rate, no pay is computed."""

    hourly_rate: Annotated[
        Rate | None,
        SettingInfo(
            said("Pay for an hour of work. Without it, the page Hours shows no pay."),
            label=said("Hourly rate"),
            example=11,
        ),
    ] = None
    currency: Annotated[str, SettingInfo(said("Currency of the rates."), label=said("Currency"))] = "USD"
    rates: Annotated[
        dict[str, Rate], SettingInfo(said("Hourly rates of single people, by name."), label=said("Individual rates"))
    ] = {}


class ClipSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How clips, the videos of single moments, are cut and stored."""

    format: Annotated[
        ClipForm,
        SettingInfo(
            said("mp4 (H.264 and AAC), or webm (VP9 and Opus, free of patents)."),
            label=said("Format of clips"),
            comment='"mp4" (H.264 and AAC: plays everywhere, quickest to cut) or "webm" (VP9 and Opus, free '
            "of patents).",
        ),
    ] = ClipForm.MP4
    height: Annotated[
        int,
        Meta(ge=144, le=2160),
        SettingInfo(
            said("Largest height of a clip, in lines of the picture. Smaller videos keep theirs."),
            label=said("Height of clips"),
            comment="Largest height of a clip, in lines of the picture. Smaller videos keep theirs.",
            unit="lines",
        ),
    ] = DEFAULT_HEIGHT_PX
    context_s: Annotated[
        float,
        Meta(gt=0, le=60),
        SettingInfo(
            said("How much of the video people see before and after a moment when they press X."),
            label=said("Context"),
            comment="Seconds of the video that people see before and after a moment when they press X.",
            unit="s",
        ),
    ] = DEFAULT_CONTEXT_S
    cache_gb: Annotated[
        float,
        Meta(gt=0, le=1_000_000),
        SettingInfo(
            said("Space for clips in cache/clips. When it is full, the least recently used clips are deleted."),
            operator_only=said("It uses disk space of the server."),
            comment="Space for clips, in GB. When it is full, the least recently used clips are deleted.",
            unit="GB",
        ),
    ] = DEFAULT_CACHE_BYTES / GIB
    bucket: Annotated[
        str,
        SettingInfo(
            said("Bucket in which several front ends share clips, so that each clip is cut once."),
            operator_only=said("It is an address, and needs keys on the server."),
            comment="Bucket in which several front ends share clips, so that each clip is cut once. "
            "signed_s: for how many seconds browsers may load a clip directly from it; without that "
            "line, clips go through the server (see docs/video-files.md).",
            example="s3://lab/clips",
        ),
    ] = ""
    signed_s: Annotated[
        float,
        Meta(ge=0, le=600),
        SettingInfo(
            said("How long browsers may load a clip directly from the bucket. With 0, clips go through the server."),
            operator_only=said("It belongs to the bucket of clips."),
            unit="s",
            example=60,
        ),
    ] = 0.0

    def __post_init__(self) -> None:
        """Refuse a bucket that is not a valid address, or that cannot store files."""
        if self.bucket and (self.shared is None or self.shared.in_web):
            message = said(
                'bucket is "{bucket}", which cannot store files: write one such as "s3://lab/clips", or '
                "remove the line",
                bucket=self.bucket,
            )
            raise ValueError(message)

    @property
    def shared(self) -> Address | None:
        """The address of the bucket in which several server processes share their clips; None if there is none."""
        place = place_of(self.bucket)
        return place if isinstance(place, Address) else None


class ProjectSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings that `reelrank.toml` may contain."""

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
            said("How the encoder makes its vectors."),
            operator_only=said("It belongs to the encoder."),
            comment='How its vectors are made: "sup" or "unsup" (SimCSE with and without supervision), or "minilm".',
        ),
    ]
    encoder_dtype: Annotated[
        Literal["fp32", "bf16"],
        SettingInfo(
            said("Number format in which the encoder computes."),
            label=said("Precision of the encoder"),
            comment='Number format in which it computes: "fp32", or "bf16", which is faster on many '
            "processors and changes similarities slightly.",
        ),
    ] = "fp32"
    database: Annotated[
        str,
        SettingInfo(
            said("Address of the database in PostgreSQL. Without it: the file `reelrank.db` in the folder."),
            operator_only=said("It is an address."),
            comment="Where the database is: in the file reelrank.db of this folder, or in PostgreSQL (see "
            "docs/database.md).",
            example="postgresql://reelrank@db.example/campaign",
            group=True,
            listed=False,
        ),
    ] = ""
    public_address: Annotated[
        str,
        SettingInfo(
            said(
                "Address at which people open the app, used in links. Without it: the address at which "
                "the lead opened the page."
            ),
            comment="Address at which people open the app if a proxy is in front. Links that people are sent use it.",
            operator_only=said("People type their passwords at this address."),
            example="https://grade.example.org",
            listed=False,
        ),
    ] = ""
    lease_minutes: Annotated[
        float,
        Meta(ge=1, le=10_080),
        SettingInfo(
            said("How long a pair is held for the person who has it on the desk."),
            label=said("Lease"),
            comment=None,
            unit="minutes",
            group=True,
        ),
    ] = 15
    media_roots: Annotated[
        tuple[str, ...],
        SettingInfo(
            said("Folders of the server from which leads may add videos in the browser."),
            comment="Folders of this machine from which leads may add videos and annotation files in the "
            "browser. The project's own folder is always allowed. Without this line, so are the "
            "folders of its videos. Only people who can edit this file can change it.",
            example=("/data/videos",),
            group=True,
            operator_only=said("It lets leads read folders of the server."),
        ),
    ] = ()
    webhook_hosts: Annotated[
        tuple[str, ...],
        SettingInfo(
            said("Hosts of the server's own network to which webhooks may be sent."),
            comment="Hosts of this machine or its network to which leads may send webhooks, also without https. "
            "Without this line, webhooks reach public addresses alone. Only people who can edit this file can "
            "change it.",
            example=("hooks.internal",),
            group=True,
            operator_only=said("It lets leads send requests within the server's network."),
        ),
    ] = ()
    clips: Annotated[
        ClipSettings,
        SettingInfo(
            "How clips are made and kept.",
            comment="How the clips of moments are made and kept in cache/clips, which may be deleted at any "
            "time. After a change, clips are cut again when somebody opens them.",
            group=True,
        ),
    ] = ClipSettings()
    pay: Annotated[
        PaySettings,
        SettingInfo(
            "Pay for an hour of work.",
            comment="Pay for an hour of work, shown on the page Hours (no line: no pay is shown), and its "
            'currency. A line under [pay.rates], such as "Ana" = 12.5, is the rate of one person.',
            group=True,
        ),
    ] = PaySettings()
    rewrite: Annotated[RewriteSettings, SettingInfo("How imprecise captions are made.", group=True)] = RewriteSettings()
    cast: Annotated[
        dict[str, str],
        SettingInfo(
            said("Names in captions, and the words that replace them. They override `cast.csv`."),
            label=said("Names in captions"),
            comment="Names of people in the videos, and the words that replace them in imprecise queries. "
            "`reelrank cast` writes a proposal into cast.csv; lines here override it.",
            group=True,
            listed=False,
        ),
    ] = {}

    def __post_init__(self) -> None:
        """Refuse a public address that is not a web address."""
        if self.public_address and not is_web_address(self.public_address):
            message = said(
                'public_address is "{address}": write one such as "https://grade.example.org", or remove the line',
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
    """Yield a description of each setting in `reelrank.toml`.

    A setting in the section `[pay]` has a key such as `pay.currency`. `section` is the type of a section of the file,
    and `path` the prefix of its keys.
    """
    for field in fields(section):
        about, inner = about_field(field), bare_type(field)
        if is_section(inner):
            yield from settings_of(inner, f"{path}{field.name}.")
            continue
        limits = next((item for item in _metadata(field.type) if isinstance(item, Meta)), Meta())
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
    """Return the description that is attached to a field of a settings type."""
    return next(item for item in field.type.__metadata__ if isinstance(item, SettingInfo))


def bare_type(field: FieldInfo) -> Any:
    """Return the type of a field, such as `str`, without the description attached to it."""
    return get_args(field.type)[0]


def is_section(kind: Any) -> bool:
    """Return whether a type stands for a section of `reelrank.toml`, such as `[pay]`."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def _metadata(kind: Any) -> Iterator[Any]:
    """Yield what `Annotated` attaches to a type, and to the types inside it at any depth."""
    yield from getattr(kind, "__metadata__", ())
    for inner in get_args(kind):
        yield from _metadata(inner)


def _choices(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()


SETTINGS = (*settings_of(), *CAMPAIGN, *ENVIRONMENT)
"""All settings, each once."""
BY_KEY = {setting.key: setting for setting in SETTINGS}
