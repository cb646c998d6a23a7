-- Accounts. A name is kept as it was typed; `folded` is what makes it unique.
CREATE TABLE person (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,                -- argon2id
    role TEXT NOT NULL,                    -- admin, member, reader
    disabled INTEGER NOT NULL DEFAULT 0,
    preferences TEXT NOT NULL DEFAULT '{}',
    created DOUBLE PRECISION NOT NULL
);

-- A link that makes an account, once, or lets its owner choose a new password. Only a digest of its code is kept, as of
-- every secret here.
CREATE TABLE invitation (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    made_by TEXT REFERENCES person (id) ON DELETE SET NULL,
    person TEXT REFERENCES person (id) ON DELETE CASCADE,    -- whose password it changes, null for a new account
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    used DOUBLE PRECISION
);

CREATE TABLE session (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    created DOUBLE PRECISION NOT NULL,
    rotated DOUBLE PRECISION NOT NULL,
    seen DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    previous TEXT NOT NULL DEFAULT '',     -- digest before the last rotation: good for a moment longer
    agent TEXT NOT NULL DEFAULT ''
);
CREATE INDEX session_person ON session (person);
CREATE INDEX session_previous ON session (previous);

CREATE TABLE token (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,                  -- words
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION,
    used DOUBLE PRECISION,
    revoked DOUBLE PRECISION
);
CREATE INDEX token_person ON token (person);

-- Failed attempts to sign in, by name and by address.
CREATE TABLE attempt (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,                  -- kind and digest: what was typed may have been a password
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX attempt_source ON attempt (source, at);

-- What was done, by whom. Outlives the person: the name is kept as it was.
CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL,
    person TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT '',
    action TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '',
    address TEXT NOT NULL DEFAULT ''
);
CREATE INDEX audit_at ON audit (at);

-- Seeds that the admin keeps, by preference: what a person who likes it may start from.
CREATE TABLE catalogue (
    id TEXT PRIMARY KEY,
    preference TEXT NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    created DOUBLE PRECISION NOT NULL,
    UNIQUE (preference, url)
);

CREATE TABLE interest (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    wishes TEXT NOT NULL,                  -- JSON: words, examples, seeds, strategy, budget, ...
    look_again TEXT NOT NULL DEFAULT '',   -- how often finished crawls are refreshed: 1d, 6h; empty: never
    created DOUBLE PRECISION NOT NULL,
    changed DOUBLE PRECISION NOT NULL
);
CREATE INDEX interest_owner ON interest (owner);

CREATE TABLE share (
    interest TEXT NOT NULL REFERENCES interest (id) ON DELETE CASCADE,
    person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    mode TEXT NOT NULL,                    -- read, edit
    created DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (interest, person)
);
CREATE INDEX share_person ON share (person);

-- One crawl: a directory, and what is wanted of it. `state` is the crawl process's word, `wanted` people's.
CREATE TABLE crawl (
    id TEXT PRIMARY KEY,
    interest TEXT NOT NULL REFERENCES interest (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    task TEXT NOT NULL,                    -- crawl, refresh
    wanted TEXT NOT NULL,                  -- run, pause, stop
    state TEXT NOT NULL,                   -- queued, running, paused, stopped, finished, failed
    reason TEXT NOT NULL DEFAULT '',
    budget INTEGER NOT NULL,
    pages INTEGER NOT NULL DEFAULT 0,
    found INTEGER NOT NULL DEFAULT 0,
    lessons INTEGER NOT NULL DEFAULT 0,    -- how much feedback its judge has learned from
    created DOUBLE PRECISION NOT NULL,
    queued DOUBLE PRECISION NOT NULL,
    started DOUBLE PRECISION,
    ended DOUBLE PRECISION,
    due DOUBLE PRECISION,                  -- when it is to be looked at again
    judging TEXT NOT NULL DEFAULT '',      -- judge its pages again after a change of: labels, threshold, topic
    asked INTEGER NOT NULL DEFAULT 0,      -- how often that was requested
    judging_failed TEXT NOT NULL DEFAULT '',
    everything INTEGER NOT NULL DEFAULT 1, -- a refresh visits all pages, or only those that are due
    look_first TEXT NOT NULL DEFAULT '[]', -- JSON list: parts of addresses that a refresh visits first
    UNIQUE (interest, number)
);
CREATE INDEX crawl_state ON crawl (state);

-- Yes and no to pages. One word a page: the last one counts.
CREATE TABLE feedback (
    interest TEXT NOT NULL REFERENCES interest (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    relevant INTEGER NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    person TEXT REFERENCES person (id) ON DELETE SET NULL,
    at DOUBLE PRECISION NOT NULL,
    worth DOUBLE PRECISION,                -- the page's score just before, and the threshold of that time
    threshold DOUBLE PRECISION,
    PRIMARY KEY (interest, url)
);

-- Results that a person opened; kept only while the person's preferences allow it.
CREATE TABLE opened (
    interest TEXT NOT NULL REFERENCES interest (id) ON DELETE CASCADE,
    person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    times INTEGER NOT NULL DEFAULT 1,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (interest, person, url)
);

-- What became of a suggestion.
CREATE TABLE suggestion (
    interest TEXT NOT NULL REFERENCES interest (id) ON DELETE CASCADE,
    person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,                    -- seed, term, page
    value TEXT NOT NULL,
    answer TEXT NOT NULL,                  -- accepted, dismissed
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (interest, person, kind, value)
);

-- Up to where a person has seen the changes of an interest; and the secret address of its feed, if there is one.
CREATE TABLE seen (
    interest TEXT NOT NULL REFERENCES interest (id) ON DELETE CASCADE,
    person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    at DOUBLE PRECISION NOT NULL DEFAULT 0,
    feed TEXT UNIQUE,                      -- digest of the feed's key
    PRIMARY KEY (interest, person)
);

CREATE TABLE notice (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    interest TEXT REFERENCES interest (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,                    -- finished, failed, changes, shared, account
    text TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    read DOUBLE PRECISION
);
CREATE INDEX notice_person ON notice (person, at);

-- Trained or uploaded models. The content is a file of its own.
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

-- Directories whose rows are gone and that are still to be removed: also after a crash.
CREATE TABLE rubbish (
    crawl TEXT PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL
);

-- The processes, and when they were last heard of.
CREATE TABLE process (
    name TEXT PRIMARY KEY,
    pid INTEGER NOT NULL,
    started DOUBLE PRECISION NOT NULL,
    beat DOUBLE PRECISION NOT NULL,
    told TEXT NOT NULL DEFAULT '{}'
);
