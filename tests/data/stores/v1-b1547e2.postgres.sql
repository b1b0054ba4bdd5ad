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

INSERT INTO public.candidates VALUES ('w-74a980085239', 'k-44993d608630', 'consumed', 'add', 9, 14, NULL, 'build-42', 'run-74d367a6e52a', 'model', 'model', '2026-11-30T16:39:25.640013+00:00', '[]', '["m-a855a5cd297a","m-89221493a1fe","m-8058da50c6f2"]', 0, NULL, NULL, 1);
INSERT INTO public.candidates VALUES ('w-74a980085239', 'k-596ca5ba3ea6', 'admitted', 'add', 22, 24, 24, '@person', 'run-1f5f26ff7a1a', 'person', 'user', '2026-11-30T16:39:25.869938+00:00', '[]', '[]', 0, NULL, NULL, NULL);

INSERT INTO public.candidates_jobs VALUES (13, 'w-74a980085239', 'j-c78798e2fa21', 'prepared', NULL, '[]', '["k-44993d608630"]', 'rules-1', 0, 0, '2026-11-30T16:39:25.731320+00:00');

INSERT INTO public.context_freezes VALUES (6, 'w-74a980085239', 'build-42', 'r-14a0c4aa4f4e', 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

INSERT INTO public.context_messages VALUES (3, 'w-74a980085239', 'build-42', 'm-a855a5cd297a', 'user', 'openai', 'run-74d367a6e52a', 11, 'user', '[]', '[]');
INSERT INTO public.context_messages VALUES (4, 'w-74a980085239', 'build-42', 'm-89221493a1fe', 'assistant', 'openai', 'run-74d367a6e52a', 14, 'model', '["c1"]', '[]');
INSERT INTO public.context_messages VALUES (5, 'w-74a980085239', 'build-42', 'm-8058da50c6f2', 'tool', 'openai', 'run-74d367a6e52a', 19, 'tool', '[]', '["c1"]');
INSERT INTO public.context_messages VALUES (10, 'w-74a980085239', 'build-42', 'm-e63ba73b867d', 'assistant', 'openai', 'run-74d367a6e52a', 11, 'model', '[]', '[]');
INSERT INTO public.context_messages VALUES (18, 'w-74a980085239', 'build-42', 'm-beb424326467', 'user', 'openai', 'run-dafbf7aec862', 7, 'user', '[]', '[]');

INSERT INTO public.context_preambles VALUES (7, 'w-74a980085239', 'build-42', 'p-977a4ab6aef3', 8);

INSERT INTO public.context_runs VALUES (2, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'succeeded', NULL, 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14982,"started":"2398784","runtime":"r-14a0c4aa4f4e"}', 300, '2026-11-30T16:39:24.892058+00:00', '2026-11-30T16:39:25.651302+00:00', 11, 0, 0);
INSERT INTO public.context_runs VALUES (17, 'w-74a980085239', 'build-42', 'run-dafbf7aec862', 'failed', 'KeyError', 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14982,"started":"2398784","runtime":"r-14a0c4aa4f4e"}', 300, '2026-11-30T16:39:25.836416+00:00', '2026-11-30T16:39:25.847261+00:00', 19, 0, 0);
INSERT INTO public.context_runs VALUES (21, 'w-74a980085239', '@person', 'run-1f5f26ff7a1a', 'succeeded', NULL, 0, '{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14982,"started":"2398784","runtime":"r-14a0c4aa4f4e"}', 300, '2026-11-30T16:39:25.861692+00:00', '2026-11-30T16:39:25.881419+00:00', 23, 0, 0);

INSERT INTO public.context_sessions VALUES ('w-74a980085239', 'build-42', 'agent', NULL, NULL, NULL, NULL, 0, 0, 5, 62, 0, 0, 2, 0, 1, 19, '2026-11-30T16:39:25.847261+00:00');
INSERT INTO public.context_sessions VALUES ('w-74a980085239', '@person', 'agent', NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 1, 0, 20, 23, '2026-11-30T16:39:25.881419+00:00');

INSERT INTO public.context_shown VALUES (8, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'r-14a0c4aa4f4e', '8687465a626cab0d496957edd257f94100cc2eedf8356777ceb88d02ded47c97', 'neutral-1', 'policy-2', 6, 'p-977a4ab6aef3', 7, 6, 0, 200000, 52, 3);

INSERT INTO public.cursors VALUES ('context', 1, 1, 24, 'live', NULL, '2026-11-30T16:39:25.894674+00:00', '["context_compactions", "context_epochs", "context_freezes", "context_messages", "context_preambles", "context_runs", "context_sessions", "context_shown"]');
INSERT INTO public.cursors VALUES ('candidates', 1, 1, 24, 'live', NULL, '2026-11-30T16:39:25.941346+00:00', '["candidates", "candidates_jobs"]');
INSERT INTO public.cursors VALUES ('revisions', 1, 1, 24, 'live', NULL, '2026-11-30T16:39:25.965279+00:00', '["revisions", "revisions_entries"]');
INSERT INTO public.cursors VALUES ('memory_file', 1, 1, 23, 'live', NULL, '2026-11-30T16:39:25.983038+00:00', '["memory_file"]');

INSERT INTO public.events VALUES (1, '22584af7-c7df-5792-a98b-e8eddc47208b', 1, 'SessionOpened', 1, 'w-74a980085239', 'build-42', NULL, 'caller', 'operator', NULL, '2026-11-30T16:39:24.836521+00:00', '\x7b226f726967696e223a226167656e74222c22666f726d6174223a6e756c6c7d', NULL, NULL, NULL, '\xdd2c18fb4f8178550ad1bd2584ab37a46169b90072bb5b6d1c7eb9ff1e2cc727');
INSERT INTO public.events VALUES (2, 'f03f435d-4855-5fe1-a76f-c38720a82f43', 1, 'RunStarted', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'caller', 'operator', NULL, '2026-11-30T16:39:24.892058+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31343938322c2273746172746564223a2232333938373834222c2272756e74696d65223a22722d313461306334616134663465227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\x1cd86622bae0886edde917e5fa9cdffde6525f5481ed5de93783bdca0d3d8d06');
INSERT INTO public.events VALUES (3, 'f5d87914-7b4c-57ea-9b0d-f93d3f40601d', 1, 'MessageRecorded', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'user', 'user', NULL, '2026-11-30T16:39:24.897074+00:00', '\x7b226d657373616765223a226d2d613835356135636432393761222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a31312c22636f756e746572223a22657374696d6174652d31222c2273697a65223a36332c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a2257687920646f657320746865206275696c64206661696c3f227d7d', '\xf7e24353d7aa7187c57ae17eee7ef738', '\x1cf3e27c0c1bcf67dbca9e3af81026c95071ab6cb8ae753a31f58426f67268d8', '\xfbc45cc753e4b17cce7189bc4b477b7b15f0a39ff02a6e526008ca3d6e66c1c2');
INSERT INTO public.events VALUES (4, '6b109a5e-3efc-515c-85b9-01c6d8175c05', 1, 'MessageRecorded', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'model', 'model', NULL, '2026-11-30T16:39:24.904445+00:00', '\x7b226d657373616765223a226d2d383932323134393361316665222c22726f6c65223a22617373697374616e74222c22666f726d223a226f70656e6169222c22746f6b656e73223a31342c22636f756e746572223a22657374696d6174652d31222c2273697a65223a3133352c2263616c6c73223a5b226331225d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a6e756c6c2c22746f6f6c5f63616c6c73223a5b7b226964223a226331222c2274797065223a2266756e6374696f6e222c2266756e6374696f6e223a7b226e616d65223a226d616b65222c22617267756d656e7473223a227b7d227d7d5d7d7d', '\xba7d6b72f7846e260d807723c3d57cac', '\x610e8bc9d94885fdca49c0c9df0dfcb5cb86b567caded24bb6800de48415c52b', '\x8cd5f2b692b4fd17e14bdba56e691f97236458d662d0041fd31b212987cb3cde');
INSERT INTO public.events VALUES (5, '5355c0a1-8fd1-5b34-ada7-9449542d2359', 1, 'MessageRecorded', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'caller', 'tool', NULL, '2026-11-30T16:39:24.910003+00:00', '\x7b226d657373616765223a226d2d383035386461353063366632222c22726f6c65223a22746f6f6c222c22666f726d223a226f70656e6169222c22746f6b656e73223a31392c22636f756e746572223a22657374696d6174652d31222c2273697a65223a38302c2263616c6c73223a5b5d2c22726573756c7473223a5b226331225d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a22746f6f6c222c22746f6f6c5f63616c6c5f6964223a226331222c22636f6e74656e74223a226d616b653a20332e383120697320746f6f206f6c64227d7d', '\x455808ed39e5823aa4a43374bad9af37', '\x66bbac183f3a92352c2178c5092b8cabeff3e2fae66f8ffd1a8b59feb1d8e8ae', '\x89ae0d96c92ad7874fd32a8e656d272ec29f1ed98722d7bac906b6d431c75f76');
INSERT INTO public.events VALUES (6, 'fdfe80d4-693a-54a4-841b-afee44a2bbee', 1, 'MemoryFrozen', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'minutebook', 'operator', NULL, '2026-11-30T16:39:24.980770+00:00', '\x7b227265766973696f6e223a302c22646967657374223a2265336230633434323938666331633134396166626634633839393666623932343237616534316534363439623933346361343935393931623738353262383535222c2272756e74696d65223a22722d313461306334616134663465222c22626c6f636b5f646967657374223a2265336230633434323938666331633134396166626634633839393666623932343237616534316534363439623933346361343935393931623738353262383535227d', '\x7b22626c6f636b223a22227d', '\xbe2b687e36114390c0a1a733f76aa08a', '\x1b891e6e3612b413aa813b257555a4e07a29f5bdcc81a95a0a1c4545f28b4a64', '\x331c312f73d382930f35f8bdc57c2df33be1b533415aadc9bb92b6b1ce6dea95');
INSERT INTO public.events VALUES (7, 'fdfe80d4-693a-54a4-841b-afee44a2bbee', 2, 'PreambleRecorded', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'compressor', 'operator', NULL, '2026-11-30T16:39:25.032154+00:00', '\x7b22707265616d626c65223a22702d393737613461623661656633222c22746f6b656e73223a387d', '\x7b2273797374656d223a22596f75206d656e64206275696c64732e222c22746f6f6c73223a5b5d7d', '\x722b2c8e5dfc24e6b7794f36334936c4', '\xb0990a7552e546b5e42f44414f45392b4589875313d1df7a91c0d36a80f0421b', '\xdfadeeee3475e8d96ce68ab6d96ed3f0bc624489509d96397da05f2f0d8431d4');
INSERT INTO public.events VALUES (8, 'fdfe80d4-693a-54a4-841b-afee44a2bbee', 3, 'ContextShown', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'compressor', 'operator', NULL, '2026-11-30T16:39:25.032291+00:00', '\x7b2272756e74696d65223a22722d313461306334616134663465222c22646967657374223a2238363837343635613632366361623064343936393537656464323537663934313030636332656564663833353637373763656238386430326465643437633937222c2272656e6465726572223a226e65757472616c2d31222c22706f6c696379223a22706f6c6963792d32222c227365656e223a362c22707265616d626c65223a22702d393737613461623661656633222c226d656d6f72795f7265766973696f6e223a302c2277696e646f77223a3230303030302c22746f6b656e73223a35322c226d65737361676573223a337d', NULL, NULL, NULL, '\xc3ff3424332670fb11c83e0d112b2cadd4aeea1b34db9db828cbde3862c90bbb');
INSERT INTO public.events VALUES (9, '9d8cad0a-28ce-5900-9153-455f387b7e3b', 1, 'CandidateProposed', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'model', 'model', NULL, '2026-11-30T16:39:25.640013+00:00', '\x7b2263616e646964617465223a226b2d343439393364363038363330222c226f7065726174696f6e223a22616464222c2266696e64696e6773223a5b5d2c226d65737361676573223a5b226d2d613835356135636432393761222c226d2d383932323134393361316665222c226d2d383035386461353063366632225d7d', '\x7b226f7065726174696f6e223a7b226f7065726174696f6e223a22616464222c2274657874223a22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e227d7d', '\x64548b5bad0f4e4dbcce1be4450ad190', '\xf155ff67fbea4904cd3b1dce760fd5859d96f86b071d7eabe91525e0f1aca8c5', '\x6fa68b154d4808e48c4cfd375215096797d27e7bfa6ea63377db1d040245c97e');
INSERT INTO public.events VALUES (10, 'f541ae52-6e48-5132-ad3a-be4763892518', 1, 'MessageRecorded', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'model', 'model', NULL, '2026-11-30T16:39:25.647536+00:00', '\x7b226d657373616765223a226d2d653633626137336238363764222c22726f6c65223a22617373697374616e74222c22666f726d223a226f70656e6169222c22746f6b656e73223a31312c22636f756e746572223a22657374696d6174652d31222c2273697a65223a36362c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a22617373697374616e74222c22636f6e74656e74223a224974206e656564732061206e65776572206d616b652e227d7d', '\xe000fdd794bdc85bd3a09be26edbf979', '\xdad6ecf8702d2114787c28543d7fc02db4f7cc40852e74fa779a762b7d130861', '\x56eb83471a8ab5c09ad6fd8fedf1ebdfc0b28ceeb0b1b06ef09e704f0cefd0a2');
INSERT INTO public.events VALUES (11, 'f03f435d-4855-5fe1-a76f-c38720a82f43', 2, 'RunSucceeded', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'caller', 'operator', NULL, '2026-11-30T16:39:25.651302+00:00', '\x7b227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', NULL, NULL, NULL, '\xecc796d3af0446b909e01bb7bd1d57f7e21ec2cc68326d11f60cfea92e218ffe');
INSERT INTO public.events VALUES (12, '9d8cad0a-28ce-5900-9153-455f387b7e3b', 2, 'CandidateAdmitted', 1, 'w-74a980085239', 'build-42', 'run-74d367a6e52a', 'model', 'model', 9, '2026-11-30T16:39:25.657061+00:00', '\x7b2263616e646964617465223a226b2d343439393364363038363330227d', NULL, NULL, NULL, '\xb2680b7119835a282853cd42b529179e74dcb4ca32b13d8e5a7193f7452b278b');
INSERT INTO public.events VALUES (13, '92c329db-bc19-53cb-a896-d4e0f8476d93', 1, 'RevisionPrepared', 1, 'w-74a980085239', NULL, NULL, 'curator', 'model', NULL, '2026-11-30T16:39:25.731320+00:00', '\x7b227265766973696f6e223a312c226b696e64223a2263757261746564222c22706172656e74223a302c22626173655f646967657374223a6e756c6c2c22646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22656e7472696573223a5b7b22656e747279223a226538373761623061313265222c2273696e6365223a312c2263616e64696461746573223a5b226b2d343439393364363038363330225d2c2272756e223a2272756e2d373464333637613665353261222c2273657373696f6e223a226275696c642d3432222c226d65737361676573223a5b226d2d613835356135636432393761222c226d2d383932323134393361316665222c226d2d383035386461353063366632225d2c226163746f72223a226d6f64656c222c227472757374223a226d6f64656c222c22736861726564223a66616c73657d5d2c22696e70757473223a5b226b2d343439393364363038363330225d2c226a6f62223a226a2d633738373938653266613231222c2263757261746f72223a2272756c65732d31222c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22726573746f7265645f66726f6d223a6e756c6c2c226f7665727269646573223a5b5d2c2272656365697074223a5b2273697a65222c226c696e6573222c2268696464656e222c22686f6d6f676c79706873222c226d61726b7570222c226d65616e696e67222c2263726564656e7469616c73222c226475706c696361746573222c22646f63756d656e74222c22736872696e6b5f6775617264225d7d', '\x7b22656e7472696573223a5b22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e225d7d', '\xcbbcb666b8ae2039067861c1fa6e73a6', '\xcf0914449e8541f9517bcc1d1d815c4a780f51dbdcfea8eae00cf186a76f4bae', '\x016503c69623b827abcace2a7e4921536001d37fd3d9eb957af92dff8fe8b229');
INSERT INTO public.events VALUES (14, '92c329db-bc19-53cb-a896-d4e0f8476d93', 2, 'RevisionCommitted', 1, 'w-74a980085239', NULL, NULL, 'curator', 'model', 13, '2026-11-30T16:39:25.739182+00:00', '\x7b227265766973696f6e223a312c22646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22696e70757473223a5b226b2d343439393364363038363330225d7d', NULL, NULL, NULL, '\xc97ee7f15b7b62a9e106675564e322be64dbbd811e38effe2d830508634060a3');
INSERT INTO public.events VALUES (15, '92c329db-bc19-53cb-a896-d4e0f8476d93', 3, 'RevisionPrepared', 1, 'w-74a980085239', NULL, NULL, 'person', 'user', NULL, '2026-11-30T16:39:25.812760+00:00', '\x7b227265766973696f6e223a322c226b696e64223a226d616e75616c222c22706172656e74223a312c22626173655f646967657374223a2236343138316330383232346232666362653635303432653062353936646630306139346435623737303038653639343532316336653661666534666136643033222c22646967657374223a2236313863663164356662633062633161353663303066626430343237353965616433343936653663613133313035616531393065303133343233636338626135222c22656e7472696573223a5b7b22656e747279223a226538373761623061313265222c2273696e6365223a312c2263616e64696461746573223a5b226b2d343439393364363038363330225d2c2272756e223a2272756e2d373464333637613665353261222c2273657373696f6e223a226275696c642d3432222c226d65737361676573223a5b226d2d613835356135636432393761222c226d2d383932323134393361316665222c226d2d383035386461353063366632225d2c226163746f72223a226d6f64656c222c227472757374223a226d6f64656c222c22736861726564223a66616c73657d2c7b22656e747279223a226536336166363039653065222c2273696e6365223a322c2263616e64696461746573223a5b5d2c2272756e223a6e756c6c2c2273657373696f6e223a6e756c6c2c226d65737361676573223a5b5d2c226163746f72223a22706572736f6e222c227472757374223a2275736572222c22736861726564223a66616c73657d5d2c22696e70757473223a5b5d2c226a6f62223a6e756c6c2c2263757261746f72223a6e756c6c2c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22726573746f7265645f66726f6d223a6e756c6c2c226f7665727269646573223a5b5d2c2272656365697074223a5b2273697a65222c226c696e6573222c2268696464656e222c22686f6d6f676c79706873222c226d61726b7570222c226d65616e696e67222c2263726564656e7469616c73222c226475706c696361746573222c22646f63756d656e74225d7d', '\x7b22656e7472696573223a5b22546865206275696c64206e65656473206d616b6520342e33206f72206e657765722e222c224120706572736f6e2077726f746520746869732062792068616e642e225d7d', '\x528211efa784c7093593b6aedf29531c', '\x0fa3a84a46c881c1725ad04c4c76e6784be8c1a107b127d3d4c05cbd3ae13499', '\x6aa363b32685c60f7906bff182dd92ba3a22f83e161c20f456fba212bfc86b35');
INSERT INTO public.events VALUES (16, '92c329db-bc19-53cb-a896-d4e0f8476d93', 4, 'RevisionCommitted', 1, 'w-74a980085239', NULL, NULL, 'person', 'user', NULL, '2026-11-30T16:39:25.812837+00:00', '\x7b227265766973696f6e223a322c22646967657374223a2236313863663164356662633062633161353663303066626430343237353965616433343936653663613133313035616531393065303133343233636338626135222c22696e70757473223a5b5d7d', NULL, NULL, NULL, '\x2af6eae25c5886b59058ce6bed43c52ebf024009f1efc9f3ed3e36f92a9d3541');
INSERT INTO public.events VALUES (17, 'f03f435d-4855-5fe1-a76f-c38720a82f43', 3, 'RunStarted', 1, 'w-74a980085239', 'build-42', 'run-dafbf7aec862', 'caller', 'operator', NULL, '2026-11-30T16:39:25.836416+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31343938322c2273746172746564223a2232333938373834222c2272756e74696d65223a22722d313461306334616134663465227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\x099fd369d2ffb4e462325c6ae74f5ad3ce35c7bc9b76908f90c348dd4f41335e');
INSERT INTO public.events VALUES (18, '47e368d9-0448-5610-b166-5cb23edf5f1f', 1, 'MessageRecorded', 1, 'w-74a980085239', 'build-42', 'run-dafbf7aec862', 'user', 'user', NULL, '2026-11-30T16:39:25.843486+00:00', '\x7b226d657373616765223a226d2d626562343234333236343637222c22726f6c65223a2275736572222c22666f726d223a226f70656e6169222c22746f6b656e73223a372c22636f756e746572223a22657374696d6174652d31222c2273697a65223a34372c2263616c6c73223a5b5d2c22726573756c7473223a5b5d2c22656e636f64696e67223a226f726a736f6e222c226c696e65223a6e756c6c2c227573616765223a6e756c6c2c227265646163746564223a307d', '\x7b22736f75726365223a7b22726f6c65223a2275736572222c22636f6e74656e74223a22416e64206e6f773f227d7d', '\x8fef17dec01fb16edeff8b0abdbe9abd', '\x4690f861bbccd62f0840cc50ed52ba5e9841cfb4dd9f6ded6ba23425980e31de', '\x3a63a3a81f8d7e7082298393716bcf66bdd7c8077476cff1a67bed83ea356f36');
INSERT INTO public.events VALUES (19, 'f03f435d-4855-5fe1-a76f-c38720a82f43', 4, 'RunFailed', 1, 'w-74a980085239', 'build-42', 'run-dafbf7aec862', 'caller', 'operator', NULL, '2026-11-30T16:39:25.847261+00:00', '\x7b226572726f72223a224b65794572726f72222c227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', '\x7b226d657373616765223a2227676f6e6527227d', '\x78dadc683d3b980c996d4c632ee1cfb7', '\x17c7864b3522cc57677b4e0c84bd0afc70a773c468465ad29d0c3139c3770e7e', '\x63aa932bca9bf996b8093fd800ddb44e6b9010b53834b4fcc3187d28c50b4b65');
INSERT INTO public.events VALUES (20, '0e0c0bea-449c-5f6f-8eb1-9c81d1034375', 1, 'SessionOpened', 1, 'w-74a980085239', '@person', NULL, 'caller', 'operator', NULL, '2026-11-30T16:39:25.853663+00:00', '\x7b226f726967696e223a226167656e74222c22666f726d6174223a6e756c6c7d', NULL, NULL, NULL, '\xb8cc429b345c5c9b35534b3f42c4b9e8ea4e2a517e4d514e8e9608ee9caaedba');
INSERT INTO public.events VALUES (21, 'db588b40-d8f3-56b6-9645-f86a208df4f2', 1, 'RunStarted', 1, 'w-74a980085239', '@person', 'run-1f5f26ff7a1a', 'person', 'operator', NULL, '2026-11-30T16:39:25.861692+00:00', '\x7b226f776e6572223a7b22686f7374223a223464326536336333363731306237653663653633393737626464353064363135222c22706964223a31343938322c2273746172746564223a2232333938373834222c2272756e74696d65223a22722d313461306334616134663465227d2c226c656173655f7365636f6e6473223a3330302e302c22696d706f72746564223a66616c73657d', NULL, NULL, NULL, '\x56c7fe54e37f679b0b7780ef83be07fbd05151e413886a6a1f1790b3c061aecb');
INSERT INTO public.events VALUES (22, '9fe7e51d-fbb1-5381-a5fc-b452db231714', 1, 'CandidateProposed', 1, 'w-74a980085239', '@person', 'run-1f5f26ff7a1a', 'person', 'user', NULL, '2026-11-30T16:39:25.869938+00:00', '\x7b2263616e646964617465223a226b2d353936636135626133656136222c226f7065726174696f6e223a22616464222c2266696e64696e6773223a5b5d2c226d65737361676573223a5b5d7d', '\x7b226f7065726174696f6e223a7b226f7065726174696f6e223a22616464222c2274657874223a2252656c65617365732061726520637574206f6e205468757273646179732e227d7d', '\x7a2dea7fddcae46f612fce9346f13ae5', '\x9ff2a6721df3e44b06e5fb36106116a633ba887d32c0b296c835690b00741867', '\xe30ae135cbcd59185cee11dc96431c7f18c0139d8dcf493685cb353979f3080e');
INSERT INTO public.events VALUES (23, 'db588b40-d8f3-56b6-9645-f86a208df4f2', 2, 'RunSucceeded', 1, 'w-74a980085239', '@person', 'run-1f5f26ff7a1a', 'caller', 'operator', NULL, '2026-11-30T16:39:25.881419+00:00', '\x7b227573616765223a7b22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d7d', NULL, NULL, NULL, '\xd7dbd026881b87bfa332ff359e876c8aabde084d978d8ea8bd8b53bb2bc0c05d');
INSERT INTO public.events VALUES (24, '9fe7e51d-fbb1-5381-a5fc-b452db231714', 2, 'CandidateAdmitted', 1, 'w-74a980085239', '@person', 'run-1f5f26ff7a1a', 'person', 'user', 22, '2026-11-30T16:39:25.887998+00:00', '\x7b2263616e646964617465223a226b2d353936636135626133656136227d', NULL, NULL, NULL, '\x2ae02dd687291f27e4af96aa129b6c3f844de16ef80d79e2aa6b0839de455d1b');


INSERT INTO public.log_head VALUES (1, 24, '\x2ae02dd687291f27e4af96aa129b6c3f844de16ef80d79e2aa6b0839de455d1b');

INSERT INTO public.memory_file VALUES ('w-74a980085239', 2, '618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5', 16, NULL, NULL, NULL, NULL, 16);

INSERT INTO public.revisions VALUES (13, 'w-74a980085239', 1, 'curated', 0, 'committed', 14, 14, '2026-11-30T16:39:25.739182+00:00', '64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03', NULL, 'curator', NULL, NULL, 'j-c78798e2fa21', 'rules-1', NULL, 1, '["k-44993d608630"]', '["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]', '[]', NULL, 0, 0, NULL, '[1]');
INSERT INTO public.revisions VALUES (15, 'w-74a980085239', 2, 'manual', 1, 'committed', 16, 16, '2026-11-30T16:39:25.812837+00:00', '618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5', '64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03', 'person', NULL, NULL, NULL, NULL, NULL, 2, '[]', '["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]', '[]', NULL, 0, 0, NULL, '[1,2]');

INSERT INTO public.revisions_entries VALUES (1, 'w-74a980085239', 'e877ab0a12e', 'The build needs make 4.3 or newer.', 1, NULL, 14, 1, '["k-44993d608630"]', 'run-74d367a6e52a', 'build-42', '["m-a855a5cd297a","m-89221493a1fe","m-8058da50c6f2"]', 'model', 'model', 0);
INSERT INTO public.revisions_entries VALUES (2, 'w-74a980085239', 'e63af609e0e', 'A person wrote this by hand.', 2, NULL, 16, 2, '[]', NULL, NULL, '[]', 'person', 'user', 0);

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
