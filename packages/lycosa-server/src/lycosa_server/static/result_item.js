// One result in a list: title, origin, and actions.

import { read } from "./page_view.js";
import { ago, button, el, hostOf, original, relevanceBar, shown, why, yesNo } from "./pieces.js";

export function item(context, page, excerpt) {
  const title = el("button", { type: "button", class: "link title", onclick: () => read(context, page) }, el("bdi", { text: shown(page.title, 200) || shown(page.url, 120) }));
  return el("li", { class: "result" }, [
    el("h3", {}, title),
    el("p", { class: "result-facts" }, [
      page.relevance === null || page.relevance === undefined ? "" : relevanceBar(page.relevance, context.threshold),
      el("span", { text: shown(page.host, 80) || hostOf(page.url) }),
      page.language ? el("span", { text: shown(page.language, 16) }) : "",
      page.fetched ? ago(page.fetched) : "",
      page.changed ? el("span", { class: "badge", text: "changed" }) : "",
      page.standing && page.standing !== "stands" ? el("span", { class: "badge", text: shown(String(page.standing), 40) }) : "",
    ]),
    el("p", { class: "excerpt" }, el("bdi", {}, excerpt)),
    page.why ? why(page.why) : "",
    el("p", { class: "row" }, [yesNo(context, page), original(page.url), page.changed ? button("what changed", () => read(context, page, { compare: true }), { class: "small" }) : ""]),
  ]);
}
