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
INSERT INTO "candidates" VALUES('local','k-78a0692ddbac','consumed','add',9,14,NULL,'build-42','run-64ba715a886e','model','model','2026-11-30T16:39:48.613509+00:00','[]','["m-b8270ab7de25","m-5381885da47e","m-dbdc3ed9ca93"]',0,NULL,NULL,1);
INSERT INTO "candidates" VALUES('local','k-13041a711dfd','admitted','add',22,24,24,'@person','run-f610f3482e16','person','user','2026-11-30T16:39:48.721600+00:00','[]','[]',0,NULL,NULL,NULL);
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
INSERT INTO "candidates_jobs" VALUES(13,'local','j-f181846fb170','prepared',NULL,'[]','["k-78a0692ddbac"]','rules-1',0,0,'2026-11-30T16:39:48.643845+00:00');
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
INSERT INTO "context_freezes" VALUES(6,'local','build-42','r-f3011d6ae714',0,'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855','e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
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
INSERT INTO "context_messages" VALUES(3,'local','build-42','m-b8270ab7de25','user','openai','run-64ba715a886e',11,'user','[]','[]');
INSERT INTO "context_messages" VALUES(4,'local','build-42','m-5381885da47e','assistant','openai','run-64ba715a886e',14,'model','["c1"]','[]');
INSERT INTO "context_messages" VALUES(5,'local','build-42','m-dbdc3ed9ca93','tool','openai','run-64ba715a886e',19,'tool','[]','["c1"]');
INSERT INTO "context_messages" VALUES(10,'local','build-42','m-7e9969c9f071','assistant','openai','run-64ba715a886e',11,'model','[]','[]');
INSERT INTO "context_messages" VALUES(18,'local','build-42','m-55a297ba02c6','user','openai','run-6946a1f7d2aa',7,'user','[]','[]');
CREATE TABLE context_preambles (
	position INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	session TEXT NOT NULL, 
	preamble TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	PRIMARY KEY (position)
);
INSERT INTO "context_preambles" VALUES(7,'local','build-42','p-9b72e464bc64',8);
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
INSERT INTO "context_runs" VALUES(2,'local','build-42','run-64ba715a886e','succeeded',NULL,0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15375,"started":"2401124","runtime":"r-f3011d6ae714"}',300.0,'2026-11-30T16:39:48.035856+00:00','2026-11-30T16:39:48.616470+00:00',11,0,0);
INSERT INTO "context_runs" VALUES(17,'local','build-42','run-6946a1f7d2aa','failed','KeyError',0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15375,"started":"2401124","runtime":"r-f3011d6ae714"}',300.0,'2026-11-30T16:39:48.707988+00:00','2026-11-30T16:39:48.712453+00:00',19,0,0);
INSERT INTO "context_runs" VALUES(21,'local','@person','run-f610f3482e16','succeeded',NULL,0,'{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15375,"started":"2401124","runtime":"r-f3011d6ae714"}',300.0,'2026-11-30T16:39:48.715315+00:00','2026-11-30T16:39:48.723752+00:00',23,0,0);
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
INSERT INTO "context_sessions" VALUES('local','build-42','agent',NULL,NULL,NULL,NULL,0,0,5,62,0,0,2,0,1,19,'2026-11-30T16:39:48.712453+00:00');
INSERT INTO "context_sessions" VALUES('local','@person','agent',NULL,NULL,NULL,NULL,0,0,0,0,0,0,1,0,20,23,'2026-11-30T16:39:48.723752+00:00');
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
INSERT INTO "context_shown" VALUES(8,'local','build-42','run-64ba715a886e','r-f3011d6ae714','53583bc5399df2633a8308a3a7247be6d4ac5ade750d2b47f7c41fca6856880e','neutral-1','policy-1',6,'p-9b72e464bc64',7,6,0,200000,52,3);
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
INSERT INTO "cursors" VALUES('context',1,1,24,'live',NULL,'2026-11-30T16:39:48.727293+00:00','["context_compactions", "context_epochs", "context_freezes", "context_messages", "context_preambles", "context_runs", "context_sessions", "context_shown"]');
INSERT INTO "cursors" VALUES('candidates',1,1,24,'live',NULL,'2026-11-30T16:39:48.742556+00:00','["candidates", "candidates_jobs"]');
INSERT INTO "cursors" VALUES('revisions',1,1,24,'live',NULL,'2026-11-30T16:39:48.750069+00:00','["revisions", "revisions_entries"]');
INSERT INTO "cursors" VALUES('memory_file',1,1,23,'live',NULL,'2026-11-30T16:39:48.761255+00:00','["memory_file"]');
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
INSERT INTO "events" VALUES(1,X'6F6734A7A67B5E469B4909C9E7018EE5',1,'SessionOpened',1,'local','build-42',NULL,'caller','operator',NULL,'2026-11-30T16:39:48.025056+00:00','{"origin":"agent","format":null}',NULL,NULL,NULL,X'C073E3D5083BA382F201E5686E862D0199F00E10E938F4744FE8316AF1D6DE13');
INSERT INTO "events" VALUES(2,X'A90C6C301FFD59B6AE589B838219D309',1,'RunStarted',1,'local','build-42','run-64ba715a886e','caller','operator',NULL,'2026-11-30T16:39:48.035856+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15375,"started":"2401124","runtime":"r-f3011d6ae714"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'3D6C9F6BED7ED21E7DF7E966C6449329AF437939E1DF5AC7D4A947E8B0429312');
INSERT INTO "events" VALUES(3,X'6568BA278A5F5A40B695920A44E6494D',1,'MessageRecorded',1,'local','build-42','run-64ba715a886e','user','user',NULL,'2026-11-30T16:39:48.039362+00:00','{"message":"m-b8270ab7de25","role":"user","form":"openai","tokens":11,"counter":"estimate-1","size":63,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"user","content":"Why does the build fail?"}}',X'28DA7B3461C11F78B3EDA79A437C3F61',X'B4DA9A7AB66D0FD7CF7E32DD3550579F8230BCE67CB519F1D924BC0144C266A6',X'5ECA6AE968AEA0CB8BB849CA5A36FB76156CE80B584E4B8663709544291A4621');
INSERT INTO "events" VALUES(4,X'CB2E5FCC30975DAD8C1E896F1B23EC55',1,'MessageRecorded',1,'local','build-42','run-64ba715a886e','model','model',NULL,'2026-11-30T16:39:48.043287+00:00','{"message":"m-5381885da47e","role":"assistant","form":"openai","tokens":14,"counter":"estimate-1","size":135,"calls":["c1"],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"make","arguments":"{}"}}]}}',X'08ADEF5F30D42863107F91936577B369',X'74AD44C25B3E990756E56903DF7E6869BAC4A51384C4A670A8A81A42476E6194',X'F98A16F5A751219AF3969F7B56E5627EA927B6326550DF2389BB3BC4D3114B13');
INSERT INTO "events" VALUES(5,X'14DDF5D415295CF49CFC67E8129902D6',1,'MessageRecorded',1,'local','build-42','run-64ba715a886e','caller','tool',NULL,'2026-11-30T16:39:48.047266+00:00','{"message":"m-dbdc3ed9ca93","role":"tool","form":"openai","tokens":19,"counter":"estimate-1","size":80,"calls":[],"results":["c1"],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"tool","tool_call_id":"c1","content":"make: 3.81 is too old"}}',X'9DAFA2EA0EFCE787BE9DA56DFA9DCC82',X'5EC48D77322C081ACE2CAC84701D082427B2B93C7B4AD653D6701277CEE58169',X'6A39C42F0E9C0ED774319D64C293C924B45AEB5E1E62C5D8902F8E464A721736');
INSERT INTO "events" VALUES(6,X'0D49050C8926519994AC1930AFDF27AC',1,'MemoryFrozen',1,'local','build-42','run-64ba715a886e','minutebook','operator',NULL,'2026-11-30T16:39:48.070983+00:00','{"revision":0,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","runtime":"r-f3011d6ae714","block_digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}','{"block":""}',X'BAF472A094D6F84EAB305CE8BC5F72DE',X'233D29A1DEE8A7804D69E5C9CB7CDC557E62149C7E047AFA6632E9B0423FE441',X'3F2D182CA43DEC298A1EBA7029E667C02365645C6E06B0141CFF4942D88D0AEB');
INSERT INTO "events" VALUES(7,X'0D49050C8926519994AC1930AFDF27AC',2,'PreambleRecorded',1,'local','build-42','run-64ba715a886e','compressor','operator',NULL,'2026-11-30T16:39:48.086196+00:00','{"preamble":"p-9b72e464bc64","tokens":8}','{"system":"You mend builds.","tools":[]}',X'D3C8C26F7EA607B15DB295EDE9AE48E4',X'2110315B6E7E4C343B444E0375443912EF89A62F4CBB2CA02B89D165FB45CB3C',X'B756FEF2C2F86B6E6FB113A047B69D6F70F165DF1E1E542023673881687F1A09');
INSERT INTO "events" VALUES(8,X'0D49050C8926519994AC1930AFDF27AC',3,'ContextShown',1,'local','build-42','run-64ba715a886e','compressor','operator',NULL,'2026-11-30T16:39:48.086278+00:00','{"runtime":"r-f3011d6ae714","digest":"53583bc5399df2633a8308a3a7247be6d4ac5ade750d2b47f7c41fca6856880e","renderer":"neutral-1","policy":"policy-1","seen":6,"preamble":"p-9b72e464bc64","memory_revision":0,"window":200000,"tokens":52,"messages":3}',NULL,NULL,NULL,X'217A5906637D515DEB3FB3ADC2E93F6BDC6C5DD3CC92329834E9A0ECE7678AD3');
INSERT INTO "events" VALUES(9,X'1A4F72B12F8E539FA6606FBBB91D1DE6',1,'CandidateProposed',1,'local','build-42','run-64ba715a886e','model','model',NULL,'2026-11-30T16:39:48.613509+00:00','{"candidate":"k-78a0692ddbac","operation":"add","findings":[],"messages":["m-b8270ab7de25","m-5381885da47e","m-dbdc3ed9ca93"]}','{"operation":{"operation":"add","text":"The build needs make 4.3 or newer."}}',X'280F9BFC14F0B477DD1B28F55E668452',X'149F20DF1CE6D7DD3C670E8D5FE15A64EF02766D17306B1C702548A730FB08D0',X'CE5464BF8F574F89E48C0AF5D904EA507086BE66D26970EBC1AF1E9534D759CA');
INSERT INTO "events" VALUES(10,X'32ECBBD35C6D565CAEC9FF2354D37527',1,'MessageRecorded',1,'local','build-42','run-64ba715a886e','model','model',NULL,'2026-11-30T16:39:48.614817+00:00','{"message":"m-7e9969c9f071","role":"assistant","form":"openai","tokens":11,"counter":"estimate-1","size":66,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"assistant","content":"It needs a newer make."}}',X'D7A623E9C3B9ECF9F1601F13B62C7FFC',X'24B6BCEB4265FBFDF8716D25115E119AA6389358D60855DC40076340B864BB6D',X'43BF6C7170B4A02E9A04C0EE7518C423ABF9364D912B038BD281DC1C89129936');
INSERT INTO "events" VALUES(11,X'A90C6C301FFD59B6AE589B838219D309',2,'RunSucceeded',1,'local','build-42','run-64ba715a886e','caller','operator',NULL,'2026-11-30T16:39:48.616470+00:00','{"usage":{"input_tokens":0,"output_tokens":0}}',NULL,NULL,NULL,X'4713CA40DB4E98120653B75197F671C90CBB87A1D5316785B842F909D727A569');
INSERT INTO "events" VALUES(12,X'1A4F72B12F8E539FA6606FBBB91D1DE6',2,'CandidateAdmitted',1,'local','build-42','run-64ba715a886e','model','model',9,'2026-11-30T16:39:48.617233+00:00','{"candidate":"k-78a0692ddbac"}',NULL,NULL,NULL,X'CFA7BDFF14D111EF2E8AFD3AF2E857A9ADAA404F110257CECBD32E1B53C7DC97');
INSERT INTO "events" VALUES(13,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',1,'RevisionPrepared',1,'local',NULL,NULL,'curator','model',NULL,'2026-11-30T16:39:48.643845+00:00','{"revision":1,"kind":"curated","parent":0,"base_digest":null,"digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","entries":[{"entry":"e55751e8f61","since":1,"candidates":["k-78a0692ddbac"],"run":"run-64ba715a886e","session":"build-42","messages":["m-b8270ab7de25","m-5381885da47e","m-dbdc3ed9ca93"],"actor":"model","trust":"model","shared":false}],"inputs":["k-78a0692ddbac"],"job":"j-f181846fb170","curator":"rules-1","usage":{"input_tokens":0,"output_tokens":0},"restored_from":null,"overrides":[],"receipt":["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]}','{"entries":["The build needs make 4.3 or newer."]}',X'224E19B4689CE981BAAD503C5B42CB87',X'7F023266A0002CF73E34CDCEC05EC95BA59DE430C7E9CCCD008AF1C551DA6BEE',X'7002124FE72BA13DC708066602ADC24E08029FC527113991D2AB8D442CC2F691');
INSERT INTO "events" VALUES(14,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',2,'RevisionCommitted',1,'local',NULL,NULL,'curator','model',13,'2026-11-30T16:39:48.650877+00:00','{"revision":1,"digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","inputs":["k-78a0692ddbac"]}',NULL,NULL,NULL,X'541C73E2F0A7B94616B7665C1D1F2D2613F809CB0D6017520BCC337D6F319BB2');
INSERT INTO "events" VALUES(15,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',3,'RevisionPrepared',1,'local',NULL,NULL,'person','user',NULL,'2026-11-30T16:39:48.698015+00:00','{"revision":2,"kind":"manual","parent":1,"base_digest":"64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03","digest":"618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5","entries":[{"entry":"e55751e8f61","since":1,"candidates":["k-78a0692ddbac"],"run":"run-64ba715a886e","session":"build-42","messages":["m-b8270ab7de25","m-5381885da47e","m-dbdc3ed9ca93"],"actor":"model","trust":"model","shared":false},{"entry":"e63af609e0e","since":2,"candidates":[],"run":null,"session":null,"messages":[],"actor":"person","trust":"user","shared":false}],"inputs":[],"job":null,"curator":null,"usage":{"input_tokens":0,"output_tokens":0},"restored_from":null,"overrides":[],"receipt":["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]}','{"entries":["The build needs make 4.3 or newer.","A person wrote this by hand."]}',X'344CB48C1794F28003867DEB8A3816BF',X'4F8AE21B8C925D0F661AF684187E65F866ACC9927BBECF4CA491A0123DD18762',X'C9B3B840A4256E8A0AF57561A8FBD4616DD7DEF18A22774296D681326833E00E');
INSERT INTO "events" VALUES(16,X'0DC8752E9AC75D68A8C6F48AC5DAA17B',4,'RevisionCommitted',1,'local',NULL,NULL,'person','user',NULL,'2026-11-30T16:39:48.698087+00:00','{"revision":2,"digest":"618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5","inputs":[]}',NULL,NULL,NULL,X'5514A1D1B69F286AEA54CE54ABD434F171F46E3E11A5A319357744C45A42D5E4');
INSERT INTO "events" VALUES(17,X'A90C6C301FFD59B6AE589B838219D309',3,'RunStarted',1,'local','build-42','run-6946a1f7d2aa','caller','operator',NULL,'2026-11-30T16:39:48.707988+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15375,"started":"2401124","runtime":"r-f3011d6ae714"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'F5244D0A1FB70414DFD797A17F42C587037D3D3A414D0435EE2185199FFA9CFD');
INSERT INTO "events" VALUES(18,X'D67435E379BB5B77B9908405C7828CA8',1,'MessageRecorded',1,'local','build-42','run-6946a1f7d2aa','user','user',NULL,'2026-11-30T16:39:48.711336+00:00','{"message":"m-55a297ba02c6","role":"user","form":"openai","tokens":7,"counter":"estimate-1","size":47,"calls":[],"results":[],"encoding":"orjson","line":null,"usage":null,"redacted":0}','{"source":{"role":"user","content":"And now?"}}',X'7760C75BB2BED5846C97F30009029F82',X'11136C4D4F4CDA4832FB2C75867317943E7FB9BD068F37EC5647041CE5C9C1FD',X'91935D27A5757D7DA743D36FCAB6C0EE6FE5B4ACDC374F0A21992BFAA2B27C0A');
INSERT INTO "events" VALUES(19,X'A90C6C301FFD59B6AE589B838219D309',4,'RunFailed',1,'local','build-42','run-6946a1f7d2aa','caller','operator',NULL,'2026-11-30T16:39:48.712453+00:00','{"error":"KeyError","usage":{"input_tokens":0,"output_tokens":0}}','{"message":"''gone''"}',X'0720473C434EF960F1A8F4D4EE87AB70',X'6FFF7B7F0A9F32889B2ADC8EE13E146F3D25115800C948C3902A6BE7FCA1A4F3',X'3826E024545394EAF181D74F02CB456AC207B48979A533CED7FF789547B2DBE4');
INSERT INTO "events" VALUES(20,X'74BB7A84DA0650DE844D6EB8593F8638',1,'SessionOpened',1,'local','@person',NULL,'caller','operator',NULL,'2026-11-30T16:39:48.714135+00:00','{"origin":"agent","format":null}',NULL,NULL,NULL,X'7DE95F702E538DAC1D2F188AFBADA11F03E9C8377D385843F8C28AA6773ED6E6');
INSERT INTO "events" VALUES(21,X'0487667F74105AB9A3743BE68D5FFE58',1,'RunStarted',1,'local','@person','run-f610f3482e16','person','operator',NULL,'2026-11-30T16:39:48.715315+00:00','{"owner":{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15375,"started":"2401124","runtime":"r-f3011d6ae714"},"lease_seconds":300.0,"imported":false}',NULL,NULL,NULL,X'409CFA124D0040116851E8B51CF60751ECBC42BAFF8BF4492E2A6B86FBB3D447');
INSERT INTO "events" VALUES(22,X'B14047897BBD5C43ACFDE016D1847F76',1,'CandidateProposed',1,'local','@person','run-f610f3482e16','person','user',NULL,'2026-11-30T16:39:48.721600+00:00','{"candidate":"k-13041a711dfd","operation":"add","findings":[],"messages":[]}','{"operation":{"operation":"add","text":"Releases are cut on Thursdays."}}',X'AADF224F56971AFCEBB3F5AD2156E6F1',X'536AAC5ACD6605EA0FE5BC7E3A5AB91F7136F44A7834005A3D08FB81B8BA870A',X'2494D5D90B832E738661D68C282ABCA943A40105C8F71586075108D6B1EE08D5');
INSERT INTO "events" VALUES(23,X'0487667F74105AB9A3743BE68D5FFE58',2,'RunSucceeded',1,'local','@person','run-f610f3482e16','caller','operator',NULL,'2026-11-30T16:39:48.723752+00:00','{"usage":{"input_tokens":0,"output_tokens":0}}',NULL,NULL,NULL,X'355E749D7EF60D669D0DCD875FD0416561B558F7106924F2C5617A9014B991D2');
INSERT INTO "events" VALUES(24,X'B14047897BBD5C43ACFDE016D1847F76',2,'CandidateAdmitted',1,'local','@person','run-f610f3482e16','person','user',22,'2026-11-30T16:39:48.724190+00:00','{"candidate":"k-13041a711dfd"}',NULL,NULL,NULL,X'DF1364D257884AAA516C31CF78DCB3E1DF2328A09CB393A2489DE2191BA15B8E');
CREATE TABLE leases (
	name TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	fence INTEGER NOT NULL, 
	expires TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "leases" VALUES('curate:local','{"host":"4d2e63c36710b7e6ce63977bdd50d615","pid":15375,"started":"2401124","runtime":"r-f3011d6ae714"}',1,'2026-11-30T16:39:48.661');
CREATE TABLE log_head (
	k SMALLINT NOT NULL, 
	last_id INTEGER NOT NULL, 
	chain_hash BLOB NOT NULL, 
	PRIMARY KEY (k)
);
INSERT INTO "log_head" VALUES(1,24,X'DF1364D257884AAA516C31CF78DCB3E1DF2328A09CB393A2489DE2191BA15B8E');
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
INSERT INTO "revisions" VALUES(13,'local',1,'curated',0,'committed',14,14,'2026-11-30T16:39:48.650877+00:00','64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03',NULL,'curator',NULL,NULL,'j-f181846fb170','rules-1',NULL,1,'["k-78a0692ddbac"]','["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document","shrink_guard"]','[]',NULL,0,0,NULL,'[1]');
INSERT INTO "revisions" VALUES(15,'local',2,'manual',1,'committed',16,16,'2026-11-30T16:39:48.698087+00:00','618cf1d5fbc0bc1a56c00fbd042759ead3496e6ca13105ae190e013423cc8ba5','64181c08224b2fcbe65042e0b596df00a94d5b77008e694521c6e6afe4fa6d03','person',NULL,NULL,NULL,NULL,NULL,2,'[]','["size","lines","hidden","homoglyphs","markup","meaning","credentials","duplicates","document"]','[]',NULL,0,0,NULL,'[1,2]');
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
INSERT INTO "revisions_entries" VALUES(1,'local','e55751e8f61','The build needs make 4.3 or newer.',1,NULL,14,1,'["k-78a0692ddbac"]','run-64ba715a886e','build-42','["m-b8270ab7de25","m-5381885da47e","m-dbdc3ed9ca93"]','model','model',0);
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
