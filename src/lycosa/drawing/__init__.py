"""What people see of numbers: figures as data, drawn for a terminal, a page, a file or a browser; and pages themselves.

    figure     what is drawn: curves or bars over axes, histograms; how curves look; ticks; columns and bars of block
               characters, for a terminal
    templates/ charts.html: figures as SVG inside a page, in the page's own colours
    pictures   a figure as a file, SVG and PNG (matplotlib)
    browser    a figure that moves (plotly)
    formats    numbers, times and texts of strangers as people read them
    pages      the one place that sets Jinja up

matplotlib and plotly are extras: they are imported when something is drawn with them.
"""
