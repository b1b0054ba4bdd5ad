CREATE FUNCTION public.minutebook_append(expected_streams uuid[], expected_versions bigint[], streams uuid[], versions bigint[], topics text[], schemas integer[], workspaces text[], sessions text[], runs text[], actors text[], trusts text[], causations bigint[], times text[], facts bytea[], payloads bytea[], salts bytea[], body_digests bytea[], digests bytea[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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
    PERFORM pg_notify('minutebook', (base + size)::text);
    RETURN base;
END $$;

CREATE FUNCTION public.minutebook_follow() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
END $$;

CREATE FUNCTION public.minutebook_head_moves() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.k <> OLD.k OR NEW.last_id <= OLD.last_id
       OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.last_id AND chain = NEW.chain_hash) THEN
        RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = 'log_append_only: the head moves with the events';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION public.minutebook_names_events() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.position)
       OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.by_position) THEN
        RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = 'log_append_only: an erasure names an event';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION public.minutebook_only_erasure() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
END $$;

CREATE FUNCTION public.minutebook_refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN RAISE EXCEPTION USING ERRCODE = 'MB002', MESSAGE = TG_ARGV[0]; END $$;

CREATE TABLE public.cursors (
    name text NOT NULL,
    version integer NOT NULL,
    generation integer NOT NULL,
    "position" bigint NOT NULL,
    status text NOT NULL,
    error text,
    heartbeat text
);

CREATE TABLE public.erased (
    "position" bigint NOT NULL,
    by_position bigint NOT NULL
);

CREATE TABLE public.events (
    "position" bigint NOT NULL,
    stream uuid NOT NULL,
    version bigint NOT NULL,
    topic text NOT NULL,
    schema integer,
    workspace text,
    session text,
    run text,
    actor text,
    trust text,
    causation bigint,
    "time" text,
    facts bytea NOT NULL,
    payload bytea,
    salt bytea,
    body_digest bytea,
    chain bytea NOT NULL
);

CREATE TABLE public.leases (
    name text NOT NULL,
    owner text NOT NULL,
    fence bigint NOT NULL,
    expires text NOT NULL
);

CREATE TABLE public.log_head (
    k smallint NOT NULL,
    last_id bigint NOT NULL,
    chain_hash bytea NOT NULL
);

CREATE TABLE public.store_schema (
    version integer NOT NULL
);

CREATE TABLE public.trackings (
    application_name text NOT NULL,
    notification_id bigint NOT NULL
);

INSERT INTO public.events VALUES (1, '64360d8c-3d6e-50d0-923e-32a28ab653fa', 1, 'MessageRecorded', 1, 'local', 'build-42', NULL, 'agent', 'operator', NULL, '2026-11-30T10:00:00.000000+00:00', '\x7b226d657373616765223a226d31222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a332c22636f756e746572223a22657374696d6174652d31222c2273697a65223a392c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a226d6573736167652031227d7d', '\x6530ad2dc42a15d242453fa5b2260437', '\x293107d66b1f6351a209ae48998064d6bec882d313809256ddf090dc6c4a5747', '\xc03cc1f94a1466dbe487f8f817e6ad3acf64a6c2ccabe9d6a110971fd32bcc75');
INSERT INTO public.events VALUES (2, '8808ee0b-7024-520c-95bb-29cf07d44bc7', 1, 'MessageRecorded', 1, 'local', 'build-42', NULL, 'agent', 'operator', NULL, '2026-11-30T10:00:00.000000+00:00', '\x7b226d657373616765223a226d32222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a332c22636f756e746572223a22657374696d6174652d31222c2273697a65223a392c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a226d6573736167652032227d7d', '\xaed95ff0e1c1b5ba52047e9446cc8c56', '\x9383b073055bccc5e4f294dc99ab675824d2c7bbcb5b26869a8bc4047414dcbc', '\xb86fe45d4df572adfabd46a2722b41be5b877ce56bbc7d88f8c6ee51054d90dd');
INSERT INTO public.events VALUES (3, '0564f6bd-28ba-5df9-99b6-8f32bf50f41b', 1, 'MessageRecorded', 1, 'local', 'build-42', NULL, 'agent', 'operator', NULL, '2026-11-30T10:00:00.000000+00:00', '\x7b226d657373616765223a226d33222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a332c22636f756e746572223a22657374696d6174652d31222c2273697a65223a392c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a226d6573736167652033227d7d', '\x365c7e596a0803a87bd18ca4ba245444', '\x7842443ca18e01482b6d5ce91e0c322425d682339b6dd2b5f084ee5e178dfd2a', '\xbca3ba7ad2dc8da02343ad5ea5d2d3dd6a7c1e475b242fef1859b5fdb9364b87');

INSERT INTO public.log_head VALUES (1, 3, '\xbca3ba7ad2dc8da02343ad5ea5d2d3dd6a7c1e475b242fef1859b5fdb9364b87');

INSERT INTO public.store_schema VALUES (1);

ALTER TABLE ONLY public.cursors
    ADD CONSTRAINT cursors_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.erased
    ADD CONSTRAINT erased_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_stream_version_key UNIQUE (stream, version);

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.log_head
    ADD CONSTRAINT log_head_pkey PRIMARY KEY (k);

ALTER TABLE ONLY public.store_schema
    ADD CONSTRAINT store_schema_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.trackings
    ADD CONSTRAINT trackings_pkey PRIMARY KEY (application_name);

CREATE INDEX events_by_session ON public.events USING btree (session, "position");

CREATE INDEX events_by_topic ON public.events USING btree (topic, "position");

CREATE TRIGGER erased_insert BEFORE INSERT ON public.erased FOR EACH ROW EXECUTE FUNCTION public.minutebook_names_events();

CREATE TRIGGER erased_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON public.erased FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_refuse('log_append_only: an erasure stays named');

CREATE TRIGGER events_follow AFTER INSERT ON public.events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_follow();

CREATE TRIGGER events_refuse BEFORE DELETE OR TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_refuse('log_append_only: events are never deleted');

CREATE TRIGGER events_update BEFORE UPDATE ON public.events FOR EACH ROW EXECUTE FUNCTION public.minutebook_only_erasure();

CREATE TRIGGER head_update BEFORE UPDATE ON public.log_head FOR EACH ROW EXECUTE FUNCTION public.minutebook_head_moves();

CREATE TRIGGER log_head_refuse BEFORE INSERT OR DELETE OR TRUNCATE ON public.log_head FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_refuse('log_append_only: there is one head, and it stays');
