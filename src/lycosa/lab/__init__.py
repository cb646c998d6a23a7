"""The lab: experiments on recorded graphs, with the production code.

How data flows:

    corpora/     where pages come from (WARC, crawl, files, graph, embedded web, public ones)
    indexing     a corpus is read once, into ->
    index        memory-mapped columns: names, links, words, texts, classes
    subjects     what is hunted: which pages are relevant (truth), and what a guide is told of it (words, examples)
    guides       what a judge says of every page and link, found once
    simulation   the loop on rows of the index: pick, look up, learn, rank
    experiments  strategies x subjects x seed sets x repetitions, in a file
    running      all of it on all cores, what is done is kept
    measures     what came of a run; certainty: how sure that is
    findings     tables, figures, claims: what a report is made of
    papers/      the experiments of five papers
    report/      pages, pictures, tables for LaTeX

The judge is never the guide: what counts as found is decided by the subject's truth, which no strategy sees.
"""
