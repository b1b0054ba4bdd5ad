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

INSERT INTO public.candidates VALUES ('local', 'k-9fc3c6f19cd6', 'consumed', 'add', 9, 14, NULL, 'build-42', 'run-a13d604aa135', 'model', 'model', '2026-11-30T16:40:21.701477+00:00', '[]', '["m-9d4bca4cc036","m-1ceb3cc6b2ac","m-c70d0117c0be"]', 0, NULL, NULL, 1);
INSERT INTO public.candidates VALUES ('local', 'k-6815c630ae7b', 'admitted', 'add', 22, 24, 24, '@person', 'run-cd8896cc4155', 'person', 'user', '2026-11-30T16:40:21.995585+00:00', '[]', '[]', 0, NULL, NULL, NULL);

INSERT INTO public.candidates_jobs VALUES (13, 'local', 'j-19a327776d12', 'prepared', NULL, '[]', '["k-9fc3c6f19cd6"]', 'rules-1', 0, 0, '2026-11-30T16:40:21.800651+00:00');

INSERT INTO public.context_freezes VALUES (6, 'local', 'build-42', 'r-c965a8ee862d', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

INSERT INTO public.context_messages VALUES (3, 'local', 'build-42', 'm-9d4bca4cc036', 'user', 'openai', 'run-a13d604aa135', 11, 'user', '[]', '[]');
INSERT INTO public.context_messages VALUES (4, 'local', 'build-42', 'm-1ceb3cc6b2ac', 'assistant', 'openai', 'run-a13d604aa135', 14, 'model', '["c1"]', '[]');
INSERT INTO public.context_messages VALUES (5, 'local', 'build-42', 'm-c70d0117c0be', 'tool', 'openai', 'run-a13d604aa135', 19, 'tool', '[]', '["c1"]');
INSERT INTO public.context_messages VALUES (10, 'local', 'build-42', 'm-9b2b1b76748e', 'assistant', 'openai', 'run-a13d604aa135', 11, 'model', '[]', '[]');
INSERT INTO public.context_messages VALUES (18, 'local', 'build-42', 'm-da69feb63228', 'user', 'openai', 'run-fd223053b94c', 7, 'user', '[]', '[]');

INSERT INTO public.context_preambles VALUES (7, 'local', 'build-42', 'p-3fe5d59a59eb', 8);

INSERT INTO public.context_runs VALUES (2, 'local', 'build-42', 'run-a13d604aa135', 'succeeded', NULL, 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15857,"started":"2404402","runtime":"r-c965a8ee862d"}', 300, '2026-11-30T16:40:20.853878+00:00', '2026-11-30T16:40:21.715287+00:00', 11, 0, 0);
INSERT INTO public.context_runs VALUES (17, 'local', 'build-42', 'run-fd223053b94c', 'failed', 'KeyError', 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15857,"started":"2404402","runtime":"r-c965a8ee862d"}', 300, '2026-11-30T16:40:21.955862+00:00', '2026-11-30T16:40:21.963452+00:00', 19, 0, 0);
INSERT INTO public.context_runs VALUES (21, 'local', '@person', 'run-cd8896cc4155', 'succeeded', NULL, 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15857,"started":"2404402","runtime":"r-c965a8ee862d"}', 300, '2026-11-30T16:40:21.980805+00:00', '2026-11-30T16:40:21.997381+00:00', 23, 0, 0);

INSERT INTO public.context_sessions VALUES ('local', 'build-42', 'agent', NULL, NULL, NULL, NULL, 0, 0, 5, 62, 0, 0, 2, 0, 1, 19, '2026-11-30T16:40:21.963452+00:00');
INSERT INTO public.context_sessions VALUES ('local', '@person', 'agent', NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 1, 0, 20, 23, '2026-11-30T16:40:21.997381+00:00');

INSERT INTO public.context_shown VALUES (8, 'local', 'build-42', 'run-a13d604aa135', 'r-c965a8ee862d', '09e956e2468db05e7d6ce882434a92cc3ae81fd532c1c9cdc0296cc2abf54334', 'neutral-1', 'policy-1', 6, 'p-3fe5d59a59eb', 7, 6, 0, 200000, 52, 3);

INSERT INTO public.cursors VALUES ('context', 1, 1, 24, 'live', NULL, '2026-11-30T16:40:22.009998+00:00', '["context_compactions", "context_epochs", "context_freezes", "context_messages", "context_preambles", "context_runs", "context_sessions", "context_shown"]');
INSERT INTO public.cursors VALUES ('candidates', 1, 1, 24, 'live', NULL, '2026-11-30T16:40:22.155305+00:00', '["candidates", "candidates_jobs"]');
INSERT INTO public.cursors VALUES ('revisions', 1, 1, 24, 'live', NULL, '2026-11-30T16:40:22.168933+00:00', '["revisions", "revisions_entries"]');
INSERT INTO public.cursors VALUES ('memory_file', 1, 1, 23, 'live', NULL, '2026-11-30T16:40:22.188984+00:00', '["memory_file"]');

INSERT INTO public.events VALUES (1, '6f6734a7-a67b-5e46-9b49-09c9e7018ee5', 1, 'SessionOpened', 1, 'local', 'build-42', NULL, 'caller', 'operator', NULL, '2026-11-30T16:40:20.821485+00:00', '\x7b226f726967696e223a226167656e74222c22666f726d6174223a6e756c6c7d', NULL, NULL, NULL, '\x501a4f560fbd77964c225520ad11093a4e0da57bbf883a2bc8478d198b5d2fc3');
INSERT INTO public.events VALUES (2, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 1, 'RunStarted', 1, 'local', 'build-42', 'run-a13d604aa135', 'caller', 'operator', NULL, '2026-11-30T16:40:20.853878+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31353835372c2273746172746564223a2232343034343032222c2272756e74696d65223a22722d633936356138656538363264227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\x2122b324c6b66b14f53353ae5c8535010fcd1bb77ac77f2f76f6716ce1c238d1');
INSERT INTO public.events VALUES (3, '4c54b7a8-0b61-572f-b091-c6ec13b8b9e5', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-a13d604aa135', 'user', 'user', NULL, '2026-11-30T16:40:20.859520+00:00', '\x7b226d657373616765223a226d2d396434626361346363303336222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a31312c22636f756e746572223a22657374696d6174652d31222c2273697a65223a36332c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257687920646f657320746865206275696c64206661696c3f227d7d', '\xc3fcbf4c1c565e27df4ee942938951d2', '\x9c47ecee400cf6db4af9d6340b0d0680cd4847586caf2172f212bf919b45cbd1', '\x463512c23ba00c2592ebf61ff59eefd2d59f2a9cc15ad19f50fba5306b74eac4');
INSERT INTO public.events VALUES (4, '0de42016-8367-5ac7-8128-c9ecea1501e9', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-a13d604aa135', 'model', 'model', NULL, '2026-11-30T16:40:20.861782+00:00', '\x7b226d657373616765223a226d2d316365623363633662326163222c22726f6c65223a22617373697374616e74222c22666f726d223a226f70656e6169222c22746f6b656e73223a31342c22636f756e746572223a22657374696d6174652d31222c2273697a65223a3133352c2263616c6c73223a5b226331225d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a6e756c6c2c22746f6f6c5f63616c6c73223a5b7b226964223a226331222c2274797065223a2266756e6374696f6e222c2266756e6374696f6e223a7b226e616d65223a226d616b65222c22617267756d656e7473223a227b7d227d7d5d7d7d', '\xf81280926da85e5445e52e8a9b27a7bf', '\x85d6cbebd78488fefdd8f1d6a3021190fc9b9b19cf5ff3b42d40218b56dfdc27', '\x269a5f5fac377550dd98177e931e0ea2420d9983acedb5a38ae536082fc35bdc');
INSERT INTO public.events VALUES (5, '782f289a-9196-5178-b2ea-3bdac2148dfb', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-a13d604aa135', 'caller', 'tool', NULL, '2026-11-30T16:40:20.871336+00:00', '\x7b226d657373616765223a226d2d633730643031313763306265222c22726f6c65223a22746f6f6c222c22666f726d223a226f70656e6169222c22746f6b656e73223a31392c22636f756e746572223a22657374696d6174652d31222c2273697a65223a38302c2263616c6c73223a5b5d2c22726573756c7473223a5b226331225d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a22746f6f6c222c22746f6f6c5f63616c6c5f6964223a226331222c22636f6e74656e74223a226d616b653a20332e383120697320746f6f206f6c64227d7d', '\x04d471c75509264fbb4dd7a53150bce5', '\xf6054e464d761edbcbe8c371ed319d635d2da7ac67b9eb8482335a5b3799e33f', '\x08e7b3b90bd25700796bd8071a93ab645f38dd788dde25104210bcc272b9e4ca');
INSERT INTO public.events VALUES (6, 'efe76ccd-424f-51bf-9677-080c157da3d0', 1, 'MemoryFrozen', 1, 'local', 'build-42', 'run-a13d604aa135', 'minutebook', 'operator', NULL, '2026-11-30T16:40:20.919627+00:00', '\x7b227265766973696f6e223a302c22646967657374223a2265336230633434323938666331633134396166626634633839393666623932343237616534316534363439623933346361343935393931623738353262383535222c2272756e74696d65223a22722d633936356138656538363264222c22626c6f636b5f646967657374223a2265336230633434323938666331633134396166626634633839393666623932343237616534316534363439623933346361343935393931623738353262383535227d', '\x7b22626c6f636b223a22227d', '\x13817a4512834fdba3386daa3b4f11d3', '\xdaa6f44fc7ca95a697a53e2faced07fd14f28bc2ae0e7f193df7093f0b51c7a6', '\x077c5e4ca2002b0569fb0d587bd5f3f1b96705c66ab20d591bb9402ff8a671ec');
INSERT INTO public.events VALUES (7, 'efe76ccd-424f-51bf-9677-080c157da3d0', 2, 'PreambleRecorded', 1, 'local', 'build-42', 'run-a13d604aa135', 'compressor', 'operator', NULL, '2026-11-30T16:40:20.967919+00:00', '\x7b22707265616d626c65223a22702d336665356435396135396562222c22746f6b656e73223a387d', '\x7b2273797374656d223a22596f75206d656e64206275696c64732e222c22746f6f6c73223a5b5d7d', '\x8e590d82739139a570d517092e6ee1d3', '\x73b5929fba3b5ca37c9a4ffb92814aa6bd5252dd4f43b7c564513105e51c0ad8', '\xc385e39728b68ed1b537f5032048def1b6a166d1f4923a571de4990001e280b1');
INSERT INTO public.events VALUES (8, 'efe76ccd-424f-51bf-9677-080c157da3d0', 3, 'ContextShown', 1, 'local', 'build-42', 'run-a13d604aa135', 'compressor', 'operator', NULL, '2026-11-30T16:40:20.968036+00:00', '\x7b2272756e74696d65223a22722d633936356138656538363264222c22646967657374223a2230396539353665323436386462303565376436636538383234333461393263633361653831666435333263316339636463303239366363326162663534333334222c2272656e6465726572223a226e65757472616c2d31222c22706f6c696379223a22706f6c6963792d31222c227365656e223a362c22707265616d626c65223a22702d336665356435396135396562222c226d656d6f72795f7265766973696f6e223a302c2277696e646f77223a3230303030302c22746f6b656e73223a35322c226d65737361676573223a337d', NULL, NULL, NULL, '\x335408312b3d492740e74c3702e74a57dc6bdbb940871ed692cc9e851213e34b');
INSERT INTO public.events VALUES (9, 'f55e2899-30f6-58b4-a69c-218520d5572b', 1, 'CandidateProposed', 1, 'local', 'build-42', 'run-a13d604aa135', 'model', 'model', NULL, '2026-11-30T16:40:21.701477+00:00', '\x7b2263616e646964617465223a226b2d396663336336663139636436222c226f7065726174696f6e223a22616464222c2266696e64696e6773223a5b5d2c226d65737361676573223a5b226d2d396434626361346363303336222c226d2d316365623363633662326163222c226d2d633730643031313763306265225d7d', '\x7b226f7065726174696f6e223a7b226f7065726174696f6e223a22616464222c2274657874223a22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e227d7d', '\x7f9ff32839aed4fe6ab1a38c2d190756', '\x2e93f5622569ee4c50ab5f111ff8c84d8764a39520ec9fc648e1a72b3db3a885', '\xe2c59b2406178dea22a051f4c0872b8d2b71d5b4a6b1a54835b65a3081b76740');
INSERT INTO public.events VALUES (10, '1becf912-0b6e-5b5a-8574-1c5aea36d46a', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-a13d604aa135', 'model', 'model', NULL, '2026-11-30T16:40:21.711577+00:00', '\x7b226d657373616765223a226d2d396232623162373637343865222c22726f6c65223a22617373697374616e74222c22666f726d223a226f70656e6169222c22746f6b656e73223a31312c22636f756e746572223a22657374696d6174652d31222c2273697a65223a36362c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a224974206e656564732061206e65776572206d616b652e227d7d', '\x4ff005a3cb68ddc3e9887e52802424dd', '\x2681b97b9e9c531230c5d2ab12298e90dedb3d985567db32627839fed387cd54', '\x626fd1e222c995534b99fd4fd0bdc00508b2aff0d8005ee054e2ba4678468d37');
INSERT INTO public.events VALUES (11, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 2, 'RunSucceeded', 1, 'local', 'build-42', 'run-a13d604aa135', 'caller', 'operator', NULL, '2026-11-30T16:40:21.715287+00:00', '\x7b227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', NULL, NULL, NULL, '\x6e1a40784ac6a7ff8a2e029d6ef0621ff87796462b23d547529eaaea516a01ab');
INSERT INTO public.events VALUES (12, 'f55e2899-30f6-58b4-a69c-218520d5572b', 2, 'CandidateAdmitted', 1, 'local', 'build-42', 'run-a13d604aa135', 'model', 'model', 9, '2026-11-30T16:40:21.716850+00:00', '\x7b2263616e646964617465223a226b2d396663336336663139636436227d', NULL, NULL, NULL, '\x083aa7d6a8a493a9b4b28dcc062ef3f0117acbd84d81141791dc7a319c319abc');
INSERT INTO public.events VALUES (13, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 1, 'RevisionPrepared', 1, 'local', NULL, NULL, 'curator', 'model', NULL, '2026-11-30T16:40:21.800651+00:00', '\x7b227265766973696f6e223a312c226b696e64223a2263757261746564222c22706172656e74223a302c22626173655f646967657374223a6e756c6c2c22646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22656e7472696573223a5b7b22656e747279223a226532376366636633643762222c2273696e6365223a312c2263616e64696461746573223a5b226b2d396663336336663139636436225d2c2272756e223a2272756e2d613133643630346161313335222c2273657373696f6e223a226275696c642d3432222c226d65737361676573223a5b226d2d396434626361346363303336222c226d2d316365623363633662326163222c226d2d633730643031313763306265225d2c226163746f72223a226d6f64656c222c227472757374223a226d6f64656c222c22736861726564223a66616c73657d5d2c22696e70757473223a5b226b2d396663336336663139636436225d2c226a6f62223a226a2d313961333237373736643132222c2263757261746f72223a2272756c65732d31222c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22726573746f7265645f66726f6d223a6e756c6c2c226f7665727269646573223a5b5d2c2272656365697074223a5b2273697a65222c226c696e6573222c2268696464656e222c22686f6d6f676c79706873222c226d61726b7570222c226d65616e696e67222c2263726564656e7469616c73222c226475706c696361746573222c22646f63756d656e74222c22736872696e6b5f6775617264225d7d', '\x7b22656e7472696573223a5b22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e225d7d', '\xcd8f952136b633195aedb5218dc1010f', '\x29db0706a365dbfaeb29014300b01d9e224b4244b4c8130eac85796419561c70', '\x8317593a195d5b02d1f3925a1c867c1e281a32b4102fd04f9ade8d79c0269ee6');
INSERT INTO public.events VALUES (14, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 2, 'RevisionCommitted', 1, 'local', NULL, NULL, 'curator', 'model', 13, '2026-11-30T16:40:21.821766+00:00', '\x7b227265766973696f6e223a312c22646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22696e70757473223a5b226b2d396663336336663139636436225d7d', NULL, NULL, NULL, '\xbd24ccdb726c0de5970e43664d9d7deea582c729baa82b5e9531ef7f22530401');
INSERT INTO public.events VALUES (15, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 3, 'RevisionPrepared', 1, 'local', NULL, NULL, 'person', 'user', NULL, '2026-11-30T16:40:21.924855+00:00', '\x7b227265766973696f6e223a322c226b696e64223a226d616e75616c222c22706172656e74223a312c22626173655f646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22646967657374223a2236313863663164356662633062633161353663303066626430343237353965616433343936653663613133313035616531393065303133343233636338626135222c22656e7472696573223a5b7b22656e747279223a226532376366636633643762222c2273696e6365223a312c2263616e64696461746573223a5b226b2d396663336336663139636436225d2c2272756e223a2272756e2d613133643630346161313335222c2273657373696f6e223a226275696c642d3432222c226d65737361676573223a5b226d2d396434626361346363303336222c226d2d316365623363633662326163222c226d2d633730643031313763306265225d2c226163746f72223a226d6f64656c222c227472757374223a226d6f64656c222c22736861726564223a66616c73657d2c7b22656e747279223a226536336166363039653065222c2273696e6365223a322c2263616e64696461746573223a5b5d2c2272756e223a6e756c6c2c2273657373696f6e223a6e756c6c2c226d65737361676573223a5b5d2c226163746f72223a22706572736f6e222c227472757374223a2275736572222c22736861726564223a66616c73657d5d2c22696e70757473223a5b5d2c226a6f62223a6e756c6c2c2263757261746f72223a6e756c6c2c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22726573746f7265645f66726f6d223a6e756c6c2c226f7665727269646573223a5b5d2c2272656365697074223a5b2273697a65222c226c696e6573222c2268696464656e222c22686f6d6f676c79706873222c226d61726b7570222c226d65616e696e67222c2263726564656e7469616c73222c226475706c696361746573222c22646f63756d656e74225d7d', '\x7b22656e7472696573223a5b22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e222c224120706572736f6e2077726f746520746869732062792068616e642e225d7d', '\x6bd5abcd07d59ab9b870a4788f8b0f7b', '\x8cff60cd3a2f2af0c478b80f98fa4855a99af608c26c0ebc080d0463ba843444', '\xd0b1feca0def9ecc4155ab5e521abb9330b0d03ff1d2d1696669a0de3a4a9816');
INSERT INTO public.events VALUES (16, '0dc8752e-9ac7-5d68-a8c6-f48ac5daa17b', 4, 'RevisionCommitted', 1, 'local', NULL, NULL, 'person', 'user', NULL, '2026-11-30T16:40:21.924921+00:00', '\x7b227265766973696f6e223a322c22646967657374223a2236313863663164356662633062633161353663303066626430343237353965616433343936653663613133313035616531393065303133343233636338626135222c22696e70757473223a5b5d7d', NULL, NULL, NULL, '\x575f21c11f5ceff4caaf9f1aebd7f3a849f4fbe4693fa43d4e059729c2aeafb5');
INSERT INTO public.events VALUES (17, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 3, 'RunStarted', 1, 'local', 'build-42', 'run-fd223053b94c', 'caller', 'operator', NULL, '2026-11-30T16:40:21.955862+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31353835372c2273746172746564223a2232343034343032222c2272756e74696d65223a22722d633936356138656538363264227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\xce703288e8ecf3d335516178c1f1c1239327793f9b925a09b0f030b1a642d6b4');
INSERT INTO public.events VALUES (18, '2a3a05aa-086c-50da-b358-ea52528a816f', 1, 'MessageRecorded', 1, 'local', 'build-42', 'run-fd223053b94c', 'user', 'user', NULL, '2026-11-30T16:40:21.959384+00:00', '\x7b226d657373616765223a226d2d646136396665623633323238222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a372c22636f756e746572223a22657374696d6174652d31222c2273697a65223a34372c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a22416e64206e6f773f227d7d', '\x58af2f435d9c26af46d72a1f0db03302', '\x72ce06c407462f8b82921ce8a6fce8fe36e2653b5728b741591ef28e18aecd73', '\xd8cb68cf5c9e439f4199e2ae4fcc88953af9bf4399bd0a11fa65e6150b43bfa8');
INSERT INTO public.events VALUES (19, 'a90c6c30-1ffd-59b6-ae58-9b838219d309', 4, 'RunFailed', 1, 'local', 'build-42', 'run-fd223053b94c', 'caller', 'operator', NULL, '2026-11-30T16:40:21.963452+00:00', '\x7b226572726f72223a224b65794572726f72222c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', '\x7b226d657373616765223a2227676f6e6527227d', '\x02dc6c5b967b90ade5f6ec65f2c1874e', '\x7be9bc664dd028aa4d685f20e88de58d01367590c0e9cd624b38a7ca78c1d154', '\xa6a7134c35b11d3b0f002de0abf7ceaa4e113cfcbe844c583bc47afc4df1ac91');
INSERT INTO public.events VALUES (20, '74bb7a84-da06-50de-844d-6eb8593f8638', 1, 'SessionOpened', 1, 'local', '@person', NULL, 'caller', 'operator', NULL, '2026-11-30T16:40:21.974964+00:00', '\x7b226f726967696e223a226167656e74222c22666f726d6174223a6e756c6c7d', NULL, NULL, NULL, '\x13f9da3398986120934f5046c20208605feb4f70adb21b2a67b9a05f60869c3a');
INSERT INTO public.events VALUES (21, '0487667f-7410-5ab9-a374-3be68d5ffe58', 1, 'RunStarted', 1, 'local', '@person', 'run-cd8896cc4155', 'person', 'operator', NULL, '2026-11-30T16:40:21.980805+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31353835372c2273746172746564223a2232343034343032222c2272756e74696d65223a22722d633936356138656538363264227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\xd7fc1c41de2d0717af3582a195a28ef406757cee9407751c336db34286b0943f');
INSERT INTO public.events VALUES (22, '562dc7d0-4889-5cfb-9966-4360402677dc', 1, 'CandidateProposed', 1, 'local', '@person', 'run-cd8896cc4155', 'person', 'user', NULL, '2026-11-30T16:40:21.995585+00:00', '\x7b2263616e646964617465223a226b2d363831356336333061653762222c226f7065726174696f6e223a22616464222c2266696e64696e6773223a5b5d2c226d65737361676573223a5b5d7d', '\x7b226f7065726174696f6e223a7b226f7065726174696f6e223a22616464222c2274657874223a2252656c65617365732061726520637574206f6e205468757273646179732e227d7d', '\xa8b199bbbcd7bf77fffd8a4fa430bab6', '\xfcce8d66a54bb5d28bb277bbe8cad059b2eac28b2c45ee011d5c6e8c3b943030', '\x7c9d2cf02a5bd5c97cdc77d732227e1e6bcf5bac9bc5714382ac0813f856e9e8');
INSERT INTO public.events VALUES (23, '0487667f-7410-5ab9-a374-3be68d5ffe58', 2, 'RunSucceeded', 1, 'local', '@person', 'run-cd8896cc4155', 'caller', 'operator', NULL, '2026-11-30T16:40:21.997381+00:00', '\x7b227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', NULL, NULL, NULL, '\x9c0e77e6b6220eac1cfae5ce806b725c925b8efbcbddc159de75d5d4c840576f');
INSERT INTO public.events VALUES (24, '562dc7d0-4889-5cfb-9966-4360402677dc', 2, 'CandidateAdmitted', 1, 'local', '@person', 'run-cd8896cc4155', 'person', 'user', 22, '2026-11-30T16:40:22.003737+00:00', '\x7b2263616e646964617465223a226b2d363831356336333061653762227d', NULL, NULL, NULL, '\xcd634ec3af01b897b773748188dac17f46b830c22d2a7e6a221612ab682e7d0b');

INSERT INTO public.leases VALUES ('curate:local', '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15857,"started":"2404402","runtime":"r-c965a8ee862d"}', 1, '2026-11-30T16:40:21.852');

INSERT INTO public.log_head VALUES (1, 24, '\xcd634ec3af01b897b773748188dac17f46b830c22d2a7e6a221612ab682e7d0b');

INSERT INTO public.memory_file VALUES ('local', 2, '618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5', 16, NULL, NULL, NULL, NULL, 16);

INSERT INTO public.revisions VALUES (13, 'local', 1, 'curated', 0, 'committed', 14, 14, '2026-11-30T16:40:21.821766+00:00', '64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03', NULL, 'curator', NULL, NULL, 'j-19a327776d12', 'rules-1', NULL, 1, '["k-9fc3c6f19cd6"]', '["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]', '[]', NULL, 0, 0, NULL, '[1]');
INSERT INTO public.revisions VALUES (15, 'local', 2, 'manual', 1, 'committed', 16, 16, '2026-11-30T16:40:21.924921+00:00', '618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5', '64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03', 'person', NULL, NULL, NULL, NULL, NULL, 2, '[]', '["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]', '[]', NULL, 0, 0, NULL, '[1,2]');

INSERT INTO public.revisions_entries VALUES (1, 'local', 'e27cfcf3d7b', 'The build needs make 4.3 or newer.', 1, NULL, 14, 1, '["k-9fc3c6f19cd6"]', 'run-a13d604aa135', 'build-42', '["m-9d4bca4cc036","m-1ceb3cc6b2ac","m-c70d0117c0be"]', 'model', 'model', 0);
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
