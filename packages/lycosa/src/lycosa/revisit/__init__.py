"""Keep a collection fresh: detect changes, measure them, and schedule revisits.

A revisit is a visit (core/engine.py) of a page that was visited before. Its flow:

    scheduler   picks the page that is due and its validators (If-None-Match, ...)
    engine      fetches it, politely and at the configured pace
    comparer    (of the scheduler) decides whether it is the same, changed, vanished, moved, returned or new
    snapshot    the archived and the new version, reduced to their main parts
    detectors   each compares the two versions; together they give one change with a kind and a magnitude, which is
                recorded with the revisit
    memory      learns from the recorded visit, as a fold over the log: histories, validators, hints, fates
    schedules   compute the next revisit of each page from the histories; behaviours override them
    ledger      the log as a list of changes
    feeds       the Atom feed of changes
    notify      feeds and messages during a run
    diff        two versions side by side, for people
"""
