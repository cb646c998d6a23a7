// The tab Live: harvest curve beside that by depth, pages as they arrive, hosts, and errors.

import { href } from "./api.js";
import { read } from "./page_view.js";
import { button, call, count, el, gone, hostOf, outcome, percent, relevanceBar, section, shown, when, why, words } from "./pieces.js";

const KEPT = 200;

export function mount(panel, context) {
  const numbers = el("dl", { class: "numbers" });
  const figure = el("figure", { class: "curve" });
  const picture = el("img");
  const feed = el("ol", { class: "feed", "aria-label": "Pages as they arrive, newest first" });
  const hosts = el("div");
  const errors = el("div");
  const said = el("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const line = el("p", { class: "note connection" });
  const hold = button("Pause the list", () => toggle(), { class: "small", "aria-pressed": "false" });
  let last = 0; // the newest visit shown: after a reconnection, older ones are skipped
  let held = null; // visits that arrived while the list is paused
  let spoken = 0;
  let shownCrawl = "";
  let turn = 0;
  let curve = null;

  const nothing = el("div", { class: "empty", hidden: true });
  const body = el("div", {}, [
    numbers,
    section("Harvest: relevant pages among those fetched", figure),
    el("div", { class: "columns" }, [
      section("Pages as they arrive", el("div", {}, [el("p", { class: "row" }, [hold, line]), feed])),
      el("div", {}, [section("Hosts", hosts), section("What went wrong", errors)]),
    ]),
  ]);
  panel.replaceChildren(said, nothing, body);

  function toggle() {
    if (held) {
      const waiting = held;
      held = null;
      waiting.forEach(add);
    } else {
      held = [];
    }
    hold.setAttribute("aria-pressed", String(held !== null));
    hold.textContent = held ? "Resume the list" : "Pause the list";
  }

  function row(visit) {
    const known = { ...visit, fetched: visit.at };
    const bad = visit.outcome !== undefined && visit.outcome !== "ok";
    const relevant = el("span", { class: "badge good", text: "relevant" });
    const made = el("li", { dataset: { url: visit.url } }, [
      el("div", { class: "feed-line" }, [
        relevanceBar(bad ? null : visit.relevance, context.threshold), // failed pages were not judged
        el("button", { class: "link", type: "button", onclick: () => read(context, known) }, [
          el("bdi", { text: shown(visit.title, 160) || shown(visit.url, 160) }),
        ]),
        relevant,
        bad ? el("span", { class: "badge", text: outcome(visit.outcome) }) : "",
      ]),
      el("p", { class: "why" }, [el("span", { text: hostOf(visit.url) }), " · ", why(visit.why, true)]),
    ]);
    made.mark = (label) => {
      relevant.hidden = !(label ? label === "yes" : visit.relevant);
      made.classList.toggle("found", !relevant.hidden);
    };
    made.mark(visit.label);
    return made;
  }

  document.addEventListener("labelled", ({ detail }) => {
    for (const one of feed.children) if (one.dataset.url === detail.url) one.mark(detail.label);
  });

  function add(visit) {
    if (held) {
      held.push(visit);
      held.splice(0, Math.max(0, held.length - KEPT));
      return;
    }
    feed.prepend(row(visit));
    while (feed.childElementCount > KEPT) feed.lastElementChild.remove();
  }

  function tally(progress) {
    const crawl = progress.crawl ?? context.crawl;
    const facts = [
      ["Pages", gone(crawl)],
      ["Relevant", count(crawl.relevant)],
      ["Harvest rate", percent(crawl.harvest ?? (crawl.pages ? crawl.relevant / crawl.pages : null))],
      ...(progress.recent ? [["Lately", progress.recent]] : []),
      ["Pages per minute", progress.rate == null ? "–" : count(Math.round(progress.rate))],
      ["Links waiting", progress.frontier == null ? "–" : count(progress.frontier)],
      ["Being fetched", count((progress.in_flight ?? []).length)],
    ];
    numbers.replaceChildren(...facts.map(([name, value]) => el("div", {}, [el("dt", { text: name }), el("dd", { text: value })])));
    // announce twice a minute, not twice a second
    if (Date.now() - spoken > 30000 || crawl.state !== "running") {
      spoken = Date.now();
      said.textContent = `${count(crawl.pages)} pages, ${count(crawl.relevant)} relevant`;
    }
  }

  function hostTable(list) {
    if (!list?.length) {
      hosts.replaceChildren(el("p", { class: "note", text: "No requests yet." }));
      return;
    }
    const rows = list.slice(0, 100).map((host) => {
      const waits = host.ready_in > 0.05 ? `${host.ready_in.toFixed(1)} s` : host.in_flight ? "requesting" : "–";
      return el("tr", {}, [
        el("th", { scope: "row" }, el("bdi", { text: shown(host.host, 120) })),
        el("td", { class: "number", text: count(host.pages) }),
        el("td", { class: "number", text: count(host.relevant) }),
        el("td", { text: waits }),
        el("td", { class: "muted", text: host.in_flight ? "" : shown(words(host.why || host.state || ""), 120) }),
      ]);
    });
    hosts.replaceChildren(
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Hosts" }, [
        el("table", {}, [
          el("thead", {}, el("tr", {}, ["Host", "Pages", "Relevant", "Wait", "Reason"].map((name, place) =>
            el("th", { scope: "col", class: place === 1 || place === 2 ? "number" : "", text: name })))),
          el("tbody", {}, rows),
        ]),
      ]),
    );
  }

  function errorList(list) {
    if (!list?.length) {
      errors.replaceChildren(el("p", { class: "note", text: "No errors." }));
      return;
    }
    errors.replaceChildren(
      el("ul", { class: "causes" }, list.map((error) =>
        el("li", {}, [
          el("strong", { text: `${count(error.count)} × ${shown(words(error.cause), 80)}` }),
          el("p", { class: "note", text: shown(error.meaning, 300) }),
          error.example ? el("p", { class: "why" }, ["for example ", el("bdi", { text: shown(error.example, 160) })]) : "",
        ]))),
    );
  }

  function plot(given) {
    curve = given ?? curve;
    if (!curve?.pages?.length) {
      figure.replaceChildren(el("p", { class: "note", text: "The curve appears with the first page." }));
      return;
    }
    const at = curve.pages.length - 1;
    const [pages, relevant] = [curve.pages[at], curve.relevant[at]];
    const half = curve.pages.findIndex((x) => x >= pages / 2);
    const middle = curve.breadth
      ? ` Halfway, this crawl had ${count(curve.relevant[half])}; by depth, the same pages would have had ${count(curve.breadth[half])}.`
      : "";
    const says = `${count(relevant)} relevant in ${count(pages)} pages.${middle} Depth is the number of links from a seed.`;
    if (!figure.contains(picture)) figure.replaceChildren(picture, el("figcaption", { class: "note" }));
    figure.lastElementChild.textContent = says;
    picture.alt = says;
    drawCurve();
  }

  // Show the server's drawing in the current theme. The URL changes with the curve.
  function drawCurve() {
    if (!picture.isConnected || !curve) return;
    const width = figure.clientWidth < 500 ? 360 : 720;
    const theme = document.documentElement.dataset.theme;
    picture.src = href(`/crawls/${context.crawl.id}/curve.svg`, { width, theme, pages: curve.pages.at(-1), relevant: curve.relevant.at(-1) });
  }
  addEventListener("lycosa:theme", drawCurve);

  function take(progress) {
    if (progress.crawl) context.took(progress.crawl);
    tally(progress);
    if (progress.hosts) hostTable(progress.hosts);
    if (progress.errors) errorList(progress.errors);
    if (progress.curve) plot(progress.curve);
  }

  async function show() {
    const mine = ++turn;
    if (!context.crawl) {
      nothing.replaceChildren(
        el("h2", { text: "Not started yet" }),
        el("p", { text: context.may.run ? "Choose Start above. Pages appear here as they arrive." : "Pages appear here once the owner starts a crawl." }),
      );
    }
    nothing.hidden = Boolean(context.crawl);
    body.hidden = !context.crawl;
    if (!context.crawl) return;
    if (shownCrawl !== context.crawl.id) {
      shownCrawl = context.crawl.id;
      last = 0;
      curve = null;
      held &&= [];
      feed.replaceChildren();
    }
    try {
      const progress = await call("GET", `/crawls/${context.crawl.id}/progress`);
      if (mine !== turn) return; // superseded, perhaps by another crawl
      last ||= Math.max(0, (progress.seq ?? 0) - KEPT); // show only the latest of the earlier visits
      take(progress);
      plot();
    } catch (error) {
      if (mine !== turn) return;
      line.textContent = error.message;
    }
  }

  return {
    show,
    changed(before) {
      if (!panel.hidden && before?.id !== context.crawl?.id) show().then(context.follow);
    },
    // Handlers for the page's event stream while this tab is shown.
    events: () => ({
      after: last,
      visit(visit) {
        if (visit.seq <= last) return;
        last = visit.seq;
        add(visit);
      },
      progress: take,
      status: (text) => (line.textContent = text),
    }),
  };
}
