-- What is fetched, apart from what is wanted of it: sources with the same request share a resource.
CREATE TABLE resource (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    request   BLOB    NOT NULL UNIQUE,        -- a hash of URL and request headers, which may be secret
    state     BLOB    NOT NULL                -- what the last fetch left, such as validators; empty for nothing
);
ALTER TABLE source ADD COLUMN resource INTEGER NOT NULL DEFAULT 0;
INSERT INTO resource (request, state)
    SELECT request_key(url, recipe), x'' FROM source GROUP BY 1 ORDER BY min(id);
UPDATE source SET resource = (SELECT id FROM resource WHERE request = request_key(source.url, source.recipe));
CREATE INDEX source_by_resource ON source (resource);

-- Nothing reads what a source said about its changes: what was learned from it is in a note.
ALTER TABLE observation DROP COLUMN evidence;

-- Complex execution intervals, and which probe captured each of their intervals.
CREATE TABLE cei (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    need      INTEGER NOT NULL,               -- how many of its intervals have to be captured
    weight    REAL    NOT NULL,
    state     TEXT    NOT NULL,               -- open, captured, lost, withdrawn
    created   INTEGER NOT NULL,
    ended     INTEGER
);
CREATE INDEX cei_by_state ON cei (state, id);
CREATE INDEX cei_by_end ON cei (ended) WHERE ended IS NOT NULL;

CREATE TABLE cei_interval (
    cei       INTEGER NOT NULL REFERENCES cei ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    source    INTEGER NOT NULL,               -- kept when the source goes
    start     INTEGER NOT NULL,
    finish    INTEGER NOT NULL,
    captured  INTEGER,                        -- by which observation
    PRIMARY KEY (cei, position)
) WITHOUT ROWID;

-- The same rows as before, by the name of what they hold.
DROP INDEX look_by_time;
ALTER TABLE look RENAME TO unchanged;
ALTER TABLE unchanged RENAME COLUMN looks TO probes;
CREATE INDEX unchanged_by_time ON unchanged (at);
