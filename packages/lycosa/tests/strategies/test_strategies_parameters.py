"""Tests of invalid strategy parameters, and of the advice in their error messages."""

from collections.abc import Callable

import pytest

from browsed_pages import ten_pages
from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.strategies import strategy
from lycosa.strategies.first_level import FirstLevel, SecondLevel
from lycosa.strategies.focus import Apprentice, Distiller
from lycosa.strategies.regression import Regression
from lycosa.text.ontology import Ontology
from tables import each

REEFS = Ontology.build({"reef": ["reef"]}, broader=[])


@each(
    [
        ("best-first,page=-.5,anchor=1", "both must be 0 or more"),
        ("best-first,page=1,anchor=-.5", "both must be 0 or more"),
        ("best-first,page=0,anchor=0", "both must be 0 or more"),
        ("n-best-first,n=0", "'n' is 0 pages at a time: it must be 1 or more"),
        ("n-best-first,n=-3", "'n' is -3 pages at a time: it must be 1 or more"),
        ("n-best-first,page=-1", "both must be 0 or more"),
        ("link-context,page=-.1", "'page' is -0.1: it must be a weight from 0 to 1"),
        ("link-context,page=1.1", "'page' is 1.1: it must be a weight from 0 to 1"),
        (
            "link-score,levels=-1",
            "'levels' is -1: it must be at least 0 irrelevant pages in a row; leave it out for no limit",
        ),
        ("crawl4ai,max_depth=-1", "'max_depth' is -1: it must be at least 0 links; leave it out for no limit"),
        ("disco,k=0", "'k' is 0, 'links' 10, 'examples' 20: each must be 1 or more"),
        ("craw4llm", "write craw4llm,scores=FILE"),
        ("sb-classifier,theta=1.5", "'theta' is 1.5: it must be a cosine from 0 to 1"),
        ("sb-classifier,alpha=-1", "'alpha' is -1: it must be from 0 to 100"),
        ("tres,start=-1", "'start' is -1: it must be at least 0 pages"),
        ("tres,switch=0", "'switch' is 0: it must be at least 1 page"),
        ("tres,q=.5", "'q' and 'spread' cannot be used with a strategy that picks at random itself"),
        ("deep-deep,gamma=1", "at least 0 and below 1"),
        ("deep-deep,eps=2", "'eps' is 2: it must be a probability from 0 to 1"),
        ("deep-deep,temperature=0", "it must be above 0"),
        ("deep-deep,sample=0", "'switch' is 100 and 'sample' 0: both must be 1 or more"),
        ("personalised,levels=-1", "'levels' is -1: it must be at least 0 irrelevant pages in a row"),
        ("fish-search,width=-1", "'width' is -1 and 'depth' 3: both must be 0 or more"),
        ("fish-search,depth=-1", "'width' is 5 and 'depth' -1: both must be 0 or more"),
        ("fish-search,factor=-.5", "'factor' is -0.5: it must be 0 or more"),
        ("shark-search,delta=1.5", "must be from 0 to 1"),
        ("shark-search,beta=-.1", "must be from 0 to 1"),
        ("shark-search,gamma=2", "must be from 0 to 1"),
        ("shark-search,depth=-1", "'depth' is -1: it must be at least 0 irrelevant pages in a row"),
        ("soft-focus,distiller=yes,hubs=0", "leave out the distiller"),
        ("nb-links,smoothing=0", "above 0"),
        ("nb-links,period=0", "'period' is 0: it must be at least 1 page"),
        ("nb-links,least=1.5", "'least' is 1.5: it must be a probability from 0 to 1"),
        ("opic,period=-1", "'period' is -1"),
        ("opic,refetch=yes", "opic has no parameter 'refetch'"),
        ("otie,a=0", "'a' is 0"),
        ("otie,d=0", "'d' is 0"),
        ("otie,page=1.5", "'page' is 1.5"),
        ("otie,refetch=yes", "otie has no parameter 'refetch'"),
        ("pagerank,damping=1", "'damping' is 1.0: it must be at least 0 and below 1"),
        ("pagerank,damping=-.1", "'damping' is -0.1: it must"),
        ("pagerank,iterations=0", "'iterations' is 0 .* must be 1 or more"),
        ("pagerank,period=0", "'period' 0: both must be 1 or more"),
        ("pagerank,iterations=1001", "it must be 1000 or fewer"),
        ("nr,eta=1.1", "'eta' is 1.1: it must be"),
        ("nr,eta=-.1", "'eta' is -0.1: it must be"),
        ("nr,iterations=0", "'iterations' is 0 .* must be 1 or more"),
        ("nr,iterations=10000000", "it must be 1000 or fewer"),
        ("nr,period=0", "'period' 0: both must be 1 or more"),
        ("lr_fl,ridge=1e-320", "it must be above 0"),
        ("lr_sl,ridge=0", "it must be above 0"),
        ("ehrig,df=2", "'df' is 2"),
        ("ehrig,floor=-1", "'floor' is -1"),
        ("ehrig,measure=li", "measure of ehrig is 'li'"),
        ("ssrm,a=0", "'a' is 0"),
        ("ssrm,measure=any-1", "measure of ssrm is 'any-1'"),
        ("context-graph,least=2", "'least' is 2"),
        ("context-graph,layers=-1", "'layers' must be 0"),
        ("context-graph,fewest=0", "'fewest' 1 or more"),
        ("hmm,k=0", "'k' is 0"),
        ("hmm,epsilon=-1", "'epsilon' is -1"),
        ("hmm,epsilon=1e-9", "'epsilon' is 1e-09"),
        ("hmm,smoothing=-.1", "'smoothing' is -0.1"),
        ("hybrid,k=0", "'k' is 0"),
        ("mab_var,arms=", "needs arms"),
        ("mab_var,arms=fl_n+fl_m", "there is no strategy 'fl_m'"),
        ("mab_var,arms=fl_n+fl_n", "twice"),
        ("mab_var,arms=fl_n+mab_var", "is a strategy"),
        ("mab_var,epsilon=1.5", "from 0 to 1"),
        ("mab_epsilon,epsilon=-.1", "from 0 to 1"),
        ("mab_reset,reset=0", "at least 1 pull"),
        ("mab_window,window=0", "at least 1 pull"),
        ("mab_epsilon,reset=100", "mab_epsilon does not use reset"),
        ("mab_var,window=100", "use mab_window"),
        ("mab_first,literal=yes", "use mab_epsilon and mab_window"),
        ("mab_var,batch=4", "has no parameter 'batch'"),
        ("mab_discounted,discount=0", "above 0 and at most 1"),
        ("mab_discounted,discount=1.5", "above 0 and at most 1"),
        ("mab_discounted,width=-1", "0 or more"),
        ("mab_discounted,epsilon=0", "mab_discounted does not use epsilon"),
        ("mab_discounted,window=10", "mab_discounted does not use window: leave it out, or use mab_window"),
        ("mab_var,discount=.9", "mab_var does not use discount: leave it out, or use mab_discounted"),
        ("mab_epsilon,width=1", "mab_epsilon does not use width"),
        ("mab_discounted,arms=", "needs arms"),
    ]
)
def test_strategy_rejects_invalid_parameters(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        strategy(text, words="reef", ontology=REEFS, file=ten_pages())


@each(
    [
        (lambda: Apprentice(least=0), "'least' is 0"),
        (lambda: Distiller(iterations=0), "'iterations' is 0 .* must be 1 or more"),
        (lambda: Distiller(period=0), "'period' 0: both must be 1 or more"),
        (lambda: Distiller(same_host="no"), "'same_host' is 'no': it must be auto, keep or drop"),  # type: ignore[arg-type]
        (lambda: FirstLevel("x"), "'kind' is 'x': it must be deg, n, e, ne"),  # type: ignore[arg-type]
        (lambda: SecondLevel("deg"), "'kind' is 'deg': it must be n, e or ne"),  # type: ignore[arg-type]
        (lambda: Regression("tl"), "must be fl or sl"),  # type: ignore[arg-type]
        (lambda: Regression(ridge=float("nan")), "above 0"),
    ]
)
def test_classes_reject_invalid_arguments(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@each([("hmm",), ("hmm-xmeans",), ("hybrid",), ("hybrid-anchor",), ("context-graph",)])
def test_browsing_strategies_require_record(name: str) -> None:
    with raises_input_error("missing-option", match="lycosa train browse"):
        strategy(name)
