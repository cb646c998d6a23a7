// Full-text search in a crawl: results with snippets.

import { call, count, el, shown } from "./pieces.js";
import { item } from "./result_item.js";

// The snippet with matches marked. Spans count code points, as Python does.
export function marked(snippet, spans) {
  const letters = Array.from(String(snippet ?? ""));
  const parts = [];
  let at = 0;
  for (const [start, end] of [...(spans ?? [])].sort((a, b) => a[0] - b[0])) {
    if (start < at || end <= start) continue;
    parts.push(clean(letters.slice(at, start)), el("mark", { text: clean(letters.slice(start, end)) }));
    at = end;
  }
  parts.push(clean(letters.slice(at)));
  return parts;
}

// Like `shown`, but keeps spaces at the ends, next to marks.
function clean(letters) {
  const text = letters.join("");
  const line = shown(text, 1000);
  return line === "" ? (text ? " " : "") : `${/^\s/.test(text) ? " " : ""}${line}${/\s$/.test(text) ? " " : ""}`;
}

export async function search(context, q, { changed, ...filters }) {
  const found = await call("GET", `/crawls/${context.crawl.id}/search`, { q, ...filters, changed });
  const says = [found.total ? found.total === 1 ? "1 page matches." : `${count(found.total)} pages match.` : "No page matches."];
  if (found.behind) says.push(`About ${found.behind.toLocaleString("en")} pages are still being indexed.`);
  if (found.loosened) says.push("No page contains all the words; these contain some of them.");
  return {
    total: found.total,
    says: says.join(" "),
    items: found.results.map((result) => item(context, result, marked(result.snippet, result.spans))),
  };
}
