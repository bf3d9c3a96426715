"""Every setting of the campaign in words: what it is, what it changes, since when, by whom, and where it is changed.

*Reads* the campaign's facts, its events and `reelrank.toml`. *Writes* nothing.
"""

from collections.abc import Sequence

from backend.campaign.corpus.describing.rows import choices
from backend.campaign.judging.rows import assignments
from backend.campaign.monitoring.activity import rows
from backend.campaign.monitoring.activity.model import CampaignSetting
from backend.campaign.nouns import Lead, Operator, Rounding
from backend.campaign.qualification.exam.model import ExamPurpose
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.selection.batches.model import BatchRuleVersion
from backend.campaign.selection.batches.rows import decisions
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Campaign, GuidelineVersion
from backend.core.saying import said, said_n
from backend.media.jobs import ClipForm
from backend.store.connection import Database, reading

SCALE, PEOPLE, TRAINING, WORK, RESULTS = (
    *(said("Scale and agreement"), said("People"), said("Training and control")),
    *(said("Candidates and work"), said("Releases and pay")),
)
_FILE = said("reelrank.toml in the project's folder")
_FIXED = said("Fixed once somebody has graded; before that reelrank init --scale sets it.")


@in_charge
def campaign_settings(project: Project, by: Lead | Operator) -> list[CampaignSetting]:
    """Return every setting in words, by what it belongs to: its value, what it changes, since when, by whom, where."""
    with reading(project.store) as db:
        rules = decisions.versions(db)
        campaign = facts.campaign(db)
        guideline = facts.versions(db)
        return [
            *_scale(campaign, guideline),
            *_work(project, campaign, rules[-1], db),
            *_people(project, db),
            *_training(campaign, db, guideline[-1]),
            *_results(project, db),
        ]


def _since(db: Database, *kinds: str) -> tuple[float | None, str | None]:
    return rows.newest(db, kinds) or (None, None)


def _scale(campaign: Campaign, guideline: Sequence[GuidelineVersion]) -> list[CampaignSetting]:
    grades = ", ".join(f"{one.grade} {one.label}" for one in campaign.scale.meanings)
    worded = next((one for one in reversed(guideline) if one.since is not None), None)
    since, by = (worded.since, worded.by) if worded else (None, None)
    agree = (
        said("Two grades agree that differ by at most {tolerance}", tolerance=campaign.tolerance)
        if campaign.tolerance
        else said("Two grades agree that are equal")
    )
    up = campaign.grading.rounding is Rounding.HALF_UP
    return [
        CampaignSetting(
            SCALE,
            said("Grades"),
            grades,
            said("What annotators choose from; their words are the guideline's."),
            since,
            by,
            "guideline",
            said("Their number is fixed once somebody has graded; their words may change any day."),
        ),
        CampaignSetting(
            SCALE,
            said("Agreement"),
            agree,
            said("When two grades settle a pair, and when two more people are asked."),
            None,
            None,
            "",
            _FIXED,
        ),
        CampaignSetting(
            SCALE,
            said("Rounding"),
            said("x.5 becomes x + 1") if up else said("x.5 becomes x"),
            said("What the mean of two grades becomes as relevance."),
            None,
            None,
            "",
            _FIXED,
        ),
        CampaignSetting(
            SCALE,
            said("People a pair"),
            said(
                "{seats}, and {further} more where they disagree", seats=campaign.seats, further=campaign.further_seats
            ),
            said("How many grades settle a pair, by the rule {rule}.", rule=campaign.rule_version),
            None,
            None,
            "",
            said("Part of the protocol."),
        ),
    ]


def _work(project: Project, campaign: Campaign, rule: BatchRuleVersion, db: Database) -> list[CampaignSetting]:
    own = project.settings
    since, by = _since(db, "candidates_chosen")
    return [
        CampaignSetting(
            WORK,
            said("Encoder"),
            f"{own.encoder} ({own.encoder_kind}, {own.encoder_dtype})",
            said("How similar a query and a caption are, and so which moments are candidates."),
            since,
            by,
            "",
            said("{file}; lists that exist stay as they are.", file=_FILE),
        ),
        CampaignSetting(
            WORK,
            said("Batch"),
            said("{number} candidates of a query", number=campaign.batch_size),
            said("How many pairs of a query are handed out together."),
            since,
            by,
            "",
            said("reelrank candidates --batch-size, before candidates are chosen."),
        ),
        CampaignSetting(
            WORK,
            said("Lease"),
            said("{minutes:g} minutes", minutes=own.lease_minutes),
            said("For how long a pair is kept for the person who has it on the desk."),
            None,
            None,
            "",
            _FILE,
        ),
        *_clips(project),
        CampaignSetting(
            WORK,
            said("Next batch"),
            said("Worth opening if {words}", words=rule.rule.words),
            said("What is suggested about the next batch of a query; leads decide."),
            rule.since,
            rule.by,
            "queries",
        ),
    ]


def _clips(project: Project) -> list[CampaignSetting]:
    own = project.settings.clips
    form = said("WebM (VP9 and Opus)") if own.format is ClipForm.WEBM else said("MP4 (H.264 and AAC)")
    fixed = said("{file}; start the server again afterwards.", file=_FILE)
    shared = own.bucket or said("None")
    if own.bucket and own.signed_s:
        shared = said("{bucket}, desks sent there for {seconds:g} seconds", bucket=own.bucket, seconds=own.signed_s)
    told = (
        (
            said("Clips"),
            said("{form}, at most {lines} lines", form=form, lines=own.height),
            said("What annotators are shown. Clips made otherwise are cut anew when somebody asks for them."),
        ),
        (
            said("Context"),
            said("{seconds:g} seconds", seconds=own.context_s),
            said("What is shown before and after a moment to whoever asks (key X)."),
        ),
        (
            said("Room for clips"),
            f"{own.cache_gb:g} GB",
            said("How many clips cache/clips keeps at most; those used longest ago go first."),
        ),
        (
            said("Bucket of clips"),
            shared,
            said("Where several front ends share their clips, so that each is cut once."),
        ),
    )
    return [CampaignSetting(WORK, name, value, what, None, None, "", fixed) for name, value, what in told]


def _people(project: Project, db: Database) -> list[CampaignSetting]:
    given = len(assignments.all_standing(db))
    since, by = _since(db, "assigned", "unassigned")
    describing = choices.standing(db)
    who, what = said("everybody"), said("all videos")
    if describing.people is not None:
        who = said("{count} of the annotators", count=len(describing.people))
    if describing.videos is not None:
        what = said("{count} of the videos", count=len(describing.videos))
    return [
        CampaignSetting(
            PEOPLE,
            said("Describing"),
            said("Open for {who}, in {what}", who=who, what=what) if describing.open else said("Closed"),
            said("Who marks moments in which videos, and writes a sentence for each."),
            *_since(db, "describing_opened", "describing_closed"),
            "descriptions",
        ),
        CampaignSetting(
            PEOPLE,
            said("Assignments"),
            said_n("One person has one", "{n:,} people have one", given) if given else said("Nobody has one"),
            said("Who grades which queries, and how many grades a day or in all."),
            since,
            by,
            "people",
        ),
    ]


def _training(campaign: Campaign, db: Database, guideline: GuidelineVersion) -> list[CampaignSetting]:
    exam, gold = exams.held(db, ExamPurpose.EXAM), campaign.gold
    tutorial, exam_set, gold_set = (
        _since(db, *kinds) for kinds in (("tutorial_switched",), ("exam_set", "exam_ended"), ("gold_set", "gold_ended"))
    )
    told = said(
        "On: {share:.0%} of everybody's pairs; warned below {warn:g} %, paused below {pause:g} % of the last {window} "
        "answers",
        share=gold.share,
        warn=gold.warn,
        pause=gold.pause,
        window=gold.window,
    )
    return [
        CampaignSetting(
            TRAINING,
            said("Guideline"),
            said("Version {version}", version=guideline.version),
            said("What annotators read before they grade."),
            guideline.since,
            guideline.by,
            "guideline",
        ),
        CampaignSetting(
            TRAINING,
            said("Tutorial"),
            said("On") if campaign.tutorial else said("Off"),
            said("Whether newcomers practise before their first clip."),
            *tutorial,
            "guideline",
        ),
        CampaignSetting(
            TRAINING,
            said("Exam"),
            said("Held: at most {most:g} % may be missed", most=exam.most_missed) if exam else said("None is held"),
            said("What annotators have to pass before they work."),
            *exam_set,
            "exam",
        ),
        CampaignSetting(
            TRAINING,
            said("Gold"),
            told if gold.on else said("Off"),
            said("Pairs with known grades among the work, which show whether people still look closely."),
            *gold_set,
            "gold",
        ),
    ]


def _results(project: Project, db: Database) -> list[CampaignSetting]:
    terms, pay = facts.terms(db), project.settings.pay
    rate = said("Not said: no pay is computed")
    if pay.hourly_rate is not None:
        rate = said("{rate:g} {currency} an hour", rate=pay.hourly_rate, currency=pay.currency)
    if pay.rates:
        rate = said("{rate}; {people} people have their own rate", rate=rate, people=len(pay.rates))
    return [
        CampaignSetting(
            RESULTS,
            said("Licence"),
            terms.licence or said("Not chosen yet"),
            said("Under which terms releases are handed on."),
            terms.at,
            terms.by,
            "release",
        ),
        CampaignSetting(
            RESULTS,
            said("Citation"),
            terms.citation or said("Not given yet"),
            said("How a release asks to be cited."),
            terms.at,
            terms.by,
            "release",
        ),
        CampaignSetting(
            RESULTS,
            said("Pay"),
            rate,
            said("What the page Hours computes."),
            None,
            None,
            "",
            _FILE,
        ),
    ]
