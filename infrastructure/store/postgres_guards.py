"""What PostgreSQL itself enforces of the log: the append function and the triggers that refuse all else (S2)."""

from __future__ import annotations

MOVED_ON = "MB001"
"""SQLSTATE: a stream is not at the expected version; the detail is ``stream wanted found``."""

# The chain is the one of domain/chain.py: sha256(previous, position as 8 bytes, digest). Locking the head row
# orders the appends, so positions have no gaps and commit in order; a reader meets both or neither. Each
# statement of the function sees what was committed before the lock came free (READ COMMITTED). There is no NOTIFY in
# it: a transaction that notifies holds a lock of the whole server until the disk has it, and so the appends to one
# database waited for those to all others (measured).
APPEND = """
CREATE FUNCTION minutebook_append(
    expected_streams uuid[], expected_versions bigint[],
    streams uuid[], versions bigint[], topics text[], schemas integer[], workspaces text[], sessions text[],
    runs text[], actors text[], trusts text[], causations bigint[], times text[], facts bytea[], payloads bytea[],
    salts bytea[], body_digests bytea[], digests bytea[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    base bigint;
    link bytea;
    links bytea[];
    found_version bigint;
    size integer := cardinality(digests);
BEGIN
    SELECT last_id, chain_hash INTO STRICT base, link FROM log_head WHERE k = 1 FOR UPDATE;
    FOR i IN 1 .. cardinality(expected_streams) LOOP
        SELECT coalesce(max(e.version), 0) INTO found_version FROM events e WHERE e.stream = expected_streams[i];
        IF found_version <> expected_versions[i] THEN
            RAISE EXCEPTION USING ERRCODE = 'MB001', MESSAGE = 'a stream moved on',
                DETAIL = concat_ws(' ', expected_streams[i], expected_versions[i], found_version);
        END IF;
    END LOOP;
    IF size = 0 THEN
        RETURN base;
    END IF;
    FOR i IN 1 .. size LOOP
        link := sha256(link || int8send(base + i) || digests[i]);
        links[i] := link;
    END LOOP;
    INSERT INTO events
    SELECT base + n, st, ve, tp, sc, ws, se, ru, ac, tr, ca, ti, fa,
           nullif(pa, ''::bytea), nullif(sa, ''::bytea), nullif(bd, ''::bytea), li
    FROM unnest(streams, versions, topics, schemas, workspaces, sessions, runs, actors, trusts, causations, times,
                facts, payloads, salts, body_digests, links)
         WITH ORDINALITY AS u(st, ve, tp, sc, ws, se, ru, ac, tr, ca, ti, fa, pa, sa, bd, li, n);
    RETURN base;
END $$
"""


def _refuse(table: str, events: str, message: str) -> str:
    return (
        f"CREATE TRIGGER {table}_refuse BEFORE {events} ON {table} FOR EACH STATEMENT "
        f"EXECUTE FUNCTION minutebook_refuse('log_append_only: {message}')"
    )


GUARDS = (
    """
CREATE FUNCTION minutebook_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = TG_ARGV[0]; END $$
""",
    # The head is moved here and nowhere else, so that a row inserted by hand cannot leave it behind.
    """
CREATE FUNCTION minutebook_follow() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    low bigint;
    high bigint;
    size bigint;
    last bigint;
BEGIN
    SELECT min(position), max(position), count(*) INTO low, high, size FROM added;
    IF size = 0 THEN
        RETURN NULL;
    END IF;
    SELECT last_id INTO STRICT last FROM log_head WHERE k = 1 FOR UPDATE;
    IF low <> last + 1 OR high <> last + size THEN
        RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = 'log_append_only: a row must follow the head';
    END IF;
    UPDATE log_head SET last_id = high, chain_hash = (SELECT chain FROM added WHERE position = high) WHERE k = 1;
    RETURN NULL;
END $$
""",
    """
CREATE FUNCTION minutebook_only_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.payload IS NOT NULL OR NEW.salt IS NOT NULL
       OR NOT EXISTS (SELECT 1 FROM erased WHERE position = OLD.position)
       OR (NEW.position, NEW.stream, NEW.version, NEW.topic, NEW.schema, NEW.workspace, NEW.session, NEW.run,
           NEW.actor, NEW.trust, NEW.causation, NEW.time, NEW.facts, NEW.body_digest, NEW.chain)
          IS DISTINCT FROM
          (OLD.position, OLD.stream, OLD.version, OLD.topic, OLD.schema, OLD.workspace, OLD.session, OLD.run,
           OLD.actor, OLD.trust, OLD.causation, OLD.time, OLD.facts, OLD.body_digest, OLD.chain) THEN
        RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = 'log_append_only: only a named payload can be erased';
    END IF;
    RETURN NEW;
END $$
""",
    """
CREATE FUNCTION minutebook_head_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.k <> OLD.k OR NEW.last_id <= OLD.last_id
       OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.last_id AND chain = NEW.chain_hash) THEN
        RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = 'log_append_only: the head moves with the events';
    END IF;
    RETURN NEW;
END $$
""",
    """
CREATE FUNCTION minutebook_names_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.position)
       OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.by_position) THEN
        RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = 'log_append_only: an erasure names an event';
    END IF;
    RETURN NEW;
END $$
""",
    """
CREATE TRIGGER events_follow AFTER INSERT ON events REFERENCING NEW TABLE AS added FOR EACH STATEMENT
EXECUTE FUNCTION minutebook_follow()
""",
    """
CREATE TRIGGER events_update BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION minutebook_only_erasure()
""",
    """
CREATE TRIGGER head_update BEFORE UPDATE ON log_head FOR EACH ROW EXECUTE FUNCTION minutebook_head_moves()
""",
    """
CREATE TRIGGER erased_insert BEFORE INSERT ON erased FOR EACH ROW EXECUTE FUNCTION minutebook_names_events()
""",
    _refuse("events", "DELETE OR TRUNCATE", "events are never deleted"),
    _refuse("log_head", "INSERT OR DELETE OR TRUNCATE", "there is one head, and it stays"),
    _refuse("erased", "UPDATE OR DELETE OR TRUNCATE", "an erasure stays named"),
)
"""Created after the first head row: later ones are refused. An owner of the tables can drop these; ``verify`` sees
what was done, the triggers only keep out accidents and other programs."""
