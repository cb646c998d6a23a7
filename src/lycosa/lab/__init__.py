"""The lab: experiments on recorded graphs, with the production code.

How data flows:

    corpora/     where pages come from (WARC, crawl, files, graph, embedded web, public ones)
    indexing     a corpus is read once, into ->
    index        memory-mapped columns: names, links, words, texts, classes
    subjects     what is hunted: which pages are relevant (truth), and what a guide is told of it (words, examples)
    preparing    what strategies are trained with, made of pages of the index
    guides       what a judge, told words, examples or a model, says of every page and link: found once
    hunters      the production strategies, given all that they ask for
    simulation   the loop on rows of the index: pick, look up, learn, rank; and those rows
    experiments  strategies x subjects x seed sets x repetitions, in a file, which it reads
    seeds        where crawls start
    running      all of it on all cores (pool); what is done is kept (keeping)
    results      a finished crawl as a file; rows of figures and remarks, made of all of them
    comparing    crawlers on the same trials: curves, ends, claims
    tables       an experiment as findings
    measures     what came of a run; certainty: how sure that is
    findings     tables, figures, claims and the rule of their verdicts: what a report is made of
    papers/      the experiments of five papers, and ours on freshness
    benchmark/   scent, its rivals and one's own on frozen topics
    report/      findings as a page and as JSON

Beside that: reach (what can be reached from where, and what no crawl can beat), anatomy (what an index holds),
watching (how well estimators tell what a node is worth), evaluator (any crawl against relevant pages).

The judge is never the guide: what counts as found is decided by the subject's truth, which no strategy sees.
"""
