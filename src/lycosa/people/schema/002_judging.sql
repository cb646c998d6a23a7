-- What a crawl's pages are to be judged again for, without fetching any. It may be asked for while it is being done.
ALTER TABLE crawl ADD COLUMN judging TEXT NOT NULL DEFAULT '';           -- labels, threshold, topic, or empty
ALTER TABLE crawl ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;           -- how often that was asked for
ALTER TABLE crawl ADD COLUMN judging_failed TEXT NOT NULL DEFAULT '';    -- why the last time came to nothing

-- What the judge said of a page just before it was labelled, and the threshold of that time. Null for older labels.
ALTER TABLE feedback ADD COLUMN worth DOUBLE PRECISION;
ALTER TABLE feedback ADD COLUMN threshold DOUBLE PRECISION;
