"""The settings of a project: those of `reelrank.toml` are fields, with type, range, default, unit and meaning.

The file is checked by these types when it is read, and a new one is made from them. `SETTINGS` lists those of the file,
the database and the environment.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct, json
from msgspec.structs import FieldInfo, fields

from backend.campaign.setup.project.model import People
from backend.campaign.setup.project.setting_entries import CAMPAIGN, ENVIRONMENT, Home, SettingEntry
from backend.core.addresses import Address, place_of
from backend.core.messages import said
from backend.media.jobs import DEFAULT_CACHE_BYTES, DEFAULT_CONTEXT_S, DEFAULT_HEIGHT_PX, ClipForm

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """What is told of a setting of the file beside its type and its default.

    A new file has `comment` above it (None: `meaning`), with a blank line before that where a `group` begins. A setting
    with an `example` has its line commented out there. One that is not `listed` is left out of what leads read.
    """

    meaning: str
    _: KW_ONLY
    comment: str | None = ""
    unit: str = ""
    example: str | float | None = None
    group: bool = False
    listed: bool = True


class RewriteSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How imprecise captions are made."""

    people: Annotated[
        People,
        SettingInfo(
            "How several people of one caption are put in its imprecise form.",
            comment='Several people of one caption: "counted" ("two people hug", so that like captions become one '
            'query), "joined" ("two women hug", and a man and a woman are "two people"), or "apart" ("a woman and '
            'another woman hug").',
            listed=False,
        ),
    ] = "counted"
    ner: Annotated[
        str,
        SettingInfo(
            "A model of flair's that looks for names which rewriting left.",
            comment='A model of flair\'s that looks for names which rewriting left, such as "ner" ("" for none), and '
            'the Python that has flair, such as "/home/me/flair/bin/python" ("" for ReelRank\'s own). See '
            "docs/pipeline.md.",
            listed=False,
        ),
    ] = ""
    ner_python: Annotated[str, SettingInfo("The Python that has flair; none for ReelRank's own.", listed=False)] = ""


Rate = Annotated[float, Meta(ge=0, le=1_000_000)]


class PaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What an hour of work is paid; None computes no pay."""

    hourly_rate: Annotated[
        Rate | None, SettingInfo("What an hour of work is paid; without it no pay is computed.", example=11)
    ] = None
    currency: Annotated[str, SettingInfo("In which currency.")] = "USD"
    rates: Annotated[dict[str, Rate], SettingInfo("Rates of one person's own, by name.")] = {}


class ClipSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How clips are made and kept."""

    format: Annotated[
        ClipForm,
        SettingInfo(
            "H.264 and AAC, or VP9 and Opus, which are free of patents.",
            comment='"mp4" (H.264 and AAC: played everywhere, quickest to cut) or "webm" (VP9 and Opus, free of '
            "patents).",
        ),
    ] = ClipForm.MP4
    height: Annotated[
        int,
        Meta(ge=144, le=2160),
        SettingInfo(
            "Lines of a picture at most.",
            comment="Lines of a picture at most; smaller videos stay as they are.",
            unit="lines",
        ),
    ] = DEFAULT_HEIGHT_PX
    context_s: Annotated[
        float,
        Meta(gt=0, le=60),
        SettingInfo(
            said("What is shown before and after a moment to whoever asks (key X)."),
            comment="Seconds shown before and after a moment to whoever asks for its context.",
            unit="s",
        ),
    ] = DEFAULT_CONTEXT_S
    cache_gb: Annotated[
        float,
        Meta(gt=0, le=1_000_000),
        SettingInfo(
            said("How many clips cache/clips keeps at most; those used longest ago go first."),
            comment="How many GB of clips are kept at most; those used longest ago go first.",
            unit="GB",
        ),
    ] = DEFAULT_CACHE_BYTES / GIB
    bucket: Annotated[
        str,
        SettingInfo(
            said("Where several front ends share their clips, so that each is cut once."),
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
            "How long an address lasts that sends desks to the bucket; 0 has clips go through the server.",
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

    name: Annotated[str, SettingInfo("What people call the project.", listed=False)]
    encoder: Annotated[
        str,
        SettingInfo(
            "The sentence encoder that chooses candidates.",
            comment='The sentence encoder that chooses candidates: a hub name, a local folder, or "minilm" (works '
            "offline).",
            group=True,
        ),
    ]
    encoder_kind: Annotated[
        Literal["sup", "unsup", "minilm"],
        SettingInfo(
            "How its vectors are made.",
            comment='How its vectors are made: "sup" or "unsup" (SimCSE with and without supervision), or "minilm".',
        ),
    ]
    encoder_dtype: Annotated[
        Literal["fp32", "bf16"],
        SettingInfo(
            "What it computes in.",
            comment='What it computes in: "fp32", or "bf16", which is faster on many processors and gives slightly '
            "other similarities.",
        ),
    ] = "fp32"
    database: Annotated[
        str,
        SettingInfo(
            "Where the database is in PostgreSQL; without it, the file `reelrank.db` of the folder.",
            comment="Where the database is: in the file reelrank.db of this folder, or in PostgreSQL (see "
            "docs/operations.md).",
            example="postgresql://reelrank@db.example/campaign",
            group=True,
            listed=False,
        ),
    ] = ""
    lease_minutes: Annotated[
        float,
        Meta(ge=1, le=10_080),
        SettingInfo(
            said("For how long a pair is kept for the person who has it on the desk."),
            comment=None,
            unit="minutes",
            group=True,
        ),
    ] = 15
    clips: Annotated[
        ClipSettings,
        SettingInfo(
            "How clips are made and kept.",
            comment="How the clips of moments are made, and kept in cache/clips (may be deleted at any time). Whoever "
            "serves the project starts the server again after a change; clips made otherwise are cut anew when "
            "somebody asks for them.",
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
            "Names in captions, and the words that take their place; goes over `cast.csv`.",
            comment="Who appears in the videos, and the words that take the place of each name in imprecise queries. "
            "`reelrank cast` writes a proposal into cast.csv; what stands here goes over it.",
            group=True,
            listed=False,
        ),
    ] = {}


_WIDTH = 120


def template() -> str:
    """A new `reelrank.toml`, with a place for whatever has no default, and for the cast.

    >>> template().splitlines()[1:3]
    ['name = {name}', '']
    """
    first = "# Settings of this ReelRank project. Lines may be edited; commands read them anew every time."
    return "\n".join([first, *_lines(ProjectSettings), "{cast}"])


def _lines(section: type[Struct], path: str = "") -> Iterator[str]:
    for field in fields(section):
        about, inner = _about(field), _bare(field)
        comment = about.meaning if about.comment is None else about.comment
        yield from [""] * about.group
        yield from (f"# {line}" for line in textwrap.wrap(comment, _WIDTH - 2, break_on_hyphens=False))
        if _is_section(inner):
            yield f"[{path}{field.name}]"
            yield from _lines(inner, f"{path}{field.name}.")
        elif get_origin(inner) is dict:
            yield f"[{path}{field.name}]"
        elif about.example is not None:
            yield f"# {field.name} = {toml_value(about.example)}"
        else:
            value = f"{{{field.name}}}" if field.default is NODEFAULT else toml_value(field.default)
            yield f"{field.name} = {value}"


def settings_of(section: type[Struct] = ProjectSettings, path: str = "") -> Iterator[SettingEntry]:
    """The settings of the file, those of a section by `section.key`."""
    for field in fields(section):
        about, inner = _about(field), _bare(field)
        if _is_section(inner):
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
        )


def _about(field: FieldInfo) -> SettingInfo:
    return next(one for one in field.type.__metadata__ if isinstance(one, SettingInfo))


def _bare(field: FieldInfo) -> Any:
    return get_args(field.type)[0]


def _is_section(kind: Any) -> bool:
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


def toml_value(value: Any) -> str:
    """Return a text or a number as TOML writes it (JSON's escapes are a subset of TOML's)."""
    return f"{value:.15g}" if isinstance(value, (int, float)) else json.encode(value).decode()


SETTINGS = (*settings_of(), *CAMPAIGN, *ENVIRONMENT)
"""Every setting, once."""
BY_KEY = {setting.key: setting for setting in SETTINGS}
