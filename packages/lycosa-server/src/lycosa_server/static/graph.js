// The tab Graph: the best pages and the paths to them from the seeds, left to right.
// Drag or arrow keys pan; wheel (after a click), pinch and buttons zoom; clicking a page opens a card. Also as a table.

import { svg } from "./dom.js";
import { read } from "./page_view.js";
import { button, call, count, el, original, plural, relevanceBar, shown, yesNo } from "./pieces.js";

const ACROSS = 240;
const DOWN = 34;
const LETTERS = 28;

// Compute positions: one column per step from a seed; a page is centred on its children.
export function layOut(nodes, edges, across = ACROSS) {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const parent = new Map();
  const children = new Map(nodes.map((node) => [node.id, []]));
  for (const edge of edges) {
    if (known.has(edge.source) && known.has(edge.target) && !parent.has(edge.target) && edge.source !== edge.target) {
      if (!leadsTo(edge.target, edge.source, parent)) {
        parent.set(edge.target, edge.source);
        children.get(edge.source).push(edge.target);
      }
    }
  }
  const places = new Map();
  let row = 0;
  for (const root of nodes.filter((node) => !parent.has(node.id))) {
    const stack = [[root.id, 0, false]]; // explicit stack: paths may exceed the engine's recursion limit
    while (stack.length) {
      const [id, depth, done] = stack.pop();
      const below = children.get(id);
      if (below.length === 0) {
        places.set(id, { x: depth * across, y: row++ * DOWN });
      } else if (done) {
        const rows = below.map((child) => places.get(child).y);
        places.set(id, { x: depth * across, y: (Math.min(...rows) + Math.max(...rows)) / 2 });
      } else {
        stack.push([id, depth, true]);
        for (const child of [...below].reverse()) stack.push([child, depth + 1, false]);
      }
    }
    row += 0.6;
  }
  return { places, parent, children };
}

function leadsTo(start, end, parent) {
  for (let at = end; at !== undefined; at = parent.get(at)) {
    if (at === start) return true;
  }
  return false;
}

export function mount(panel, context) {
  const stage = svg("svg", { class: "graph", role: "group", tabindex: "0", "aria-label": "The best pages and their paths from the seeds. Arrow keys pan, plus and minus zoom. Tab moves to the pages; there, the arrow keys move from page to page." });
  const world = svg("g");
  stage.append(world);
  const card = el("aside", { class: "graph-card", "aria-live": "polite" });
  const note = el("p", { class: "note" });
  const table = el("div");
  let view = { x: 20, y: 20, scale: 1 };
  let size = { left: 0, top: 0, width: 1, height: 1 };
  let start = 0; // row of the first seed
  let asked = "";
  let marks = new Map();

  const frame = el("div", { class: "graph-frame", hidden: true }, [stage, card]);
  const tools = el("div", { class: "row graph-tools", hidden: true }, [
    button("Zoom in", () => zoom(1.25), { class: "small" }),
    button("Zoom out", () => zoom(0.8), { class: "small" }),
    button("Show all", () => fit(true), { class: "small" }),
    button("Redraw", () => load(true), { class: "small" }),
  ]);
  panel.replaceChildren(tools, note, frame, table);

  const place = () => world.setAttribute("transform", `translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.scale.toFixed(4)})`);

  function zoom(by, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const scale = Math.max(0.08, Math.min(4, view.scale * by));
    view = { x: x - ((x - view.x) * scale) / view.scale, y: y - ((y - view.y) * scale) / view.scale, scale };
    place();
  }

  function fit(all = false) {
    const [width, height] = [stage.clientWidth || 600, stage.clientHeight || 400];
    const [wide, high] = [(width - 24) / size.width, (height - 24) / size.height];
    const scale = Math.max(Math.min(wide, all ? high : wide, 1.1), all ? 0.08 : 0.8); // smaller text would be unreadable
    view = { scale, x: 12 - size.left * scale, y: 12 - size.top * scale };
    if (high > scale) {
      view.y = (height - size.height * scale) / 2 - size.top * scale;
    } else {
      view.y = Math.max(Math.min(view.y, height / 2 - start * scale), height - 12 - (size.top + size.height) * scale); // the first seed is centred
    }
    place();
  }

  function pan(x, y) {
    view.x += x;
    view.y += y;
    place();
  }

  // one pointer drags, two pinch
  const held = new Map();
  let moved = false;
  stage.addEventListener("pointerdown", (event) => {
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    moved = false;
  });
  stage.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (held.size === 1) {
      if (!moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
      moved = true;
      stage.setPointerCapture(event.pointerId);
      pan(now.x - before.x, now.y - before.y);
    } else {
      moved = true;
      const other = [...held].find(([id]) => id !== event.pointerId)[1];
      const box = stage.getBoundingClientRect();
      const [was, is] = [Math.hypot(before.x - other.x, before.y - other.y), Math.hypot(now.x - other.x, now.y - other.y)];
      zoom(is / Math.max(1, was), (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
    }
    held.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
    stage.addEventListener(name, (event) => held.delete(event.pointerId));
  }
  stage.addEventListener("wheel", (event) => {
    if (event.ctrlKey || stage.contains(document.activeElement)) {
      event.preventDefault(); // otherwise the page scrolls
      const box = stage.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top);
    }
  }, { passive: false });
  stage.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key === "+" || event.key === "=") {
      zoom(1.25);
    } else if (event.key === "-") {
      zoom(0.8);
    } else if (event.key === "0") {
      fit(true);
    } else if (event.target === stage && steps[event.key]) {
      pan(...steps[event.key]);
    } else {
      return;
    }
    event.preventDefault();
  });

  function open(node, step) {
    const known = { url: node.url, title: node.title, relevance: node.relevance, label: node.label, why: step };
    for (const [id, mark] of marks) mark.classList.toggle("chosen", id === node.id);
    card.replaceChildren(
      el("h3", {}, el("bdi", { text: shown(node.title, 160) || shown(node.url, 160) })),
      el("p", { class: "address" }, el("bdi", { text: shown(node.url, 200) })),
      el("p", { class: "row" }, [relevanceBar(node.relevance, context.threshold), node.seed ? el("span", { class: "badge", text: "seed" }) : "", node.relevant ? el("span", { class: "badge good", text: "relevant" }) : ""]),
      step?.parent
        ? el("p", { class: "why" }, ["from ", el("bdi", { text: shown(step.parent_title, 90) || shown(step.parent, 90) }), ...(step.anchor ? [" via “", el("bdi", { text: shown(step.anchor, 90) }), "”"] : []), node.depth ? `, ${plural(node.depth, "link")} from a seed` : ""])
        : "",
      el("p", { class: "row" }, [yesNo(context, known), button("Read", () => read(context, known), { class: "small" }), original(node.url)]),
    );
  }

  function paint(graph) {
    const { nodes, edges } = graph;
    const narrow = stage.clientWidth < 480;
    const across = narrow ? 150 : ACROSS;
    const letters = narrow ? 16 : LETTERS;
    const { places, parent, children } = layOut(nodes, edges, across);
    const known = new Map(nodes.map((node) => [node.id, node]));
    const anchors = new Map(edges.map((edge) => [`${edge.source} ${edge.target}`, edge.anchor]));
    const stepTo = (id) => {
      const from = known.get(parent.get(id));
      return from ? { kind: "link", parent: from.url, parent_title: from.title, anchor: anchors.get(`${from.id} ${id}`) } : { kind: "seed" };
    };
    const lines = edges.filter((edge) => places.has(edge.source) && places.has(edge.target)).map((edge) => {
      const [a, b] = [places.get(edge.source), places.get(edge.target)];
      const bend = (b.x - a.x) / 2;
      return svg("path", { class: parent.get(edge.target) === edge.source ? "edge" : "edge extra", d: `M${a.x} ${a.y}C${a.x + bend} ${a.y} ${b.x - bend} ${b.y} ${b.x} ${b.y}` });
    });
    marks = new Map();
    const most = Math.max(0.01, ...nodes.map((node) => node.relevance ?? 0));
    const siblings = (id) => (parent.has(id) ? children.get(parent.get(id)) : nodes.filter((node) => !parent.has(node.id)).map((node) => node.id));
    const go = (id) => {
      const mark = marks.get(id);
      if (!mark) return;
      marks.forEach((other) => other.setAttribute("tabindex", "-1"));
      mark.setAttribute("tabindex", "0");
      mark.focus({ preventScroll: true });
      const at = places.get(id);
      const [x, y] = [at.x * view.scale + view.x, at.y * view.scale + view.y];
      const [width, height] = [stage.clientWidth, stage.clientHeight];
      if (x < 20 || x > width - 150 || y < 20 || y > height - 20) pan(width / 3 - x, height / 2 - y);
    };
    nodes.forEach((node, index) => {
      const at = places.get(node.id);
      const radius = 5 + 7 * Math.max(0, Math.min(1, (node.relevance ?? 0) / most));
      const title = shown(node.title, letters) || shown(node.url.replace(/^https?:\/\//, ""), letters);
      const mark = svg("g", { class: `node${node.relevant ? " found" : ""}${node.seed ? " seed" : ""}`, transform: `translate(${at.x} ${at.y})`, role: "button", tabindex: index === 0 ? "0" : "-1", "aria-label": `${shown(node.title, 100) || shown(node.url, 100)}, relevance ${(node.relevance ?? 0).toFixed(2)}${node.seed ? ", seed" : ""}` },
        node.seed ? svg("rect", { x: -radius, y: -radius, width: 2 * radius, height: 2 * radius }) : svg("circle", { r: radius }),
        children.get(node.id).length ? svg("text", { x: -radius, y: -radius - 4 }, title) : svg("text", { x: radius + 5, y: 4 }, title));
      mark.addEventListener("click", () => moved || (go(node.id), open(node, stepTo(node.id))));
      mark.addEventListener("keydown", (event) => {
        const row = siblings(node.id);
        const here = row.indexOf(node.id);
        const next = { ArrowLeft: parent.get(node.id), ArrowRight: children.get(node.id)[0], ArrowUp: row[here - 1], ArrowDown: row[here + 1] };
        if (event.key === "Enter" || event.key === " ") {
          open(node, stepTo(node.id));
        } else if (event.key in next) {
          go(next[event.key]);
        } else {
          return;
        }
        event.preventDefault();
        event.stopPropagation();
      });
      marks.set(node.id, mark);
    });
    world.replaceChildren(...lines, ...marks.values());
    const spots = [...places.values()];
    start = places.get((nodes.find((node) => !parent.has(node.id) && children.get(node.id).length) ?? nodes[0]).id).y;
    size = { left: -14, top: -14, width: Math.max(...spots.map((spot) => spot.x)) + across + 14, height: Math.max(...spots.map((spot) => spot.y)) + 28 };
    fit();
    table.replaceChildren(el("details", {}, [
      el("summary", { text: "Show as a table" }),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Pages and their paths" }, el("table", {}, [
        el("thead", {}, el("tr", {}, ["Page", "Relevance", "Links from a seed", "From", "Link text"].map((name) => el("th", { scope: "col", text: name })))),
        el("tbody", {}, nodes.map((node) => {
          const step = stepTo(node.id);
          return el("tr", {}, [
            el("th", { scope: "row" }, el("button", { class: "link", type: "button", onclick: () => read(context, { ...node, why: step }) }, el("bdi", { text: shown(node.title, 100) || shown(node.url, 100) }))),
            el("td", { class: "number", text: node.relevance == null ? "–" : node.relevance.toFixed(2) }),
            el("td", { class: "number", text: node.seed ? "seed" : String(node.depth ?? "") }),
            el("td", {}, el("bdi", { text: shown(step.parent_title, 80) || shown(step.parent, 80) })),
            el("td", {}, el("bdi", { text: shown(step.anchor, 80) })),
          ]);
        })),
      ])),
    ]));
  }

  async function load(again = false) {
    if (!context.crawl) {
      note.textContent = "Nothing has been crawled yet.";
      return;
    }
    const key = `${context.crawl.id} ${context.crawl.pages}`;
    if (key === asked && !again) return;
    asked = key;
    tools.hidden = false;
    let graph;
    try {
      graph = await call("GET", `/crawls/${context.crawl.id}/graph`, { best: 50 });
    } catch (error) {
      if (key === asked) asked = "";
      throw error;
    }
    if (key !== asked) return; // superseded by a later request
    if (panel.hidden) {
      asked = ""; // a hidden panel has no layout
      return;
    }
    if (!graph.nodes.length) {
      note.textContent = "No relevant pages yet.";
      world.replaceChildren();
      frame.hidden = true;
      return;
    }
    frame.hidden = false;
    const found = graph.nodes.filter((node) => node.relevant).length;
    note.textContent = `${count(graph.nodes.length)} pages, ${count(found)} of them relevant${graph.truncated ? " (only the best are shown)" : ""}, with the paths that led to them. Squares are seeds; larger means more relevant. Click the graph to zoom with the mouse wheel.`;
    card.replaceChildren(el("p", { class: "note", text: "Select a page to see where it came from." }));
    paint(graph);
  }

  return { show: () => load(), changed() {} };
}
