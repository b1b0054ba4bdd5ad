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
INSERT INTO "candidates" VALUES('local','k-96dfd1aee3eb','consumed','add',9,14,NULL,'build-42','run-42183d924e55','model','model','2026-11-30T16:39:19.417165+00:00','[]','["m-701a67ea8ed0","m-845903fbdefb","m-3c223db5d814"]',0,NULL,NULL,1);
INSERT INTO "candidates" VALUES('local','k-e06f39e5faa2','admitted','add',22,24,24,'@person','run-7c1d5de1a697','person','user','2026-11-30T16:39:19.531345+00:00','[]','[]',0,NULL,NULL,NULL);
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
INSERT INTO "candidates_jobs" VALUES(13,'local','j-3cc11b14b6d0','prepared',NULL,'[]','["k-96dfd1aee3eb"]','rules-1',0,0,'2026-11-30T16:39:19.459324+00:00');
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
INSERT INTO "context_freezes" VALUES(6,'local','build-42','r-3eb86542c46c',0,'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
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
INSERT INTO "context_messages" VALUES(3,'local','build-42','m-701a67ea8ed0','user','openai','run-42183d924e55',11,'user','[]','[]');
INSERT INTO "context_messages" VALUES(4,'local','build-42','m-845903fbdefb','assistant','openai','run-42183d924e55',14,'model','["c1"]','[]');
INSERT INTO "context_messages" VALUES(5,'local','build-42','m-3c223db5d814','tool','openai','run-42183d924e55',19,'tool','[]','["c1"]');
INSERT INTO "context_messages" VALUES(10,'local','build-42','m-16ce70822ac0','assistant','openai','run-42183d924e55',11,'model','[]','[]');
INSERT INTO "context_messages" VALUES(18,'local','build-42','m-e7e16e1f5362','user','openai','run-0c322ad5cf45',7,'user','[]','[]');
CREATE TABLE context_preambles (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	preamble TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "context_preambles" VALUES(7,'local','build-42','p-f30fb8c14d74',8);
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
INSERT INTO "context_runs" VALUES(2,'local','build-42','run-42183d924e55','succeeded',NULL,0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14794,"started":"2398126","runtime":"r-3eb86542c46c"}',300.0,'2026-11-30T16:39:18.800305+00:00','2026-11-30T16:39:19.427170+00:00',11,0,0);
INSERT INTO "context_runs" VALUES(17,'local','build-42','run-0c322ad5cf45','failed','KeyError',0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14794,"started":"2398126","runtime":"r-3eb86542c46c"}',300.0,'2026-11-30T16:39:19.518085+00:00','2026-11-30T16:39:19.523601+00:00',19,0,0);
INSERT INTO "context_runs" VALUES(21,'local','@person','run-7c1d5de1a697','succeeded',NULL,0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14794,"started":"2398126","runtime":"r-3eb86542c46c"}',300.0,'2026-11-30T16:39:19.528340+00:00','2026-11-30T16:39:19.534000+00:00',23,0,0);
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
INSERT INTO "context_sessions" VALUES('local','build-42','agent',NULL,NULL,NULL,NULL,0,0,5,62,0,0,2,0,1,19,'2026-11-30T16:39:19.523601+00:00');
INSERT INTO "context_sessions" VALUES('local','@person','agent',NULL,NULL,NULL,NULL,0,0,0,0,0,0,1,0,20,23,'2026-11-30T16:39:19.534000+00:00');
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
INSERT INTO "context_shown" VALUES(8,'local','build-42','run-42183d924e55','r-3eb86542c46c','a54a34ccb4a4b3a6d16d509d90e58a706f3fcb15cc2d7b66d218dd0fd56d8608','neutral-1','policy-2',6,'p-f30fb8c14d74',7,6,0,200000,52,3);
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
INSERT INTO "cursors" VALUES('context',1,1,24,'live',NULL,'2026-11-30T16:39:19.537028+00:00','["context_compactions", "context_epochs", "context_freezes", "context_messages", "context_preambles", "context_runs", "context_sessions", "context_shown"]');
INSERT INTO "cursors" VALUES('candidates',1,1,24,'live',NULL,'2026-11-30T16:39:19.550341+00:00','["candidates", "candidates_jobs"]');
INSERT INTO "cursors" VALUES('revisions',1,1,24,'live',NULL,'2026-11-30T16:39:19.555705+00:00','["revisions", "revisions_entries"]');
INSERT INTO "cursors" VALUES('memory_file',1,1,23,'live',NULL,'2026-11-30T16:39:19.564784+00:00','["memory_file"]');
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
INSERT INTO "events" VALUES(1,X'6F6734A7A67B5E469B4909C9E7018EE5',1,'SessionOpened',1,'local','build-42',NULL,'caller','operator',NULL,'2026-11-30T16:39:18.787281+00:00','{"origin":"agent","format":null}',NULL,NULL,NULL,X'344A6E6DEFAD284C35321B66B23896D22DD97642E5C47180428C9C7E9282D230');
INSERT INTO "events" VALUES(2,X'A90C6C301FFD59B6AE589B838219D309',1,'RunStarted',1,'local','build-42','run-42183d924e55','caller','operator',NULL,'2026-11-30T16:39:18.800305+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14794,"started":"2398126","runtime":"r-3eb86542c46c"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'414CC04E2CB63C5FA1B55BD23C18EA6482EC8514F8F256341A368D376F0F21D6');
INSERT INTO "events" VALUES(3,X'08C2788A5A51564989D3654F6F63954D',1,'MessageRecorded',1,'local','build-42','run-42183d924e55','user','user',NULL,'2026-11-30T16:39:18.803387+00:00','{"message":"m-701a67ea8ed0","role":"user","form":"openai","tokens":11,"counter":"estimate-1","size":63,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"user","content":"Why does the build fail?"}}',X'98A7DE39606C2CB35F692F14336E2C7C',X'281E9DE05DA119F9CD7FC0080FA7A8CFA08421217841DCF28B190EBA833162C4',X'CED135CD36978D7F222AC1CF11F884AF10CA01B293A7B3A8D321FA32E6901BDC');
INSERT INTO "events" VALUES(4,X'45FFEEF11B745974B5D696A5017FDCA6',1,'MessageRecorded',1,'local','build-42','run-42183d924e55','model','model',NULL,'2026-11-30T16:39:18.807317+00:00','{"message":"m-845903fbdefb","role":"assistant","form":"openai","tokens":14,"counter":"estimate-1","size":135,"calls":["c1"],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"make","arguments":"{}"}}]}}',X'279331DEAE77A4E875A35B689971B330',X'FC1C7364F6352DC2ECA31C0279D9C5909A1E0B6918F4B7680CC121D985C86189',X'E7A2740BB7419B80644486A2F2A1BF4AF7FB71F8489A31941BCA1190F6F40699');
INSERT INTO "events" VALUES(5,X'5DE54B9CE5FF587DAF49A2BEE8C562C0',1,'MessageRecorded',1,'local','build-42','run-42183d924e55','caller','tool',NULL,'2026-11-30T16:39:18.811264+00:00','{"message":"m-3c223db5d814","role":"tool","form":"openai","tokens":19,"counter":"estimate-1","size":80,"calls":[],"results":["c1"],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"tool","tool_call_id":"c1","content":"make: 3.81 is too old"}}',X'1E75DB8979EC10DB5E92755D58012A65',X'8CBE969648CC8575E5F9B899DDB718C7E6995A734B376B676B8C7F52F72E2CC3',X'170EA8437BBDCEA87E41F6A750A59D8965BAEB2C21B245C62CCB9612A06F585B');
INSERT INTO "events" VALUES(6,X'9CFFA4669B865D6099FE85EC9BFE60F9',1,'MemoryFrozen',1,'local','build-42','run-42183d924e55','minutebook','operator',NULL,'2026-11-30T16:39:18.844936+00:00','{"revision":0,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","runtime":"r-3eb86542c46c","block_digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}','{"block":""}',X'153498D8DE3A04DDA8AACC39BE2139C8',X'6F9ACED38A3B914637575BCE9E3F618528C5A19E5971E34253AF764305CDE3E4',X'B4200EF7D1111A3D990CA2DC5136D1414A91F82AB9DB554FFA0B7A7134DD59C7');
INSERT INTO "events" VALUES(7,X'9CFFA4669B865D6099FE85EC9BFE60F9',2,'PreambleRecorded',1,'local','build-42','run-42183d924e55','compressor','operator',NULL,'2026-11-30T16:39:18.877517+00:00','{"preamble":"p-f30fb8c14d74","tokens":8}','{"system":"You mend builds.","tools":[]}',X'BB8469350254A6D6E789E0A2E7CAB298',X'F062BDF0BF8B5EBE7DBC699C2B6173E87403EA0DD2A26C77EB45990AF28E5E43',X'BCCD4B8B4BC54AFC107E73993165A7C8B6F8BE11D86C8CA741D51E0F9ED2EFCA');
INSERT INTO "events" VALUES(8,X'9CFFA4669B865D6099FE85EC9BFE60F9',3,'ContextShown',1,'local','build-42','run-42183d924e55','compressor','operator',NULL,'2026-11-30T16:39:18.877626+00:00','{"runtime":"r-3eb86542c46c","digest":"a54a34ccb4a4b3a6d16d509d90e58a706f3fcb15cc2d7b66d218dd0fd56d8608","renderer":"neutral-1","policy":"policy-2","seen":6,"preamble":"p-f30fb8c14d74","memory_revision":0,"window":200000,"tokens":52,"messages":3}',NULL,NULL,NULL,X'9DF6E5CC8D24F1C9998841FBAE8C4DD1FF13B1E84DFEA7E8FA478AE0D21F3257');
INSERT INTO "events" VALUES(9,X'5A8318DE8A0551B596AC6473FAF045C5',1,'CandidateProposed',1,'local','build-42','run-42183d924e55','model','model',NULL,'2026-11-30T16:39:19.417165+00:00','{"candidate":"k-96dfd1aee3eb","operation":"add","findings":[],"messages":["m-701a67ea8ed0","m-845903fbdefb","m-3c223db5d814"]}','{"operation":{"operation":"add","text":"The build needs make 4.3 or newer."}}',X'D545FFB30D1604C5684737A344085EDA',X'DF2C1AA8F0508A35A611B8C3DAF1F63BDD1AE105588B2E084571F3CC05D0D43B',X'D7DC9B0E43DBF2CAFA58BCC96CDEA83096DC6524396F46735D382DA87156A92E');
INSERT INTO "events" VALUES(10,X'347CBA23B8775757B6D3187C0F6EF500',1,'MessageRecorded',1,'local','build-42','run-42183d924e55','model','model',NULL,'2026-11-30T16:39:19.423408+00:00','{"message":"m-16ce70822ac0","role":"assistant","form":"openai","tokens":11,"counter":"estimate-1","size":66,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"assistant","content":"It needs a newer make."}}',X'00DB8060DD451F84FB016D4A1DDCD220',X'FCEF257ABBAE490E1ADC19988CD596DD1FE086AB757FAB4CE13324589A6CFFBE',X'8A812AA923EE5BB7783C700C417AAB580C874C7E5AEC50D14657C2ABBF6FF3EC');
INSERT INTO "events" VALUES(11,X'A90C6C301FFD59B6AE589B838219D309',2,'RunSucceeded',1,'local','build-42','run-42183d924e55','caller','operator',NULL,'2026-11-30T16:39:19.427170+00:00','{"usage":{"input_tokens":0,"output_tokens":0}}',NULL,NULL,NULL,X'7F669D6CBB7EED73234A27DBE05BF0E6915D5A4EEDE02079BD45C879384FB004');
INSERT INTO "events" VALUES(12,X'5A8318DE8A0551B596AC6473FAF045C5',2,'CandidateAdmitted',1,'local','build-42','run-42183d924e55','model','model',9,'2026-11-30T16:39:19.427971+00:00','{"candidate":"k-96dfd1aee3eb"}',NULL,NULL,NULL,X'601A5006270FE720E9EF9C49DC8356F205BA940CA6A771DC70B8BF177152031E');
INSERT INTO "events" VALUES(13,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',1,'RevisionPrepared',1,'local',NULL,NULL,'curator','model',NULL,'2026-11-30T16:39:19.459324+00:00','{"revision":1,"kind":"curated","parent":0,"base_digest":null,"digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","entries":[{"entry":"eb2b006d818","since":1,"candidates":["k-96dfd1aee3eb"],"run":"run-42183d924e55","session":"build-42","messages":["m-701a67ea8ed0","m-845903fbdefb","m-3c223db5d814"],"actor":"model","trust":"model","shared":false}],"inputs":["k-96dfd1aee3eb"],"job":"j-3cc11b14b6d0","curator":"rules-1","usage":{"input_tokens":0,"output_tokens":0},"restored_from":null,"overrides":[],"receipt":["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]}','{"entries":["The build needs make 4.3 or newer."]}',X'FF95E1B32F20E069557D696A28EDE7A0',X'E251205F163FC39817B27DFC386136C38E6081239BE6701066F7F887A7890228',X'82392559E16803E2BF30355BC1EE3733CEE45B375C48639A543D5B481684668A');
INSERT INTO "events" VALUES(14,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',2,'RevisionCommitted',1,'local',NULL,NULL,'curator','model',13,'2026-11-30T16:39:19.473549+00:00','{"revision":1,"digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","inputs":["k-96dfd1aee3eb"]}',NULL,NULL,NULL,X'07CA12486EF23AF2CCF52B85DCC984A62A3FAF07DEA3EBAFC533E191B5B79BE9');
INSERT INTO "events" VALUES(15,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',3,'RevisionPrepared',1,'local',NULL,NULL,'person','user',NULL,'2026-11-30T16:39:19.506056+00:00','{"revision":2,"kind":"manual","parent":1,"base_digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","digest":"618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5","entries":[{"entry":"eb2b006d818","since":1,"candidates":["k-96dfd1aee3eb"],"run":"run-42183d924e55","session":"build-42","messages":["m-701a67ea8ed0","m-845903fbdefb","m-3c223db5d814"],"actor":"model","trust":"model","shared":false},{"entry":"e63af609e0e","since":2,"candidates":[],"run":null,"session":null,"messages":[],"actor":"person","trust":"user","shared":false}],"inputs":[],"job":null,"curator":null,"usage":{"input_tokens":0,"output_tokens":0},"restored_from":null,"overrides":[],"receipt":["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]}','{"entries":["The build needs make 4.3 or newer.","A person wrote this by hand."]}',X'B88C641CCE364EF8048EFD97F8D756CF',X'279376269CE4948573D25DB73231456577EBBF006526F723EEAB51020961CEFB',X'134B65858E39B43934C33D8E7F477A63774CE6D0D274D92074246B616401C211');
INSERT INTO "events" VALUES(16,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',4,'RevisionCommitted',1,'local',NULL,NULL,'person','user',NULL,'2026-11-30T16:39:19.506126+00:00','{"revision":2,"digest":"618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5","inputs":[]}',NULL,NULL,NULL,X'F1CC37C970BFAB147A54DEC1AF5B9116FA16E843DE8844F76D70B51F7F67D272');
INSERT INTO "events" VALUES(17,X'A90C6C301FFD59B6AE589B838219D309',3,'RunStarted',1,'local','build-42','run-0c322ad5cf45','caller','operator',NULL,'2026-11-30T16:39:19.518085+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14794,"started":"2398126","runtime":"r-3eb86542c46c"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'E55D5D7A27CA95465D5D8E08AACAEDD91F507CB8FF5EC484B5E2A63576320F9C');
INSERT INTO "events" VALUES(18,X'D3EF3D668A6F5A578A00BC8BB2210A4A',1,'MessageRecorded',1,'local','build-42','run-0c322ad5cf45','user','user',NULL,'2026-11-30T16:39:19.519278+00:00','{"message":"m-e7e16e1f5362","role":"user","form":"openai","tokens":7,"counter":"estimate-1","size":47,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"user","content":"And now?"}}',X'033371EEAE585584F5C383B96D4BD5D0',X'497367815B9ED152E35E7D6C03042DA91C81D2ADE00258FEC20ECCA3A3D4C9B4',X'EBDF9FC3FC71590AD634E738E0320EA0AFC42A8EBCE1E2DBF66B0E8F68EFCFC5');
INSERT INTO "events" VALUES(19,X'A90C6C301FFD59B6AE589B838219D309',4,'RunFailed',1,'local','build-42','run-0c322ad5cf45','caller','operator',NULL,'2026-11-30T16:39:19.523601+00:00','{"error":"KeyError","usage":{"input_tokens":0,"output_tokens":0}}','{"message":"''gone''"}',X'000BE85AD58FCD9C28617D7F73AF3926',X'FB6A1F71E4DDE41E6E4F40E2167D16907D7CD141A61BA618625EA5EE20A5006F',X'F774D05271F10F84AB9B6F89DD650EC6FC076CFB02BF030B09CE4DC493C64DF2');
INSERT INTO "events" VALUES(20,X'74BB7A84DA0650DE844D6EB8593F8638',1,'SessionOpened',1,'local','@person',NULL,'caller','operator',NULL,'2026-11-30T16:39:19.525099+00:00','{"origin":"agent","format":null}',NULL,NULL,NULL,X'D0CA1CC89911CCAB9363021727334118624D70B104BC86562CEE56AD0C0A9B66');
INSERT INTO "events" VALUES(21,X'0487667F74105AB9A3743BE68D5FFE58',1,'RunStarted',1,'local','@person','run-7c1d5de1a697','person','operator',NULL,'2026-11-30T16:39:19.528340+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":14794,"started":"2398126","runtime":"r-3eb86542c46c"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'114D89CEA68BEBDDA6D0F01E85414A9D89C5EA23F88E64E7D3CE7F46C75022D4');
INSERT INTO "events" VALUES(22,X'8357409B8B5750BBAE1C00B6FD1A2DE0',1,'CandidateProposed',1,'local','@person','run-7c1d5de1a697','person','user',NULL,'2026-11-30T16:39:19.531345+00:00','{"candidate":"k-e06f39e5faa2","operation":"add","findings":[],"messages":[]}','{"operation":{"operation":"add","text":"Releases are cut on Thursdays."}}',X'3B1D12DCAA904B30795A4E61B97BD8A6',X'A784BCCE4AF13A9812087C89E32D4363D4821BC64C42A43B6B98355B7BCB3225',X'726900E6B2B496101EA21E0E9D16AABA9E1A5C68FAC541513CF4B2DA8DEC3D9B');
INSERT INTO "events" VALUES(23,X'0487667F74105AB9A3743BE68D5FFE58',2,'RunSucceeded',1,'local','@person','run-7c1d5de1a697','caller','operator',NULL,'2026-11-30T16:39:19.534000+00:00','{"usage":{"input_tokens":0,"output_tokens":0}}',NULL,NULL,NULL,X'9E8375BA848177DE717DC9BCDB947C621CF3B7D8FFCA0B791BE22B381EF71F31');
INSERT INTO "events" VALUES(24,X'8357409B8B5750BBAE1C00B6FD1A2DE0',2,'CandidateAdmitted',1,'local','@person','run-7c1d5de1a697','person','user',22,'2026-11-30T16:39:19.534401+00:00','{"candidate":"k-e06f39e5faa2"}',NULL,NULL,NULL,X'69E6C7B91A1B2DA59A1C7645442734FA52E4B30B93850A5725221C8B06650D4F');
CREATE TABLE leases (
	name TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	fence INTEGER NOT NULL, 
	expires TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "leases" VALUES('curate:local','',1,'');
CREATE TABLE log_head (
	k SMALLINT NOT NULL, 
	last_id INTEGER NOT NULL, 
	chain_hash BLOB NOT NULL, 
	PRIMARY KEY (k)
);
INSERT INTO "log_head" VALUES(1,24,X'69E6C7B91A1B2DA59A1C7645442734FA52E4B30B93850A5725221C8B06650D4F');
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
INSERT INTO "revisions" VALUES(13,'local',1,'curated',0,'committed',14,14,'2026-11-30T16:39:19.473549+00:00','64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03',NULL,'curator',NULL,NULL,'j-3cc11b14b6d0','rules-1',NULL,1,'["k-96dfd1aee3eb"]','["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]','[]',NULL,0,0,NULL,'[1]');
INSERT INTO "revisions" VALUES(15,'local',2,'manual',1,'committed',16,16,'2026-11-30T16:39:19.506126+00:00','618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5','64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03','person',NULL,NULL,NULL,NULL,NULL,2,'[]','["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]','[]',NULL,0,0,NULL,'[1,2]');
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
INSERT INTO "revisions_entries" VALUES(1,'local','eb2b006d818','The build needs make 4.3 or newer.',1,NULL,14,1,'["k-96dfd1aee3eb"]','run-42183d924e55','build-42','["m-701a67ea8ed0","m-845903fbdefb","m-3c223db5d814"]','model','model',0);
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
