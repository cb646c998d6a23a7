"""English words that carry no topic."""

ENGLISH = frozenset(
    """
    a about above after again against all almost alone along already also although always am among an and another
    any anybody anyone anything anywhere are around as ask at away back be became because become becomes been before
    began behind being below best better between both but by came can cannot could did do does doing done down during
    each either else enough etc even ever every everyone everything few first for from further gave get gets getting
    give given go goes going gone got had has have having he hence her here hers herself him himself his how however
    i if in indeed into is it its itself just keep kept know known last later least less let like likely made mainly
    make makes making many may maybe me might more moreover most mostly much must my myself near nearly need never
    next no nobody none nor not nothing now nowhere of off often on once one only onto or other others otherwise our
    ours ourselves out over own part per perhaps put quite rather really said same say see seem seemed seems seen
    several shall she should since so some someone something sometimes somewhere soon still such take taken than that
    the their theirs them themselves then there thereby therefore these they thing things this those though three
    through thus to today together too took toward towards two under until up upon us use used uses using usually
    various very via want was way we well went were what whatever when where whether which while who whole whom whose
    why will with within without would yet you your yours yourself yourselves
    click home page menu login search copyright reserved rights privacy terms contact www http https com html
    """.split()
)
