// The threshold: a slider that counts relevant pages as it moves, and pages the judge is unsure about.

import { newest } from "./api.js";
import { read } from "./page_view.js";
import { button, call, el, relevanceBar, shown, yesNo } from "./pieces.js";

const PAUSE = 150; // milliseconds to wait after the last move

// `changed(value)` is called with the threshold to preview; null for the saved one.
export function slider(context, changed) {
  let kept = null;
  let timer = 0;
  let held = false; // responses do not move the slider while it is being moved or saved
  const says = el("p", { class: "lead estimate", role: "status" });
  const range = el("input", { id: "threshold-range", type: "range", min: "0", max: "1", step: "0.01", "aria-describedby": "threshold-note" });
  const number = el("output", { for: "threshold-range", class: "score-number" });
  const actions = el("span", { class: "row" });
  const box = el("div", { class: "threshold", hidden: true }, [
    says,
    el("div", { class: "row" }, [el("label", { for: "threshold-range", text: "Threshold" }), range, number, actions]),
    el("p", { class: "note", id: "threshold-note" }),
  ]);

  const moved = () => kept !== null && Math.abs(Number(range.value) - kept) > 1e-9;

  async function keep() {
    clearTimeout(timer);
    held = true;
    try {
      await call("PATCH", `/interests/${context.interest.id}`, { threshold: Number(range.value) });
      await context.reload();
    } finally {
      ask(); // otherwise the preview would not be visible
    }
  }

  function ask() {
    clearTimeout(timer);
    held = false;
    changed(moved() ? range.value : null);
  }

  function draw() {
    number.textContent = Number(range.value).toFixed(2);
    const now = moved();
    if (now === Boolean(actions.childElementCount)) return; // keep a focused button
    actions.replaceChildren(...(now
      ? [context.may.edit ? button("Keep this threshold", keep, { class: "small primary" }) : "", button("Reset", () => ((range.value = String(kept)), draw(), ask()), { class: "small" })].filter(Boolean)
      : []));
  }

  range.addEventListener("input", () => {
    draw();
    clearTimeout(timer);
    held = true;
    timer = setTimeout(ask, PAUSE);
  });

  return {
    box,
    // Apply a response; the slider stays while someone moves it.
    show(answer, asked) {
      box.hidden = !answer.estimate.pages;
      const text = answer.estimate.text.replace(/(\d)-(\d)/, "$1\u2060–\u2060$2");
      says.textContent = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
      kept = Math.round(answer.crawl_threshold * 100) / 100;
      range.max = String(answer.crawl_threshold > 1 ? Math.ceil(2 * answer.crawl_threshold) : 1);
      if (!held && (document.activeElement !== range || asked === null)) range.value = String(asked ?? answer.crawl_threshold);
      box.querySelector("#threshold-note").textContent = answer.probability
        ? "The lowest probability that counts as relevant. A lower threshold accepts more pages, including more wrong ones; a higher one accepts fewer, more certain pages."
        : "The minimum relevance. A lower threshold accepts more pages, including more wrong ones; a higher one accepts fewer, more certain pages.";
      draw();
    },
  };
}

// Up to ten pages whose labels help most; loaded when the list is opened.
export function unsure(context) {
  const list = el("ol", { class: "plain-list" });
  const said = el("p", { class: "note", role: "status" });
  const box = el("details", { class: "unsure-pages", hidden: true }, [el("summary", { text: "Label the least certain pages" }), said, list]);

  const load = newest(async () => (box.open && context.crawl ? call("GET", `/crawls/${context.crawl.id}/unsure`) : null), (pages) => {
    if (pages === null) return;
    said.textContent = pages.length ? "The judge is least certain about these pages, so labelling them teaches it most." : "The judge is certain about every page.";
    list.replaceChildren(...pages.map((page) => el("li", {}, [
      relevanceBar(page.relevance, context.threshold),
      el("button", { type: "button", class: "link", onclick: () => read(context, page) }, el("bdi", { text: shown(page.title, 140) || shown(page.url, 140) })),
      yesNo(context, page),
    ])));
  });

  box.addEventListener("toggle", () => load().catch((error) => (said.textContent = error.message)));
  return {
    box,
    show() {
      box.hidden = !context.may.feedback || !context.crawl?.pages;
      return load().catch(() => {});
    },
  };
}
