// The tab Suggestions: seeds and words for the interest, with reasons.

import { newest } from "./api.js";
import { button, call, el, original, section, shown, tell } from "./pieces.js";

export function mount(panel, context) {
  async function answer(kind, value, said, row) {
    await call("POST", `/interests/${context.interest.id}/suggestions`, { kind, value, answer: said });
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    (next?.querySelector("button") ?? panel).focus();
    if (said === "accepted") {
      tell("Added. It takes effect with the next crawl");
      await context.reload();
    }
  }

  function row(kind, value, head, why, more) {
    const made = el("li", { class: "suggestion" }, [
      el("div", {}, [head, el("p", { class: "why", text: shown(why, 300) })]),
      el("div", { class: "row" }, [
        ...(context.may.feedback
          ? [
              button("Accept", () => answer(kind, value, "accepted", made), { class: "small", "aria-label": `Accept ${shown(value, 80)}` }),
              button("Dismiss", () => answer(kind, value, "dismissed", made), { class: "small", "aria-label": `Dismiss ${shown(value, 80)}` }),
            ]
          : []),
        more,
      ]),
    ]);
    return made;
  }

  const group = (title, none, rows) => section(title, rows.length ? el("ul", { class: "suggestions" }, rows) : el("p", { class: "note", text: none }));
  const named = (page) => el("strong", {}, el("bdi", { text: shown(page.title, 160) || shown(page.url, 160) }));

  const load = newest(() => call("GET", `/interests/${context.interest.id}/suggestions`), (found) => {
    if (!found.allowed) {
      panel.replaceChildren(el("p", { class: "notice" }, ["Suggestions are turned off. Turn them on in ", el("a", { href: "/account", text: "your account" }), "."]));
      return;
    }
    panel.replaceChildren(
      el("p", { class: "note" }, ["Based on this interest, its labels and the results you opened. Only you see them. ", el("a", { href: "/account", text: "Turn them off" }), "."]),
      group("Seeds", "None yet. Pages and hosts that led to pages you labelled yes are suggested here.", found.seeds.map((seed) =>
        row("seed", seed.url, [named(seed), el("p", { class: "address" }, el("bdi", { text: shown(seed.url, 200) }))], seed.why, original(seed.url)))),
      group("Words", "None yet. Words from pages you labelled yes are suggested here.", found.terms.map((term) =>
        row("term", term.term, el("strong", {}, el("bdi", { text: shown(term.term, 80) })), term.why, ""))),
    );
  });

  panel.tabIndex = -1;
  return { show: load, changed() {} };
}
