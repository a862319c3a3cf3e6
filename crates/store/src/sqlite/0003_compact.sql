-- Looks and decisions in fewer bytes, and what every probe touches on fewer pages.

-- How `looks` and `entry` are packed: 0 one thing after the other, 1 as columns.
ALTER TABLE look ADD COLUMN packing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE decision ADD COLUMN packing INTEGER NOT NULL DEFAULT 0;

-- Whether a source is there is asked for every look. A page of this holds a thousand sources and more, a page of the table
-- about a hundred.
CREATE INDEX source_by_id ON source (id);

-- A note is found in one tree, next to the other notes of its source.
CREATE TABLE compact_note (
    source    INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    name      TEXT    NOT NULL,
    value     BLOB    NOT NULL,
    PRIMARY KEY (source, name)
) WITHOUT ROWID;
INSERT INTO compact_note SELECT source, name, value FROM note ORDER BY source, name;
DROP TABLE note;
ALTER TABLE compact_note RENAME TO note;
