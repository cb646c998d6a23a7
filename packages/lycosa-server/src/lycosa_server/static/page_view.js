// The reader: an archived page in a dialog, in a frame without scripts, with its origin, versions and label.

import { diffOf } from "./diff.js";
import { button, call, el, hostOf, original, plural, relevanceBar, shown, tell, when, why, words, yesNo } from "./pieces.js";

let opener = null;

function dialog() {
  const found = document.getElementById("page-view");
  if (!found.dataset.ready) {
    found.dataset.ready = "yes";
    found.addEventListener("close", () => {
      found.replaceChildren(); // removes the frame
      opener?.focus();
      opener = null;
    });
    found.addEventListener("click", (event) => {
      if (event.target === found) found.close();
    });
  }
  return found;
}

function address(context, url, version) {
  const query = new URLSearchParams({ url });
  if (version !== undefined) query.set("version", version);
  return `/api/v1/crawls/${context.crawl.id}/reader?${query}`;
}

function frame(context, url) {
  return el("iframe", {
    class: "reader-frame",
    sandbox: "allow-popups allow-popups-to-escape-sandbox",
    referrerpolicy: "no-referrer",
    title: "The archived copy",
    src: address(context, url),
  });
}

function versions(context, page, show) {
  const kept = page.versions ?? [];
  if (kept.length < 2) return "";
  const rows = kept.map((version, place) => {
    const label = `Version ${place + 1}, ${when(version.started)}`;
    return el("li", {}, el("div", { class: "row" }, [
      button(label, () => show.copy(version.seq), { class: "small" }),
      place === 0 ? "" : button("what changed", () => show.diff(kept[place - 1].seq, version.seq), { class: "small" }),
      version.kind ? el("span", { class: "muted", text: words(version.kind) }) : "",
    ]));
  });
  return el("details", { open: true }, [
    el("summary", { text: `${kept.length} versions` }),
    el("ol", { class: "versions" }, rows),
  ]);
}

function terms(page) {
  const most = page.terms ?? [];
  if (!most.length) return "";
  const said = most.slice(0, 12).map((term) => `${shown(term.term, 40)} (${term.count})`);
  return el("details", {}, [el("summary", { text: "Most frequent words" }), el("p", { class: "note", text: said.join(", ") })]);
}

function links(page) {
  const found = page.links ?? [];
  if (!found.length) return "";
  const rows = found.slice(0, 50).map((link) =>
    el("li", {}, [
      el("bdi", { text: shown(link.anchor || link.url, 120) }),
      el("span", { class: "muted", text: ` ${hostOf(link.url)}${link.state ? `, ${words(link.state)}` : ""}` }),
    ]),
  );
  return el("details", {}, [el("summary", { text: plural(found.length, "link") }), el("ul", { class: "link-list" }, rows)]);
}

// Open the reader. `page` has the fields known so far; the rest is loaded.
export async function read(context, page, { compare = false } = {}) {
  const view = dialog();
  opener = document.activeElement;
  const title = el("h2", { id: "page-view-title" }, el("bdi", { text: shown(page.title, 200) || shown(page.url, 200) }));
  const close = button("Close", () => view.close(), { class: "small" });
  const facts = el("div", { class: "page-facts" });
  const body = el("div", { class: "page-body" });
  let turn = 0;
  const show = {
    copy(version) {
      turn += 1;
      const copy = frame(context, page.url);
      copy.src = address(context, page.url, version);
      body.replaceChildren(copy);
    },
    async diff(older, newer) {
      const mine = ++turn;
      body.replaceChildren(el("p", { class: "note", text: "Comparing …" }));
      const found = await diffOf(context, page.url, older, newer);
      if (mine === turn) body.replaceChildren(found);
    },
  };
  view.replaceChildren(
    el("header", { class: "page-head" }, [title, close]),
    el("div", { class: "page-columns" }, [facts, body]),
  );
  view.setAttribute("aria-labelledby", "page-view-title");
  view.showModal();
  close.focus();
  if (compare) {
    show.diff();
  } else {
    show.copy();
  }
  const parts = () => [...facts.querySelectorAll("a, button, summary")];
  const fill = (known) => {
    const at = parts().indexOf(document.activeElement);
    facts.replaceChildren(
      el("p", { class: "address" }, [el("bdi", { text: shown(known.url, 300) })]),
      el("p", { class: "row" }, [relevanceBar(known.relevance, context.threshold), original(known.url)]),
      why(known.why),
      yesNo(context, known),
      known.fetched ? el("p", { class: "note", text: `Fetched ${when(known.fetched)}` }) : "",
      el("p", { class: "row" }, [
        button("Archived copy", () => show.copy(), { class: "small" }),
        (known.versions ?? []).length > 1 || known.changed ? button("What changed", () => show.diff(), { class: "small" }) : "",
      ]),
      versions(context, known, show),
      terms(known),
      links(known),
    );
    parts()[at]?.focus(); // keep the focus in place
  };
  fill(page);
  call("POST", `/crawls/${context.crawl.id}/opened`, { url: page.url }).catch(() => {}); // best effort
  const label = page.label;
  try {
    const known = await call("GET", `/crawls/${context.crawl.id}/page`, { url: page.url });
    fill({ ...page, ...known, ...(page.label === label ? {} : { label: page.label }) }); // a label set meanwhile is newer
  } catch (error) {
    tell(error.message, "bad");
  }
}
