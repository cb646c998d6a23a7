// Curves, drawn by plotly. Its four megabytes are loaded when a first curve is drawn, not before.
//
// Plotly writes style elements, which our policy (style-src 'self') forbids. It leaves that be where it finds an
// element of its style's name with the class no-inline-styles; the few rules it needs are in interest.css.

import { el } from "./pieces.js";

const KEPT_OUT = ["plotly.js-style-global", "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"];
const STYLES = ["solid", "dash", "dot", "dashdot"];

let loading = null;
const drawn = new Map();

function load() {
  loading ??= new Promise((done, failed) => {
    for (const id of KEPT_OUT) {
      if (!document.getElementById(id)) {
        const mark = document.createElement("meta");
        mark.id = id;
        mark.className = "no-inline-styles";
        document.head.append(mark);
      }
    }
    const script = document.createElement("script");
    script.src = new URL("./plotly.min.js", import.meta.url).href; // of the same build as this file
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => {
      loading = null;
      script.remove();
      failed(new Error("the chart script could not be loaded"));
    });
    document.head.append(script);
  });
  return loading;
}

// Colours come from the style sheet, so that a curve is of the page's theme.
function token(name, otherwise) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || otherwise;
}

function palette() {
  return [1, 2, 3, 4, 5, 6, 7].map((place) => token(`--curve-${place}`, "#1c6a73"));
}

function layout(spec, narrow) {
  const ink = token("--ink", "#1d2126");
  const muted = token("--muted", "#5a626b");
  const rule = token("--rule", "#dbd7cf");
  const axis = { gridcolor: rule, linecolor: rule, zeroline: false, rangemode: "tozero", fixedrange: true, color: muted };
  return {
    autosize: true,
    height: spec.height ?? (narrow ? 260 : 320),
    margin: { l: 46, r: 12, t: 8, b: 44 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink },
    hovermode: "x unified",
    hoverlabel: { bgcolor: token("--paper", "#fff"), bordercolor: rule, font: { color: ink } },
    dragmode: false,
    showlegend: false,
    xaxis: { ...axis, title: { text: spec.across, standoff: 8 }, tickformat: ",d" },
    yaxis: { ...axis, title: { text: spec.up, standoff: 4 }, tickformat: ",d" },
  };
}

function traces(spec) {
  const colours = palette();
  return spec.curves.map((curve, place) => ({
    x: curve.x,
    y: curve.y,
    name: curve.name.replaceAll("<", "‹").slice(0, 60), // plotly reads tags in names
    mode: "lines",
    line: { color: colours[place % colours.length], width: place === 0 ? 3 : 2, dash: STYLES[place % STYLES.length] },
    hoverlabel: { namelength: 40 },
  }));
}

// The key is ours: plotly's is neither text that wraps nor read by a screen reader.
function key(spec) {
  return el(
    "ul",
    { class: "curve-key" },
    spec.curves.map((curve, place) =>
      el("li", {}, [
        el("span", { class: `swatch swatch-${(place % 7) + 1} dash-${place % 4}`, "aria-hidden": "true" }),
        el("span", { text: curve.name }),
        curve.last === undefined ? "" : el("span", { class: "muted", text: ` ${curve.last}` }),
      ]),
    ),
  );
}

// Draw curves into a figure: {across, up, curves: [{name, x, y, last}], says}. The words say what the picture shows.
export async function draw(place, spec) {
  let plot = place.querySelector(".plot");
  if (!plot) {
    plot = el("div", { class: "plot", "aria-hidden": "true" });
    place.replaceChildren(plot, el("div", { class: "key" }), el("figcaption", { class: "note" }));
  }
  place.querySelector(".key").replaceChildren(key(spec));
  place.querySelector("figcaption").textContent = spec.says;
  drawn.set(place, spec);
  let plotly;
  try {
    plotly = await load();
  } catch (error) {
    plot.textContent = error.message;
    return;
  }
  if (drawn.get(place) !== spec || !plot.isConnected || plot.clientWidth === 0) return; // a newer one is under way, or nobody sees it
  await plotly.react(plot, traces(spec), layout(spec, plot.clientWidth < 480), {
    displayModeBar: false,
    responsive: true,
    scrollZoom: false,
    doubleClick: false,
  });
}

function again() {
  for (const [place, spec] of drawn) {
    if (place.isConnected) {
      draw(place, { ...spec });
    } else {
      drawn.delete(place);
    }
  }
}

addEventListener("lycosa:theme", again);
