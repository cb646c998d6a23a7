"""Keep a collection fresh: what has changed, how much, and when to look again.

A revisit is a visit like any other (core/engine.py), of a page that was visited before. The flow of one:

    keeper      says which page is due, and what to ask its host (If-None-Match, ...)
    engine      fetches it, politely, within the pace
    snapshot    the version that the archive holds and the one that came, side by side
    detectors   each says whether, how much and in what way they differ
    change      what they say together: kind and magnitude; recorded with the revisit
    history     the page's looks, as the log keeps them: when, and whether it had changed
    schedule    from the histories to the next look of each page, within the budget
    telling     people hear of it: feeds, mail, webhooks
"""
