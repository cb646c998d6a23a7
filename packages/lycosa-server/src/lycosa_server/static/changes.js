// The tab Changes: new and changed pages since the last visit, with diffs, and the address of the feed.

import { newest } from "./api.js";
import { diffOf } from "./diff.js";
import { read } from "./page_view.js";
import { ago, button, call, count, el, hostOf, original, section, shown, tell, when, words } from "./pieces.js";
import { ask, copier, field } from "./shell.js";

const SIGNS = { new: "+", added: "+", changed: "±", vanished: "−", gone: "−", moved: "→", returned: "+" };

function difference(context, change) {
  const body = el("div", { class: "change-diff" });
  const fold = el("details", {}, [el("summary", { text: "What changed" }), body]);
  fold.addEventListener("toggle", async () => {
    if (fold.open && !body.childElementCount) {
      body.replaceChildren(el("p", { class: "note", text: "Comparing …" }));
      body.replaceChildren(await diffOf(context, change.url, change.old, change.new));
    }
  });
  return fold;
}

function entry(context, change) {
  const two = change.what === "changed" && change.old != null && change.new != null;
  return el("li", { class: `change change-${words(change.what).replaceAll(" ", "-")}` }, [
    el("p", { class: "change-head" }, [
      el("span", { class: "badge" }, [el("span", { "aria-hidden": "true", text: `${SIGNS[change.what] ?? "·"} ` }), words(change.what), change.kind ? `: ${words(change.kind)}` : ""]),
      el("button", { type: "button", class: "link title", onclick: () => read(context, change) }, el("bdi", { text: shown(change.title, 160) || shown(change.url, 120) })),
    ]),
    el("p", { class: "result-facts" }, [
      el("span", { text: shown(change.host, 80) || hostOf(change.url) }),
      ago(change.at),
      change.magnitude && !change.summary ? el("span", { text: `amount of change ${change.magnitude.toFixed(2)}` }) : "",
      original(change.url),
    ]),
    change.summary ? el("p", { class: "excerpt" }, el("bdi", { text: shown(change.summary, 400) })) : "",
    two ? difference(context, change) : "",
  ]);
}

export function mount(panel, context) {
  const said = el("p", { class: "note", role: "status" });
  const list = el("ol", { class: "changes" });
  const tools = el("div", { class: "row" });
  const feeds = el("div");
  let since = null; // null: since the last visit
  let drawn = "";

  panel.replaceChildren(
    section("New and changed pages", el("div", {}, [tools, said, list])),
    section("Feed", el("div", {}, [
      el("p", { class: "note", text: "Follow these changes in a feed reader, at a secret address. Anyone who has the address can read them. Creating a new address revokes the old one." }),
      el("div", { class: "row" }, [button("Create address", make), button("Revoke address", revoke)]),
      feeds,
    ])),
  );

  async function make() {
    const { atom } = await call("POST", `/interests/${context.interest.id}/feed`);
    const line = (name, address) => el("p", { class: "secret" }, [el("strong", { text: name }), el("code", { text: address }), copier(address)]);
    feeds.replaceChildren(line("Atom", atom), el("p", { class: "note", text: "Shown only once: copy it now." }));
  }

  async function revoke() {
    await call("DELETE", `/interests/${context.interest.id}/feed`);
    feeds.replaceChildren(el("p", { class: "note", role: "status", text: "The feed's address was revoked." }));
  }

  const load = newest(async () => (context.crawl ? call("GET", `/interests/${context.interest.id}/changes`, { since, limit: 200 }) : null), (answer) => {
    if (answer === null) {
      said.textContent = "Nothing has been crawled yet.";
      return;
    }
    const visit = answer.last_visit;
    draw();
    const from = since === 0 ? "in all" : visit ? `since ${when(visit)}` : "so far";
    said.textContent = answer.changes.length ? `${count(answer.changes.length)} changes ${from}.` : `Nothing changed ${from}. Pages of a finished crawl are revisited at the interval in the settings, or when you choose Revisit.`;
    list.replaceChildren(...answer.changes.map((change) => entry(context, change)));
  });

  function draw() {
    const may = context.may.run && ["finished", "stopped", "failed"].includes(context.crawl?.state);
    if (drawn === `${since} ${may}`) return; // keep a focused button
    drawn = `${since} ${may}`;
    tools.replaceChildren(
      since === null ? button("All changes", () => ((since = 0), load()), { class: "small" }) : button("Since your last visit", () => ((since = null), load()), { class: "small" }),
      button("Mark as seen", seen, { class: "small" }),
      may ? button("Revisit some now", some, { class: "small" }) : "",
    );
  }

  async function some() {
    const pieces = el("textarea", { id: "look-now", class: "addresses", rows: "3", spellcheck: "false", required: true });
    const content = field({ id: "look-now", label: "Pages whose address contains", hint: "Parts of addresses, one per line: /news/", control: pieces });
    if (await ask({ title: "Revisit some pages now", text: "These pages are fetched first, followed by pages that are due.", yes: "Revisit", content })) {
      await call("POST", `/crawls/${context.crawl.id}/refresh`, { now: pieces.value.split("\n").map((line) => line.trim()).filter(Boolean) });
      tell("Revisiting …");
      await context.reload();
    }
  }

  async function seen() {
    await call("POST", `/interests/${context.interest.id}/seen`);
    tell("Marked as seen");
    since = null;
    await Promise.all([load(), context.reload()]);
  }

  return {
    show: load,
    changed(before) {
      if (panel.hidden) return;
      if (before?.state !== context.crawl?.state) load().catch(() => {});
      else if (drawn) draw();
    },
  };
}
