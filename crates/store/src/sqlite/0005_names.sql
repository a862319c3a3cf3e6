-- The trouble that the owner of a source was told of and that has not ended.
ALTER TABLE source ADD COLUMN announced TEXT;

-- What a source is called: by its owner, or else by itself; and what it was found to be.
ALTER TABLE source ADD COLUMN name TEXT;                            -- the owner's; empty: none
ALTER TABLE source ADD COLUMN title TEXT NOT NULL DEFAULT '';       -- its own
ALTER TABLE source ADD COLUMN found_kind TEXT NOT NULL DEFAULT '';  -- page, feed, json, text; nothing before it was read
