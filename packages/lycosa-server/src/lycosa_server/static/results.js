// The tab Results: relevant pages, ranked and filtered; pages open in the reader and can be labelled.

import { button, call, count, el, fragment, plural, setFragment, shown } from "./pieces.js";
import { item } from "./result_item.js";
import { search } from "./search.js";
import { slider, unsure } from "./threshold.js";

const SIZE = 20;
const ORDERS = { relevance: "relevance", frequency: "word frequency", date: "date" };
const TEXTS = {
  relevance: "By current relevance, including what it learned from your labels.",
  frequency: "By how often the words of the interest occur in the page.",
  date: "Newest first.",
};

function select(name, label, choices, chosen, more = {}) {
  return el("label", {}, [label, el("select", { name, value: chosen, ...more }, Object.entries(choices).map(([value, text]) => el("option", { value, text })))]);
}

function input(name, label, type, chosen, more = {}) {
  return el("label", {}, [label, el("input", { name, type, value: chosen, ...more })]);
}

function none(crawl) {
  return crawl.pages && !["queued", "running"].includes(crawl.state)
    ? `None of the ${plural(crawl.pages, "page")} fetched is relevant. Other words or seeds may help: Settings, Edit.`
    : "No relevant pages yet.";
}

export function mount(panel, context) {
  let values = {};
  let turn = 0;
  let timer = 0;
  let relevantThen = 0; // number of relevant pages when the list was loaded
  let learning = 0; // number of a label that the judge may not have learned yet
  const fresh = el("p", { role: "status" });
  const form = el("form", { class: "filters", role: "search" });
  const list = el("ol", { class: "results" });
  const said = el("p", { class: "note", role: "status" });
  const effect = el("div", { class: "effect", role: "status" });
  const pager = el("nav", { class: "row pager", "aria-label": "Pages of results" });
  const line = slider(context, (value) => panel.hidden || change({ ...values, threshold: value ?? "", offset: "" }));
  const asking = unsure(context);
  panel.replaceChildren(el("h2", { class: "unseen", text: "Results" }), form, line.box, asking.box, effect, fresh, said, list, pager);

  function build() {
    const more = narrowed();
    form.replaceChildren(
      el("div", { class: "search-line" }, [
        el("label", { class: "unseen", for: "q", text: "Search the archived pages" }),
        el("input", { id: "q", name: "q", type: "search", value: values.q ?? "", placeholder: "Search the archived pages", maxlength: 500, autocomplete: "off" }),
        el("button", { type: "submit", text: "Search" }),
      ]),
      el("div", { class: "row" }, [select("order", "Sort by ", ORDERS, values.order || "relevance", { disabled: Boolean(values.q) })]),
      el("details", { class: "more-filters", open: more }, [
        el("summary", { text: "Filters" }),
        el("div", { class: "filter-grid" }, [
          input("host", "Host", "text", values.host ?? "", { maxlength: 253, autocomplete: "off" }),
          input("language", "Language", "text", values.language ?? "", { maxlength: 16, size: 4, placeholder: "en", autocomplete: "off" }),
          input("since", "From", "date", values.since ?? ""),
          input("until", "To", "date", values.until ?? ""),
          select("changed", "Changed", { "": "either", true: "only changed" }, values.changed ?? ""),
          select("labelled", "Labelled", { "": "all", any: "yes or no", yes: "yes", no: "no", none: "not yet" }, values.labelled ?? ""),
          select("all", "Pages", { "": "relevant", all: "not relevant" }, values.all ?? "", { disabled: Boolean(values.q) }),
          button("Clear filters", () => change({ q: values.q, order: values.order, threshold: values.threshold }, true), { class: "small" }),
        ]),
      ]),
    );
  }

  function change(next, rebuild = false) {
    values = next;
    setFragment("results", values);
    if (rebuild) build();
    load();
  }

  const gather = () => ({ order: values.order, all: values.all, threshold: values.threshold, ...Object.fromEntries(new FormData(form)), offset: "" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    change(gather());
    form.elements.order.disabled = form.elements.all.disabled = Boolean(values.q); // searches cover all pages, in the order of the match
  });
  form.addEventListener("change", (event) => event.target.name !== "q" && change(gather()));

  function turnPage(total, offset) {
    const to = (place) => {
      change({ ...values, offset: place ? String(place) : "" });
      panel.scrollIntoView({ block: "start" });
    };
    const last = Math.min(offset + SIZE, total);
    pager.replaceChildren(
      ...(total > SIZE
        ? [
            button("Previous", () => to(Math.max(0, offset - SIZE)), { disabled: offset === 0, class: "small" }),
            el("span", { class: "note", text: `${count(Math.min(offset + 1, total))} to ${count(last)} of ${count(total)}` }),
            button("Next", () => to(offset + SIZE), { disabled: last >= total, class: "small" }),
          ]
        : []),
    );
  }

  const filters = () => ({ host: values.host, language: values.language, since: values.since, until: values.until, changed: values.changed, labelled: values.labelled });
  const narrowed = () => ["host", "language", "since", "until", "changed", "labelled", "all"].some((name) => values[name]);

  async function load() {
    if (!context.crawl) {
      said.textContent = "Nothing has been crawled yet.";
      return;
    }
    const mine = ++turn;
    clearTimeout(timer);
    relevantThen = context.crawl.relevant;
    fresh.replaceChildren();
    const offset = Math.max(0, Number.parseInt(values.offset || "0", 10) || 0);
    const asked = { ...filters(), limit: SIZE, offset };
    list.setAttribute("aria-busy", "true");
    try {
      if (values.q?.trim()) {
        const found = await search(context, values.q.trim(), asked);
        if (mine === turn) {
          line.box.hidden = true; // searches cover all pages
          list.replaceChildren(...found.items);
          said.textContent = found.says;
          turnPage(found.total, offset);
        }
        return;
      }
      const order = values.order || "relevance";
      const threshold = values.threshold ? Number(values.threshold) : null;
      const answer = await call("GET", `/crawls/${context.crawl.id}/pages`, { ...asked, order, threshold: threshold ?? undefined, relevant: values.all ? "false" : undefined });
      if (mine !== turn) return; // superseded
      context.threshold = answer.threshold;
      if (!panel.hidden && threshold !== null && Math.abs(answer.crawl_threshold - threshold) < 1e-9) setFragment("results", (values = { ...values, threshold: "" })); // the threshold was saved: it is the crawl's own now
      line.show(answer, threshold);
      relevantThen = Math.max(relevantThen, threshold === null ? answer.estimate.relevant : 0);
      list.replaceChildren(...answer.pages.map((page) => item(context, page, shown(page.excerpt, 400))));
      says(answer, offset);
    } catch (error) {
      if (mine === turn) {
        list.replaceChildren();
        turnPage(0, 0);
        said.textContent = error.message;
      }
    } finally {
      if (mine === turn) list.removeAttribute("aria-busy");
    }
  }

  function says(answer, offset) {
    said.textContent = answer.total ? `${plural(answer.total, "page")}. ${TEXTS[values.order || "relevance"] ?? ""}` : narrowed() ? "No page matches these filters." : none(context.crawl);
    turnPage(answer.total, offset);
  }

  // Update the count; the list stays as it is while someone reads it.
  async function countAgain() {
    const mine = turn;
    const threshold = values.threshold ? Number(values.threshold) : null;
    const answer = await call("GET", `/crawls/${context.crawl.id}/pages`, { ...filters(), limit: 1, offset: 0, threshold: threshold ?? undefined, relevant: values.all ? "false" : undefined });
    if (mine !== turn || panel.hidden) return;
    line.show(answer, threshold);
    relevantThen = Math.max(relevantThen, answer.estimate.relevant);
    says(answer, Math.max(0, Number.parseInt(values.offset || "0", 10) || 0));
  }

  function countSoon() {
    clearTimeout(timer);
    if (!panel.hidden && !values.q && context.crawl) timer = setTimeout(() => countAgain().catch(() => {}), 100); // once for several changes
  }

  document.addEventListener("labelled", (event) => {
    countSoon();
    if (!panel.hidden && event.detail.effect) {
      learning = event.detail.number;
      effect.replaceChildren(el("p", { class: "notice" }, [context.effectWords(event.detail.effect), " ", button("Rank again", () => (effect.replaceChildren(), load()), { class: "small" }), " ", el("a", { href: "#feedback", text: "All labels" })]));
    }
  });

  return {
    show() {
      values = Object.fromEntries(fragment().query);
      build();
      asking.show();
      if (fragment().name === "search") form.elements.q.focus();
      load();
    },
    changed(before) {
      if (panel.hidden || !context.crawl) return;
      if (before?.id === context.crawl.id && before.relevant !== context.crawl.relevant && context.crawl.state !== "running") countSoon();
      if (before?.id !== context.crawl.id) {
        asking.show();
        load();
      } else if (["threshold", "topic"].includes(before.judging) && !context.crawl.judging) {
        change({ ...values, threshold: before.judging === "topic" ? "" : values.threshold }); // keep a threshold that is being tried out
        asking.show();
      } else if (learning && context.crawl.last_label >= learning && !values.q) {
        learning = 0;
        fresh.replaceChildren(button("The judge has learned from your labels: rank again", () => (effect.replaceChildren(), asking.show(), load()), { class: "small" }));
      } else if (context.crawl.relevant > relevantThen && !values.q) {
        fresh.replaceChildren(button(`Show ${plural(context.crawl.relevant - relevantThen, "more page")}`, load, { class: "small" })); // never move a list that is being read
      }
    },
  };
}
