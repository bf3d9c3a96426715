"""The lines that describe the settings to leads: on the page Settings, and in `reelrank status settings`."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from backend.campaign.corpus.describing.model import DESCRIBING_CLOSED, DESCRIBING_OPENED
from backend.campaign.judging.model import ASSIGNED, UNASSIGNED
from backend.campaign.nouns import Rounding
from backend.campaign.qualification.exam.model import EXAM_ENDED, EXAM_SET
from backend.campaign.qualification.gold.questions import GOLD_ENDED, GOLD_SET
from backend.campaign.qualification.guideline.practice_pairs import TUTORIAL_SWITCHED
from backend.campaign.selection.candidates.model import CANDIDATES_CHOSEN
from backend.campaign.setup.project.model import GuidelineVersion, StoredSettings, Terms
from backend.campaign.setup.project.settings import BY_KEY, ProjectSettings
from backend.core.events import Event
from backend.core.messages import said, said_n
from backend.media.jobs import ClipForm

SCALE, PEOPLE, TRAINING, WORK, RESULTS = (
    *(said("Scale and agreement"), said("People"), said("Training and control")),
    *(said("Candidates and work"), said("Releases and pay")),
)
Since = tuple[float | None, str | None]
"""(when a setting was last changed, by whom). A None time means never; a None person means a command or the file."""
BEGINNING: Since = (None, None)


@dataclass(frozen=True, slots=True)
class CurrentSettings:
    """The current values of a campaign's settings, as the page Settings and `reelrank status settings` show them.

    Attributes:
        file: the settings of `reelrank.toml`.
        campaign: the settings in the database.
        worded: when the words of the grades were last changed, and by whom.
        next_batch: the rule that recommends when annotators get further pairs of a query, in words.
        next_batch_since: when this rule was last changed, and by whom.
        describing: whether annotators may describe moments.
        describers: how many annotators may describe; None for all.
        described: how many videos may be described; None for all.
        assigned: how many annotators have an assignment: a lead has limited their queries or number of grades.
        exam_most_missed: the percentage of answers that may be wrong in the current exam; None if there is none.
    """

    file: ProjectSettings
    campaign: StoredSettings
    guideline: GuidelineVersion
    worded: Since
    next_batch: str
    next_batch_since: Since
    describing: bool
    describers: int | None
    described: int | None
    assigned: int
    exam_most_missed: float | None
    terms: Terms


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A line about one setting, or about a few that belong together, in the list of settings.

    `keys` are the keys of these settings, and `part` is the topic under which the line is listed. `value` returns the
    current value in words. `changes` says what the settings affect; if it is empty, the general description of the
    first setting is shown. `page` is the page on which a lead changes them. `how` says how to change them where no page
    does, or adds a remark.

    The line also shows when they were last changed. If `events` is given, that is the time of the newest of these
    events. Otherwise it is the time of the last change on a page. If there was none, `since` returns the time.
    """

    keys: tuple[str, ...]
    part: str
    name: str
    value: Callable[[CurrentSettings], str]
    _: KW_ONLY
    changes: str | Callable[[CurrentSettings], str] = ""
    page: str = ""
    how: str = ""
    events: tuple[Event, ...] = ()
    since: Callable[[CurrentSettings], Since] = lambda now: BEGINNING

    def about(self, now: CurrentSettings) -> str:
        """Return what the settings of this line affect, in words."""
        if callable(self.changes):
            return self.changes(now)
        return self.changes or BY_KEY[self.keys[0]].meaning


def _agreement(now: CurrentSettings) -> str:
    if tolerance := now.campaign.tolerance:
        return said("Two grades agree if they differ by at most {tolerance}", tolerance=tolerance)
    return said("Two grades agree only if they are equal")


def _clips(now: CurrentSettings) -> str:
    clips = now.file.clips
    form = said("WebM (VP9 and Opus)") if clips.format is ClipForm.WEBM else said("MP4 (H.264 and AAC)")
    return said("{form}, at most {lines} lines", form=form, lines=clips.height)


def _bucket(now: CurrentSettings) -> str:
    clips = now.file.clips
    if clips.bucket and clips.signed_s:
        return said(
            "{bucket}; browsers fetch from it with links valid for {seconds:g} seconds",
            bucket=clips.bucket,
            seconds=clips.signed_s,
        )
    return clips.bucket or said("None")


def _describing(now: CurrentSettings) -> str:
    if not now.describing:
        return said("Closed")
    who, what = said("everybody"), said("all videos")
    if now.describers is not None:
        who = said("{count} of the annotators", count=now.describers)
    if now.described is not None:
        what = said("{count} of the videos", count=now.described)
    return said("Open for {who}, in {what}", who=who, what=what)


def _assignments(now: CurrentSettings) -> str:
    given = now.assigned
    return said_n("One person has one", "{n:,} people have one", given) if given else said("Nobody has one")


def _exam(now: CurrentSettings) -> str:
    if now.exam_most_missed is None:
        return said("No exam")
    return said("At most {most:g} % of the answers may be missed", most=now.exam_most_missed)


def _gold(now: CurrentSettings) -> str:
    gold = now.campaign.gold
    if not gold.on:
        return said("Off")
    return said(
        "On: {share:.0%} of each annotator's pairs; warning below {warn:g} %, pause below {pause:g} % "
        "of the last {window} answers",
        share=gold.share,
        warn=gold.warn,
        pause=gold.pause,
        window=gold.window,
    )


def _pay(now: CurrentSettings) -> str:
    pay, rate = now.file.pay, said("No hourly rate set")
    if pay.hourly_rate is not None:
        rate = said("{rate:g} {currency} an hour", rate=pay.hourly_rate, currency=pay.currency)
    if pay.rates:
        rate = said_n(
            "{rate}; one person has their own rate", "{rate}; {n} people have their own rate", len(pay.rates), rate=rate
        )
    return rate


_PAGE = "settings"
_OPERATOR = said("Set by whoever runs the server, in reelrank.toml.")
_FIXED = said("Chosen when the project is created.")

LINES = (
    SettingLine(
        ("scale",),
        SCALE,
        said("Grades"),
        lambda now: ", ".join(f"{meaning.grade} {meaning.label}" for meaning in now.campaign.scale.meanings),
        page="guideline",
        how=said("The number of grades is fixed after the first judgement; their words can change at any time."),
        since=lambda now: now.worded,
    ),
    SettingLine(("tolerance",), SCALE, said("Agreement"), _agreement, how=_FIXED),
    SettingLine(
        ("rounding",),
        SCALE,
        said("Rounding"),
        lambda now: (
            said("x.5 becomes x + 1") if now.campaign.grading.rounding is Rounding.HALF_UP else said("x.5 becomes x")
        ),
        how=_FIXED,
    ),
    SettingLine(
        ("seats", "further_seats", "rule_version"),
        SCALE,
        said("Annotators per pair"),
        lambda now: said(
            "{seats}, and {further} more if they disagree",
            seats=now.campaign.seats,
            further=now.campaign.further_seats,
        ),
        how=said("Part of the protocol."),
        changes=lambda now: said("How many grades settle a pair by the rule {rule}.", rule=now.campaign.rule_version),
    ),
    SettingLine(
        ("encoder", "encoder_kind", "encoder_dtype"),
        WORK,
        said("Encoder"),
        lambda now: f"{now.file.encoder} ({now.file.encoder_kind}, {now.file.encoder_dtype})",
        how=said("Set by whoever runs the server, in reelrank.toml. Existing candidate lists stay as they are."),
        events=(CANDIDATES_CHOSEN,),
        changes=said("Computes how similar a query and a caption are, which decides the candidates."),
    ),
    SettingLine(
        ("batch_size",),
        WORK,
        said("Batch"),
        lambda now: said("{number} candidates per query", number=now.campaign.batch_size),
        page="set-up",
        how=said("Before candidates are chosen."),
        events=(CANDIDATES_CHOSEN,),
    ),
    SettingLine(
        ("lease_minutes",),
        WORK,
        said("Lease"),
        lambda now: said("{minutes:g} minutes", minutes=now.file.lease_minutes),
        page=_PAGE,
    ),
    SettingLine(
        ("clips.format", "clips.height"),
        WORK,
        said("Clips"),
        _clips,
        page=_PAGE,
        changes=said("What annotators see. Clips in another format are cut again when somebody opens them."),
    ),
    SettingLine(
        ("clips.context_s",),
        WORK,
        said("Context"),
        lambda now: said("{seconds:g} seconds", seconds=now.file.clips.context_s),
        page=_PAGE,
    ),
    SettingLine(
        ("clips.cache_gb",),
        WORK,
        said("Disk space for clips"),
        lambda now: f"{now.file.clips.cache_gb:g} GB",
        how=_OPERATOR,
    ),
    SettingLine(("clips.bucket", "clips.signed_s"), WORK, said("Bucket for clips"), _bucket, how=_OPERATOR),
    SettingLine(
        ("media_roots",),
        WORK,
        said("Folders that leads can browse"),
        lambda now: ", ".join(now.file.media_roots) or said("The project's own, and those of its videos"),
        how=_OPERATOR,
    ),
    SettingLine(
        ("webhook_hosts",),
        WORK,
        said("Hosts of webhooks within the network"),
        lambda now: ", ".join(now.file.webhook_hosts) or said("None: only public addresses"),
        how=_OPERATOR,
    ),
    SettingLine(
        ("next_batch",),
        WORK,
        said("Next batch"),
        lambda now: said("Worth opening if {words}", words=now.next_batch),
        page="queries",
        since=lambda now: now.next_batch_since,
    ),
    SettingLine(
        ("describing",),
        PEOPLE,
        said("Describing"),
        _describing,
        page="captions?part=descriptions",
        events=(DESCRIBING_OPENED, DESCRIBING_CLOSED),
    ),
    SettingLine(
        ("assignments",),
        PEOPLE,
        said("Assignments"),
        _assignments,
        page="people?part=assignments",
        events=(ASSIGNED, UNASSIGNED),
    ),
    SettingLine(
        ("guideline",),
        TRAINING,
        said("Guideline"),
        lambda now: said("Version {version}", version=now.guideline.version),
        page="guideline",
        since=lambda now: (now.guideline.since, now.guideline.by),
    ),
    SettingLine(
        ("tutorial",),
        TRAINING,
        said("Tutorial"),
        lambda now: said("On") if now.campaign.tutorial else said("Off"),
        page="guideline",
        events=(TUTORIAL_SWITCHED,),
    ),
    SettingLine(
        ("exam", "exam_queries", "exam_pairs", "exam_most_missed"),
        TRAINING,
        said("Exam"),
        _exam,
        page="exam",
        events=(EXAM_SET, EXAM_ENDED),
    ),
    SettingLine(
        ("gold", "gold_share", "gold_window", "gold_fewest", "gold_warn", "gold_pause"),
        TRAINING,
        said("Gold"),
        _gold,
        page="gold",
        events=(GOLD_SET, GOLD_ENDED),
    ),
    SettingLine(
        ("licence",),
        RESULTS,
        said("Licence"),
        lambda now: now.terms.licence or said("Not chosen yet"),
        page="release",
        since=lambda now: (now.terms.at, now.terms.by),
    ),
    SettingLine(
        ("citation",),
        RESULTS,
        said("Citation"),
        lambda now: now.terms.citation or said("Not given yet"),
        page="release",
        since=lambda now: (now.terms.at, now.terms.by),
    ),
    SettingLine(
        ("pay.hourly_rate", "pay.currency", "pay.rates"),
        RESULTS,
        said("Pay"),
        _pay,
        page=_PAGE,
        changes=said("Used on the page Hours."),
    ),
)
"""All lines, in the order of the page."""
