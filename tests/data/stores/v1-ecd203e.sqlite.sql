BEGIN TRANSACTION;
CREATE TABLE cursors (
	name TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	generation INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	error TEXT, 
	heartbeat TEXT, 
	PRIMARY KEY (name)
);
CREATE TABLE erased (
	position INTEGER NOT NULL, 
	by_position INTEGER NOT NULL, 
	PRIMARY KEY (position)
);
CREATE TABLE events (
	position INTEGER NOT NULL, 
	stream BLOB NOT NULL, 
	version INTEGER NOT NULL, 
	topic TEXT NOT NULL, 
	schema INTEGER, 
	workspace TEXT, 
	session TEXT, 
	run TEXT, 
	actor TEXT, 
	trust TEXT, 
	causation INTEGER, 
	time TEXT, 
	facts TEXT NOT NULL, 
	payload TEXT, 
	salt BLOB, 
	body_digest BLOB, 
	chain BLOB NOT NULL, 
	PRIMARY KEY (position), 
	UNIQUE (stream, version)
);
INSERT INTO "events" VALUES(1,X'64360D8C3D6E50D0923E32A28AB653FA',1,'MessageRecorded',1,'local','build-42',NULL,'agent','operator',NULL,'2026-11-30T10:00:00.000000+00:00','{"message":"m1","role":"user","form":"openai","tokens":3,"counter":"estimate-1","size":9,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"message 1"}}',X'69193DAB185005F953C59F418AEB9386',X'801AED3F93042C75ED4A392A9350C872753F42B5E793DD4BDC0CFFD0C708C333',X'2D2EAE896ABADDDA41FBF52D86DE5F69A8C5705CFA05AF256C1C57B755192D27');
INSERT INTO "events" VALUES(2,X'8808EE0B7024520C95BB29CF07D44BC7',1,'MessageRecorded',1,'local','build-42',NULL,'agent','operator',NULL,'2026-11-30T10:00:00.000000+00:00','{"message":"m2","role":"user","form":"openai","tokens":3,"counter":"estimate-1","size":9,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"message 2"}}',X'081B61766E1EF206176FB7E9DD87CA3F',X'4E15D8028A67CB727E5BF163F4FF580C120BA38DDAC15B8224A8E593F7EF9510',X'1C1343F031089A6F0AD8C017CFFD081F9828A773968CAFE7B206D269DAD42F75');
INSERT INTO "events" VALUES(3,X'0564F6BD28BA5DF999B68F32BF50F41B',1,'MessageRecorded',1,'local','build-42',NULL,'agent','operator',NULL,'2026-11-30T10:00:00.000000+00:00','{"message":"m3","role":"user","form":"openai","tokens":3,"counter":"estimate-1","size":9,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"message 3"}}',X'21FAA2D7015B21A1C9076BEF045FE906',X'11AEC10C1070752DE406BC8C111D5377F20F34534B00068C29D2A38A3C2D3789',X'BA01C248C179F8348A1A54EAA5A578CE998ADA081CAAF9FEC22D2EC0752B014F');
CREATE TABLE leases (
	name TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	fence INTEGER NOT NULL, 
	expires TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE log_head (
	k SMALLINT NOT NULL, 
	last_id INTEGER NOT NULL, 
	chain_hash BLOB NOT NULL, 
	PRIMARY KEY (k)
);
INSERT INTO "log_head" VALUES(1,3,X'BA01C248C179F8348A1A54EAA5A578CE998ADA081CAAF9FEC22D2EC0752B014F');
CREATE TABLE trackings (
	application_name TEXT NOT NULL, 
	notification_id INTEGER NOT NULL, 
	PRIMARY KEY (application_name)
);
CREATE INDEX events_by_session ON events (session, position);
CREATE INDEX events_by_topic ON events (topic, position);
CREATE TRIGGER events_insert BEFORE INSERT ON events
    WHEN NEW.position IS NOT (SELECT last_id + 1 FROM log_head WHERE k = 1)
      OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND version = NEW.version)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: a row must follow the head'); END;
CREATE TRIGGER events_head AFTER INSERT ON events
    BEGIN UPDATE log_head SET last_id = NEW.position, chain_hash = NEW.chain WHERE k = 1; END;
CREATE TRIGGER events_update BEFORE UPDATE ON events
    WHEN NEW.payload IS NOT NULL OR NEW.salt IS NOT NULL
      OR NOT EXISTS (SELECT 1 FROM erased WHERE position = OLD.position)
      OR NEW.position IS NOT OLD.position OR NEW.stream IS NOT OLD.stream OR NEW.version IS NOT OLD.version
      OR NEW.topic IS NOT OLD.topic OR NEW.schema IS NOT OLD.schema OR NEW.workspace IS NOT OLD.workspace
      OR NEW.session IS NOT OLD.session OR NEW.run IS NOT OLD.run OR NEW.actor IS NOT OLD.actor
      OR NEW.trust IS NOT OLD.trust OR NEW.causation IS NOT OLD.causation OR NEW.time IS NOT OLD.time
      OR NEW.facts IS NOT OLD.facts OR NEW.body_digest IS NOT OLD.body_digest OR NEW.chain IS NOT OLD.chain
    BEGIN SELECT RAISE(ABORT, 'log_append_only: only a named payload can be erased'); END;
CREATE TRIGGER events_delete BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'log_append_only: events are never deleted'); END;
CREATE TRIGGER head_update BEFORE UPDATE ON log_head
    WHEN NEW.k IS NOT OLD.k OR NEW.last_id IS NOT OLD.last_id + 1
      OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.last_id AND chain = NEW.chain_hash)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: the head moves with the events'); END;
CREATE TRIGGER head_delete BEFORE DELETE ON log_head
    BEGIN SELECT RAISE(ABORT, 'log_append_only: the head stays'); END;
CREATE TRIGGER head_insert BEFORE INSERT ON log_head WHEN EXISTS (SELECT 1 FROM log_head)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: there is one head'); END;
CREATE TRIGGER erased_update BEFORE UPDATE ON erased
    BEGIN SELECT RAISE(ABORT, 'log_append_only: an erasure stays named'); END;
CREATE TRIGGER erased_delete BEFORE DELETE ON erased
    BEGIN SELECT RAISE(ABORT, 'log_append_only: an erasure stays named'); END;
CREATE TRIGGER erased_insert BEFORE INSERT ON erased
    WHEN EXISTS (SELECT 1 FROM erased WHERE position = NEW.position)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: an erasure stays named'); END;
COMMIT;
PRAGMA application_id=1835167595;
PRAGMA user_version=1;
