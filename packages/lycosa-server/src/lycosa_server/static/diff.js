// The diff of two versions of a page: removed and added text, marked by sign, line and colour.

import { call, count, el, plural, shown, when } from "./pieces.js";

const SIGNS = {
  same: ["", "same"],
  changed: ["±", "changed"],
  removed: ["−", "removed"],
  added: ["+", "added"],
  "moved away": ["↑", "moved away"],
  "moved here": ["↓", "moved here"],
};

function run([state, text]) {
  const said = shown(text, 4000);
  if (state === "kept") return [said, " "];
  return [el(state === "removed" ? "del" : "ins", { text: said }), " "];
}

// One side of a row: the old text without added words, or the new one without removed words.
function side(row, without, name) {
  const runs = row.runs.filter(([state]) => state !== without);
  const empty = runs.length === 0;
  return el("td", { class: `${name}${empty ? " none" : ""}`, "data-side": name }, empty ? "" : el("bdi", {}, runs.flatMap(run)));
}

function line(row) {
  const [sign, meaning] = SIGNS[row.state] ?? ["", row.state];
  return el("tr", { class: `diff-${row.state.replaceAll(" ", "-")}` }, [
    el("th", { scope: "row" }, [
      el("span", { "aria-hidden": "true", text: sign }),
      el("span", { class: "unseen", text: meaning }),
    ]),
    side(row, "added", "before"),
    side(row, "removed", "after"),
  ]);
}

function linkList(one, many, sign, urls) {
  if (!urls?.length) return "";
  return el("details", {}, [
    el("summary", { text: plural(urls.length, one, many) }),
    el(
      "ul",
      { class: "link-list" },
      urls.slice(0, 100).map((url) => el("li", {}, [`${sign} `, el("bdi", { text: shown(url, 300) })])),
    ),
  ]);
}

// Drop the measurements from a description: "changed: text, magnitude 0.02 (tree: level 4 …)" becomes "changed: text".
const plainly = (says) => says.replace(/,? magnitude [\d.]+/, "").replace(/ \(.*\)$/, "");

export function diffTable(found) {
  const counts = found.words ?? {};
  const says = [`${plural(counts.removed ?? 0, "word")} removed, ${count(counts.added ?? 0)} added`];
  if (counts.moved) says.push(`${count(counts.moved)} moved`);
  const most = 400;
  const parts = [
    el("p", { class: "diff-says" }, [
      `${says.join(", ")}. `,
      found.says ? el("span", { class: "muted", text: shown(plainly(found.says), 400) }) : "",
    ]),
  ];
  if (found.from?.title !== found.to?.title) {
    parts.push(
      el("p", {}, ["Title: ", el("del", { text: shown(found.from.title, 300) }), " ", el("ins", { text: shown(found.to.title, 300) })]),
    );
  }
  if (found.rows?.length) {
    parts.push(
      el("table", { class: "diff" }, [
        el("caption", { class: "unseen", text: "Removed and added text" }),
        el("thead", {}, [
          el("tr", {}, [
            el("th", { scope: "col" }, el("span", { class: "unseen", text: "Kind" })),
            el("th", { scope: "col", text: `Before, ${when(found.from?.at)}` }),
            el("th", { scope: "col", text: `After, ${when(found.to?.at)}` }),
          ]),
        ]),
        el("tbody", {}, found.rows.slice(0, most).map(line)),
      ]),
    );
  } else {
    parts.push(el("p", { class: "note", text: "The visible text is the same." }));
  }
  if ((found.rows?.length ?? 0) > most) {
    parts.push(el("p", { class: "note", text: `${found.rows.length - most} more rows are not shown.` }));
  }
  parts.push(linkList("link gone", "links gone", "−", found.links?.removed), linkList("new link", "new links", "+", found.links?.added));
  return el("div", { class: "diff-view" }, parts);
}

// Load the diff of two versions (by default the last two); on failure return the error message.
export async function diffOf(context, url, older, newer) {
  try {
    return diffTable(await call("GET", `/crawls/${context.crawl.id}/diff`, { url, old: older, new: newer }));
  } catch (error) {
    return el("p", { class: "note", role: "status", text: error.message });
  }
}
