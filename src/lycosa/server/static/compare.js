// Strategies compared: the recorded crawl is replayed in the lab with each of them, and the curves are drawn.

import { newest } from "./api.js";
import { draw, forget } from "./charts.js";
import { ago, button, call, count, el, percent, section, shown } from "./pieces.js";
import { ask } from "./shell.js";

const MOST = 6;
const DRAWN = 3; // the newest ones are open

export function mount(panel, context) {
  const choices = el("div");
  const said = el("p", { class: "note", role: "status" });
  const start = button("Compare", begin, { class: "primary" });
  const list = el("div", { class: "comparisons" });
  let timer = 0;
  const seen = new Map(); // id: {state, element}

  const chooser = el("fieldset", {}, [
    el("legend", { text: "Strategies" }),
    el("p", { class: "hint", text: `Up to ${MOST}. Nothing is fetched: each strategy replays the recorded pages in the order it would have chosen.` }),
    choices,
    el("div", { class: "actions" }, [start]),
    said,
  ]);
  const asking = section("Compare strategies on this crawl", chooser);
  panel.replaceChildren(asking, section("Comparisons", list));

  const chosen = () => [...choices.querySelectorAll("input:checked")].map((box) => box.value);
  choices.addEventListener("change", () => {
    const many = chosen();
    said.textContent = many.length > MOST ? `${many.length} selected: at most ${MOST}.` : "";
  });

  async function offer() {
    if (choices.childElementCount) return;
    const strategies = await call("GET", "/strategies");
    if (choices.childElementCount) return; // asked for twice: some may be chosen already
    const wished = context.interest.wishes?.strategy;
    const checked = new Set(["best-first", "breadth-first", wished]);
    const box = (strategy) =>
      el("label", { class: "check" }, [
        el("input", { type: "checkbox", name: "strategy", value: strategy.name, checked: checked.has(strategy.name) || strategy.automatic }),
        el("span", {}, [el("b", { text: strategy.name }), el("span", { class: "note", text: shown(strategy.summary, 160) })]),
      ]);
    const known = strategies.filter((strategy) => strategy.name !== "automatic");
    const groups = [...new Set(known.map((strategy) => strategy.group))];
    choices.replaceChildren(...groups.map((title, place) => {
      const members = known.filter((strategy) => strategy.group === title);
      const open = place === 0 || members.some((strategy) => strategy.name === wished);
      return el("details", { class: "choices", open }, [el("summary", { text: `${title} (${count(members.length)})` }), el("div", { class: "checks" }, members.map(box))]);
    }));
  }

  async function begin() {
    const strategies = chosen();
    if (!strategies.length || strategies.length > MOST) {
      said.textContent = `Choose between 1 and ${MOST} strategies.`;
      return;
    }
    await call("POST", `/interests/${context.interest.id}/comparisons`, { crawl: context.crawl.id, strategies });
    said.textContent = "Queued. It starts when no other comparison is running.";
    await load();
  }

  function picture(comparison) {
    const { pages, curves, recorded } = comparison.result;
    const figure = el("figure", { class: "curve" });
    const lines = curves.map((curve) => ({ name: curve.strategy, x: pages.slice(0, curve.found.length), y: curve.found, last: count(curve.found.at(-1)) }));
    if (recorded?.length) {
      lines.unshift({ name: "the recorded crawl", x: pages.slice(0, recorded.length), y: recorded, last: count(recorded.at(-1)) });
    }
    // what tells them apart is how early the finds come: the mean share of finds over the crawl
    const early = (y) => (y.at(-1) ? y.reduce((sum, one) => sum + one, 0) / y.length / y.at(-1) : 0);
    const most = Math.max(...lines.map((one) => one.y.at(-1) ?? 0));
    const sum = (y) => y.reduce((total, one) => total + one, 0);
    const best = lines.reduce((a, b) => (sum(b.y) > sum(a.y) ? b : a));
    figure.say = `${best.name} did best overall; the most relevant pages any strategy reached is ${count(most)} of ${count(pages.at(-1))} pages.`;
    figure.lines = lines;
    const table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values of the curves" }, el("table", {}, [
      el("caption", { text: "How early the relevant pages come: 100% would mean all of them at once" }),
      el("thead", {}, el("tr", {}, ["Strategy", "Relevant", "Earliness"].map((name, place) => el("th", { scope: "col", class: place ? "number" : "", text: name })))),
      el("tbody", {}, lines.map((one) => el("tr", {}, [el("th", { scope: "row", text: one.name }), el("td", { class: "number", text: count(one.y.at(-1)) }), el("td", { class: "number", text: percent(early(one.y)) })]))),
    ]));
    return [figure, table];
  }

  function entry(comparison, open) {
    const done = comparison.state === "finished" && comparison.result?.curves?.length;
    const body = el("div");
    const fold = el("details", { class: "fold", open }, [
      el("summary", {}, [comparison.strategies.join(", "), " ", el("span", { class: `badge ${{ finished: "good", failed: "bad", running: "live" }[comparison.state] ?? "warn"}`, text: comparison.state })]),
      el("p", { class: "note" }, ["requested ", ago(comparison.created)]),
      comparison.reason ? el("p", { class: "notice bad", text: shown(comparison.reason, 400) }) : "",
      done ? body : comparison.state === "failed" ? "" : el("p", { class: "loading", text: comparison.state === "queued" ? "Queued …" : "Running …" }),
      context.may.run ? el("div", { class: "actions" }, [button("Delete", () => remove(comparison), { class: "small danger" })]) : "",
    ]);
    const paint = () => {
      if (done && fold.open) {
        if (!body.childElementCount) body.replaceChildren(...picture(comparison));
        const figure = body.querySelector("figure");
        draw(figure, { across: "pages", up: "relevant", curves: figure.lines, says: figure.say });
      }
    };
    fold.addEventListener("toggle", paint);
    fold.paint = paint;
    return fold;
  }

  async function remove(comparison) {
    if (await ask({ title: "Delete this comparison?", text: "Its curves are deleted; the crawl is kept.", yes: "Delete", danger: true })) {
      await call("DELETE", `/comparisons/${comparison.id}`);
      await load();
    }
  }

  const load = newest(() => call("GET", `/interests/${context.interest.id}/comparisons`), (found) => {
    clearTimeout(timer);
    const all = [...(found.comparisons ?? found)].sort((a, b) => b.created - a.created);
    for (const [id, known] of seen) {
      if (!all.some((one) => one.id === id)) {
        known.element.querySelectorAll("figure").forEach(forget);
        known.element.remove();
        seen.delete(id);
      }
    }
    list.querySelector(":scope > .note")?.remove();
    for (const [place, one] of all.entries()) {
      const known = seen.get(one.id);
      if (known?.state === one.state) continue; // as it was: what the person unfolded stays so
      const element = entry(one, known ? known.element.open : place < DRAWN);
      if (known) {
        known.element.replaceWith(element);
      } else {
        list.insertBefore(element, list.children[place] ?? null);
      }
      seen.set(one.id, { state: one.state, element });
      element.paint();
    }
    if (!all.length) list.replaceChildren(el("p", { class: "note", text: "No comparisons yet." }));
    if (!panel.hidden && all.some((one) => ["queued", "running"].includes(one.state))) {
      timer = setTimeout(again, 2000);
    }
  });

  // also if the server was away for a moment
  const again = () => load().catch(() => { timer = setTimeout(again, 5000); });

  return {
    async show() {
      asking.hidden = !context.may.run;
      start.disabled = !context.crawl || !context.crawl.pages;
      if (!context.crawl?.pages) said.textContent = "Run a crawl first.";
      await Promise.all([context.may.run ? offer() : null, load()]);
      seen.forEach(({ element }) => element.paint());
    },
    hide: () => clearTimeout(timer),
    changed() {
      start.disabled = !context.crawl || !context.crawl.pages;
    },
  };
}
