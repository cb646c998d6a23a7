"""Keep a collection fresh: what has changed, how much, and when to look again.

A revisit is a visit like any other (core/engine.py), of a page that was visited before. The flow of one:

    keeper      says which page is due, and what to ask its host (validators: If-None-Match, ...)
    engine      fetches it, politely, within the pace
    witness     (of the keeper) says what has become of it: the same, changed, vanished, moved, returned, new
    snapshot    the version that the archive holds, and the one that came: what a reader came for (without stamps)
    detectors   each says whether, how much and in what way they differ; together that is one change, with a kind and a
                magnitude, recorded with the revisit
    memory      learns from the recorded visit, a fold over the log: histories, validators, hints, fates
    schedules   from the histories to the next look at each page: what the rates say; behaviours overrule it
    ledger      the log, read as a list of changes
    feeds       the Atom feed of changes
    notify      feeds and messages during a run
    diff        two versions side by side, for people
"""
