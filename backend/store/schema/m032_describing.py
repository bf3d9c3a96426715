"""Add descriptions: annotators mark moments in videos and write a sentence for each, which leads accept or return.

Also stored are who may describe which videos, what authors and leads did about each description, and the instructions
for authors.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

DESCRIBING = """
-- What a lead chose about describing; the newest row counts, and without any it is closed. At most so many descriptions
-- are asked for in a video, or so many a minute of it, of everybody together; what comes after that is kept as well.
CREATE TABLE describing_choice (
  choice_id     INTEGER PRIMARY KEY,
  open          INTEGER NOT NULL CHECK (open IN (0, 1)),
  everybody     INTEGER NOT NULL CHECK (everybody IN (0, 1)),
  all_videos    INTEGER NOT NULL CHECK (all_videos IN (0, 1)),
  per_video     INTEGER CHECK (per_video >= 1),
  per_minute    REAL CHECK (per_minute > 0),
  chosen_at     REAL NOT NULL,
  chosen_by     INTEGER REFERENCES annotator,
  CHECK (per_video IS NULL OR per_minute IS NULL)
) STRICT;

-- Who may describe, where not everybody may.
CREATE TABLE describing_person (
  choice_id     INTEGER NOT NULL REFERENCES describing_choice,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  PRIMARY KEY (choice_id, annotator_id)
) STRICT, WITHOUT ROWID;

-- Which videos are to be described, where not all are.
CREATE TABLE describing_video (
  choice_id     INTEGER NOT NULL REFERENCES describing_choice,
  video_id      INTEGER NOT NULL REFERENCES video,
  PRIMARY KEY (choice_id, video_id)
) STRICT, WITHOUT ROWID;

-- A description as it stands: its author's newest span and sentence. `status` and `revision` follow from its acts.
-- An accepted one has become a caption of a moment; `made_moment` and `made_caption` say whether they are new by it.
CREATE TABLE description (
  description_id  INTEGER PRIMARY KEY,
  description_key TEXT NOT NULL UNIQUE,
  video_id        INTEGER NOT NULL REFERENCES video,
  annotator_id    INTEGER NOT NULL REFERENCES annotator,
  status          TEXT NOT NULL CHECK (status IN ('waiting', 'returned', 'accepted', 'withdrawn')),
  revision        INTEGER NOT NULL CHECK (revision >= 1),
  start_s         REAL NOT NULL CHECK (start_s >= 0),
  end_s           REAL NOT NULL CHECK (end_s > start_s),
  sentence        TEXT NOT NULL CHECK (trim(sentence) <> ''),
  moment_id       INTEGER REFERENCES moment,
  caption_id      INTEGER REFERENCES caption,
  made_moment     INTEGER NOT NULL DEFAULT 0 CHECK (made_moment IN (0, 1)),
  made_caption    INTEGER NOT NULL DEFAULT 0 CHECK (made_caption IN (0, 1)),
  CHECK ((status = 'accepted') = (moment_id IS NOT NULL)),
  CHECK ((status = 'accepted') = (caption_id IS NOT NULL))
) STRICT;
CREATE INDEX description_status ON description (status, description_id);
CREATE INDEX description_video ON description (video_id);
CREATE INDEX description_annotator ON description (annotator_id);
CREATE INDEX description_moment ON description (moment_id);
CREATE INDEX description_caption ON description (caption_id);

-- Everything that its author and leads did about a description, in order. `written` holds the author's span and
-- sentence, `accepted` what became the caption, `returned` the lead's words to the author.
CREATE TABLE description_act (
  act_id          INTEGER PRIMARY KEY,
  description_id  INTEGER NOT NULL REFERENCES description,
  kind            TEXT NOT NULL CHECK (kind IN ('written', 'withdrawn', 'accepted', 'returned', 'taken_back')),
  person_id       INTEGER NOT NULL REFERENCES annotator,
  at              REAL NOT NULL,
  start_s         REAL,
  end_s           REAL,
  sentence        TEXT,
  words           TEXT,
  elapsed_ms      INTEGER CHECK (elapsed_ms >= 0),
  active_ms       INTEGER CHECK (active_ms >= 0),
  event_key       TEXT UNIQUE,
  CHECK ((kind IN ('written', 'accepted')) = (sentence IS NOT NULL)),
  CHECK ((sentence IS NULL) = (start_s IS NULL) AND (sentence IS NULL) = (end_s IS NULL)),
  CHECK ((kind = 'returned') = (words IS NOT NULL)),
  CHECK ((kind IN ('written', 'withdrawn')) = (event_key IS NOT NULL))
) STRICT;
CREATE INDEX description_act_of ON description_act (description_id);

-- What describers are told to do, in versions; the first is ours, and the newest counts.
CREATE TABLE describing_guideline (
  version       INTEGER PRIMARY KEY CHECK (version >= 1),
  text          TEXT NOT NULL CHECK (trim(text) <> ''),
  reason        TEXT NOT NULL,
  since         REAL,
  lead_id       INTEGER REFERENCES annotator,
  CHECK ((version = 1) = (since IS NULL)),
  CHECK (version = 1 OR trim(reason) <> '')
) STRICT;

-- Who was shown which version of it.
CREATE TABLE describing_seen (
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  version       INTEGER NOT NULL REFERENCES describing_guideline,
  seen_at       REAL NOT NULL,
  PRIMARY KEY (annotator_id, version)
) STRICT, WITHOUT ROWID
"""
FIRST = """\
Mark one thing that happens, from the first frame that shows it to the last: usually 2 to 20 seconds.
Write one sentence in the present tense: who does what, and with what.
Say only what can be seen and heard in the moment: visible actions, things, places.
Use no names. Say "a woman", "two children", "the man with the hat".
Leave out what only the rest of the video tells: why somebody does it, what comes before and after.
Choose moments that a stranger could search for, and say what sets each apart from others."""
APPEND_ONLY = (
    *("describing_choice", "describing_person", "describing_video"),
    *("description_act", "describing_guideline", "describing_seen"),
)


@migrations()
def m032_describing(db: SqliteDatabase) -> None:
    """Add descriptions of moments by annotators, with settings, history and the instructions for authors."""
    run(db, DESCRIBING)
    db.conn.execute("INSERT INTO describing_guideline (version, text, reason) VALUES (1, ?, '')", [FIRST])
    forbid_changes(db, APPEND_ONLY)
