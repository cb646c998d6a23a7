-- What a look at pages again is at: all of them, or those that are due; and pieces of addresses that come first.
ALTER TABLE crawl ADD COLUMN everything INTEGER NOT NULL DEFAULT 1;
ALTER TABLE crawl ADD COLUMN look_first TEXT NOT NULL DEFAULT '[]';      -- JSON list

-- What a person has taught a program, or brings along: the content is a file of its own. Nobody else's business.
CREATE TABLE model (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,                    -- classifier, rules, browsing, directory
    state TEXT NOT NULL,                   -- queued, training, ready, failed
    reason TEXT NOT NULL DEFAULT '',
    sources TEXT NOT NULL DEFAULT '{}',    -- JSON: what it is trained from; empty if it was uploaded
    about TEXT NOT NULL DEFAULT '{}',      -- JSON: classes, pages, how good it is
    size INTEGER NOT NULL DEFAULT 0,       -- bytes of the file
    digest TEXT,                           -- SHA-256 of the file; null as long as there is none
    created DOUBLE PRECISION NOT NULL,
    ended DOUBLE PRECISION
);
CREATE INDEX model_owner ON model (owner, created);
