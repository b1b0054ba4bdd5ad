BEGIN TRANSACTION;
CREATE TABLE candidates (
	workspace TEXT NOT NULL, 
	candidate TEXT NOT NULL, 
	status TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	changed INTEGER NOT NULL, 
	pending_since INTEGER, 
	session TEXT, 
	run TEXT, 
	actor TEXT NOT NULL, 
	trust TEXT NOT NULL, 
	time TEXT NOT NULL, 
	findings TEXT NOT NULL, 
	messages TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	last_error TEXT, 
	reason TEXT, 
	revision INTEGER, 
	PRIMARY KEY (workspace, candidate)
);
INSERT INTO "candidates" VALUES('local','k-13beace51443','consumed','add',9,14,NULL,'build-42','run-0d248701ea16','model','model','2026-11-30T16:39:38.357945+00:00','[]','["m-51a465d3be88","m-610b482bb54d","m-853e3d9e86f0"]',0,NULL,NULL,1);
INSERT INTO "candidates" VALUES('local','k-438d836448f4','admitted','add',22,24,24,'@person','run-51a2b8be9578','person','user','2026-11-30T16:39:38.452906+00:00','[]','[]',0,NULL,NULL,NULL);
CREATE TABLE candidates_jobs (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	job TEXT, 
	outcome TEXT NOT NULL, 
	error TEXT, 
	reasons TEXT NOT NULL, 
	inputs TEXT NOT NULL, 
	curator TEXT, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "candidates_jobs" VALUES(13,'local','j-86fcfab44e70','prepared',NULL,'[]','["k-13beace51443"]','rules-1',0,0,'2026-11-30T16:39:38.387967+00:00');
CREATE TABLE context_compactions (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	compaction TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	reasons TEXT NOT NULL, 
	error TEXT, 
	policy TEXT NOT NULL, 
	summarizer TEXT NOT NULL, 
	range_digest TEXT NOT NULL, 
	supersedes TEXT, 
	anchor INTEGER, 
	upto INTEGER, 
	covers TEXT NOT NULL, 
	covers_count INTEGER NOT NULL, 
	reduced TEXT NOT NULL, 
	summary_tokens INTEGER NOT NULL, 
	tokens_before INTEGER NOT NULL, 
	tokens_after INTEGER, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	trust TEXT NOT NULL, 
	time TEXT NOT NULL, 
	PRIMARY KEY (position)
);
CREATE TABLE context_epochs (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	visible TEXT NOT NULL, 
	live TEXT, 
	undo TEXT NOT NULL, 
	redo TEXT NOT NULL, 
	PRIMARY KEY (position)
);
CREATE TABLE context_freezes (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	runtime TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	digest TEXT NOT NULL, 
	block_digest TEXT NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "context_freezes" VALUES(6,'local','build-42','r-a837c6573126',0,'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
CREATE TABLE context_messages (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	message TEXT NOT NULL, 
	role TEXT NOT NULL, 
	form TEXT NOT NULL, 
	run TEXT, 
	tokens INTEGER NOT NULL, 
	trust TEXT NOT NULL, 
	calls TEXT NOT NULL, 
	results TEXT NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "context_messages" VALUES(3,'local','build-42','m-51a465d3be88','user','openai','run-0d248701ea16',11,'user','[]','[]');
INSERT INTO "context_messages" VALUES(4,'local','build-42','m-610b482bb54d','assistant','openai','run-0d248701ea16',14,'model','["c1"]','[]');
INSERT INTO "context_messages" VALUES(5,'local','build-42','m-853e3d9e86f0','tool','openai','run-0d248701ea16',19,'tool','[]','["c1"]');
INSERT INTO "context_messages" VALUES(10,'local','build-42','m-8965fb242dad','assistant','openai','run-0d248701ea16',11,'model','[]','[]');
INSERT INTO "context_messages" VALUES(18,'local','build-42','m-7434059487d6','user','openai','run-6e564c18d6aa',7,'user','[]','[]');
CREATE TABLE context_preambles (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	preamble TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "context_preambles" VALUES(7,'local','build-42','p-e30477726da5',8);
CREATE TABLE context_runs (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	run TEXT NOT NULL, 
	status TEXT NOT NULL, 
	reason TEXT, 
	imported INTEGER NOT NULL, 
	owner TEXT, 
	lease_seconds FLOAT NOT NULL, 
	started TEXT NOT NULL, 
	ended TEXT, 
	ended_position INTEGER, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "context_runs" VALUES(2,'local','build-42','run-0d248701ea16','succeeded',NULL,0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15272,"started":"2400144","runtime":"r-a837c6573126"}',300.0,'2026-11-30T16:39:38.284880+00:00','2026-11-30T16:39:38.367132+00:00',11,0,0);
INSERT INTO "context_runs" VALUES(17,'local','build-42','run-6e564c18d6aa','failed','KeyError',0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15272,"started":"2400144","runtime":"r-a837c6573126"}',300.0,'2026-11-30T16:39:38.431712+00:00','2026-11-30T16:39:38.439093+00:00',19,0,0);
INSERT INTO "context_runs" VALUES(21,'local','@person','run-51a2b8be9578','succeeded',NULL,0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15272,"started":"2400144","runtime":"r-a837c6573126"}',300.0,'2026-11-30T16:39:38.444348+00:00','2026-11-30T16:39:38.455070+00:00',23,0,0);
CREATE TABLE context_sessions (
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	format TEXT, 
	parent TEXT, 
	parent_position INTEGER, 
	forked INTEGER, 
	closed INTEGER NOT NULL, 
	suspended INTEGER NOT NULL, 
	messages INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	inherited_messages INTEGER NOT NULL, 
	inherited_tokens INTEGER NOT NULL, 
	runs INTEGER NOT NULL, 
	compactions INTEGER NOT NULL, 
	first_position INTEGER NOT NULL, 
	last_position INTEGER NOT NULL, 
	last_time TEXT NOT NULL, 
	PRIMARY KEY (workspace, session)
);
INSERT INTO "context_sessions" VALUES('local','build-42','agent',NULL,NULL,NULL,NULL,0,0,5,62,0,0,2,0,1,19,'2026-11-30T16:39:38.439093+00:00');
INSERT INTO "context_sessions" VALUES('local','@person','agent',NULL,NULL,NULL,NULL,0,0,0,0,0,0,1,0,20,23,'2026-11-30T16:39:38.455070+00:00');
CREATE TABLE context_shown (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	run TEXT, 
	runtime TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	renderer TEXT NOT NULL, 
	policy TEXT NOT NULL, 
	seen INTEGER NOT NULL, 
	preamble TEXT, 
	preamble_position INTEGER, 
	freeze_position INTEGER, 
	memory_revision INTEGER, 
	window INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	messages INTEGER NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "context_shown" VALUES(8,'local','build-42','run-0d248701ea16','r-a837c6573126','f838c80de4bf2bda2dd8f15401906e6590d31228d7b27fe20c0ab9475eeb294c','neutral-1','policy-1',6,'p-e30477726da5',7,6,0,200000,52,3);
CREATE TABLE cursors (
	name TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	generation INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	error TEXT, 
	heartbeat TEXT, 
	tables TEXT, 
	PRIMARY KEY (name)
);
INSERT INTO "cursors" VALUES('context',1,1,24,'live',NULL,'2026-11-30T16:39:38.460226+00:00','["context_compactions", "context_epochs", "context_freezes", "context_messages", "context_preambles", "context_runs", "context_sessions", "context_shown"]');
INSERT INTO "cursors" VALUES('candidates',1,1,24,'live',NULL,'2026-11-30T16:39:38.474909+00:00','["candidates", "candidates_jobs"]');
INSERT INTO "cursors" VALUES('revisions',1,1,24,'live',NULL,'2026-11-30T16:39:38.504756+00:00','["revisions", "revisions_entries"]');
INSERT INTO "cursors" VALUES('memory_file',1,1,23,'live',NULL,'2026-11-30T16:39:38.516786+00:00','["memory_file"]');
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
INSERT INTO "events" VALUES(1,X'6F6734A7A67B5E469B4909C9E7018EE5',1,'SessionOpened',1,'local','build-42',NULL,'caller','operator',NULL,'2026-11-30T16:39:38.279163+00:00','{"origin":"agent","format":null}',NULL,NULL,NULL,X'365D965E2E0C63EB44925CEFF2D7C532726FD3F751BF895768C9B1448FE66B26');
INSERT INTO "events" VALUES(2,X'A90C6C301FFD59B6AE589B838219D309',1,'RunStarted',1,'local','build-42','run-0d248701ea16','caller','operator',NULL,'2026-11-30T16:39:38.284880+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15272,"started":"2400144","runtime":"r-a837c6573126"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'D8B1D563694C7DD4743A11C8C12FE924E1740E6333436D7ABEEB9DBD2AC0BA02');
INSERT INTO "events" VALUES(3,X'2DA97CD762465857B2E0B2F78032B875',1,'MessageRecorded',1,'local','build-42','run-0d248701ea16','user','user',NULL,'2026-11-30T16:39:38.291514+00:00','{"message":"m-51a465d3be88","role":"user","form":"openai","tokens":11,"counter":"estimate-1","size":63,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"Why does the build fail?"}}',X'724BFA4DD3EE9C757C3776E6A9A83DF9',X'C441C41DE30E26FF95A777F6DEA0FAD0521EC8BB34FBBFC7B8F497F3EA0AA375',X'D04C666CFC7C66B228EB3EECA50A2F2890F249AD3343A060DE083474055C9707');
INSERT INTO "events" VALUES(4,X'AF05DBA091325617ABBFF1BBEC1B6CB1',1,'MessageRecorded',1,'local','build-42','run-0d248701ea16','model','model',NULL,'2026-11-30T16:39:38.294007+00:00','{"message":"m-610b482bb54d","role":"assistant","form":"openai","tokens":14,"counter":"estimate-1","size":135,"calls":["c1"],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"make","arguments":"{}"}}]}}',X'D37B3B764A20C4CA81118AD4B5E8F8E5',X'879721A4F80FABB737D9333FD15C5FEBC503DB238BAD4D2DE1084A8DB3B72100',X'177C624E460D77A2AB610A58EB6D7541C31B16C340FA0D4D3DD5A5B604501676');
INSERT INTO "events" VALUES(5,X'9F09C5B0935A51F68A62B1334FDEEC7A',1,'MessageRecorded',1,'local','build-42','run-0d248701ea16','caller','tool',NULL,'2026-11-30T16:39:38.299340+00:00','{"message":"m-853e3d9e86f0","role":"tool","form":"openai","tokens":19,"counter":"estimate-1","size":80,"calls":[],"results":["c1"],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"tool","tool_call_id":"c1","content":"make: 3.81 is too old"}}',X'48265AFBD452702A1A03472A5032EBB4',X'E07424296BFF6B3AB068C51B37A56C8E24B4230A2D736E4908F175968905ED1F',X'580C30B5C07DB8C6139818186708706F558C23B71C0CC42A27B5C35DDC393E9B');
INSERT INTO "events" VALUES(6,X'A8185769ED52580FA79952AC45DFD17E',1,'MemoryFrozen',1,'local','build-42','run-0d248701ea16','minutebook','operator',NULL,'2026-11-30T16:39:38.323543+00:00','{"revision":0,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","runtime":"r-a837c6573126","block_digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}','{"block":""}',X'D39D719F701A70A0B421FCE98FB451E2',X'48FA464788EA5E12F291A5220AD1BBD0C3DB2CE41FE66F55D70B8926E331F113',X'161D2D7BA2D0829D84B211ED6FCA2CBC465D4295EF2E692D4F686A84012E3B35');
INSERT INTO "events" VALUES(7,X'A8185769ED52580FA79952AC45DFD17E',2,'PreambleRecorded',1,'local','build-42','run-0d248701ea16','compressor','operator',NULL,'2026-11-30T16:39:38.346725+00:00','{"preamble":"p-e30477726da5","tokens":8}','{"system":"You mend builds.","tools":[]}',X'945F9B92671DC2BE0ADB339D59E0F4FE',X'F113246DBFEC2A88D8564E80636ADD6DAB4E3127530D11799E1A46B8286ABEF6',X'8FFE4B49D03AD4732448406F190FCE7050B20518AAC3A1D3052D3D10BE475B99');
INSERT INTO "events" VALUES(8,X'A8185769ED52580FA79952AC45DFD17E',3,'ContextShown',1,'local','build-42','run-0d248701ea16','compressor','operator',NULL,'2026-11-30T16:39:38.346831+00:00','{"runtime":"r-a837c6573126","digest":"f838c80de4bf2bda2dd8f15401906e6590d31228d7b27fe20c0ab9475eeb294c","renderer":"neutral-1","policy":"policy-1","seen":6,"preamble":"p-e30477726da5","memory_revision":0,"window":200000,"tokens":52,"messages":3}',NULL,NULL,NULL,X'AEBFBA9B310E02BF73D000B0C46212CE8BCDE7B93624F3111921AFCB05FCA80A');
INSERT INTO "events" VALUES(9,X'BFF95AA0B2EA5112A951A8DDA3833CF1',1,'CandidateProposed',1,'local','build-42','run-0d248701ea16','model','model',NULL,'2026-11-30T16:39:38.357945+00:00','{"candidate":"k-13beace51443","operation":"add","findings":[],"messages":["m-51a465d3be88","m-610b482bb54d","m-853e3d9e86f0"]}','{"operation":{"operation":"add","text":"The build needs make 4.3 or newer."}}',X'4E1B5B1703BA1C40743C3780E44D4D95',X'FF308EAC8DAC855DADA3F7429AE1C3DE562EB4E8937DA80335C7070E9CEB3423',X'B87E7BBB6393200B1739BBC977388C943F54BCFF79E3EA953595CE6343763D3E');
INSERT INTO "events" VALUES(10,X'E037EB942C775A4682973768310B2227',1,'MessageRecorded',1,'local','build-42','run-0d248701ea16','model','model',NULL,'2026-11-30T16:39:38.363323+00:00','{"message":"m-8965fb242dad","role":"assistant","form":"openai","tokens":11,"counter":"estimate-1","size":66,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"assistant","content":"It needs a newer make."}}',X'1BA13AAE4CF43D4741C6BED1A11AF67C',X'9D6440EA40D7583BF93F9295431209521E02C5934FC4E3C4437026C82D97E25B',X'7AEE7178E591971251D45BDE31AAD754106E6F0E490033CC0D7D8BE88B8C0437');
INSERT INTO "events" VALUES(11,X'A90C6C301FFD59B6AE589B838219D309',2,'RunSucceeded',1,'local','build-42','run-0d248701ea16','caller','operator',NULL,'2026-11-30T16:39:38.367132+00:00','{"usage":{"input_tokens":0,"output_tokens":0}}',NULL,NULL,NULL,X'FFAA62CBB8261C59EFC872BBE44634FFFB14D93FFD32AC56EDEFCB7959873252');
INSERT INTO "events" VALUES(12,X'BFF95AA0B2EA5112A951A8DDA3833CF1',2,'CandidateAdmitted',1,'local','build-42','run-0d248701ea16','model','model',9,'2026-11-30T16:39:38.367813+00:00','{"candidate":"k-13beace51443"}',NULL,NULL,NULL,X'94779102A677F433F9EAF13B91518D339DC72F73776091EB3B5A4468A431285B');
INSERT INTO "events" VALUES(13,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',1,'RevisionPrepared',1,'local',NULL,NULL,'curator','model',NULL,'2026-11-30T16:39:38.387967+00:00','{"revision":1,"kind":"curated","parent":0,"base_digest":null,"digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","entries":[{"entry":"e82bb120617","since":1,"candidates":["k-13beace51443"],"run":"run-0d248701ea16","session":"build-42","messages":["m-51a465d3be88","m-610b482bb54d","m-853e3d9e86f0"],"actor":"model","trust":"model","shared":false}],"inputs":["k-13beace51443"],"job":"j-86fcfab44e70","curator":"rules-1","usage":{"input_tokens":0,"output_tokens":0},"restored_from":null,"overrides":[],"receipt":["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]}','{"entries":["The build needs make 4.3 or newer."]}',X'16E87C26870E4B6286B0543BF0A11632',X'66EF75D349DC1F82DB84FCD556727E6FD4D19A709FC07003C905ED0128C98C01',X'3D267329C2F039605BED249806B4EF9933F9D176EDA15C49C003C850F2439996');
INSERT INTO "events" VALUES(14,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',2,'RevisionCommitted',1,'local',NULL,NULL,'curator','model',13,'2026-11-30T16:39:38.399389+00:00','{"revision":1,"digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","inputs":["k-13beace51443"]}',NULL,NULL,NULL,X'7E76D4193FBAFEA7551EBFD4EA1C7DA9FDD7DEE9B3720C02EF2FA2625C8B3B1C');
INSERT INTO "events" VALUES(15,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',3,'RevisionPrepared',1,'local',NULL,NULL,'person','user',NULL,'2026-11-30T16:39:38.423407+00:00','{"revision":2,"kind":"manual","parent":1,"base_digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","digest":"618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5","entries":[{"entry":"e82bb120617","since":1,"candidates":["k-13beace51443"],"run":"run-0d248701ea16","session":"build-42","messages":["m-51a465d3be88","m-610b482bb54d","m-853e3d9e86f0"],"actor":"model","trust":"model","shared":false},{"entry":"e63af609e0e","since":2,"candidates":[],"run":null,"session":null,"messages":[],"actor":"person","trust":"user","shared":false}],"inputs":[],"job":null,"curator":null,"usage":{"input_tokens":0,"output_tokens":0},"restored_from":null,"overrides":[],"receipt":["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]}','{"entries":["The build needs make 4.3 or newer.","A person wrote this by hand."]}',X'5BE4C2870B15D98F9E7E3C146AA57D66',X'261FC3EC387B3BCC3D8264D0477D5FCA2B9A503C8F29978206388F25933CC45C',X'0FB729200B78698FCE9274768E68AC48A2304FAF9F31AD69DEAC9BB9419FC54D');
INSERT INTO "events" VALUES(16,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',4,'RevisionCommitted',1,'local',NULL,NULL,'person','user',NULL,'2026-11-30T16:39:38.423468+00:00','{"revision":2,"digest":"618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5","inputs":[]}',NULL,NULL,NULL,X'AE4F312F3419F1152D13E23F8F518D8F7377E5CDA9F341D66A5F3F68BA6E6C37');
INSERT INTO "events" VALUES(17,X'A90C6C301FFD59B6AE589B838219D309',3,'RunStarted',1,'local','build-42','run-6e564c18d6aa','caller','operator',NULL,'2026-11-30T16:39:38.431712+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15272,"started":"2400144","runtime":"r-a837c6573126"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'116B5580FC8AB0BDC27112A36FF5E5B1660AE87E4491560546818D3D51F6D286');
INSERT INTO "events" VALUES(18,X'E5252E278E425E33AA9E13B21D6CD0C4',1,'MessageRecorded',1,'local','build-42','run-6e564c18d6aa','user','user',NULL,'2026-11-30T16:39:38.435285+00:00','{"message":"m-7434059487d6","role":"user","form":"openai","tokens":7,"counter":"estimate-1","size":47,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null}','{"source":{"role":"user","content":"And now?"}}',X'B25346BEAD3CE038C476FB8C73B1591C',X'668B268C38FB9682602B136A8B8A7ECD768B95A7E9F4F4A532819E1643B3E9F4',X'1163BE296EBE76A50D47194D2D634282EC70F3280EC879E597493FE47DD7ED7A');
INSERT INTO "events" VALUES(19,X'A90C6C301FFD59B6AE589B838219D309',4,'RunFailed',1,'local','build-42','run-6e564c18d6aa','caller','operator',NULL,'2026-11-30T16:39:38.439093+00:00','{"error":"KeyError","usage":{"input_tokens":0,"output_tokens":0}}','{"message":"''gone''"}',X'7A8607E7102694BB48FF350BB66007DD',X'33E18CF385CC0F49262E92F1594EC350B35DF3CCF0BA2BE79F3D6DF4996CF48C',X'307F10E5CF6C146B136F289209D82051EBB22747D7194C61F1710FD2D8895BC6');
INSERT INTO "events" VALUES(20,X'74BB7A84DA0650DE844D6EB8593F8638',1,'SessionOpened',1,'local','@person',NULL,'caller','operator',NULL,'2026-11-30T16:39:38.443353+00:00','{"origin":"agent","format":null}',NULL,NULL,NULL,X'4DED658544D07FDAE08775588035A59FFF687A2E845E56AF19021702395973BD');
INSERT INTO "events" VALUES(21,X'0487667F74105AB9A3743BE68D5FFE58',1,'RunStarted',1,'local','@person','run-51a2b8be9578','person','operator',NULL,'2026-11-30T16:39:38.444348+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15272,"started":"2400144","runtime":"r-a837c6573126"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'9A2A25221D4D3FC11C890E1158C46B871CD396D2CB2EAEC863FFD1BE726F4510');
INSERT INTO "events" VALUES(22,X'1F88734075F05133865EBF41E66B1729',1,'CandidateProposed',1,'local','@person','run-51a2b8be9578','person','user',NULL,'2026-11-30T16:39:38.452906+00:00','{"candidate":"k-438d836448f4","operation":"add","findings":[],"messages":[]}','{"operation":{"operation":"add","text":"Releases are cut on Thursdays."}}',X'850786AE1CAF19FB4B672396BFA01904',X'48F4AF8C5158FEBF4CF6BB8F3120D15569291B9B7773DD7E3660EE8DF2F858E5',X'91F7F1CF827D567934C74D272FCBCDD12DF494C79F785E93B15C660E50D99A52');
INSERT INTO "events" VALUES(23,X'0487667F74105AB9A3743BE68D5FFE58',2,'RunSucceeded',1,'local','@person','run-51a2b8be9578','caller','operator',NULL,'2026-11-30T16:39:38.455070+00:00','{"usage":{"input_tokens":0,"output_tokens":0}}',NULL,NULL,NULL,X'587A9633A5B32B8F713EB691791E51D6243557C479E07903BE1713C71C047D48');
INSERT INTO "events" VALUES(24,X'1F88734075F05133865EBF41E66B1729',2,'CandidateAdmitted',1,'local','@person','run-51a2b8be9578','person','user',22,'2026-11-30T16:39:38.455464+00:00','{"candidate":"k-438d836448f4"}',NULL,NULL,NULL,X'C0377EE6B25A5808D9D00EE8B97576DB405AE5A20489C39D01B334BEEF3BCC08');
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
INSERT INTO "log_head" VALUES(1,24,X'C0377EE6B25A5808D9D00EE8B97576DB405AE5A20489C39D01B334BEEF3BCC08');
CREATE TABLE memory_file (
	workspace TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	digest TEXT, 
	committed INTEGER, 
	prepared_revision INTEGER, 
	prepared_digest TEXT, 
	prepared_kind TEXT, 
	prepared INTEGER, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (workspace)
);
INSERT INTO "memory_file" VALUES('local',2,'618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5',16,NULL,NULL,NULL,NULL,16);
CREATE TABLE parked (
	projection TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	stream TEXT NOT NULL, 
	error TEXT NOT NULL, 
	PRIMARY KEY (projection, position)
);
CREATE TABLE revisions (
	prepared INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	parent INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	decided INTEGER, 
	current_from INTEGER, 
	time TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	base_digest TEXT, 
	actor TEXT NOT NULL, 
	session TEXT, 
	run TEXT, 
	job TEXT, 
	curator TEXT, 
	restored_from INTEGER, 
	entries INTEGER NOT NULL, 
	inputs TEXT NOT NULL, 
	receipt TEXT NOT NULL, 
	overrides TEXT NOT NULL, 
	reason TEXT, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	staged TEXT, 
	rows TEXT NOT NULL, 
	PRIMARY KEY (prepared)
);
INSERT INTO "revisions" VALUES(13,'local',1,'curated',0,'committed',14,14,'2026-11-30T16:39:38.399389+00:00','64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03',NULL,'curator',NULL,NULL,'j-86fcfab44e70','rules-1',NULL,1,'["k-13beace51443"]','["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]','[]',NULL,0,0,NULL,'[1]');
INSERT INTO "revisions" VALUES(15,'local',2,'manual',1,'committed',16,16,'2026-11-30T16:39:38.423468+00:00','618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5','64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03','person',NULL,NULL,NULL,NULL,NULL,2,'[]','["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]','[]',NULL,0,0,NULL,'[1,2]');
CREATE TABLE revisions_entries (
	"row" INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	entry TEXT NOT NULL, 
	text TEXT NOT NULL, 
	since INTEGER NOT NULL, 
	until INTEGER, 
	position INTEGER NOT NULL, 
	blame INTEGER NOT NULL, 
	candidates TEXT NOT NULL, 
	run TEXT, 
	session TEXT, 
	messages TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	trust TEXT NOT NULL, 
	shared INTEGER NOT NULL, 
	PRIMARY KEY ("row")
);
INSERT INTO "revisions_entries" VALUES(1,'local','e82bb120617','The build needs make 4.3 or newer.',1,NULL,14,1,'["k-13beace51443"]','run-0d248701ea16','build-42','["m-51a465d3be88","m-610b482bb54d","m-853e3d9e86f0"]','model','model',0);
INSERT INTO "revisions_entries" VALUES(2,'local','e63af609e0e','A person wrote this by hand.',2,NULL,16,2,'[]',NULL,NULL,'[]','person','user',0);
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
CREATE INDEX context_compactions_by_id ON context_compactions (workspace, compaction);
CREATE INDEX context_compactions_by_session ON context_compactions (workspace, session, position);
CREATE INDEX context_epochs_by_session ON context_epochs (workspace, session, position);
CREATE INDEX context_freezes_by_session ON context_freezes (workspace, session, position);
CREATE INDEX context_messages_by_id ON context_messages (workspace, session, message);
CREATE INDEX context_messages_by_session ON context_messages (workspace, session, position);
CREATE INDEX context_preambles_by_session ON context_preambles (workspace, session, position);
CREATE INDEX context_runs_by_session ON context_runs (workspace, session, position);
CREATE INDEX context_shown_by_session ON context_shown (workspace, session, position);
CREATE INDEX candidates_by_status ON candidates (workspace, status, pending_since);
CREATE INDEX candidates_jobs_by_position ON candidates_jobs (workspace, position);
CREATE INDEX revisions_by_number ON revisions (workspace, revision);
CREATE INDEX revisions_by_position ON revisions (workspace, current_from);
CREATE INDEX revisions_entries_by_entry ON revisions_entries (workspace, entry);
COMMIT;
PRAGMA application_id=1835167595;
PRAGMA user_version=1;
