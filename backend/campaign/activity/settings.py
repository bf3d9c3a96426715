"""Every setting of the campaign in words: what it is, what it changes, since when, by whom, and where it is changed.

*Reads* the campaign's facts, its events and `reelrank.toml`. *Writes* nothing.
"""

from collections.abc import Sequence

from backend.campaign.activity import rows
from backend.campaign.activity.model import CampaignSetting
from backend.campaign.batches import ruling
from backend.campaign.batches.model import BatchRuleVersion
from backend.campaign.describing.rows import choices
from backend.campaign.exam.model import ExamPurpose
from backend.campaign.exam.rows import exams
from backend.campaign.judging.rows import assigned
from backend.campaign.nouns import Rounding
from backend.campaign.project import rows as facts
from backend.campaign.project.folder import Project
from backend.campaign.project.model import Campaign, GuidelineVersion
from backend.campaign.release import rows as releases
from backend.media.jobs import ClipForm
from backend.store.connection import Database, reading

SCALE, PEOPLE, TRAINING, WORK, RESULTS = (
    *("Scale and agreement", "People", "Training and control"),
    *("Candidates and work", "Releases and pay"),
)
_FILE = "reelrank.toml in the project's folder"
_FIXED = "Fixed once somebody has graded; before that reelrank init --scale sets it."


def settings(project: Project) -> list[CampaignSetting]:
    """All settings, by what they belong to."""
    rules = ruling.versions(project.store)
    with reading(project.store) as db:
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
    apart = f"differ by at most {campaign.tolerance}" if campaign.tolerance else "are equal"
    up = campaign.grading.rounding is Rounding.HALF_UP
    return [
        CampaignSetting(
            SCALE,
            "Grades",
            grades,
            "What annotators choose from; their words are the guideline's.",
            since,
            by,
            "guideline",
            "Their number is fixed once somebody has graded; their words may change any day.",
        ),
        CampaignSetting(
            SCALE,
            "Agreement",
            f"Two grades agree that {apart}",
            "When two grades settle a pair, and when two more people are asked.",
            None,
            None,
            "",
            _FIXED,
        ),
        CampaignSetting(
            SCALE,
            "Rounding",
            "x.5 becomes x + 1" if up else "x.5 becomes x",
            "What the mean of two grades becomes as relevance.",
            None,
            None,
            "",
            _FIXED,
        ),
        CampaignSetting(
            SCALE,
            "People a pair",
            f"{campaign.seats}, and {campaign.further_seats} more where they disagree",
            f"How many grades settle a pair, by the rule {campaign.rule_version}.",
            None,
            None,
            "",
            "Part of the protocol.",
        ),
    ]


def _work(project: Project, campaign: Campaign, rule: BatchRuleVersion, db: Database) -> list[CampaignSetting]:
    own = project.settings
    since, by = _since(db, "candidates_chosen")
    return [
        CampaignSetting(
            WORK,
            "Encoder",
            f"{own.encoder} ({own.encoder_kind}, {own.encoder_dtype})",
            "How similar a query and a caption are, and so which moments are candidates.",
            since,
            by,
            "",
            f"{_FILE}; lists that exist stay as they are.",
        ),
        CampaignSetting(
            WORK,
            "Batch",
            f"{campaign.batch_size} candidates of a query",
            "How many pairs of a query are handed out together.",
            since,
            by,
            "",
            "reelrank candidates --batch-size, before candidates are chosen.",
        ),
        CampaignSetting(
            WORK,
            "Lease",
            f"{own.lease_minutes:g} minutes",
            "For how long a pair is kept for the person who has it on the desk.",
            None,
            None,
            "",
            _FILE,
        ),
        *_clips(project),
        CampaignSetting(
            WORK,
            "Next batch",
            f"Worth opening if {rule.rule.words}",
            "What is suggested about the next batch of a query; leads decide.",
            rule.since,
            rule.by,
            "queries",
        ),
    ]


def _clips(project: Project) -> list[CampaignSetting]:
    own = project.settings.clips
    form = "WebM (VP9 and Opus)" if own.format is ClipForm.WEBM else "MP4 (H.264 and AAC)"
    fixed = f"{_FILE}; start the server again afterwards."
    shared = own.bucket or "None"
    if own.bucket and own.signed_s:
        shared += f", desks sent there for {own.signed_s:g} seconds"
    told = (
        (
            "Clips",
            f"{form}, at most {own.height} lines",
            "What annotators are shown. Clips made otherwise are cut anew when somebody asks for them.",
        ),
        ("Context", f"{own.context_s:g} seconds", "What is shown before and after a moment to whoever asks (key X)."),
        (
            "Room for clips",
            f"{own.cache_gb:g} GB",
            "How many clips cache/clips keeps at most; those used longest ago go first.",
        ),
        ("Bucket of clips", shared, "Where several front ends share their clips, so that each is cut once."),
    )
    return [CampaignSetting(WORK, name, value, what, None, None, "", fixed) for name, value, what in told]


def _people(project: Project, db: Database) -> list[CampaignSetting]:
    given = len(assigned.all_standing(db))
    since, by = _since(db, "assigned", "unassigned")
    describing = choices.standing(db)
    who = "everybody" if describing.people is None else f"{len(describing.people)} of the annotators"
    what = "all videos" if describing.videos is None else f"{len(describing.videos)} of the videos"
    return [
        CampaignSetting(
            PEOPLE,
            "Describing",
            f"Open for {who}, in {what}" if describing.open else "Closed",
            "Who marks moments in which videos, and writes a sentence for each.",
            *_since(db, "describing_opened", "describing_closed"),
            "descriptions",
        ),
        CampaignSetting(
            PEOPLE,
            "Assignments",
            "Nobody has one" if not given else "One person has one" if given == 1 else f"{given:,} people have one",
            "Who grades which queries, and how many grades a day or in all.",
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
    told = (
        f"On: {gold.share:.0%} of everybody's pairs; warned below {gold.warn:g} %, paused below {gold.pause:g} % "
        f"of the last {gold.window} answers"
    )
    return [
        CampaignSetting(
            TRAINING,
            "Guideline",
            f"Version {guideline.version}",
            "What annotators read before they grade.",
            guideline.since,
            guideline.by,
            "guideline",
        ),
        CampaignSetting(
            TRAINING,
            "Tutorial",
            "On" if campaign.tutorial else "Off",
            "Whether newcomers practise before their first clip.",
            *tutorial,
            "guideline",
        ),
        CampaignSetting(
            TRAINING,
            "Exam",
            f"Held: at most {exam.most_missed:g} % may be missed" if exam else "None is held",
            "What annotators have to pass before they work.",
            *exam_set,
            "exam",
        ),
        CampaignSetting(
            TRAINING,
            "Gold",
            told if gold.on else "Off",
            "Pairs with known grades among the work, which show whether people still look closely.",
            *gold_set,
            "gold",
        ),
    ]


def _results(project: Project, db: Database) -> list[CampaignSetting]:
    terms, pay = releases.terms(db), project.settings.pay
    rate = "Not said: no pay is computed" if pay.hourly_rate is None else f"{pay.hourly_rate:g} {pay.currency} an hour"
    return [
        CampaignSetting(
            RESULTS,
            "Licence",
            terms.licence or "Not chosen yet",
            "Under which terms releases are handed on.",
            terms.at,
            terms.by,
            "release",
        ),
        CampaignSetting(
            RESULTS,
            "Citation",
            terms.citation or "Not given yet",
            "How a release asks to be cited.",
            terms.at,
            terms.by,
            "release",
        ),
        CampaignSetting(
            RESULTS,
            "Pay",
            rate + (f"; {len(pay.rates)} people have their own rate" if pay.rates else ""),
            "What the page Hours computes.",
            None,
            None,
            "",
            _FILE,
        ),
    ]
