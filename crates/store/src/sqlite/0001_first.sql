-- The first schema. Times are microseconds since 1970. Never edit this file: add another.

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
);
CREATE INDEX source_by_url ON source (url);

CREATE TABLE note (
    source    INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    name      TEXT    NOT NULL,
    value     BLOB    NOT NULL,
    UNIQUE (source, name)
);

-- Contents, each once. A delta is compressed with the content `base` as its prefix; `depth` counts the steps to a
-- full copy. A content may go when no version has it and no delta is based on it.
CREATE TABLE content (
    id        INTEGER PRIMARY KEY,
    hash      BLOB    NOT NULL UNIQUE,        -- BLAKE3
    size      INTEGER NOT NULL,
    base      INTEGER REFERENCES content,
    depth     INTEGER NOT NULL,
    packing   INTEGER NOT NULL,               -- 0 as it is, 1 zstd, 2 zstd with the base as prefix
    body      BLOB    NOT NULL
);
CREATE INDEX content_by_base ON content (base) WHERE base IS NOT NULL;

CREATE TABLE version (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    at         INTEGER NOT NULL,
    content    INTEGER NOT NULL REFERENCES content,
    media_type TEXT    NOT NULL
);
CREATE INDEX version_by_source ON version (source, id);
CREATE INDEX version_by_content ON version (content);

CREATE TABLE item (
    source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    position   INTEGER,                       -- on the source; empty once it has left
    body       BLOB    NOT NULL,
    first_seen INTEGER NOT NULL,
    left_at    INTEGER,
    UNIQUE (source, key)
);
CREATE INDEX item_by_departure ON item (left_at) WHERE left_at IS NOT NULL;

-- The cursor is counted by AUTOINCREMENT: never reused, and taken back with a transaction that is.
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
CREATE INDEX change_by_source ON change (source, cursor);
CREATE INDEX change_by_time ON change (detected);
CREATE INDEX change_by_version ON change (version) WHERE version IS NOT NULL;

-- One row for each capture: it is known again by its probe, and answered with what it got at first.
CREATE TABLE observation (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    probe      INTEGER NOT NULL,              -- 64 bits, sign without meaning
    at         INTEGER NOT NULL,
    outcome    BLOB    NOT NULL,              -- postcard
    evidence   BLOB    NOT NULL,              -- postcard
    version    INTEGER,
    first_cursor INTEGER,
    last_cursor  INTEGER,
    UNIQUE (source, probe)
);
CREATE INDEX observation_by_source ON observation (source, id);
CREATE INDEX observation_by_time ON observation (at);

CREATE TABLE politeness (
    scope     TEXT NOT NULL UNIQUE,
    state     BLOB NOT NULL
);

CREATE TABLE decision (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    source    INTEGER,                        -- kept when the source goes: a replay needs it
    entry     BLOB    NOT NULL                -- postcard
);
CREATE INDEX decision_by_time ON decision (at);
CREATE INDEX decision_by_source ON decision (source, id) WHERE source IS NOT NULL;

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
CREATE INDEX outbox_by_due ON outbox (due, id);
CREATE INDEX outbox_by_destination ON outbox (destination, due, id);
CREATE INDEX outbox_by_source ON outbox (source) WHERE source IS NOT NULL;

CREATE TABLE setting (
    name      TEXT NOT NULL UNIQUE,
    value     TEXT NOT NULL
);
