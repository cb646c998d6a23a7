// The list of interests, own and shared, as cards. Numbers of running crawls are refreshed.

import {get} from "./api.js";
import {$, ago, fill, h, number, percent, plural} from "./dom.js";
import {badge, empty} from "./shell.js";

const list = $("#list");
const BUSY = new Set(["queued", "running"]);

function card(interest) {
  const {crawl, settings, owner, mode} = interest;
  const words = settings.words === interest.name ? "" : settings.words || (settings.examples.length ? plural(settings.examples.length, "example page") : "");
  return h("li", {class: "card interest"},
    h("h2", null, h("a", {href: `/interests/${interest.id}`}, interest.name)),
    words ? h("p", {class: "note clamp"}, words) : null,
    crawl ? h("dl", null,
      h("div", null, h("dt", null, "Relevant"), h("dd", null, number(crawl.relevant))),
      h("div", null, h("dt", null, "Pages"), h("dd", null, number(crawl.pages), crawl.pages < crawl.budget ? h("span", {class: "note"}, ` of ${number(crawl.budget)}`) : null)),
      h("div", null, h("dt", null, "Harvest rate"), h("dd", null, crawl.pages ? percent(crawl.harvest) : "–"))) : h("p", {class: "note"}, "No crawl yet."),
    crawl && BUSY.has(crawl.state) && crawl.task === "crawl" ? h("progress", {max: crawl.budget, value: crawl.pages, "aria-label": `Pages of ${interest.name}`}) : null,
    crawl && crawl.state === "failed" ? h("p", {class: "note"}, crawl.reason) : null,
    h("div", {class: "foot"}, badge(crawl),
      interest.unseen ? h("span", {class: "new"}, plural(interest.unseen, "new change")) : null,
      mode === "own"
        ? (interest.shares ? h("span", {class: "note"}, `shared with ${interest.shares}`) : null)
        : h("span", {class: "note"}, `shared by ${owner.name}, to ${mode}`),
      crawl && crawl.ended ? h("span", {class: "note"}, ago(crawl.ended)) : null));
}

const MANY = 12;
const filter = h("input", {type: "search", id: "filter", autocomplete: "off", oninput: () => narrow()});
const among = h("div", {class: "field", hidden: true}, h("label", {for: "filter"}, "Filter"), filter);
list.before(among);

// Filter long lists by name and words.
function narrow() {
  const text = filter.value.trim().toLowerCase();
  for (const one of list.querySelectorAll("li.interest")) one.hidden = !one.textContent.toLowerCase().includes(text);
  for (const part of list.querySelectorAll("section")) part.hidden = !part.querySelector("li.interest:not([hidden])");
}

function show(interests) {
  among.hidden = interests.length <= MANY;
  if (!interests.length) {
    const may = list.dataset.may;
    return fill(list, empty(may ? "What are you curious about?" : "Nothing is shared with you yet",
      may ? "Describe it in a few words, or with example pages. Lycosa follows the links that lead to more of the same and keeps the relevant pages for you." : "When somebody shares an interest with you, it appears here.",
      may ? h("a", {class: "button primary", href: "/interests/new"}, "Create your first interest") : null));
  }
  const parts = [["Your interests", interests.filter((one) => one.mode === "own")], ["Shared with you", interests.filter((one) => one.mode !== "own")]].filter(([, some]) => some.length);
  return fill(list, parts.map(([title, some], at) => h("section", {"aria-label": title},
    parts.length > 1 || title !== "Your interests" ? h("p", {class: "lead"}, title) : null, h("ul", {class: "cards-grid"}, some.map(card)), at < parts.length - 1 ? h("hr") : null)));
}

let drawn = "";

async function load(first) {
  if (document.hidden && !first) return setTimeout(load, 3000);
  try {
    const interests = await get("/interests");
    const now = JSON.stringify(interests);
    if (now !== drawn && !list.matches(":active")) { // never replace a card that is being clicked
      drawn = now;
      const focused = document.activeElement && document.activeElement.getAttribute("href");
      show(interests);
      narrow();
      const again = focused && [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused);
      if (again) again.focus();
    }
    return setTimeout(load, interests.some(({crawl}) => crawl && BUSY.has(crawl.state)) ? 3000 : 30000);
  } catch (error) {
    if (first) fill(list, h("p", {class: "notice bad", role: "alert"}, error.message));
    return setTimeout(load, 10000);
  }
}

load(true);
