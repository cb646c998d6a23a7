// The tab Feedback: labelled pages, how well the judge agrees with them, and pages whose rank changed.

import { newest } from "./api.js";
import { read } from "./page_view.js";
import { ago, button, call, count, el, hostOf, original, percent, section, shown } from "./pieces.js";

// The number of labelled pages that the judge decided correctly.
const right = (side) => side.labels - (side.judged_relevant - side.agreed) - (side.yes - side.agreed);

// Describe the effect of labels. The relevance just before a page was labelled counts, as the judge did not know the label.
export function effectWords(effect) {
  const labelled = effect.yes + effect.no;
  if (!labelled) return "No pages labelled yet.";
  if (labelled === 1 || !effect.before || !effect.after) {
    return `${count(labelled)} labelled so far. The judge learns from each label and ranks all pages accordingly.`;
  }
  return `The judge was right about ${count(right(effect.after))} of ${count(effect.after.labels)} labelled pages just before you labelled them (${count(right(effect.before))} when they were fetched).`;
}

function measures(effect) {
  const rows = [
    ["Precision", "precision", "share of pages judged relevant that are"],
    ["Recall", "recall", "share of relevant pages judged relevant"],
    ["Accuracy", "accuracy", "share of pages judged correctly"],
  ];
  return el("table", { class: "measures" }, [
    el("caption", { text: `The judge on ${count(effect.after.labels)} labelled pages: when they were fetched, and just before each was labelled` }),
    el("thead", {}, el("tr", {}, ["", "When fetched", "Before labelling"].map((name) => el("th", { scope: "col", class: name ? "number" : "", text: name })))),
    el("tbody", {}, rows.map(([name, key, meaning]) =>
      el("tr", {}, [
        el("th", { scope: "row" }, [name, el("span", { class: "note", text: ` ${meaning}` })]),
        el("td", { class: "number", text: percent(effect.before[key]) }),
        el("td", { class: "number", text: percent(effect.after[key]) }),
      ]))),
  ]);
}

function moves(context, moved) {
  if (!moved?.length) return "";
  return el("div", {}, [
    el("h3", { text: "Pages whose rank changed most since they were fetched" }),
    el("ul", { class: "plain-list" }, moved.map((page) => {
      const up = page.after < page.before; // a smaller rank is better
      return el("li", {}, [
        el("span", { class: `badge ${up ? "good" : ""}`, text: `${up ? "↑" : "↓"} ${count(page.before)} → ${count(page.after)}` }),
        " ",
        el("button", { type: "button", class: "link", onclick: () => read(context, page) }, el("bdi", { text: shown(page.title, 140) || shown(page.url, 140) })),
      ]);
    })),
  ]);
}

export function mount(panel, context) {
  const effect = el("div", { role: "status" });
  const list = el("ul", { class: "labels" });
  const said = el("p", { class: "note" });
  panel.replaceChildren(section("How well the judge agrees with you", effect), section("Labelled pages", el("div", {}, [said, list])));

  function row(label) {
    const back = context.may.feedback
      ? button("Remove", async () => {
          const answer = await call("PUT", `/interests/${context.interest.id}/feedback`, { url: label.url, label: null });
          document.dispatchEvent(new CustomEvent("labelled", { detail: { url: label.url, ...answer } }));
          await load();
        }, { class: "small" })
      : "";
    return el("li", {}, [
      el("span", { class: `badge ${label.label === "yes" ? "good" : "bad"}`, text: label.label === "yes" ? "✓ yes" : "✗ no" }),
      el("div", { class: "label-page" }, [
        el("button", { type: "button", class: "link", onclick: () => read(context, label) }, el("bdi", { text: shown(label.title, 160) || shown(label.url, 160) })),
        el("p", { class: "why" }, [hostOf(label.url), " · ", ago(label.at), label.by ? ` · by ${shown(label.by.name ?? label.by, 60)}` : "", " · ", original(label.url)]),
      ]),
      back,
    ]);
  }

  const load = newest(() => call("GET", `/interests/${context.interest.id}/feedback`), (answer) => {
    const known = answer.effect;
    effect.replaceChildren(el("p", { class: "lead", text: effectWords(known) }), known.before && known.after ? measures(known) : "", moves(context, known.moved));
    said.textContent = answer.labels.length ? "" : !context.may.feedback ? "No pages labelled yet." : "Label pages yes or no in the results. The judge learns from your labels and ranks results and waiting links again.";
    list.replaceChildren(...answer.labels.map(row));
  });

  document.addEventListener("labelled", () => panel.hidden || load().catch(() => {}));
  return { show: load, changed() {} };
}
