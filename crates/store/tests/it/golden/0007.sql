-- A database of schema 7, as `sqlite3 dunlin.db .dump` gives it. Never edited: it stands for the databases people have.
PRAGMA page_size=16384;
PRAGMA application_id=1148087406;
PRAGMA user_version=7;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE source (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    url       TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    recipe    TEXT    NOT NULL,               -- JSON
    weight    REAL    NOT NULL,
    life      TEXT    NOT NULL,
    urgency   TEXT    NOT NULL,
    tags      TEXT    NOT NULL,               -- JSON array of texts
    created   INTEGER NOT NULL,
    health    TEXT    NOT NULL,               -- new, well, failing, refused
    reason    TEXT    NOT NULL,
    since     INTEGER NOT NULL,
    paused    INTEGER
, resource INTEGER NOT NULL DEFAULT 0, announced TEXT, name TEXT, title TEXT NOT NULL DEFAULT '', found_kind TEXT NOT NULL DEFAULT '', for_queries INTEGER NOT NULL DEFAULT 0);
INSERT INTO source VALUES(1,'https://a.example/','page','{}',1.0,'overwrite','uniform','["oil","desk"]',1700000000000000,'failing','503',1700000003000000,NULL,1,'failing','Oil desk','Oil today','page',0);
INSERT INTO source VALUES(2,'https://b.example/','page','{}',1.0,'overwrite','uniform','[]',1700000000000000,'new','',1700000000000000,NULL,2,NULL,NULL,'','',0);
CREATE TABLE content (
    id        INTEGER PRIMARY KEY,
    hash      BLOB    NOT NULL UNIQUE,        -- BLAKE3
    size      INTEGER NOT NULL,
    base      INTEGER REFERENCES content,
    depth     INTEGER NOT NULL,
    packing   INTEGER NOT NULL,               -- 0 as it is, 1 zstd, 2 zstd with the base as prefix
    body      BLOB    NOT NULL
);
INSERT INTO content VALUES(1,X'49ecbe6a0228624e9ed17ab8eea2ef07c9c6e346b7ef0cc6bf2b0d5e493b0698',1520,NULL,0,1,X'28b52ffd60f004c504005285111790a9393b3685e48096a020ba3b8701ff514ae1b9be0e4aa454075aa8dcffffff6fdbb66db76ddbb64018080280bb447146d93170914ac20e979dc53386a0f170d0e0299402282080334a0fb878ce877984e73ccc473cc7c33cc2731ec6239ef3301ff11c0ff3889ff3e7c3f8f9883e9fc3e7c3ecf9083d9f93e7c3e0f9883b1f68e7b9248b94e445b2a4445e92256527b748884f');
INSERT INTO content VALUES(2,X'185568c7e01fe9149c273c511b89c96ffbcf253833e0de4734a0298d3ee5691f',1520,1,1,2,X'28b52ffd60f0046d010040343536373839320a0d0074cc977f08c80b481690129017902c10b99800216ba0e17ac01ff90104e521bb0210');
INSERT INTO content VALUES(3,X'c50a9edee77ca172d3f1ea2c0ce568ab0cca04f676379a33511886520d9d9687',1520,2,2,2,X'28b52ffd60f0046d010040343536373839330a0d0074cc977f08c80b481690129017902c10b99800216ba0e17ac01ff90104e521bb0210');
CREATE TABLE version (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    at         INTEGER NOT NULL,
    content    INTEGER NOT NULL REFERENCES content,
    media_type TEXT    NOT NULL
);
INSERT INTO version VALUES(1,1,1700000001000000,1,'text/plain');
INSERT INTO version VALUES(2,1,1700000002000000,2,'text/plain');
INSERT INTO version VALUES(3,1,1700000003000000,3,'text/plain');
CREATE TABLE item (
    source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    position   INTEGER,                       -- on the source; empty once it has left
    body       BLOB    NOT NULL,
    first_seen INTEGER NOT NULL,
    left_at    INTEGER,
    UNIQUE (source, key)
);
INSERT INTO item VALUES(1,'x',NULL,X'6974656d',1700000001000000,1700000002000000);
INSERT INTO item VALUES(1,'y',0,X'6974656d',1700000002000000,NULL);
CREATE TABLE change (
    cursor     INTEGER PRIMARY KEY AUTOINCREMENT,
    source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    version    INTEGER REFERENCES version ON DELETE SET NULL,
    detected   INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    item       TEXT,
    summary    TEXT    NOT NULL,
    detail     BLOB    NOT NULL,
    happened_after  INTEGER,
    happened_before INTEGER NOT NULL
);
INSERT INTO change VALUES(1,1,1,1700000001000000,'edited',NULL,'change 1',X'',NULL,1700000001000000);
INSERT INTO change VALUES(2,1,1,1700000001000000,'edited',NULL,'first sight',X'',NULL,1700000001000000);
INSERT INTO change VALUES(3,1,2,1700000002000000,'edited',NULL,'change 2',X'',NULL,1700000002000000);
INSERT INTO change VALUES(4,1,3,1700000003000000,'edited',NULL,'change 3',X'',NULL,1700000003000000);
CREATE TABLE observation (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    probe      INTEGER NOT NULL,              -- 64 bits, sign without meaning
    at         INTEGER NOT NULL,
    outcome    BLOB    NOT NULL,              -- postcard
    version    INTEGER,
    first_cursor INTEGER,
    last_cursor  INTEGER,
    UNIQUE (source, probe)
);
INSERT INTO observation VALUES(1,1,1,1700000001000000,X'00',1,1,2);
INSERT INTO observation VALUES(2,1,2,1700000002000000,X'00',2,3,3);
INSERT INTO observation VALUES(3,1,3,1700000003000000,X'00',3,4,4);
CREATE TABLE politeness (
    scope     TEXT NOT NULL UNIQUE,
    state     BLOB NOT NULL
);
INSERT INTO politeness VALUES('a.example',X'010203');
CREATE TABLE decision (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    source    INTEGER,                        -- kept when the source goes: a replay needs it
    entry     BLOB    NOT NULL                -- postcard
, size INTEGER NOT NULL DEFAULT 0, packing INTEGER NOT NULL DEFAULT 0);
INSERT INTO decision VALUES(1,1700000003000000,NULL,X'2528b52ffd202529010001809be084838985060102011174686520707269636520776173206d6574010001020200ff',1,1);
CREATE TABLE outbox (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    key         TEXT    NOT NULL UNIQUE,
    destination TEXT    NOT NULL,
    source      INTEGER REFERENCES source ON DELETE SET NULL,
    cursor      INTEGER,
    payload     BLOB    NOT NULL,
    queued      INTEGER NOT NULL,
    due         INTEGER NOT NULL,             -- while it is leased: when the lease ends
    attempts    INTEGER NOT NULL DEFAULT 0,
    last_error  TEXT    NOT NULL DEFAULT ''
);
INSERT INTO outbox VALUES(1,'golden','hook',1,4,X'676f6c64656e',1700000003000000,1700000000000000,0,'');
CREATE TABLE setting (
    name      TEXT NOT NULL UNIQUE,
    value     TEXT NOT NULL
);
INSERT INTO setting VALUES('budget','{"per_second":1}');
CREATE TABLE IF NOT EXISTS "unchanged" (
    id        INTEGER PRIMARY KEY,            -- the number of the last one in it, counted together with observation.id
    size      INTEGER NOT NULL,               -- how many
    at        INTEGER NOT NULL,               -- the latest time in it
    probes     BLOB    NOT NULL                -- postcard
, packing INTEGER NOT NULL DEFAULT 0);
INSERT INTO unchanged VALUES(4,1,1700000004000000,X'010201080180a4da8583898506',1);
CREATE TABLE IF NOT EXISTS "note" (
    source    INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    name      TEXT    NOT NULL,
    value     BLOB    NOT NULL,
    PRIMARY KEY (source, name)
) WITHOUT ROWID;
INSERT INTO note VALUES(1,'etag',X'22763322');
CREATE TABLE resource (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    request   BLOB    NOT NULL UNIQUE,        -- a hash of URL and request headers, which may be secret
    state     BLOB    NOT NULL                -- what the last fetch left, such as validators; empty for nothing
);
INSERT INTO resource VALUES(1,X'e22d0f5279de8c181c20f2925b65e995',X'76616c696461746f7273');
INSERT INTO resource VALUES(2,X'6658643aee0f8174f180b5b653cc9897',X'');
CREATE TABLE cei (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    need      INTEGER NOT NULL,               -- how many of its intervals have to be captured
    weight    REAL    NOT NULL,
    state     TEXT    NOT NULL,               -- open, captured, lost, withdrawn
    created   INTEGER NOT NULL,
    ended     INTEGER
);
INSERT INTO cei VALUES(1,2,1.5,'open',1700000000000000,NULL);
INSERT INTO cei VALUES(2,1,1.5,'withdrawn',1700000000000000,1700000001000000);
INSERT INTO cei VALUES(3,1,1.5,'open',1700000000000000,NULL);
CREATE TABLE cei_interval (
    cei       INTEGER NOT NULL REFERENCES cei ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    source    INTEGER NOT NULL,               -- kept when the source goes
    start     INTEGER NOT NULL,
    finish    INTEGER NOT NULL,
    captured  INTEGER,                        -- by which observation
    PRIMARY KEY (cei, position)
) WITHOUT ROWID;
INSERT INTO cei_interval VALUES(1,0,1,1700000000000000,1700000009000000,2);
INSERT INTO cei_interval VALUES(1,1,1,1700000090000000,1700000099000000,NULL);
INSERT INTO cei_interval VALUES(2,0,1,1700000090000000,1700000099000000,NULL);
INSERT INTO cei_interval VALUES(3,0,1,1700000200000000,1700000209000000,NULL);
CREATE TABLE query (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT    NOT NULL UNIQUE,
    text      TEXT    NOT NULL,
    installed INTEGER NOT NULL,
    paused    INTEGER,
    memory    BLOB    NOT NULL
);
INSERT INTO "query" VALUES(1,'desk','QUERY desk …',1700000005000000,NULL,X'0708');
CREATE TABLE query_source (
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    source    INTEGER NOT NULL,
    PRIMARY KEY (query, position)
) WITHOUT ROWID;
INSERT INTO query_source VALUES(1,0,1);
CREATE TABLE query_instance (
    id        INTEGER PRIMARY KEY,
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    cei       INTEGER,
    state     BLOB    NOT NULL
);
INSERT INTO query_instance VALUES(1,1,3,X'0102');
CREATE TABLE query_result (
    cursor    INTEGER PRIMARY KEY AUTOINCREMENT,
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    instance  INTEGER NOT NULL UNIQUE,        -- one result at the most
    captured  INTEGER NOT NULL
, story BLOB);
INSERT INTO query_result VALUES(1,1,2,1700000006000000,X'09');
CREATE TABLE query_part (
    result    INTEGER NOT NULL REFERENCES query_result ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    source    INTEGER NOT NULL,               -- kept when the source goes
    captured  INTEGER NOT NULL,
    version   INTEGER,                        -- kept when the version is pruned
    items     TEXT    NOT NULL,               -- JSON
    PRIMARY KEY (result, position)
);
INSERT INTO query_part VALUES(1,0,'post',1,1700000006000000,3,'[]');
CREATE TABLE query_miss (
    cursor    INTEGER PRIMARY KEY AUTOINCREMENT,
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    began     INTEGER NOT NULL,
    missed    INTEGER NOT NULL,
    parts     TEXT    NOT NULL                -- JSON
);
INSERT INTO query_miss VALUES(1,1,1700000005000000,1700000007000000,'[]');
CREATE TABLE query_sighting (
    result    INTEGER NOT NULL REFERENCES query_result ON DELETE CASCADE,
    source    INTEGER NOT NULL,               -- kept when the source goes
    seen      INTEGER NOT NULL,
    version   INTEGER,                        -- kept when the version is pruned
    title     TEXT    NOT NULL,
    link      TEXT,
    PRIMARY KEY (result, source)
) WITHOUT ROWID;
INSERT INTO query_sighting VALUES(1,2,1700000007000000,NULL,'Oil',NULL);
CREATE TABLE text_index_state (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    built_to    INTEGER NOT NULL,             -- sources up to this one are in it
    is_complete INTEGER NOT NULL
);
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('query_sighting','query_sighting','1 1 1');
INSERT INTO sqlite_stat1 VALUES('query_source','query_source_by_source','1 1');
INSERT INTO sqlite_stat1 VALUES('query_source','query_source','1 1 1');
INSERT INTO sqlite_stat1 VALUES('query_part','sqlite_autoindex_query_part_1','1 1 1');
INSERT INTO sqlite_stat1 VALUES('cei_interval','cei_interval','4 2 1');
INSERT INTO sqlite_stat1 VALUES('setting','sqlite_autoindex_setting_1','1 1');
INSERT INTO sqlite_stat1 VALUES('decision','decision_by_time','1 1');
INSERT INTO sqlite_stat1 VALUES('outbox','outbox_by_source','1 1');
INSERT INTO sqlite_stat1 VALUES('outbox','outbox_by_destination','1 1 1 1');
INSERT INTO sqlite_stat1 VALUES('outbox','outbox_by_due','1 1 1');
INSERT INTO sqlite_stat1 VALUES('outbox','sqlite_autoindex_outbox_1','1 1');
INSERT INTO sqlite_stat1 VALUES('politeness','sqlite_autoindex_politeness_1','1 1');
INSERT INTO sqlite_stat1 VALUES('unchanged','unchanged_by_time','1 1');
INSERT INTO sqlite_stat1 VALUES('item','item_by_departure','1 1');
INSERT INTO sqlite_stat1 VALUES('item','sqlite_autoindex_item_1','2 2 1');
INSERT INTO sqlite_stat1 VALUES('query_result','query_result_by_time','1 1');
INSERT INTO sqlite_stat1 VALUES('query_result','query_result_by_query','1 1 1');
INSERT INTO sqlite_stat1 VALUES('query_result','sqlite_autoindex_query_result_1','1 1');
INSERT INTO sqlite_stat1 VALUES('query','sqlite_autoindex_query_1','1 1');
INSERT INTO sqlite_stat1 VALUES('observation','observation_by_time','3 1');
INSERT INTO sqlite_stat1 VALUES('observation','sqlite_autoindex_observation_1','3 3 1');
INSERT INTO sqlite_stat1 VALUES('version','version_by_content','3 1');
INSERT INTO sqlite_stat1 VALUES('version','version_by_source','3 3 1');
INSERT INTO sqlite_stat1 VALUES('resource','sqlite_autoindex_resource_1','2 1');
INSERT INTO sqlite_stat1 VALUES('note','note','1 1 1');
INSERT INTO sqlite_stat1 VALUES('cei','cei_by_end','1 1');
INSERT INTO sqlite_stat1 VALUES('cei','cei_by_state','3 2 1');
INSERT INTO sqlite_stat1 VALUES('source','source_by_resource','2 1');
INSERT INTO sqlite_stat1 VALUES('source','source_by_id','2 1');
INSERT INTO sqlite_stat1 VALUES('source','source_by_url','2 1');
INSERT INTO sqlite_stat1 VALUES('query_instance','query_instance_by_query','1 1');
INSERT INTO sqlite_stat1 VALUES('change','change_by_version','4 2');
INSERT INTO sqlite_stat1 VALUES('change','change_by_time','4 2');
INSERT INTO sqlite_stat1 VALUES('change','change_by_source','4 4 1');
INSERT INTO sqlite_stat1 VALUES('query_miss','query_miss_by_time','1 1');
INSERT INTO sqlite_stat1 VALUES('query_miss','query_miss_by_query','1 1 1');
INSERT INTO sqlite_stat1 VALUES('content','content_by_base','2 1');
INSERT INTO sqlite_stat1 VALUES('content','sqlite_autoindex_content_1','3 1');
ANALYZE sqlite_schema;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('resource',2);
INSERT INTO sqlite_sequence VALUES('source',2);
INSERT INTO sqlite_sequence VALUES('cei',3);
INSERT INTO sqlite_sequence VALUES('version',3);
INSERT INTO sqlite_sequence VALUES('change',4);
INSERT INTO sqlite_sequence VALUES('observation',4);
INSERT INTO sqlite_sequence VALUES('outbox',1);
INSERT INTO sqlite_sequence VALUES('decision',1);
INSERT INTO sqlite_sequence VALUES('query',1);
INSERT INTO sqlite_sequence VALUES('query_result',1);
INSERT INTO sqlite_sequence VALUES('query_miss',1);
CREATE INDEX source_by_url ON source (url);
CREATE INDEX content_by_base ON content (base) WHERE base IS NOT NULL;
CREATE INDEX version_by_source ON version (source, id);
CREATE INDEX version_by_content ON version (content);
CREATE INDEX item_by_departure ON item (left_at) WHERE left_at IS NOT NULL;
CREATE INDEX change_by_source ON change (source, cursor);
CREATE INDEX change_by_time ON change (detected);
CREATE INDEX change_by_version ON change (version) WHERE version IS NOT NULL;
CREATE INDEX observation_by_time ON observation (at);
CREATE INDEX decision_by_time ON decision (at);
CREATE INDEX outbox_by_due ON outbox (due, id);
CREATE INDEX outbox_by_destination ON outbox (destination, due, id);
CREATE INDEX outbox_by_source ON outbox (source) WHERE source IS NOT NULL;
CREATE INDEX source_by_id ON source (id);
CREATE INDEX source_by_resource ON source (resource);
CREATE INDEX cei_by_state ON cei (state, id);
CREATE INDEX cei_by_end ON cei (ended) WHERE ended IS NOT NULL;
CREATE INDEX unchanged_by_time ON unchanged (at);
CREATE INDEX query_source_by_source ON query_source (source);
CREATE INDEX query_instance_by_query ON query_instance (query);
CREATE INDEX query_result_by_query ON query_result (query, cursor);
CREATE INDEX query_result_by_time ON query_result (captured);
CREATE INDEX query_miss_by_query ON query_miss (query, cursor);
CREATE INDEX query_miss_by_time ON query_miss (missed);
COMMIT;
