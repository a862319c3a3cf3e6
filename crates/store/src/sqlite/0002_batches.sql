-- Looks that brought nothing and decisions come in batches, a row each. They are most of what is written; a row of its
-- own for each, with an index by source, wrote a page of the database for nearly every one of them.

CREATE TABLE look (
    id        INTEGER PRIMARY KEY,            -- the number of the last one in it, counted together with observation.id
    size      INTEGER NOT NULL,               -- how many
    at        INTEGER NOT NULL,               -- the latest time in it
    looks     BLOB    NOT NULL                -- postcard
);
CREATE INDEX look_by_time ON look (at);

-- Eventful captures are few; those of a source are found through the index of its probes.
DROP INDEX observation_by_source;

-- How many decisions are in `entry`, the last of them numbered `id` and `at` the latest time; 0 for one alone, whose
-- source is beside it.
ALTER TABLE decision ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
DROP INDEX decision_by_source;
