"use strict";
(() => {
  const root = document.documentElement;
  const drawn = [];

  // A theme of the reader's choice; without one the page follows the system.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const themed = () => {
    button.textContent = dark() ? "Light" : "Dark";
    for (const plot of drawn) Plotly.relayout(plot, inks());
  };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; themed(); });
  system.addEventListener("change", themed);

  // The page's colours, for the figures.
  const ink = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const inks = () => ({
    "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "font.color": ink("ink"),
    "hoverlabel.bgcolor": ink("paper"), "hoverlabel.bordercolor": ink("rule"), "hoverlabel.font.color": ink("ink"),
    "modebar.color": ink("muted"), "modebar.activecolor": ink("accent"), "modebar.bgcolor": "rgba(0,0,0,0)",
    "xaxis.gridcolor": ink("rule"), "yaxis.gridcolor": ink("rule"), "xaxis.linecolor": ink("muted"), "yaxis.linecolor": ink("muted"),
  });
  themed();

  const held = document.getElementById("figures");
  if (!held || !window.Plotly) return;
  const figures = JSON.parse(held.textContent);

  // Room for the names of the curves below the figure.
  const rows = (traces, width) => {
    const wide = traces.filter((trace) => trace.showlegend !== false).map((trace) => 62 + 6.6 * trace.name.length);
    return wide.length > 1 ? Math.ceil(wide.length / Math.max(1, Math.floor(width / Math.max(...wide)))) : 0;
  };
  const draw = (chart) => {
    const plot = chart.querySelector(".plot");
    const { data, layout } = figures[chart.dataset.figure];
    chart.classList.add("drawn");
    plot.hidden = false;
    const width = plot.clientWidth;
    const legend = 21 * rows(data, width - 60);
    const height = (width < 600 ? 320 : 400) + legend;
    plot.style.height = height + "px";
    const whole = Object.assign({
      margin: { l: 56, r: 12, t: 28, b: 56 }, dragmode: "zoom",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13 },
      legend: { orientation: "h", x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom", groupclick: "togglegroup", itemsizing: "trace" },
    }, layout);
    const config = {
      responsive: true, displaylogo: false, displayModeBar: width < 600 ? false : "hover",
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: chart.dataset.figure },
    };
    Plotly.newPlot(plot, data, whole, config).then(() => Plotly.relayout(plot, inks())).then(() => { drawn.push(plot); plot.dataset.ready = "yes"; });
  };
  const watch = new IntersectionObserver((seen) => {
    for (const entry of seen) if (entry.isIntersecting) { watch.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "800px" });
  for (const chart of document.querySelectorAll(".chart")) watch.observe(chart);
})();
