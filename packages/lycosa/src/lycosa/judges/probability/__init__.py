"""The judge that `lycosa crawl` has unless another is named: the probability that a person would say yes.

evidence    what is seen of a page: how it answers the words, its features, its vector; and that of all pages so far
line        from pages that are known to be relevant to a direction in which such pages lie; how many of the pages are
            relevant, and so where the line between yes and no is drawn
study       what the pages so far teach: a lesson, and the model that judges by it
judge       puts them together: the topic as it was typed, judge, learn, lesson, adopt
"""

from lycosa.judges.probability.judge import Probability

__all__ = ["Probability"]
