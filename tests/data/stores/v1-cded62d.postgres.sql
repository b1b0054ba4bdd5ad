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

CREATE TABLE public.candidates (
    workspace text NOT NULL,
    candidate text NOT NULL,
    status text NOT NULL,
    operation text NOT NULL,
    "position" bigint NOT NULL,
    changed bigint NOT NULL,
    pending_since bigint,
    session text,
    run text,
    actor text NOT NULL,
    trust text NOT NULL,
    "time" text NOT NULL,
    findings text NOT NULL,
    messages text NOT NULL,
    attempts integer NOT NULL,
    last_error text,
    reason text,
    revision bigint
);

CREATE TABLE public.candidates_jobs (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    job text,
    outcome text NOT NULL,
    error text,
    reasons text NOT NULL,
    inputs text NOT NULL,
    curator text,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    "time" text NOT NULL
);

CREATE TABLE public.context_compactions (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    session text NOT NULL,
    compaction text NOT NULL,
    outcome text NOT NULL,
    reasons text NOT NULL,
    error text,
    policy text NOT NULL,
    summarizer text NOT NULL,
    range_digest text NOT NULL,
    supersedes text,
    anchor bigint,
    upto bigint,
    covers text NOT NULL,
    covers_count bigint NOT NULL,
    reduced text NOT NULL,
    summary_tokens bigint NOT NULL,
    tokens_before bigint NOT NULL,
    tokens_after bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    trust text NOT NULL,
    "time" text NOT NULL
);

CREATE TABLE public.context_epochs (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    session text NOT NULL,
    kind text NOT NULL,
    visible text NOT NULL,
    live text,
    undo text NOT NULL,
    redo text NOT NULL
);

CREATE TABLE public.context_freezes (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    session text NOT NULL,
    runtime text NOT NULL,
    revision bigint NOT NULL,
    digest text NOT NULL,
    block_digest text NOT NULL
);

CREATE TABLE public.context_messages (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    session text NOT NULL,
    message text NOT NULL,
    role text NOT NULL,
    form text NOT NULL,
    run text,
    tokens bigint NOT NULL,
    trust text NOT NULL,
    calls text NOT NULL,
    results text NOT NULL
);

CREATE TABLE public.context_preambles (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    session text NOT NULL,
    preamble text NOT NULL,
    tokens bigint NOT NULL
);

CREATE TABLE public.context_runs (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    session text NOT NULL,
    run text NOT NULL,
    status text NOT NULL,
    reason text,
    imported integer NOT NULL,
    owner text,
    lease_seconds double precision NOT NULL,
    started text NOT NULL,
    ended text,
    ended_position bigint,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL
);

CREATE TABLE public.context_sessions (
    workspace text NOT NULL,
    session text NOT NULL,
    origin text NOT NULL,
    format text,
    parent text,
    parent_position bigint,
    forked bigint,
    closed integer NOT NULL,
    suspended integer NOT NULL,
    messages bigint NOT NULL,
    tokens bigint NOT NULL,
    inherited_messages bigint NOT NULL,
    inherited_tokens bigint NOT NULL,
    runs bigint NOT NULL,
    compactions bigint NOT NULL,
    first_position bigint NOT NULL,
    last_position bigint NOT NULL,
    last_time text NOT NULL
);

CREATE TABLE public.context_shown (
    "position" bigint NOT NULL,
    workspace text NOT NULL,
    session text NOT NULL,
    run text,
    runtime text NOT NULL,
    digest text NOT NULL,
    renderer text NOT NULL,
    policy text NOT NULL,
    seen bigint NOT NULL,
    preamble text,
    preamble_position bigint,
    freeze_position bigint,
    memory_revision bigint,
    "window" bigint NOT NULL,
    tokens bigint NOT NULL,
    messages bigint NOT NULL
);

CREATE TABLE public.cursors (
    name text NOT NULL,
    version integer NOT NULL,
    generation integer NOT NULL,
    "position" bigint NOT NULL,
    status text NOT NULL,
    error text,
    heartbeat text,
    tables text
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

CREATE TABLE public.memory_file (
    workspace text NOT NULL,
    revision bigint NOT NULL,
    digest text,
    committed bigint,
    prepared_revision bigint,
    prepared_digest text,
    prepared_kind text,
    prepared bigint,
    "position" bigint NOT NULL
);

CREATE TABLE public.parked (
    projection text NOT NULL,
    "position" bigint NOT NULL,
    stream text NOT NULL,
    error text NOT NULL
);

CREATE TABLE public.revisions (
    prepared bigint NOT NULL,
    workspace text NOT NULL,
    revision bigint NOT NULL,
    kind text NOT NULL,
    parent bigint NOT NULL,
    status text NOT NULL,
    decided bigint,
    current_from bigint,
    "time" text NOT NULL,
    digest text NOT NULL,
    base_digest text,
    actor text NOT NULL,
    session text,
    run text,
    job text,
    curator text,
    restored_from bigint,
    entries integer NOT NULL,
    inputs text NOT NULL,
    receipt text NOT NULL,
    overrides text NOT NULL,
    reason text,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    staged text,
    rows text NOT NULL
);

CREATE TABLE public.revisions_entries (
    "row" bigint NOT NULL,
    workspace text NOT NULL,
    entry text NOT NULL,
    text text NOT NULL,
    since bigint NOT NULL,
    until bigint,
    "position" bigint NOT NULL,
    blame bigint NOT NULL,
    candidates text NOT NULL,
    run text,
    session text,
    messages text NOT NULL,
    actor text NOT NULL,
    trust text NOT NULL,
    shared integer NOT NULL
);

CREATE TABLE public.store_schema (
    version integer NOT NULL
);

CREATE TABLE public.trackings (
    application_name text NOT NULL,
    notification_id bigint NOT NULL
);

INSERT INTO public.candidates VALUES ('local', 'k-33ca423f9e7f', 'consumed', 'add', 9, 14, NULL, 'build-42', 'run-dcbc989269d1', 'model', 'model', '2026-11-30T16:40:10.821288+00:00', '[]', '["m-58e4c88dadb9","m-2af5320e3ac9","m-37f8b9357910"]', 0, NULL, NULL, 1);
INSERT INTO public.candidates VALUES ('local', 'k-2cb9eeb79781', 'admitted', 'add', 22, 24, 24, '@person', 'run-63f212330f57', 'person', 'user', '2026-11-30T16:40:10.989568+00:00', '[]', '[]', 0, NULL, NULL, NULL);

INSERT INTO public.candidates_jobs VALUES (13, 'local', 'j-7ef5a8c51887', 'prepared', NULL, '[]', '["k-33ca423f9e7f"]', 'rules-1', 0, 0, '2026-11-30T16:40:10.888101+00:00');

INSERT INTO public.context_freezes VALUES (6, 'local', 'build-42', 'r-96af6a794e61', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

INSERT INTO public.context_messages VALUES (3, 'local', 'build-42', 'm-58e4c88dadb9', 'user', 'openai', 'run-dcbc989269d1', 11, 'user', '[]', '[]');
INSERT INTO public.context_messages VALUES (4, 'local', 'build-42', 'm-2af5320e3ac9', 'assistant', 'openai', 'run-dcbc989269d1', 14, 'model', '["c1"]', '[]');
INSERT INTO public.context_messages VALUES (5, 'local', 'build-42', 'm-37f8b9357910', 'tool', 'openai', 'run-dcbc989269d1', 19, 'tool', '[]', '["c1"]');
INSERT INTO public.context_messages VALUES (10, 'local', 'build-42', 'm-e9b1e5076bfe', 'assistant', 'openai', 'run-dcbc989269d1', 11, 'model', '[]', '[]');
INSERT INTO public.context_messages VALUES (18, 'local', 'build-42', 'm-51e32a4fca76', 'user', 'openai', 'run-7f10f393b0b0', 7, 'user', '[]', '[]');

INSERT INTO public.context_preambles VALUES (7, 'local', 'build-42', 'p-de336137cc38', 8);

INSERT INTO public.context_runs VALUES (2, 'local', 'build-42', 'run-dcbc989269d1', 'succeeded', NULL, 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15750,"started":"2403421","runtime":"r-96af6a794e61"}', 300, '2026-11-30T16:40:10.679137+00:00', '2026-11-30T16:40:10.832679+00:00', 11, 0, 0);
INSERT INTO public.context_runs VALUES (17, 'local', 'build-42', 'run-7f10f393b0b0', 'failed', 'KeyError', 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15750,"started":"2403421","runtime":"r-96af6a794e61"}', 300, '2026-11-30T16:40:10.963515+00:00', '2026-11-30T16:40:10.971581+00:00', 19, 0, 0);
INSERT INTO public.context_runs VALUES (21, 'local', '@person', 'run-63f212330f57', 'succeeded', NULL, 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15750,"started":"2403421","runtime":"r-96af6a794e61"}', 300, '2026-11-30T16:40:10.979855+00:00', '2026-11-30T16:40:10.999189+00:00', 23, 0, 0);

INSERT INTO public.context_sessions VALUES ('local', 'build-42', 'agent', NULL, NULL, NULL, NULL, 0, 0, 5, 62, 0, 0, 2, 0, 1, 19, '2026-11-30T16:40:10.971581+00:00');
INSERT INTO public.context_sessions VALUES ('local', '@person', 'agent', NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 1, 0, 20, 23, '2026-11-30T16:40:10.999189+00:00');

INSERT INTO public.context_shown VALUES (8, 'local', 'build-42', 'run-dcbc989269d1', 'r-96af6a794e61', '8e54c423c5bd60b0a079d17b33ed1d19b00361db0bc91b59b1e5bfd6bb3ee6ef', 'neutral-1', 'policy-1', 6, 'p-de336137cc38', 7, 6, 0, 200000, 52, 3);

INSERT INTO public.cursors VALUES ('context', 1, 1, 24, 'live', NULL, '2026-11-30T16:40:11.007853+00:00', '["context_compactions", "context_epochs", "context_freezes", "context_messages", "context_preambles", "context_runs", "context_sessions", "context_shown"]');
INSERT INTO public.cursors VALUES ('candidates', 1, 1, 24, 'live', NULL, '2026-11-30T16:40:11.041790+00:00', '["candidates", "candidates_jobs"]');
INSERT INTO public.cursors VALUES ('revisions', 1, 1, 24, 'live', NULL, '2026-11-30T16:40:11.056936+00:00', '["revisions", "revisions_entries"]');
INSERT INTO public.cursors VALUES ('memory_file', 1, 1, 23, 'live', NULL, '2026-11-30T16:40:11.081515+00:00', '["memory_file"]');

INSERT INTO public.events VALUES (1, '6f6734a7-a67b-5e46-9b49-09c9e7018ee5', 1, 'SessionOpened', 1, 'local', 'build-42', NULL, 'caller', 'operator', NULL, '2026-11-30T16:40:10.653076+00:00', '\x7b226f726967696e223a226167656e74222c22666f726d6174223a6e756c6c7d', NULL, NULL, NULL, '\xa7a1f750426c8c8e1aab55bdeb5cc22e76707d8c1aca4f16432dfcd6144ebbed');
INSERT INTO public.events VALUES (2, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 1, 'RunStarted', 1, 'local', 'build-42', 'run-dcbc989269d1', 'caller', 'operator', NULL, '2026-11-30T16:40:10.679137+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31353735302c2273746172746564223a2232343033343231222c2272756e74696d65223a22722d393661663661373934653631227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\xe5e555b03d325c02430f13dea9df378ce93cfc16c57aa202319f2a589d7cd472');
INSERT INTO public.events VALUES (3, '7e123c54-f694-515b-b8f0-99391c5a52c4', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-dcbc989269d1', 'user', 'user', NULL, '2026-11-30T16:40:10.681518+00:00', '\x7b226d657373616765223a226d2d353865346338386461646239222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a31312c22636f756e746572223a22657374696d6174652d31222c2273697a65223a36332c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257687920646f657320746865206275696c64206661696c3f227d7d', '\xed658201d83cc407cd4b62c50c57199a', '\x499ba76eafca7575aeb87b9254aba2ba1971889ab4500ac90e245d50b7e66607', '\x2c4e2839ba6d664e7ea7a12d72ce9e6407ddb56035f2a00ba519a26038f01e78');
INSERT INTO public.events VALUES (4, 'b1d9d050-112a-51a1-997d-e3b6a81fe930', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-dcbc989269d1', 'model', 'model', NULL, '2026-11-30T16:40:10.685640+00:00', '\x7b226d657373616765223a226d2d326166353332306533616339222c22726f6c65223a22617373697374616e74222c22666f726d223a226f70656e6169222c22746f6b656e73223a31342c22636f756e746572223a22657374696d6174652d31222c2273697a65223a3133352c2263616c6c73223a5b226331225d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a6e756c6c2c22746f6f6c5f63616c6c73223a5b7b226964223a226331222c2274797065223a2266756e6374696f6e222c2266756e6374696f6e223a7b226e616d65223a226d616b65222c22617267756d656e7473223a227b7d227d7d5d7d7d', '\x279154d19196c6c41e2afd01503708c6', '\x1dd1f9a1c110aec6beb761b0aa36ae3d8b75ea2c1e2daa175f49f67921bc3137', '\x040ee19027f2fafeb329bb1db6f83d7c32cddb948f830c9bafa2929cf00c3c12');
INSERT INTO public.events VALUES (5, '6089cfa7-5a11-5ae4-bfeb-23bed052bb26', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-dcbc989269d1', 'caller', 'tool', NULL, '2026-11-30T16:40:10.691244+00:00', '\x7b226d657373616765223a226d2d333766386239333537393130222c22726f6c65223a22746f6f6c222c22666f726d223a226f70656e6169222c22746f6b656e73223a31392c22636f756e746572223a22657374696d6174652d31222c2273697a65223a38302c2263616c6c73223a5b5d2c22726573756c7473223a5b226331225d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a22746f6f6c222c22746f6f6c5f63616c6c5f6964223a226331222c22636f6e74656e74223a226d616b653a20332e383120697320746f6f206f6c64227d7d', '\x7cd0985abdc4885e5b22bd2c4008ae3c', '\xa22c8e119e1b0504262cdf77771a1d6656255e4649f20fc82d23faeb9da15e57', '\xf06e2f5d555414ef294ed89374ed7733e814362ddd4c7d58644bcfa5c34b6c09');
INSERT INTO public.events VALUES (6, 'c49ac324-be97-5136-8531-90907126a733', 1, 'MemoryFrozen', 1, 'local', 'build-42', 'run-dcbc989269d1', 'minutebook', 'operator', NULL, '2026-11-30T16:40:10.769301+00:00', '\x7b227265766973696f6e223a302c22646967657374223a2265336230633434323938666331633134396166626634633839393666623932343237616534316534363439623933346361343935393931623738353262383535222c2272756e74696d65223a22722d393661663661373934653631222c22626c6f636b5f646967657374223a2265336230633434323938666331633134396166626634633839393666623932343237616534316534363439623933346361343935393931623738353262383535227d', '\x7b22626c6f636b223a22227d', '\x9833c42b7d574a11de858004534fe3a9', '\xc5e56d226c78bb26fc95f0f2c8c41dcfae97584baa7b01e3d6d55aafbc88af14', '\xe0d5d919588eaabac72072b527de0554f8c9ca978d66d532d460f92545a16cb2');
INSERT INTO public.events VALUES (7, 'c49ac324-be97-5136-8531-90907126a733', 2, 'PreambleRecorded', 1, 'local', 'build-42', 'run-dcbc989269d1', 'compressor', 'operator', NULL, '2026-11-30T16:40:10.817503+00:00', '\x7b22707265616d626c65223a22702d646533333631333763633338222c22746f6b656e73223a387d', '\x7b2273797374656d223a22596f75206d656e64206275696c64732e222c22746f6f6c73223a5b5d7d', '\x85ce97b7e990dd0fb9134b3baa878b7d', '\xd97bebacbbfdff2b4ffe0a7673c1588f0e948d17d819f1f5cd7c62bed3ba08b4', '\xb4e478445e1348157c00adb4db625bbbf915414b3ce90bdd57752374ccac03d5');
INSERT INTO public.events VALUES (8, 'c49ac324-be97-5136-8531-90907126a733', 3, 'ContextShown', 1, 'local', 'build-42', 'run-dcbc989269d1', 'compressor', 'operator', NULL, '2026-11-30T16:40:10.817599+00:00', '\x7b2272756e74696d65223a22722d393661663661373934653631222c22646967657374223a2238653534633432336335626436306230613037396431376233336564316431396230303336316462306263393162353962316535626664366262336565366566222c2272656e6465726572223a226e65757472616c2d31222c22706f6c696379223a22706f6c6963792d31222c227365656e223a362c22707265616d626c65223a22702d646533333631333763633338222c226d656d6f72795f7265766973696f6e223a302c2277696e646f77223a3230303030302c22746f6b656e73223a35322c226d65737361676573223a337d', NULL, NULL, NULL, '\xf41af1576269d21d00693ab8876fb5bc088d17c90d1afeff4cdc12d18f8798f3');
INSERT INTO public.events VALUES (9, '0ec7b455-d402-5def-8187-e41c38d9a517', 1, 'CandidateProposed', 1, 'local', 'build-42', 'run-dcbc989269d1', 'model', 'model', NULL, '2026-11-30T16:40:10.821288+00:00', '\x7b2263616e646964617465223a226b2d333363613432336639653766222c226f7065726174696f6e223a22616464222c2266696e64696e6773223a5b5d2c226d65737361676573223a5b226d2d353865346338386461646239222c226d2d326166353332306533616339222c226d2d333766386239333537393130225d7d', '\x7b226f7065726174696f6e223a7b226f7065726174696f6e223a22616464222c2274657874223a22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e227d7d', '\xdb009e2e00a5b1e4700eb7bfc2c43b29', '\x9bcb968842fb0bffac744bae033bf454ad7111e19b2882614fff8c1f7c283a6a', '\x9b39a3249aebab4431de718e5cd27d255471eb8221b3b9841a05171316e3f79d');
INSERT INTO public.events VALUES (10, '9649381b-5488-513f-828f-7e0af158cf12', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-dcbc989269d1', 'model', 'model', NULL, '2026-11-30T16:40:10.830538+00:00', '\x7b226d657373616765223a226d2d653962316535303736626665222c22726f6c65223a22617373697374616e74222c22666f726d223a226f70656e6169222c22746f6b656e73223a31312c22636f756e746572223a22657374696d6174652d31222c2273697a65223a36362c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a224974206e656564732061206e65776572206d616b652e227d7d', '\xca9c7d426b47bc338c6f84a5aac1c913', '\x9c309fcd3792b3e7c7af6b76773209e67b49d28975b1373e9428d7cccedbe3ea', '\xd1c71e5c414c51b82736d3a0c41793c1a1e1e3807b791813c173e56d6f8a5e70');
INSERT INTO public.events VALUES (11, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 2, 'RunSucceeded', 1, 'local', 'build-42', 'run-dcbc989269d1', 'caller', 'operator', NULL, '2026-11-30T16:40:10.832679+00:00', '\x7b227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', NULL, NULL, NULL, '\x373df75b2fa55251833c6ac02484e5a6aafbe8e66e271acccc79f59876a6370e');
INSERT INTO public.events VALUES (12, '0ec7b455-d402-5def-8187-e41c38d9a517', 2, 'CandidateAdmitted', 1, 'local', 'build-42', 'run-dcbc989269d1', 'model', 'model', 9, '2026-11-30T16:40:10.833824+00:00', '\x7b2263616e646964617465223a226b2d333363613432336639653766227d', NULL, NULL, NULL, '\xc38948641e94766836fd5f1590f7b612fc4d5adab737e95b6b0269238e358969');
INSERT INTO public.events VALUES (13, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 1, 'RevisionPrepared', 1, 'local', NULL, NULL, 'curator', 'model', NULL, '2026-11-30T16:40:10.888101+00:00', '\x7b227265766973696f6e223a312c226b696e64223a2263757261746564222c22706172656e74223a302c22626173655f646967657374223a6e756c6c2c22646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22656e7472696573223a5b7b22656e747279223a226566373864346163343434222c2273696e6365223a312c2263616e64696461746573223a5b226b2d333363613432336639653766225d2c2272756e223a2272756e2d646362633938393236396431222c2273657373696f6e223a226275696c642d3432222c226d65737361676573223a5b226d2d353865346338386461646239222c226d2d326166353332306533616339222c226d2d333766386239333537393130225d2c226163746f72223a226d6f64656c222c227472757374223a226d6f64656c222c22736861726564223a66616c73657d5d2c22696e70757473223a5b226b2d333363613432336639653766225d2c226a6f62223a226a2d376566356138633531383837222c2263757261746f72223a2272756c65732d31222c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22726573746f7265645f66726f6d223a6e756c6c2c226f7665727269646573223a5b5d2c2272656365697074223a5b2273697a65222c226c696e6573222c2268696464656e222c22686f6d6f676c79706873222c226d61726b7570222c226d65616e696e67222c2263726564656e7469616c73222c226475706c696361746573222c22646f63756d656e74222c22736872696e6b5f6775617264225d7d', '\x7b22656e7472696573223a5b22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e225d7d', '\xb871483692b64268b7d8ca601d53808d', '\x392533cc66f1820f02cdef037c5e520c980dfea21d73411321de8c29a52f3a29', '\x0cce71d125e00dffce8e724d61d979f7db441675abf3bb1a177322c34b3f88bd');
INSERT INTO public.events VALUES (14, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 2, 'RevisionCommitted', 1, 'local', NULL, NULL, 'curator', 'model', 13, '2026-11-30T16:40:10.897048+00:00', '\x7b227265766973696f6e223a312c22646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22696e70757473223a5b226b2d333363613432336639653766225d7d', NULL, NULL, NULL, '\x8e72e7a5fb48cc5cf4c0319b9672dc476cf73248a16cd88e51b8203b91220288');
INSERT INTO public.events VALUES (15, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 3, 'RevisionPrepared', 1, 'local', NULL, NULL, 'person', 'user', NULL, '2026-11-30T16:40:10.938544+00:00', '\x7b227265766973696f6e223a322c226b696e64223a226d616e75616c222c22706172656e74223a312c22626173655f646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22646967657374223a2236313863663164356662633062633161353663303066626430343237353965616433343936653663613133313035616531393065303133343233636338626135222c22656e7472696573223a5b7b22656e747279223a226566373864346163343434222c2273696e6365223a312c2263616e64696461746573223a5b226b2d333363613432336639653766225d2c2272756e223a2272756e2d646362633938393236396431222c2273657373696f6e223a226275696c642d3432222c226d65737361676573223a5b226d2d353865346338386461646239222c226d2d326166353332306533616339222c226d2d333766386239333537393130225d2c226163746f72223a226d6f64656c222c227472757374223a226d6f64656c222c22736861726564223a66616c73657d2c7b22656e747279223a226536336166363039653065222c2273696e6365223a322c2263616e64696461746573223a5b5d2c2272756e223a6e756c6c2c2273657373696f6e223a6e756c6c2c226d65737361676573223a5b5d2c226163746f72223a22706572736f6e222c227472757374223a2275736572222c22736861726564223a66616c73657d5d2c22696e70757473223a5b5d2c226a6f62223a6e756c6c2c2263757261746f72223a6e756c6c2c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22726573746f7265645f66726f6d223a6e756c6c2c226f7665727269646573223a5b5d2c2272656365697074223a5b2273697a65222c226c696e6573222c2268696464656e222c22686f6d6f676c79706873222c226d61726b7570222c226d65616e696e67222c2263726564656e7469616c73222c226475706c696361746573222c22646f63756d656e74225d7d', '\x7b22656e7472696573223a5b22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e222c224120706572736f6e2077726f746520746869732062792068616e642e225d7d', '\xc230e73aaf8ed5ba873bf39715198d25', '\xdda5d566922d20545b41de05971ae3b9171a7fcecc9b26a0ddc37e1e19f13ac1', '\x47f02ec3edae92d91612999157389ebc63759832aed2175189aa991d9641df7b');
INSERT INTO public.events VALUES (16, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 4, 'RevisionCommitted', 1, 'local', NULL, NULL, 'person', 'user', NULL, '2026-11-30T16:40:10.938589+00:00', '\x7b227265766973696f6e223a322c22646967657374223a2236313863663164356662633062633161353663303066626430343237353965616433343936653663613133313035616531393065303133343233636338626135222c22696e70757473223a5b5d7d', NULL, NULL, NULL, '\x6c4f7429d286e1ef30ee6417eb49bb283fa441d2a991b86ed0e08eaa2f863931');
INSERT INTO public.events VALUES (17, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 3, 'RunStarted', 1, 'local', 'build-42', 'run-7f10f393b0b0', 'caller', 'operator', NULL, '2026-11-30T16:40:10.963515+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31353735302c2273746172746564223a2232343033343231222c2272756e74696d65223a22722d393661663661373934653631227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\xab2bb6ca3e883c9ff0ed5f57031b2007986f3e3ed1b781f0f80253139e586e2c');
INSERT INTO public.events VALUES (18, '245799f9-8c0c-53fb-8593-c05d606c7f75', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-7f10f393b0b0', 'user', 'user', NULL, '2026-11-30T16:40:10.966551+00:00', '\x7b226d657373616765223a226d2d353165333261346663613736222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a372c22636f756e746572223a22657374696d6174652d31222c2273697a65223a34372c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c7d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a22416e64206e6f773f227d7d', '\xda9e19dc22d956f10bc89b6ccb366c51', '\x0a7d27b0ef5d2702a49978b5fd3f174401faa915146515ac638754964e538b39', '\x492cd2f457ab06aacab44c9a4041b19cf7751886f84571fa634aec19b17b9e5e');
INSERT INTO public.events VALUES (19, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 4, 'RunFailed', 1, 'local', 'build-42', 'run-7f10f393b0b0', 'caller', 'operator', NULL, '2026-11-30T16:40:10.971581+00:00', '\x7b226572726f72223a224b65794572726f72222c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', '\x7b226d657373616765223a2227676f6e6527227d', '\xd05721549e56bf404236dd97e0b3b1cb', '\x8ecdc6a1ffcfcd90bb81558ae55161419731a604d5e37cfc68355a26116b9996', '\x1b088875ae9c1cad58748b8cc3ce5db0a5114d9dd5e25eb68202d63e2563dfb1');
INSERT INTO public.events VALUES (20, '74bb7a84-da06-50de-844d-6eb8593f8638', 1, 'SessionOpened', 1, 'local', '@person', NULL, 'caller', 'operator', NULL, '2026-11-30T16:40:10.974288+00:00', '\x7b226f726967696e223a226167656e74222c22666f726d6174223a6e756c6c7d', NULL, NULL, NULL, '\x35b0084e7f7d9d8728745bd24a0a625d3f503e7a2b8edaee4b9fa28da9889125');
INSERT INTO public.events VALUES (21, '0487667f-7410-5ab9-a374-3be68d5ffe58', 1, 'RunStarted', 1, 'local', '@person', 'run-63f212330f57', 'person', 'operator', NULL, '2026-11-30T16:40:10.979855+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31353735302c2273746172746564223a2232343033343231222c2272756e74696d65223a22722d393661663661373934653631227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\x7a09ef37a9bc69107b6794085ad840ff9fb309fe1cdbae641737c6946499a7dd');
INSERT INTO public.events VALUES (22, 'ad85832c-6268-526e-b6b1-8ff03eeba8a0', 1, 'CandidateProposed', 1, 'local', '@person', 'run-63f212330f57', 'person', 'user', NULL, '2026-11-30T16:40:10.989568+00:00', '\x7b2263616e646964617465223a226b2d326362396565623739373831222c226f7065726174696f6e223a22616464222c2266696e64696e6773223a5b5d2c226d65737361676573223a5b5d7d', '\x7b226f7065726174696f6e223a7b226f7065726174696f6e223a22616464222c2274657874223a2252656c65617365732061726520637574206f6e205468757273646179732e227d7d', '\xd3937d07647a5a2b8fdab45d5b307c58', '\x7994d0da54f26e0bdc28c00cbf2a7083ed583b4a61ac5b20ad02299896b78553', '\xdd99de10a485ab67421f6431dee9b3b3fda84876ba5b9a34f4791334bbec7378');
INSERT INTO public.events VALUES (23, '0487667f-7410-5ab9-a374-3be68d5ffe58', 2, 'RunSucceeded', 1, 'local', '@person', 'run-63f212330f57', 'caller', 'operator', NULL, '2026-11-30T16:40:10.999189+00:00', '\x7b227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', NULL, NULL, NULL, '\x798f0da74c68d89d702683e3aef0fc682ee2528cfe2e055ead073ed4c4024b8c');
INSERT INTO public.events VALUES (24, 'ad85832c-6268-526e-b6b1-8ff03eeba8a0', 2, 'CandidateAdmitted', 1, 'local', '@person', 'run-63f212330f57', 'person', 'user', 22, '2026-11-30T16:40:11.000307+00:00', '\x7b2263616e646964617465223a226b2d326362396565623739373831227d', NULL, NULL, NULL, '\xcfc7674123e3f6d1e7b5c466fda64962f73a4e97b04ab2d10e277448d0c23566');

INSERT INTO public.log_head VALUES (1, 24, '\xcfc7674123e3f6d1e7b5c466fda64962f73a4e97b04ab2d10e277448d0c23566');

INSERT INTO public.memory_file VALUES ('local', 2, '618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5', 16, NULL, NULL, NULL, NULL, 16);

INSERT INTO public.revisions VALUES (13, 'local', 1, 'curated', 0, 'committed', 14, 14, '2026-11-30T16:40:10.897048+00:00', '64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03', NULL, 'curator', NULL, NULL, 'j-7ef5a8c51887', 'rules-1', NULL, 1, '["k-33ca423f9e7f"]', '["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]', '[]', NULL, 0, 0, NULL, '[1]');
INSERT INTO public.revisions VALUES (15, 'local', 2, 'manual', 1, 'committed', 16, 16, '2026-11-30T16:40:10.938589+00:00', '618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5', '64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03', 'person', NULL, NULL, NULL, NULL, NULL, 2, '[]', '["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]', '[]', NULL, 0, 0, NULL, '[1,2]');

INSERT INTO public.revisions_entries VALUES (1, 'local', 'ef78d4ac444', 'The build needs make 4.3 or newer.', 1, NULL, 14, 1, '["k-33ca423f9e7f"]', 'run-dcbc989269d1', 'build-42', '["m-58e4c88dadb9","m-2af5320e3ac9","m-37f8b9357910"]', 'model', 'model', 0);
INSERT INTO public.revisions_entries VALUES (2, 'local', 'e63af609e0e', 'A person wrote this by hand.', 2, NULL, 16, 2, '[]', NULL, NULL, '[]', 'person', 'user', 0);

INSERT INTO public.store_schema VALUES (1);

ALTER TABLE ONLY public.candidates_jobs
    ADD CONSTRAINT candidates_jobs_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.candidates
    ADD CONSTRAINT candidates_pkey PRIMARY KEY (workspace, candidate);

ALTER TABLE ONLY public.context_compactions
    ADD CONSTRAINT context_compactions_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.context_epochs
    ADD CONSTRAINT context_epochs_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.context_freezes
    ADD CONSTRAINT context_freezes_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.context_messages
    ADD CONSTRAINT context_messages_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.context_preambles
    ADD CONSTRAINT context_preambles_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.context_runs
    ADD CONSTRAINT context_runs_pkey PRIMARY KEY ("position");

ALTER TABLE ONLY public.context_sessions
    ADD CONSTRAINT context_sessions_pkey PRIMARY KEY (workspace, session);

ALTER TABLE ONLY public.context_shown
    ADD CONSTRAINT context_shown_pkey PRIMARY KEY ("position");

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

ALTER TABLE ONLY public.memory_file
    ADD CONSTRAINT memory_file_pkey PRIMARY KEY (workspace);

ALTER TABLE ONLY public.parked
    ADD CONSTRAINT parked_pkey PRIMARY KEY (projection, "position");

ALTER TABLE ONLY public.revisions_entries
    ADD CONSTRAINT revisions_entries_pkey PRIMARY KEY ("row");

ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (prepared);

ALTER TABLE ONLY public.store_schema
    ADD CONSTRAINT store_schema_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.trackings
    ADD CONSTRAINT trackings_pkey PRIMARY KEY (application_name);

CREATE INDEX candidates_by_status ON public.candidates USING btree (workspace, status, pending_since);

CREATE INDEX candidates_jobs_by_position ON public.candidates_jobs USING btree (workspace, "position");

CREATE INDEX context_compactions_by_id ON public.context_compactions USING btree (workspace, compaction);

CREATE INDEX context_compactions_by_session ON public.context_compactions USING btree (workspace, session, "position");

CREATE INDEX context_epochs_by_session ON public.context_epochs USING btree (workspace, session, "position");

CREATE INDEX context_freezes_by_session ON public.context_freezes USING btree (workspace, session, "position");

CREATE INDEX context_messages_by_id ON public.context_messages USING btree (workspace, session, message);

CREATE INDEX context_messages_by_session ON public.context_messages USING btree (workspace, session, "position");

CREATE INDEX context_preambles_by_session ON public.context_preambles USING btree (workspace, session, "position");

CREATE INDEX context_runs_by_session ON public.context_runs USING btree (workspace, session, "position");

CREATE INDEX context_shown_by_session ON public.context_shown USING btree (workspace, session, "position");

CREATE INDEX events_by_session ON public.events USING btree (session, "position");

CREATE INDEX events_by_topic ON public.events USING btree (topic, "position");

CREATE INDEX revisions_by_number ON public.revisions USING btree (workspace, revision);

CREATE INDEX revisions_by_position ON public.revisions USING btree (workspace, current_from);

CREATE INDEX revisions_entries_by_entry ON public.revisions_entries USING btree (workspace, entry);

CREATE TRIGGER erased_insert BEFORE INSERT ON public.erased FOR EACH ROW EXECUTE FUNCTION public.minutebook_names_events();

CREATE TRIGGER erased_refuse BEFORE DELETE OR UPDATE OR TRUNCATE ON public.erased FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_refuse('log_append_only: an erasure stays named');

CREATE TRIGGER events_follow AFTER INSERT ON public.events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_follow();

CREATE TRIGGER events_refuse BEFORE DELETE OR TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_refuse('log_append_only: events are never deleted');

CREATE TRIGGER events_update BEFORE UPDATE ON public.events FOR EACH ROW EXECUTE FUNCTION public.minutebook_only_erasure();

CREATE TRIGGER head_update BEFORE UPDATE ON public.log_head FOR EACH ROW EXECUTE FUNCTION public.minutebook_head_moves();

CREATE TRIGGER log_head_refuse BEFORE INSERT OR DELETE OR TRUNCATE ON public.log_head FOR EACH STATEMENT EXECUTE FUNCTION public.minutebook_refuse('log_append_only: there is one head, and it stays');
