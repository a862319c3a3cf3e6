-- Queries that watch for words: by what a story that was told is known again, and where else it was seen.
ALTER TABLE query_result ADD COLUMN story BLOB;

CREATE TABLE query_sighting (
    result    INTEGER NOT NULL REFERENCES query_result ON DELETE CASCADE,
    source    INTEGER NOT NULL,               -- kept when the source goes
    seen      INTEGER NOT NULL,
    version   INTEGER,                        -- kept when the version is pruned
    title     TEXT    NOT NULL,
    link      TEXT,
    PRIMARY KEY (result, source)
) WITHOUT ROWID;

-- How far the index of texts is built; no row while there is none. The index itself is a table of its own that is
-- made and dropped with it.
CREATE TABLE text_index_state (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    built_to    INTEGER NOT NULL,             -- sources up to this one are in it
    is_complete INTEGER NOT NULL
);
