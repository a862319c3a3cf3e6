-- Continuous queries.
CREATE TABLE query (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT    NOT NULL UNIQUE,
    text      TEXT    NOT NULL,
    installed INTEGER NOT NULL,
    paused    INTEGER,
    memory    BLOB    NOT NULL
);

-- What each part of a query reads.
CREATE TABLE query_source (
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    source    INTEGER NOT NULL,
    PRIMARY KEY (query, position)
) WITHOUT ROWID;
CREATE INDEX query_source_by_source ON query_source (source);

-- Instances that have not ended.
CREATE TABLE query_instance (
    id        INTEGER PRIMARY KEY,
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    cei       INTEGER,
    state     BLOB    NOT NULL
);
CREATE INDEX query_instance_by_query ON query_instance (query);

CREATE TABLE query_result (
    cursor    INTEGER PRIMARY KEY AUTOINCREMENT,
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    instance  INTEGER NOT NULL UNIQUE,        -- one result at the most
    captured  INTEGER NOT NULL
);
CREATE INDEX query_result_by_query ON query_result (query, cursor);
CREATE INDEX query_result_by_time ON query_result (captured);

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

CREATE TABLE query_miss (
    cursor    INTEGER PRIMARY KEY AUTOINCREMENT,
    query     INTEGER NOT NULL REFERENCES query ON DELETE CASCADE,
    began     INTEGER NOT NULL,
    missed    INTEGER NOT NULL,
    parts     TEXT    NOT NULL                -- JSON
);
CREATE INDEX query_miss_by_query ON query_miss (query, cursor);
CREATE INDEX query_miss_by_time ON query_miss (missed);

-- Whether a source is there for queries only.
ALTER TABLE source ADD COLUMN for_queries INTEGER NOT NULL DEFAULT 0;
CREATE INDEX source_for_queries ON source (for_queries) WHERE for_queries <> 0;
