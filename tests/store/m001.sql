-- The database of a small made-up project, as ReelRank 0.1.0 (schema m001_initial) wrote it: rows in every table.
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'reelrank','m001_initial','2026-11-21 11:48:44.370698+00:00');
CREATE TABLE adjudication (
  adjudication_id INTEGER PRIMARY KEY,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  lead_id       INTEGER NOT NULL REFERENCES annotator,
  relevance     INTEGER NOT NULL CHECK (relevance BETWEEN 0 AND 4),
  reason        TEXT NOT NULL CHECK (trim(reason) <> ''),
  decided_at    REAL NOT NULL,
  UNIQUE (pair_id, revision)
) STRICT;
INSERT INTO "adjudication" VALUES(1,4,1,1,2,'both saw the door',1790000170.0);
CREATE TABLE annotator (
  annotator_id  INTEGER PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (trim(name) <> ''),
  role          TEXT NOT NULL CHECK (role IN ('annotator', 'lead')),
  password_hash TEXT,
  suspended     INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
  simulated     INTEGER NOT NULL DEFAULT 0 CHECK (simulated IN (0, 1)),
  created_at    REAL NOT NULL
) STRICT;
INSERT INTO "annotator" VALUES(1,'Lea','lead','$argon2id$v=19$m=65536,t=3,p=4$d+05aVcWlONWWCxVpEZBbw$7U0U4XXlZIYorBlIP0PDTcqn6ygu6WHbjP9N3f/wzis',0,0,1790000000.0);
INSERT INTO "annotator" VALUES(2,'Anna','annotator',NULL,0,0,1790000000.0);
INSERT INTO "annotator" VALUES(3,'Boris','annotator',NULL,0,0,1790000000.0);
INSERT INTO "annotator" VALUES(4,'Carla','annotator',NULL,0,0,1790000000.0);
INSERT INTO "annotator" VALUES(5,'Dev','annotator',NULL,0,0,1790000000.0);
CREATE TABLE batch (
  batch_id    INTEGER PRIMARY KEY,
  query_id    INTEGER NOT NULL REFERENCES query,
  number      INTEGER NOT NULL CHECK (number >= 1),
  opened_at   REAL NOT NULL,
  opened_by   INTEGER REFERENCES annotator,
  UNIQUE (query_id, number)
) STRICT;
INSERT INTO "batch" VALUES(1,1,1,1790000000.0,NULL);
INSERT INTO "batch" VALUES(2,2,1,1790000000.0,NULL);
CREATE TABLE candidate (
  query_id    INTEGER NOT NULL REFERENCES query,
  rank        INTEGER NOT NULL CHECK (rank >= 1),
  moment_id   INTEGER NOT NULL REFERENCES moment,
  similarity  REAL NOT NULL,
  encoder     TEXT NOT NULL,
  PRIMARY KEY (query_id, rank),
  UNIQUE (query_id, moment_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "candidate" VALUES(1,1,17,1.0,'words-64');
INSERT INTO "candidate" VALUES(1,2,1,0.93341,'words-64');
INSERT INTO "candidate" VALUES(1,3,9,0.93341,'words-64');
INSERT INTO "candidate" VALUES(1,4,5,0.73521,'words-64');
INSERT INTO "candidate" VALUES(1,5,13,0.73521,'words-64');
INSERT INTO "candidate" VALUES(1,6,21,0.73521,'words-64');
INSERT INTO "candidate" VALUES(1,7,3,0.6836,'words-64');
INSERT INTO "candidate" VALUES(1,8,11,0.6836,'words-64');
INSERT INTO "candidate" VALUES(1,9,19,0.6836,'words-64');
INSERT INTO "candidate" VALUES(1,10,6,0.65367,'words-64');
INSERT INTO "candidate" VALUES(1,11,14,0.65367,'words-64');
INSERT INTO "candidate" VALUES(1,12,22,0.65367,'words-64');
INSERT INTO "candidate" VALUES(1,13,7,0.63303,'words-64');
INSERT INTO "candidate" VALUES(1,14,15,0.63303,'words-64');
INSERT INTO "candidate" VALUES(1,15,23,0.63303,'words-64');
INSERT INTO "candidate" VALUES(1,16,12,0.52779,'words-64');
INSERT INTO "candidate" VALUES(1,17,16,0.52779,'words-64');
INSERT INTO "candidate" VALUES(1,18,20,0.52779,'words-64');
INSERT INTO "candidate" VALUES(1,19,24,0.52779,'words-64');
INSERT INTO "candidate" VALUES(1,20,2,0.48873,'words-64');
INSERT INTO "candidate" VALUES(1,21,10,0.48873,'words-64');
INSERT INTO "candidate" VALUES(1,22,18,0.48873,'words-64');
INSERT INTO "candidate" VALUES(1,23,4,0.45719,'words-64');
INSERT INTO "candidate" VALUES(1,24,8,0.45719,'words-64');
INSERT INTO "candidate" VALUES(2,1,21,1.0,'words-64');
INSERT INTO "candidate" VALUES(2,2,5,0.90016,'words-64');
INSERT INTO "candidate" VALUES(2,3,13,0.90016,'words-64');
INSERT INTO "candidate" VALUES(2,4,1,0.73521,'words-64');
INSERT INTO "candidate" VALUES(2,5,9,0.73521,'words-64');
INSERT INTO "candidate" VALUES(2,6,17,0.73521,'words-64');
INSERT INTO "candidate" VALUES(2,7,7,0.64614,'words-64');
INSERT INTO "candidate" VALUES(2,8,15,0.64614,'words-64');
INSERT INTO "candidate" VALUES(2,9,23,0.64614,'words-64');
INSERT INTO "candidate" VALUES(2,10,6,0.60064,'words-64');
INSERT INTO "candidate" VALUES(2,11,14,0.60064,'words-64');
INSERT INTO "candidate" VALUES(2,12,22,0.60064,'words-64');
INSERT INTO "candidate" VALUES(2,13,3,0.59833,'words-64');
INSERT INTO "candidate" VALUES(2,14,11,0.59833,'words-64');
INSERT INTO "candidate" VALUES(2,15,19,0.59833,'words-64');
INSERT INTO "candidate" VALUES(2,16,12,0.51728,'words-64');
INSERT INTO "candidate" VALUES(2,17,16,0.51728,'words-64');
INSERT INTO "candidate" VALUES(2,18,20,0.51728,'words-64');
INSERT INTO "candidate" VALUES(2,19,24,0.51728,'words-64');
INSERT INTO "candidate" VALUES(2,20,2,0.47903,'words-64');
INSERT INTO "candidate" VALUES(2,21,10,0.47903,'words-64');
INSERT INTO "candidate" VALUES(2,22,18,0.47903,'words-64');
INSERT INTO "candidate" VALUES(2,23,4,0.44809,'words-64');
INSERT INTO "candidate" VALUES(2,24,8,0.44809,'words-64');
CREATE TABLE caption (
  caption_id        INTEGER PRIMARY KEY,
  moment_id         INTEGER NOT NULL REFERENCES moment,
  text              TEXT NOT NULL CHECK (text <> ''),
  kind              TEXT NOT NULL CHECK (kind IN ('published', 'rewritten')),
  external_id       TEXT,
  source_caption_id INTEGER REFERENCES caption,
  rule_version      TEXT NOT NULL DEFAULT '',
  similarity        REAL,
  accepted          INTEGER NOT NULL DEFAULT 1 CHECK (accepted IN (0, 1)),
  reason            TEXT NOT NULL DEFAULT '',
  CHECK ((kind = 'rewritten') = (source_caption_id IS NOT NULL)),
  UNIQUE (moment_id, kind, rule_version, text)
) STRICT;
INSERT INTO "caption" VALUES(1,1,'Anna walks to a sofa in room 0.','published','500',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(2,2,'Boris sits down in room 1.','published','501',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(3,3,'Carla pours tea in room 2.','published','502',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(4,4,'Dev waves in room 3.','published','503',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(5,5,'Anna opens a door in room 4.','published','504',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(6,6,'Boris throws a ball in room 5.','published','505',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(7,7,'Carla reads in room 6.','published','506',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(8,8,'Dev dances in room 7.','published','507',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(9,9,'Anna walks to a sofa in room 8.','published','508',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(10,10,'Boris sits down in room 9.','published','509',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(11,11,'Carla pours tea in room 10.','published','510',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(12,12,'Dev waves in room 11.','published','511',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(13,13,'Anna opens a door in room 12.','published','512',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(14,14,'Boris throws a ball in room 13.','published','513',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(15,15,'Carla reads in room 14.','published','514',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(16,16,'Dev dances in room 15.','published','515',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(17,17,'Anna walks to a sofa in room 16.','published','516',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(18,18,'Boris sits down in room 17.','published','517',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(19,19,'Carla pours tea in room 18.','published','518',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(20,20,'Dev waves in room 19.','published','519',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(21,21,'Anna opens a door in room 20.','published','520',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(22,22,'Boris throws a ball in room 21.','published','521',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(23,23,'Carla reads in room 22.','published','522',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(24,24,'Dev dances in room 23.','published','523',NULL,'',NULL,1,'');
INSERT INTO "caption" VALUES(25,1,'A woman walks to a sofa in room 0.','rewritten',NULL,1,'rules-1+cast-19088770',8.98277044296264648437e-01,1,'');
INSERT INTO "caption" VALUES(26,2,'A man sits down in room 1.','rewritten',NULL,2,'rules-1+cast-19088770',7.71981000900268554687e-01,1,'');
INSERT INTO "caption" VALUES(27,3,'A woman pours tea in room 2.','rewritten',NULL,3,'rules-1+cast-19088770',8.02119016647338867187e-01,1,'');
INSERT INTO "caption" VALUES(28,4,'A man waves in room 3.','rewritten',NULL,4,'rules-1+cast-19088770',8.02080810070037841796e-01,1,'');
INSERT INTO "caption" VALUES(29,5,'A woman opens a door in room 4.','rewritten',NULL,5,'rules-1+cast-19088770',8.36947679519653320312e-01,1,'');
INSERT INTO "caption" VALUES(30,6,'A man throws a ball in room 5.','rewritten',NULL,6,'rules-1+cast-19088770',8.36947619915008544921e-01,1,'');
INSERT INTO "caption" VALUES(31,7,'A woman reads in room 6.','rewritten',NULL,7,'rules-1+cast-19088770',7.71893084049224853515e-01,1,'');
INSERT INTO "caption" VALUES(32,8,'A man dances in room 7.','rewritten',NULL,8,'rules-1+cast-19088770',8.02080929279327392578e-01,1,'');
INSERT INTO "caption" VALUES(33,9,'A woman walks to a sofa in room 8.','rewritten',NULL,9,'rules-1+cast-19088770',8.98276925086975097656e-01,1,'');
INSERT INTO "caption" VALUES(34,10,'A man sits down in room 9.','rewritten',NULL,10,'rules-1+cast-19088770',7.71981000900268554687e-01,1,'');
INSERT INTO "caption" VALUES(35,11,'A woman pours tea in room 10.','rewritten',NULL,11,'rules-1+cast-19088770',8.02119016647338867187e-01,1,'');
INSERT INTO "caption" VALUES(36,12,'A man waves in room 11.','rewritten',NULL,12,'rules-1+cast-19088770',7.3084646463394165039e-01,1,'');
INSERT INTO "caption" VALUES(37,13,'A woman opens a door in room 12.','rewritten',NULL,13,'rules-1+cast-19088770',8.36947679519653320312e-01,1,'');
INSERT INTO "caption" VALUES(38,14,'A man throws a ball in room 13.','rewritten',NULL,14,'rules-1+cast-19088770',8.36947560310363769531e-01,1,'');
INSERT INTO "caption" VALUES(39,15,'A woman reads in room 14.','rewritten',NULL,15,'rules-1+cast-19088770',7.71893084049224853515e-01,1,'');
INSERT INTO "caption" VALUES(40,16,'A man dances in room 15.','rewritten',NULL,16,'rules-1+cast-19088770',7.3084646463394165039e-01,1,'');
INSERT INTO "caption" VALUES(41,17,'A woman walks to a sofa in room 16.','rewritten',NULL,17,'rules-1+cast-19088770',8.98277044296264648437e-01,1,'');
INSERT INTO "caption" VALUES(42,18,'A man sits down in room 17.','rewritten',NULL,18,'rules-1+cast-19088770',7.71981000900268554687e-01,1,'');
INSERT INTO "caption" VALUES(43,19,'A woman pours tea in room 18.','rewritten',NULL,19,'rules-1+cast-19088770',8.02119016647338867187e-01,1,'');
INSERT INTO "caption" VALUES(44,20,'A man waves in room 19.','rewritten',NULL,20,'rules-1+cast-19088770',0.730846643447876,1,'');
INSERT INTO "caption" VALUES(45,21,'A woman opens a door in room 20.','rewritten',NULL,21,'rules-1+cast-19088770',8.36947560310363769531e-01,1,'');
INSERT INTO "caption" VALUES(46,22,'A man throws a ball in room 21.','rewritten',NULL,22,'rules-1+cast-19088770',8.36947560310363769531e-01,1,'');
INSERT INTO "caption" VALUES(47,23,'A woman reads in room 22.','rewritten',NULL,23,'rules-1+cast-19088770',7.71893143653869628906e-01,1,'');
INSERT INTO "caption" VALUES(48,24,'A man dances in room 23.','rewritten',NULL,24,'rules-1+cast-19088770',7.30846524238586425781e-01,1,'');
CREATE TABLE clip_fault (
  moment_id     INTEGER PRIMARY KEY REFERENCES moment,
  reason        TEXT NOT NULL,
  reported_at   REAL NOT NULL
) STRICT;
INSERT INTO "clip_fault" VALUES(23,'cannot be decoded',1790000171.0);
CREATE TABLE consensus (
  pair_id       INTEGER PRIMARY KEY REFERENCES pair,
  verdict       TEXT NOT NULL CHECK (verdict IN ('escalated', 'consensus', 'discarded', 'adjudicated')),
  relevance     INTEGER CHECK (relevance BETWEEN 0 AND 4),
  mean          REAL,
  rule_version  TEXT NOT NULL,
  CHECK ((verdict IN ('consensus', 'adjudicated')) = (relevance IS NOT NULL))
) STRICT;
INSERT INTO "consensus" VALUES(1,'consensus',0,0.0,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(2,'consensus',2,1.5,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(3,'consensus',3,3.0,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(4,'adjudicated',2,NULL,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(5,'consensus',4,3.5,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(6,'consensus',0,0.0,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(7,'consensus',2,1.5,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(8,'escalated',NULL,NULL,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(9,'escalated',NULL,NULL,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(10,'consensus',4,3.5,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(11,'consensus',0,0.0,'tvr-ranking-1');
INSERT INTO "consensus" VALUES(12,'consensus',2,1.5,'tvr-ranking-1');
CREATE TABLE event (
  event_id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at            REAL NOT NULL,
  actor         INTEGER REFERENCES annotator,
  kind          TEXT NOT NULL,
  subject       TEXT NOT NULL,
  payload       TEXT NOT NULL CHECK (json_valid(payload))
) STRICT;
INSERT INTO "event" VALUES(1,1790000000.0,NULL,'corpus_imported','file:m.jsonl','{"file":"m.jsonl","format":"jsonl","videos":3,"moments":24,"captions":24}');
INSERT INTO "event" VALUES(2,1790000000.0,NULL,'captions_rewritten','captions','{"rule_version":"rules-1+cast-19088770","accepted":24,"waiting":0}');
INSERT INTO "event" VALUES(3,1790000000.0,NULL,'queries_drawn','queries','{"seed":5,"val":1,"test":1,"train":22}');
INSERT INTO "event" VALUES(4,1790000000.0,NULL,'candidates_chosen','candidates','{"encoder":"words-64","queries":2,"candidates":48}');
INSERT INTO "event" VALUES(5,1790000000.0,NULL,'person_added','annotator:1','{"name":"Lea","role":"lead"}');
INSERT INTO "event" VALUES(6,1790000000.0,NULL,'person_added','annotator:2','{"name":"Anna","role":"annotator"}');
INSERT INTO "event" VALUES(7,1790000000.0,NULL,'person_added','annotator:3','{"name":"Boris","role":"annotator"}');
INSERT INTO "event" VALUES(8,1790000000.0,NULL,'person_added','annotator:4','{"name":"Carla","role":"annotator"}');
INSERT INTO "event" VALUES(9,1790000000.0,NULL,'person_added','annotator:5','{"name":"Dev","role":"annotator"}');
INSERT INTO "event" VALUES(10,1790000000.0,1,'password_set','annotator:1','{}');
INSERT INTO "event" VALUES(11,1790000000.0,1,'person_suspended','annotator:5','{"suspended":true}');
INSERT INTO "event" VALUES(12,1790000000.0,1,'person_suspended','annotator:5','{"suspended":false}');
INSERT INTO "event" VALUES(13,1790000030.0,3,'escalated','pair:3','{"grades":[2,4]}');
INSERT INTO "event" VALUES(14,1790000040.0,3,'escalated','pair:4','{"grades":[3,1]}');
INSERT INTO "event" VALUES(15,1790000080.0,3,'escalated','pair:8','{"grades":[2,4]}');
INSERT INTO "event" VALUES(16,1790000090.0,3,'escalated','pair:9','{"grades":[3,1]}');
INSERT INTO "event" VALUES(17,1790000160.0,2,'grade_refused','pair:1','{"grade":4,"event_key":"press-32","why":"this pair is settled, its grades are locked"}');
INSERT INTO "event" VALUES(18,1790000170.0,1,'adjudicated','pair:4','{"relevance":2,"reason":"both saw the door"}');
INSERT INTO "event" VALUES(19,1790000171.0,2,'clip_reported','moment:23','{"reason":"cannot be decoded"}');
INSERT INTO "event" VALUES(20,1790000172.0,2,'clip_reported','moment:12','{"reason":"cannot be decoded"}');
INSERT INTO "event" VALUES(21,1790000173.0,1,'clip_restored','moment:12','{}');
INSERT INTO "event" VALUES(22,1790000180.0,1,'released','release:7249f4cbc91e','{"sha256":"7249f4cbc91eb802ea161ee283cb132fb63b273a74279b6bdeca2c2ba65903af"}');
INSERT INTO "event" VALUES(23,1790000190.0,2,'seats_claimed','annotator:2','{"pairs":[16,14,17,19,20,18,36]}');
INSERT INTO "event" VALUES(24,1790000190.0,4,'seats_claimed','annotator:4','{"pairs":[9,16,20,18,14,13,17]}');
INSERT INTO "event" VALUES(25,1790000191.0,3,'seats_claimed','annotator:3','{"pairs":[19,38,26,27,21,28,33]}');
INSERT INTO "event" VALUES(26,1790000192.0,3,'seats_returned','annotator:3','{"pairs":[19,21,26,27,28,33,38],"why":"signed out"}');
CREATE TABLE invitation (
  token_hash    TEXT PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  expires_at    REAL NOT NULL,
  used_at       REAL
) STRICT;
INSERT INTO "invitation" VALUES('a637b31c06bb0465a9088a5484380493a1417ef799f3965713a61ef4a31af31b',4,1791209600.0,NULL);
CREATE TABLE judgement (
  judgement_id  INTEGER PRIMARY KEY,
  pair_id       INTEGER NOT NULL,
  seat_no       INTEGER NOT NULL,
  annotator_id  INTEGER NOT NULL,
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  graded_at     REAL NOT NULL,
  active_ms     INTEGER NOT NULL DEFAULT 0 CHECK (active_ms >= 0),
  event_key     TEXT NOT NULL UNIQUE,
  simulated     INTEGER NOT NULL DEFAULT 0 CHECK (simulated IN (0, 1)),
  UNIQUE (pair_id, seat_no, revision),
  FOREIGN KEY (pair_id, seat_no, annotator_id) REFERENCES seat (pair_id, seat_no, annotator_id)
) STRICT;
INSERT INTO "judgement" VALUES(1,1,1,2,1,0,1790000005.0,1201,'press-1',0);
INSERT INTO "judgement" VALUES(2,1,2,3,1,0,1790000010.0,1202,'press-2',0);
INSERT INTO "judgement" VALUES(3,2,1,2,1,1,1790000015.0,1203,'press-3',0);
INSERT INTO "judgement" VALUES(4,2,2,3,1,2,1790000020.0,1204,'press-4',0);
INSERT INTO "judgement" VALUES(5,3,1,2,1,2,1790000025.0,1205,'press-5',0);
INSERT INTO "judgement" VALUES(6,3,2,3,1,4,1790000030.0,1206,'press-6',0);
INSERT INTO "judgement" VALUES(7,4,1,2,1,3,1790000035.0,1207,'press-7',0);
INSERT INTO "judgement" VALUES(8,4,2,3,1,1,1790000040.0,1208,'press-8',0);
INSERT INTO "judgement" VALUES(9,5,1,2,1,4,1790000045.0,1209,'press-9',0);
INSERT INTO "judgement" VALUES(10,5,2,3,1,3,1790000050.0,1210,'press-10',0);
INSERT INTO "judgement" VALUES(11,6,1,2,1,0,1790000055.0,1211,'press-11',0);
INSERT INTO "judgement" VALUES(12,6,2,3,1,0,1790000060.0,1212,'press-12',0);
INSERT INTO "judgement" VALUES(13,7,1,2,1,1,1790000065.0,1213,'press-13',0);
INSERT INTO "judgement" VALUES(14,7,2,3,1,2,1790000070.0,1214,'press-14',0);
INSERT INTO "judgement" VALUES(15,8,1,2,1,2,1790000075.0,1215,'press-15',0);
INSERT INTO "judgement" VALUES(16,8,2,3,1,4,1790000080.0,1216,'press-16',0);
INSERT INTO "judgement" VALUES(17,9,1,2,1,3,1790000085.0,1217,'press-17',0);
INSERT INTO "judgement" VALUES(18,9,2,3,1,1,1790000090.0,1218,'press-18',0);
INSERT INTO "judgement" VALUES(19,10,1,2,1,4,1790000095.0,1219,'press-19',0);
INSERT INTO "judgement" VALUES(20,10,2,3,1,3,1790000100.0,1220,'press-20',0);
INSERT INTO "judgement" VALUES(21,11,1,2,1,0,1790000105.0,1221,'press-21',0);
INSERT INTO "judgement" VALUES(22,11,2,3,1,0,1790000110.0,1222,'press-22',0);
INSERT INTO "judgement" VALUES(23,12,1,2,1,1,1790000115.0,1223,'press-23',0);
INSERT INTO "judgement" VALUES(24,12,2,3,1,2,1790000120.0,1224,'press-24',0);
INSERT INTO "judgement" VALUES(25,3,3,4,1,3,1790000125.0,1225,'press-25',0);
INSERT INTO "judgement" VALUES(26,3,4,5,1,3,1790000130.0,1226,'press-26',0);
INSERT INTO "judgement" VALUES(27,4,3,4,1,0,1790000135.0,1227,'press-27',0);
INSERT INTO "judgement" VALUES(28,4,4,5,1,4,1790000140.0,1228,'press-28',0);
INSERT INTO "judgement" VALUES(29,8,3,4,1,0,1790000145.0,1229,'press-29',0);
INSERT INTO "judgement" VALUES(30,13,1,2,1,1,1790000150.0,1230,'press-30',0);
INSERT INTO "judgement" VALUES(31,13,1,2,2,3,1790000155.0,1231,'press-31',0);
CREATE TABLE moment (
  moment_id   INTEGER PRIMARY KEY,
  video_id    INTEGER NOT NULL REFERENCES video,
  start_s     REAL NOT NULL,
  end_s       REAL NOT NULL,
  CHECK (0 <= start_s AND start_s < end_s),
  UNIQUE (video_id, start_s, end_s)
) STRICT;
INSERT INTO "moment" VALUES(1,1,0.0,2.5);
INSERT INTO "moment" VALUES(2,2,1.0,3.5);
INSERT INTO "moment" VALUES(3,3,2.0,4.5);
INSERT INTO "moment" VALUES(4,1,3.0,5.5);
INSERT INTO "moment" VALUES(5,2,4.0,6.5);
INSERT INTO "moment" VALUES(6,3,5.0,7.5);
INSERT INTO "moment" VALUES(7,1,6.0,8.5);
INSERT INTO "moment" VALUES(8,2,7.0,9.5);
INSERT INTO "moment" VALUES(9,3,8.0,10.5);
INSERT INTO "moment" VALUES(10,1,9.0,11.5);
INSERT INTO "moment" VALUES(11,2,10.0,12.5);
INSERT INTO "moment" VALUES(12,3,11.0,13.5);
INSERT INTO "moment" VALUES(13,1,12.0,14.5);
INSERT INTO "moment" VALUES(14,2,13.0,15.5);
INSERT INTO "moment" VALUES(15,3,14.0,16.5);
INSERT INTO "moment" VALUES(16,1,15.0,17.5);
INSERT INTO "moment" VALUES(17,2,16.0,18.5);
INSERT INTO "moment" VALUES(18,3,17.0,19.5);
INSERT INTO "moment" VALUES(19,1,18.0,20.5);
INSERT INTO "moment" VALUES(20,2,19.0,21.5);
INSERT INTO "moment" VALUES(21,3,20.0,22.5);
INSERT INTO "moment" VALUES(22,1,21.0,23.5);
INSERT INTO "moment" VALUES(23,2,22.0,24.5);
INSERT INTO "moment" VALUES(24,3,23.0,25.5);
CREATE TABLE pair (
  pair_id     INTEGER PRIMARY KEY,
  pair_key    TEXT NOT NULL UNIQUE,
  batch_id    INTEGER NOT NULL REFERENCES batch,
  query_id    INTEGER NOT NULL REFERENCES query,
  moment_id   INTEGER NOT NULL REFERENCES moment,
  rank        INTEGER NOT NULL,
  similarity  REAL NOT NULL,
  encoder     TEXT NOT NULL,
  UNIQUE (query_id, moment_id)
) STRICT;
INSERT INTO "pair" VALUES(1,'v-pdaiSiis11kkRT',1,1,17,1,1.0,'words-64');
INSERT INTO "pair" VALUES(2,'HBdnup2qVsN3IbLu',1,1,1,2,0.93341,'words-64');
INSERT INTO "pair" VALUES(3,'mKgOwkCfFPzgQ9R1',1,1,9,3,0.93341,'words-64');
INSERT INTO "pair" VALUES(4,'NVc28wj19Tf-Ckwa',1,1,5,4,0.73521,'words-64');
INSERT INTO "pair" VALUES(5,'gAdXseHv3BxjUcm7',1,1,13,5,0.73521,'words-64');
INSERT INTO "pair" VALUES(6,'zyq3c0usAMVMIsWA',1,1,21,6,0.73521,'words-64');
INSERT INTO "pair" VALUES(7,'Yb9OoG8cyuIYOXpG',1,1,3,7,0.6836,'words-64');
INSERT INTO "pair" VALUES(8,'rIs0NwQLiSr1Qa4n',1,1,11,8,0.6836,'words-64');
INSERT INTO "pair" VALUES(9,'h2IjuBBJ1-iuSenm',1,1,19,9,0.6836,'words-64');
INSERT INTO "pair" VALUES(10,'D7UIyrksKiv7-biw',1,1,6,10,0.65367,'words-64');
INSERT INTO "pair" VALUES(11,'55zwsBWbzH06rkko',1,1,14,11,0.65367,'words-64');
INSERT INTO "pair" VALUES(12,'iHztwKHYstuWB4px',1,1,22,12,0.65367,'words-64');
INSERT INTO "pair" VALUES(13,'t_fiL2hiojqwqbH3',1,1,7,13,0.63303,'words-64');
INSERT INTO "pair" VALUES(14,'5AtFLb_ogH4mQrjw',1,1,15,14,0.63303,'words-64');
INSERT INTO "pair" VALUES(15,'R_Khag3hOuO9vdRv',1,1,23,15,0.63303,'words-64');
INSERT INTO "pair" VALUES(16,'wq4UHM3-EL4Gdu4B',1,1,12,16,0.52779,'words-64');
INSERT INTO "pair" VALUES(17,'MD7dgDPZdEq3w61E',1,1,16,17,0.52779,'words-64');
INSERT INTO "pair" VALUES(18,'ojGpQIqyOjNl3Db-',1,1,20,18,0.52779,'words-64');
INSERT INTO "pair" VALUES(19,'3lRGcLoY4oJADJwe',1,1,24,19,0.52779,'words-64');
INSERT INTO "pair" VALUES(20,'Oghk9WpWozDrE9x2',1,1,2,20,0.48873,'words-64');
INSERT INTO "pair" VALUES(21,'dJXJE3yPHBgdEVeK',2,2,21,1,1.0,'words-64');
INSERT INTO "pair" VALUES(22,'dvWjl9PEESeDavra',2,2,5,2,0.90016,'words-64');
INSERT INTO "pair" VALUES(23,'yd-fflxzJkKeWo41',2,2,13,3,0.90016,'words-64');
INSERT INTO "pair" VALUES(24,'3bwcFZ3zMrDleCjp',2,2,1,4,0.73521,'words-64');
INSERT INTO "pair" VALUES(25,'Zr4C81GIEns9uEMQ',2,2,9,5,0.73521,'words-64');
INSERT INTO "pair" VALUES(26,'fsbnOau25xVOf7C4',2,2,17,6,0.73521,'words-64');
INSERT INTO "pair" VALUES(27,'sb1y-UOjQU51niz6',2,2,7,7,0.64614,'words-64');
INSERT INTO "pair" VALUES(28,'dvzJAcsgkgMVUDGf',2,2,15,8,0.64614,'words-64');
INSERT INTO "pair" VALUES(29,'EbannG-aiSwR6ddy',2,2,23,9,0.64614,'words-64');
INSERT INTO "pair" VALUES(30,'mwtB-j6zJR7axZaJ',2,2,6,10,0.60064,'words-64');
INSERT INTO "pair" VALUES(31,'9sJ4FIiUykpFeg12',2,2,14,11,0.60064,'words-64');
INSERT INTO "pair" VALUES(32,'ca1t2qs-NcJgN2Yd',2,2,22,12,0.60064,'words-64');
INSERT INTO "pair" VALUES(33,'7pX8rQbEV47Nl-J-',2,2,3,13,0.59833,'words-64');
INSERT INTO "pair" VALUES(34,'SWKDOgIPFkme8BDr',2,2,11,14,0.59833,'words-64');
INSERT INTO "pair" VALUES(35,'neV4Tli2XZVg0yDB',2,2,19,15,0.59833,'words-64');
INSERT INTO "pair" VALUES(36,'VQ0fw1FQuFI5iF7s',2,2,12,16,0.51728,'words-64');
INSERT INTO "pair" VALUES(37,'sBPfkTWwnDHpAoPq',2,2,16,17,0.51728,'words-64');
INSERT INTO "pair" VALUES(38,'KX1eAbRtATI-uKrG',2,2,20,18,0.51728,'words-64');
INSERT INTO "pair" VALUES(39,'wz2SbfwwMjUQ0gpC',2,2,24,19,0.51728,'words-64');
INSERT INTO "pair" VALUES(40,'wIVQB9y7E-r3pdtN',2,2,2,20,0.47903,'words-64');
CREATE TABLE query (
  query_id    INTEGER PRIMARY KEY,
  text        TEXT NOT NULL UNIQUE CHECK (text <> ''),
  caption_id  INTEGER NOT NULL REFERENCES caption,
  split       TEXT NOT NULL CHECK (split IN ('val', 'test', 'train')),
  position    INTEGER NOT NULL
) STRICT;
INSERT INTO "query" VALUES(1,'A woman walks to a sofa in room 16.',41,'val',1);
INSERT INTO "query" VALUES(2,'A woman opens a door in room 20.',45,'test',2);
INSERT INTO "query" VALUES(3,'A man waves in room 11.',36,'train',3);
INSERT INTO "query" VALUES(4,'A woman walks to a sofa in room 0.',25,'train',4);
INSERT INTO "query" VALUES(5,'A woman reads in room 14.',39,'train',5);
INSERT INTO "query" VALUES(6,'A man waves in room 19.',44,'train',6);
INSERT INTO "query" VALUES(7,'A man sits down in room 17.',42,'train',7);
INSERT INTO "query" VALUES(8,'A woman opens a door in room 12.',37,'train',8);
INSERT INTO "query" VALUES(9,'A man throws a ball in room 13.',38,'train',9);
INSERT INTO "query" VALUES(10,'A man sits down in room 1.',26,'train',10);
INSERT INTO "query" VALUES(11,'A woman walks to a sofa in room 8.',33,'train',11);
INSERT INTO "query" VALUES(12,'A man sits down in room 9.',34,'train',12);
INSERT INTO "query" VALUES(13,'A woman pours tea in room 10.',35,'train',13);
INSERT INTO "query" VALUES(14,'A man dances in room 7.',32,'train',14);
INSERT INTO "query" VALUES(15,'A woman pours tea in room 2.',27,'train',15);
INSERT INTO "query" VALUES(16,'A man dances in room 23.',48,'train',16);
INSERT INTO "query" VALUES(17,'A man throws a ball in room 21.',46,'train',17);
INSERT INTO "query" VALUES(18,'A woman opens a door in room 4.',29,'train',18);
INSERT INTO "query" VALUES(19,'A man dances in room 15.',40,'train',19);
INSERT INTO "query" VALUES(20,'A woman pours tea in room 18.',43,'train',20);
INSERT INTO "query" VALUES(21,'A woman reads in room 6.',31,'train',21);
INSERT INTO "query" VALUES(22,'A man waves in room 3.',28,'train',22);
INSERT INTO "query" VALUES(23,'A man throws a ball in room 5.',30,'train',23);
INSERT INTO "query" VALUES(24,'A woman reads in room 22.',47,'train',24);
CREATE TABLE "release" (
  release_id    INTEGER PRIMARY KEY,
  created_at    REAL NOT NULL,
  created_by    INTEGER REFERENCES annotator,
  manifest      TEXT NOT NULL CHECK (json_valid(manifest)),
  sha256        TEXT NOT NULL
) STRICT;
INSERT INTO "release" VALUES(1,1790000180.0,1,'{
 "name": "project",
 "format": "tvr-ranking",
 "created_at": "2026-09-21T14:16:20+00:00",
 "reelrank": "0.1.0",
 "schema": "m001_initial",
 "rule_version": "tvr-ranking-1",
 "encoder": "words-64",
 "counts": {
  "videos": 3,
  "moments": 24,
  "captions": 24,
  "queries": {
   "val": 1,
   "test": 1,
   "train": 22
  },
  "batches": {
   "1": 2,
   "2": 0
  },
  "pairs": {
   "open": 26,
   "escalated": 2,
   "consensus": 9,
   "discarded": 0,
   "adjudicated": 1,
   "blocked": 2
  },
  "judgements": 30,
  "simulated": 0,
  "annotators": 4,
  "encoder": "words-64",
  "schema": "m001_initial"
 },
 "simulated_judgements": 0,
 "queries_without_settled_pair": [
  2
 ],
 "files": {
  "README.md": "fd13cbbdcfbc156ff9a02f928a5790173fdae7c2d5eb05df98b1444cde43e6e2",
  "raw_annotation.csv": "d85bb2a5e47bbd53d23cf5c57bf0f60318532bac3c53320425d0490f622232e1",
  "raw_query_moment_pair.csv": "770d8e77d057274ad14cffa670d84335d50388b8740057e5db847e68ea2239fc",
  "test.json": "37517e5f3dc66819f61f5a7bb8ace1921282415f10551d2defa5c3eb0985b570",
  "train_top01.json": "b864430cc54946bc59eefd384098358973895cf2a4388670c3cdd42c58d3bc34",
  "train_top20.json": "e376870519943754d4e8eae86cce2b2355e59f2ccfe79f6a769e245718c675f8",
  "train_top40.json": "5ddba77a52b0cb5f00abedcb6349feae927b01b8f60a78a2222145e4bc678ec6",
  "val.json": "23e89f35184e4301370970a010d8b1d989c125846f05bbe3290f394e504c1ff4",
  "video_corpus.json": "085a513e9d2af2e511924ef7ec15338c79b180596319c104c12c317fd9817d12"
 }
}
','7249f4cbc91eb802ea161ee283cb132fb63b273a74279b6bdeca2c2ba65903af');
CREATE TABLE seat (
  pair_id       INTEGER NOT NULL REFERENCES pair,
  seat_no       INTEGER NOT NULL CHECK (seat_no BETWEEN 1 AND 4),
  annotator_id  INTEGER REFERENCES annotator,
  lease_until   REAL,
  claim_no      INTEGER,
  PRIMARY KEY (pair_id, seat_no),
  UNIQUE (pair_id, annotator_id),
  UNIQUE (pair_id, seat_no, annotator_id),
  CHECK (annotator_id IS NOT NULL OR lease_until IS NULL)
) STRICT;
INSERT INTO "seat" VALUES(1,1,2,NULL,1);
INSERT INTO "seat" VALUES(2,1,2,NULL,2);
INSERT INTO "seat" VALUES(3,1,2,NULL,3);
INSERT INTO "seat" VALUES(4,1,2,NULL,4);
INSERT INTO "seat" VALUES(5,1,2,NULL,5);
INSERT INTO "seat" VALUES(6,1,2,NULL,6);
INSERT INTO "seat" VALUES(7,1,2,NULL,7);
INSERT INTO "seat" VALUES(8,1,2,NULL,8);
INSERT INTO "seat" VALUES(9,1,2,NULL,9);
INSERT INTO "seat" VALUES(10,1,2,NULL,10);
INSERT INTO "seat" VALUES(11,1,2,NULL,11);
INSERT INTO "seat" VALUES(12,1,2,NULL,12);
INSERT INTO "seat" VALUES(13,1,2,NULL,13);
INSERT INTO "seat" VALUES(14,1,2,1790001090.0,15);
INSERT INTO "seat" VALUES(15,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(16,1,2,1790001090.0,14);
INSERT INTO "seat" VALUES(17,1,2,1790001090.0,16);
INSERT INTO "seat" VALUES(18,1,2,1790001090.0,19);
INSERT INTO "seat" VALUES(19,1,2,1790001090.0,17);
INSERT INTO "seat" VALUES(20,1,2,1790001090.0,18);
INSERT INTO "seat" VALUES(1,2,3,NULL,1);
INSERT INTO "seat" VALUES(2,2,3,NULL,2);
INSERT INTO "seat" VALUES(3,2,3,NULL,3);
INSERT INTO "seat" VALUES(4,2,3,NULL,4);
INSERT INTO "seat" VALUES(5,2,3,NULL,5);
INSERT INTO "seat" VALUES(6,2,3,NULL,6);
INSERT INTO "seat" VALUES(7,2,3,NULL,7);
INSERT INTO "seat" VALUES(8,2,3,NULL,8);
INSERT INTO "seat" VALUES(9,2,3,NULL,9);
INSERT INTO "seat" VALUES(10,2,3,NULL,10);
INSERT INTO "seat" VALUES(11,2,3,NULL,11);
INSERT INTO "seat" VALUES(12,2,3,NULL,12);
INSERT INTO "seat" VALUES(13,2,4,1790001090.0,9);
INSERT INTO "seat" VALUES(14,2,4,1790001090.0,8);
INSERT INTO "seat" VALUES(15,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(16,2,4,1790001090.0,5);
INSERT INTO "seat" VALUES(17,2,4,1790001090.0,10);
INSERT INTO "seat" VALUES(18,2,4,1790001090.0,7);
INSERT INTO "seat" VALUES(19,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(20,2,4,1790001090.0,6);
INSERT INTO "seat" VALUES(21,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(22,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(23,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(24,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(25,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(26,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(27,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(28,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(29,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(30,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(31,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(32,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(33,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(34,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(35,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(36,1,2,1790001090.0,20);
INSERT INTO "seat" VALUES(37,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(38,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(39,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(40,1,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(21,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(22,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(23,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(24,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(25,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(26,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(27,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(28,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(29,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(30,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(31,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(32,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(33,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(34,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(35,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(36,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(37,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(38,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(39,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(40,2,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(3,3,4,NULL,1);
INSERT INTO "seat" VALUES(3,4,5,NULL,1);
INSERT INTO "seat" VALUES(4,3,4,NULL,2);
INSERT INTO "seat" VALUES(4,4,5,NULL,2);
INSERT INTO "seat" VALUES(8,3,4,NULL,3);
INSERT INTO "seat" VALUES(8,4,NULL,NULL,NULL);
INSERT INTO "seat" VALUES(9,3,4,1790001090.0,4);
INSERT INTO "seat" VALUES(9,4,NULL,NULL,NULL);
CREATE TABLE session (
  token_hash    TEXT PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  created_at    REAL NOT NULL,
  expires_at    REAL NOT NULL
) STRICT;
INSERT INTO "session" VALUES('6159c2e2adc9d90502f8553bfd63cebde752925d09a7e219752af73f1f82e608',1,1790000000.0,1791209600.0);
CREATE TABLE video (
  video_id    INTEGER PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE CHECK (name <> ''),
  duration_s  REAL NOT NULL CHECK (duration_s > 0),
  path        TEXT,
  fps_num     INTEGER CHECK (fps_num > 0),
  fps_den     INTEGER CHECK (fps_den > 0),
  width_px    INTEGER,
  height_px   INTEGER,
  has_audio   INTEGER,
  sha256      TEXT
) STRICT;
INSERT INTO "video" VALUES(1,'v0',60.0,'videos/v0.mp4',30000,1001,640,360,1,'abababababababababababababababababababababababababababababababab');
INSERT INTO "video" VALUES(2,'v1',60.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "video" VALUES(3,'v2',60.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX caption_external ON caption (external_id) WHERE kind = 'published';
CREATE INDEX caption_kind ON caption (kind, accepted);
CREATE INDEX query_split ON query (split, position);
CREATE INDEX pair_batch ON pair (batch_id);
CREATE INDEX pair_moment ON pair (moment_id);
CREATE INDEX seat_open ON seat (pair_id) WHERE annotator_id IS NULL OR lease_until IS NOT NULL;
CREATE INDEX seat_claims ON seat (annotator_id, claim_no);
CREATE INDEX seat_held ON seat (annotator_id, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX judgement_annotator ON judgement (annotator_id, graded_at);
CREATE VIEW standing AS
  SELECT j.* FROM judgement AS j
  WHERE j.revision = (SELECT max(revision) FROM judgement WHERE pair_id = j.pair_id AND seat_no = j.seat_no);
CREATE INDEX consensus_verdict ON consensus (verdict);
CREATE INDEX event_subject ON event (subject);
CREATE TRIGGER judgement_no_update BEFORE UPDATE ON judgement BEGIN SELECT RAISE(ABORT, 'judgement is append-only'); END;
CREATE TRIGGER judgement_no_delete BEFORE DELETE ON judgement BEGIN SELECT RAISE(ABORT, 'judgement is append-only'); END;
CREATE TRIGGER adjudication_no_update BEFORE UPDATE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication is append-only'); END;
CREATE TRIGGER adjudication_no_delete BEFORE DELETE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication is append-only'); END;
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',26);
COMMIT;
