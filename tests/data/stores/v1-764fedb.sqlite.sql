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
INSERT INTO "events" VALUES(1,X'64360D8C3D6E50D0923E32A28AB653FA',1,'MessageRecorded',1,'local','build-42',NULL,'agent','operator',NULL,'2026-11-30T10:00:00.000000+00:00','{"message":"m1","role":"user","form":"openai","tokens":3,"counter":"estimate-1","size":9,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"message 1"}}',X'EA6222D676ED1E9D3BCC02CB0E859EC9',X'4E71F858CDA0768217CBAF0E8E25519A62F74427B179DFEE7C8BD8108FDFD1BE',X'12B162E5BCDF92CF3FF80B058CAC83D44D42460E62CB0BC0057A261F1D693333');
INSERT INTO "events" VALUES(2,X'8808EE0B7024520C95BB29CF07D44BC7',1,'MessageRecorded',1,'local','build-42',NULL,'agent','operator',NULL,'2026-11-30T10:00:00.000000+00:00','{"message":"m2","role":"user","form":"openai","tokens":3,"counter":"estimate-1","size":9,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"message 2"}}',X'173A7B5B949BEBC9D30B79A7A93CF166',X'3B4DCD4EA83181AC872A015AF655C1038E2C24D12FE5199073601F581D36268D',X'81924F05AAF76464F18518ABA2813A07C19AEEDAB187361C3A43FA80EE066561');
INSERT INTO "events" VALUES(3,X'0564F6BD28BA5DF999B68F32BF50F41B',1,'MessageRecorded',1,'local','build-42',NULL,'agent','operator',NULL,'2026-11-30T10:00:00.000000+00:00','{"message":"m3","role":"user","form":"openai","tokens":3,"counter":"estimate-1","size":9,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"message 3"}}',X'42ACEEC52A08A2DFE9033BAD0A740EC4',X'5AC1547F4656C6102C09B343F136C540C46B6A8EA876BF23AD172811FDE7B0DB',X'14D66EAC3A2C459D4413D22253018774B102B14F1EE44E581ED5ACD7D7FEF45E');
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
INSERT INTO "log_head" VALUES(1,3,X'14D66EAC3A2C459D4413D22253018774B102B14F1EE44E581ED5ACD7D7FEF45E');
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
      OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.position)
      OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.by_position)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: an erasure stays named'); END;
COMMIT;
PRAGMA application_id=1835167595;
PRAGMA user_version=1;
