// Shared by the tabs of an interest's page: wording, relevance bars, labels, origins of pages.
// Text from crawled pages goes through `shown` (shortened, without invisible characters) into a bdi.

import { del, follow, get, inTurn, patch, post, put } from "./api.js";
import { ago, h, number, outside, percent, plural, when } from "./dom.js";
import { attempt, toast } from "./shell.js";

export { ago, percent, plural, when };
export { toast as tell };
export const count = number;

const BY_METHOD = { GET: get, POST: post, PUT: put, PATCH: patch, DELETE: del };

// el("p", {text: "..."}, [children]): text or children.
export const el = (tag, { text, ...props } = {}, children = []) => h(tag, props, text, children);

export const call = (method, path, data) => BY_METHOD[method](path, data);

// A button that runs one action at a time and reports failures.
export function button(label, act, props = {}) {
  const made = el("button", { type: "button", ...props, text: label });
  made.addEventListener("click", (event) => attempt(made, () => act(event)));
  return made;
}

export function section(title, content) {
  return el("section", { class: "part" }, [el("h2", { text: title }), content]);
}

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+/gu;

// Foreign text in one line, shortened.
export function shown(text, most = 200) {
  const line = String(text ?? "").slice(0, most * 4).replace(UNSEEN, " ").replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

export function hostOf(url) {
  try {
    return shown(new URL(url).host, 80);
  } catch {
    return "";
  }
}

// An identifier as words: not_found becomes "not found".
export function words(name) {
  return String(name ?? "").replaceAll("_", " ");
}

const OUTCOMES = {
  redirect: "redirect", gone: "not found", broken: "server error", busy: "host too busy", denied: "not allowed", refused: "not public",
  "unknown-host": "no such host", unreachable: "no connection", timeout: "no answer", slow: "too slow", loop: "redirect loop",
  unwanted: "no text", invalid: "invalid response", unreadable: "unreadable", crashed: "internal error", unchanged: "unchanged",
};

// Pages fetched, of the budget. Revisits may exceed it.
export const gone = ({ pages, budget }) => (pages > budget ? count(pages) : `${count(pages)} of ${count(budget)}`);

// The outcome of a failed page in a word or two.
export const outcome = (name) => OUTCOMES[name] ?? words(name);

export function original(url) {
  return outside(url, "original", { class: "away", title: "Opens the original page in a new tab; no referrer is sent" });
}

// The relevance of a page, as a bar and a number.
export function relevanceBar(relevance, threshold) {
  if (relevance === null || relevance === undefined) return el("span", { class: "score none", text: "–", title: "not judged" });
  const filled = Math.max(0, Math.min(1, relevance / (threshold > 1 ? 2 * threshold : 1))); // some judges exceed 1
  return el("span", { class: `score${threshold && relevance >= threshold ? " over" : ""}` }, [
    el("meter", { min: "0", max: "1", value: filled, "aria-hidden": "true" }),
    el("span", { class: "unseen", text: "relevance " }),
    el("span", { class: "score-number", text: relevance.toFixed(2) }),
  ]);
}

// The origin of a page in one line.
export function why(reason, brief = false) {
  const holder = (children) => el(brief ? "span" : "p", { class: brief ? "" : "why" }, children);
  if (!reason || !reason.kind) return holder([]);
  if (reason.kind === "seed") return holder(["a seed"]);
  const parent = shown(reason.parent_title, 90) || shown(reason.parent, 90);
  const parts = [reason.kind === "link" ? "from " : `${words(reason.kind)} from `, el("bdi", { class: "parent", title: shown(reason.parent, 300), text: parent || "an unknown page" })];
  if (reason.anchor) parts.push(" via “", el("bdi", { text: shown(reason.anchor, 90) }), "”");
  const priority = Number(reason.priority);
  if (priority) {  // each strategy has its own scale
    parts.push(`, chosen with priority ${Math.abs(priority) < 0.01 ? priority.toPrecision(2) : priority.toFixed(2)}`);
  }
  return holder(parts);
}

// Buttons to label a page; pressing again removes the label. Views of the page listen to the event "labelled", which is
// also sent for labels set elsewhere.
export function yesNo(context, page) {
  if (!context.may.feedback) return page.label ? el("span", { class: "badge", text: `labelled ${page.label}` }) : "";
  const after = inTurn(); // the last click wins
  const made = (label, text) => {
    const one = button(text, () => after(async () => {
      const label_now = one.getAttribute("aria-pressed") === "true" ? null : label;
      const answer = await put(`/interests/${context.interest.id}/feedback`, { url: page.url, label: label_now });
      page.label = answer.label ?? null;
      mark(page.label);
      document.dispatchEvent(new CustomEvent("labelled", { detail: { url: page.url, ...answer } }));
    }), { class: `verdict verdict-${label}`, "aria-pressed": "false" });
    return one;
  };
  const buttons = { yes: made("yes", "Yes"), no: made("no", "No") };
  const mark = (label) => {
    for (const [name, one] of Object.entries(buttons)) one.setAttribute("aria-pressed", String(name === label));
  };
  mark(page.label);
  const group = el("span", { class: "verdicts", role: "group", "aria-label": `Is it relevant: ${shown(page.title, 80) || shown(page.url, 80)}`, dataset: { url: page.url } }, [buttons.yes, buttons.no]);
  group.mark = mark;
  return group;
}

// Keep all views of the same page in sync.
document.addEventListener("labelled", (event) => {
  for (const group of document.querySelectorAll(".verdicts")) {
    if (group.dataset.url === event.detail.url) group.mark?.(event.detail.label);
  }
});

const ENDS = ["begun anew", "signed out", "not shared any more", "deleted"];
const LEFT = { "signed out": "You signed out in another window.", "not shared any more": "This is no longer shared with you.", deleted: "This crawl was deleted." };

// Follow a crawl's events until the end; `on` has a function for each kind, `on.status` reports the connection,
// `on.ended` the reason of the end. Returns {close}. Reconnects if the stream ends for another reason, such as a server
// restart or a log in use.
export function openEvents(path, { after, visits, ...on }) {
  const stopper = new AbortController();
  let end = null;
  on.status("");
  follow(path, {
    after,
    params: { visits, stay: true },
    on: { ...on, end: ({ reason }) => { end = ENDS.includes(reason) ? reason : null; } },
    done: () => end !== null,
    lost: (gone) => on.status(gone ? "Connection lost. Reconnecting …" : ""),
    signal: stopper.signal,
  }).then(
    () => stopper.signal.aborted || (on.status(LEFT[end] ?? ""), on.ended(end)),
    (error) => stopper.signal.aborted || on.status(error.message),
  );
  return { close: () => stopper.abort() };
}

// Parse the fragment after the tab's name: #results?order=date
export function fragment() {
  const [name, query = ""] = location.hash.slice(1).split("?");
  return { name, query: new URLSearchParams(query) };
}

export function setFragment(name, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  const text = query.toString();
  history.replaceState(history.state, "", `#${name}${text ? `?${text}` : ""}`);
}
