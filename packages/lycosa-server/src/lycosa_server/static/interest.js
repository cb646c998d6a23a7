// An interest's page: its head (name, state of the crawl, actions) and its tabs.
// Tabs are mounted when first shown; hidden ones make no requests.

import { newest, session } from "./api.js";
import * as changes from "./changes.js";
import * as feedback from "./feedback.js";
import * as graph from "./graph.js";
import * as settings from "./interest_settings.js";
import * as live from "./live.js";
import { ago, button, call, count, el, fragment, gone, openEvents, shown, tell } from "./pieces.js";
import * as results from "./results.js";
import * as sharing from "./sharing.js";
import { ask, badge } from "./shell.js";
import * as suggestions from "./suggestions.js";

const PARTS = { live, results, graph, changes, feedback, suggestions, sharing, settings };
const UNDER_WAY = ["queued", "running", "paused"];
const SAID = { queued: "is queued", running: "is running", paused: "is paused", stopped: "was stopped", finished: "has finished", failed: "has failed" };

const JUDGING = { labels: "Learning from your labels … ", threshold: "Applying the new threshold … ", topic: "Judging its pages again … " };

const main = document.getElementById("main");
const id = main.dataset.interest;
const place = (name) => document.getElementById(name);

const context = {
  interest: { id, mode: main.dataset.mode },
  crawl: null,
  person: null,
  may: {},
  threshold: null,
  effectWords: feedback.effectWords,
  reload: () => reload(),
  took,
  follow,
  choose,
};
let chosen = null; // older crawl selected by the user

const mounted = new Map();
let current = "";
let ready = false; // false until data is loaded; a tab selected before is shown then

// -- tabs

function wanted() {
  const name = fragment().name || main.dataset.tab;
  if (name === "search") return "results";
  return name in PARTS ? name : context.crawl && !UNDER_WAY.includes(context.crawl.state) ? "results" : "live";
}

async function show(name) {
  if (current && current !== name) {
    place(`panel-${current}`).hidden = true;
  }
  const fresh = current !== name;
  current = name;
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const is = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", String(is));
    tab.tabIndex = is ? 0 : -1;
    if (is && fresh) {
      const row = tab.parentElement;
      row.scrollLeft = Math.max(0, tab.offsetLeft - row.offsetLeft - row.clientWidth / 2 + tab.offsetWidth / 2);
    }
  }
  const panel = place(`panel-${name}`);
  panel.hidden = false;
  if (!mounted.has(name)) mounted.set(name, PARTS[name].mount(panel, context));
  try {
    await mounted.get(name).show();
  } catch (error) {
    if (error.name !== "ApiError") console.error(error);
    tell(error.message, "bad");
  }
  if (current === name) follow();
}

addEventListener("hashchange", () => {
  const { name } = fragment();
  if (name in PARTS || name === "search" || name === "") ready && show(wanted()); // other fragments are anchors, such as the skip link's
});
document.querySelector('[role="tablist"]').addEventListener("keydown", (event) => {
  const tabs = [...event.currentTarget.querySelectorAll('[role="tab"]')];
  const at = tabs.indexOf(event.target);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at >= 0 && next !== undefined) {
    event.preventDefault();
    const tab = tabs[(next + tabs.length) % tabs.length];
    location.hash = tab.dataset.tab;
    tab.focus();
  } else if (at >= 0 && event.key === " ") {
    event.preventDefault();
    event.target.click();
  }
});

// -- the head

function note() {
  const crawl = context.crawl;
  if (!crawl) return context.may.run ? [] : ["Its owner can start it."];
  const parts = [];
  if (chosen) parts.push(`This is crawl ${crawl.number}, not the latest. `);
  if (crawl.state === "queued") {
    parts.push(crawl.place_in_queue ? `Number ${crawl.place_in_queue} in the queue. ` : "In the queue. ");
  } else if (UNDER_WAY.includes(crawl.state) && crawl.wanted !== "run" && crawl.state === "running") {
    parts.push(crawl.wanted === "pause" ? "Pausing … " : "Stopping … ");
  } else if (crawl.reason) {
    const reason = shown(crawl.reason, 300);
    parts.push(`${reason.charAt(0).toUpperCase()}${reason.slice(1)}. `);
  }
  parts.push(`${gone(crawl)} pages, ${count(crawl.relevant)} relevant. `);
  if (crawl.judging) {
    parts.push(JUDGING[crawl.judging] ?? "");
  } else if (crawl.judging_failed) {
    parts.push(`Its pages could not be judged again: ${shown(crawl.judging_failed, 300)}. `);
  }
  if (crawl.ended) parts.push("Ended ", ago(crawl.ended), ". ");
  if (crawl.due) parts.push("Next revisit ", ago(crawl.due), ".");
  return parts;
}

async function act(name, body) {
  await call("POST", `/crawls/${context.crawl.id}/${name}`, body);
  await reload();
}

async function start() {
  const again = context.crawl !== null;
  if (again && !(await ask({ title: "Start a new crawl?", text: "A new crawl starts from the seeds. Earlier crawls and their pages are kept under Settings.", yes: "Start" }))) {
    return;
  }
  await call("POST", `/interests/${id}/crawls`);
  chosen = null;
  await reload();
  location.hash = "live";
}

async function more() {
  const pages = el("input", { id: "more-pages", type: "number", min: 1, max: 100000, value: String(Math.max(10, Math.min(1000, context.crawl.budget))), required: true });
  const content = el("div", { class: "field" }, [el("label", { for: "more-pages", text: "Additional pages" }), pages]);
  if (await ask({ title: "Fetch more pages", text: "The crawl continues where it ended.", yes: "Continue", content })) {
    await act("more", { pages: Number.parseInt(pages.value, 10) });
    location.hash = "live";
  }
}

function actions() {
  const crawl = context.crawl;
  if (!context.may.run) return [];
  if (!crawl) return [button("Start", start, { class: "primary" })];
  if (chosen) return [button("Show the latest crawl", () => choose(null))];
  const state = crawl.state;
  const made = [];
  if (["queued", "running"].includes(state) && crawl.wanted === "run") made.push(button("Pause", () => act("pause")));
  if (["paused", "stopped", "failed"].includes(state) || (state === "running" && crawl.wanted === "pause")) {
    made.push(button("Resume", () => act("resume"), { class: "primary" }));
  }
  if (UNDER_WAY.includes(state) && crawl.wanted !== "stop") made.push(button("Stop", () => act("stop")));
  if (state === "finished" || state === "stopped") {
    made.push(button("More pages", more));
    made.push(button("Revisit", () => act("refresh")));
  }
  if (!UNDER_WAY.includes(state)) made.push(button("New crawl", start));
  return made;
}

let drawnHead = "";

function head() {
  const { interest, crawl } = context;
  place("interest-name").textContent = shown(interest.name, 200);
  place("interest-words").textContent = shown(interest.settings?.words, 300);
  place("interest-words").hidden = !interest.settings?.words || interest.settings.words === interest.name;
  const unseen = place("unseen-count");
  unseen.hidden = !interest.unseen;
  unseen.replaceChildren(interest.unseen ? count(interest.unseen) : "", el("span", { class: "unseen", text: " since your last visit" }));
  place("interest-state").replaceChildren(badge(crawl));
  // redraw buttons only when they change, so that a focused one keeps the focus
  const key = JSON.stringify([crawl?.id, crawl?.state, crawl?.wanted, chosen?.id, context.may]);
  if (key !== drawnHead) {
    drawnHead = key;
    const had = place("interest-actions").contains(document.activeElement);
    place("interest-actions").replaceChildren(...actions());
    if (had) place("interest-actions").querySelector("button")?.focus();
  }
  const words = el("p", {}, note());
  if (words.textContent !== place("interest-note").textContent) {
    // announce only changes of state, not every page
    place("interest-note").setAttribute("aria-live", "off");
    place("interest-note").replaceChildren(...words.childNodes);
  }
}

// -- state

// Apply the state of the crawl from an event.
function took(crawl) {
  if (crawl?.id !== context.crawl?.id) return;
  const before = context.crawl;
  eventCount += 1;
  context.crawl = { ...before, ...crawl };
  head();
  if (before.state !== context.crawl.state) {
    tell(`The crawl ${SAID[context.crawl.state] ?? context.crawl.state}.`, context.crawl.state === "failed" ? "bad" : "good");
    reload().catch(() => {}); // a revisit may have found changes to count
  }
  mounted.get(current)?.changed?.(before);
}

function choose(crawl) {
  chosen = crawl;
  return reload().then(() => show(current));
}

let eventCount = 0; // counts events about the crawl

async function known() {
  const then = eventCount;
  const interest = await call("GET", `/interests/${id}`);
  if (!chosen) return { interest, crawl: interest.crawl, then };
  try {
    return { interest, crawl: await call("GET", `/crawls/${chosen.id}`), then };
  } catch (error) {
    if (error.status !== 404) throw error;
    chosen = null; // it was deleted
    return { interest, crawl: interest.crawl, then };
  }
}

const reload = newest(known, ({ interest, crawl, then }) => {
  const before = context.crawl;
  if (then !== eventCount && crawl?.id === before?.id) crawl = before; // events are newer than this response
  Object.assign(context, { interest, crawl });
  const member = context.person?.role !== "reader";
  const edit = context.interest.mode !== "read" && member;
  context.may = { edit, run: edit, feedback: edit, write: context.interest.mode === "own" && member };
  head();
  mounted.get(current)?.changed?.(before);
  if (ready) follow();
});

let followed = null; // the page's event stream

// Follow the state of the crawl and labels, and visits while the tab Live is shown. Hidden pages close their stream:
// browsers open at most six connections per server, over all tabs.
function follow() {
  const crawl = document.hidden ? null : context.crawl?.id;
  const live = current === "live" ? mounted.get("live")?.events() : null;
  if (followed && followed.crawl === crawl && followed.visits === Boolean(live)) return;
  followed?.stream.close();
  followed = null;
  if (!crawl) return;
  const stream = openEvents(`/crawls/${crawl}/events`, {
    visits: Boolean(live),
    status() {},
    ...live,
    state: took,
    labels: onLabels,
    crawl: () => chosen || reload().catch(() => {}),
    ended(reason) {
      followed = null;
      if (reason !== "signed out") reload().catch((error) => tell(error.message, "bad"));
    },
  });
  followed = { crawl, stream, visits: Boolean(live) };
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) follow();
  else if (ready) reload().catch(follow);
});

// Labels were set or removed, here or elsewhere.
function onLabels({ yes, no, changed }) {
  const known = context.interest.labels ?? { yes, no };
  if (!changed.length && known.yes === yes && known.no === no) return; // unchanged since the page was loaded
  context.interest.labels = { yes, no };
  for (const { url, label } of changed.length ? changed : [{ url: "", label: null }]) {
    document.dispatchEvent(new CustomEvent("labelled", { detail: { url, label } }));
  }
}

async function begin() {
  try {
    context.person = (await session())?.person ?? null;
    await reload();
  } catch (error) {
    place("interest-note").textContent = error.message;
    tell(error.message, "bad");
    return;
  } finally {
    ready = true;
  }
  await show(wanted());
}

begin();
