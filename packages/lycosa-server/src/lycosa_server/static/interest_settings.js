// The tab Settings: settings, exports, crawls, and deletion of an interest.

import { href, newest } from "./api.js";
import { ago, button, call, count, el, section, shown, tell, words } from "./pieces.js";
import { ask, badge, later } from "./shell.js";

const LONG = 30;

// Confirm a deletion by typing the name, so that a slip deletes nothing.
export async function askByName(name, title, text) {
  const asked = name.length > LONG ? "delete" : name.trim(); // long names are tedious to type on a phone
  const typed = el("input", { id: "confirm-name", autocomplete: "off", required: true });
  typed.addEventListener("input", () => typed.setCustomValidity(typed.value.trim() === asked ? "" : `Type ${asked} here, or cancel.`));
  const content = el("div", { class: "field" }, [
    el("label", { for: "confirm-name" }, [asked === name.trim() ? "Type the name to confirm: " : "Type this to confirm: ", el("bdi", { class: "code", text: asked })]),
    typed,
  ]);
  return (await ask({ title, text, yes: "Delete", danger: true, content })) && typed.value.trim() === asked;
}

const AGAIN = { "": "never automatically", "6h": "every 6 hours", "1d": "every day", "7d": "every week" };

function settingsList(interest) {
  const wished = interest.settings ?? {};
  const list = (items) => (items?.length ? items.map((one) => shown(one, 120)).join(", ") : "");
  const facts = [
    ["Words", wished.words],
    ["Examples", list(wished.examples)],
    ["Seeds", list(wished.seeds)],
    ["From the catalogue", list(wished.preferences)],
    ["Strategy", typeof wished.strategy === "string" ? words(wished.strategy) : ""],
    ["Model topics", list(wished.targets)],
    ["Judge", wished.model ? "a classifier of the owner" : typeof wished.judge === "string" ? words(wished.judge) : ""],
    ["Threshold", wished.threshold ? String(wished.threshold) : "the judge's default"],
    ["Pages to fetch", wished.budget ? count(wished.budget) : ""],
    ["Only these hosts", list(wished.hosts)],
    ["Only these domains", list(wished.domains)],
    ["Skipped addresses", list(wished.exclude)],
    ["Languages", list(wished.languages)],
    ["Skipped if opted out of", { training: "training and mining", all: "anything" }[wished.respect_opt_outs]],
    ["Revisits", AGAIN[interest.revisit_every] ?? `every ${interest.revisit_every}`],
    ["Frequently", wished.frequently?.length ? `${list(wished.frequently)} (at least every ${wished.frequent})` : ""],
    ["Infrequently", wished.infrequently?.length ? `${list(wished.infrequently)} (every ${wished.infrequent})` : ""],
    ["Always, bypassing caches", list(wished.always)],
    ["Change detectors", list(wished.detect)],
  ].filter(([, value]) => value);
  return el("dl", { class: "interest-settings" }, facts.map(([name, value]) => el("div", {}, [el("dt", { text: name }), el("dd", {}, el("bdi", { text: shown(String(value), 600) }))])));
}

export function mount(panel, context) {
  const crawlPath = () => `/crawls/${context.crawl.id}`;

  async function removeCrawl(crawl) {
    if (await ask({ title: `Delete crawl ${crawl.number}?`, text: "Its pages, archive and index are deleted permanently.", yes: "Delete", danger: true })) {
      await call("DELETE", `/crawls/${crawl.id}`);
      await context.reload();
      await show();
    }
  }

  async function remove() {
    const { id, name } = context.interest;
    if (await askByName(name, "Delete this interest?", "Its crawls, archives, labels, shares and feeds are deleted permanently, for everybody it is shared with.")) {
      await call("DELETE", `/interests/${id}`);
      later("The interest was deleted");
      location.assign("/");
    }
  }

  async function again() {
    await call("POST", `/interests/${context.interest.id}/judge`);
    tell("Judging the pages again");
    await context.reload();
  }

  const show = newest(() => call("GET", `/interests/${context.interest.id}/crawls`), (crawls) => {
    const own = context.interest.mode === "own";
    const link = (text, path, params) => el("a", { class: "button", href: href(path, params), download: true, text });
    panel.replaceChildren(...[
      section("What this interest looks for", el("div", {}, [
        settingsList(context.interest),
        context.may.edit ? el("a", { class: "button", href: `/interests/${encodeURIComponent(context.interest.id)}/edit`, text: "Edit" }) : "",
        " ",
        context.may.run && crawls.length ? button("Judge again", again) : "",
        context.may.run && crawls.length ? el("p", { class: "note", text: "Judge again applies the words, examples, judge and threshold to the pages already fetched. Nothing is fetched." }) : "",
      ])),
      section("Crawls", crawls.length
        ? el("ul", { class: "crawls" }, crawls.map((crawl) => el("li", {}, [
            el("strong", { text: `Crawl ${crawl.number}` }),
            badge(crawl),
            el("span", { class: "note" }, [`${count(crawl.pages)} pages, ${count(crawl.relevant)} relevant, started `, ago(crawl.started ?? crawl.created)]),
            crawl.id === context.crawl?.id ? el("span", { class: "badge", text: "shown" }) : button("Show", () => context.choose(crawl), { class: "small" }),
            context.may.run ? button("Delete", () => removeCrawl(crawl), { class: "small danger", "aria-label": `Delete crawl ${crawl.number}` }) : "",
          ])))
        : el("p", { class: "note", text: "No crawls yet." })),
      context.crawl
        ? section("Export", el("div", {}, [
            el("p", { class: "note", text: "The pages of this crawl as JSON Lines, as a table, or as a web archive for other tools." }),
            el("div", { class: "row" }, [
              link("JSON Lines", `${crawlPath()}/export`, { form: "jsonl" }),
              link("Table (CSV)", `${crawlPath()}/export`, { form: "csv" }),
              link("Web archive (WARC)", `${crawlPath()}/export`, { form: "warc" }),
              link("For ReplayWeb.page (WACZ)", `${crawlPath()}/export`, { form: "wacz" }),
              own ? link("Everything in this interest", `/interests/${context.interest.id}/export`) : "",
            ]),
          ]))
        : "",
      own && context.may.write ? section("Delete", el("div", {}, [el("p", { class: "note", text: "Deletes this interest and all its crawls permanently." }), button("Delete this interest", remove, { class: "danger" })])) : "",
    ].filter((part) => part !== ""));
  });

  return { show, changed() {} };
}
