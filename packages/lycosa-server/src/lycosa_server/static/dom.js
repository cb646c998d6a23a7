// Build elements from plain values. Text is never parsed as markup, so hostile titles are harmless.
//
//   h("p", {class: "note", dataset: {seq: 7}}, "Hello ", h("b", null, name))
//     props: class, id, any attribute; dataset {…}; style {…} (set by script, as the CSP allows);
//            onclick and other on… functions; true sets an empty attribute, false/null/undefined leaves it out;
//            value, checked, selected, indeterminate, disabled, hidden are set as properties.
//            href and src take only local paths, http(s) and blob: anything else (javascript:, data:) is dropped.
//     children: nodes, strings, numbers, arrays of those; null, undefined and booleans are skipped.
//   svg("circle", {r: 3})        the same for SVG
//   fill(element, ...children)   replace the content; returns the element
//   $(selector, within)          the first match
//   outside(url, text)           an external link: new tab, no referrer
//   number(1234) "1,234"   percent(.25) "25%"   ago(seconds) "3 minutes ago" as <time>   when(seconds) "16 Nov 2026, 05:06"
//   plural(2, "page")  "2 pages"   short(url) "example.org/path" cut to a length   icon(name)

const PROPERTIES = new Set(["value", "checked", "selected", "indeterminate", "disabled", "hidden"]);
const SVG = "http://www.w3.org/2000/svg";

export const safe = (url) => /^(https?:|blob:|\/(?!\/)|#|\?)/i.test(String(url).trim()) || String(url).startsWith("//" + location.host + "/");

function make(element, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (PROPERTIES.has(name) && name in element) element[name] = value;
    else if (value === false) continue;
    else if ((name === "href" || name === "src" || name === "action" || name === "xlink:href") && !safe(value)) continue;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  // A select's value can only be set once its options exist.
  if (element.tagName === "SELECT" && props && props.value !== undefined) element.value = props.value;
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || typeof child === "boolean") continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export const h = (tag, props, ...children) => make(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) => make(document.createElementNS(SVG, tag), props, children);
export const $ = (selector, within = document) => within.querySelector(selector);

export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

export const outside = (url, text, props) =>
  h("a", {href: url, target: "_blank", rel: "noreferrer noopener", ...props}, text || short(url));

export const number = (value) => (value === null || value === undefined ? "–" : Number(value).toLocaleString("en-GB"));
export const percent = (value, digits = 0) => (value === null || value === undefined ? "–" : `${(value * 100).toFixed(digits)}%`);
export const plural = (count, one, many) => `${number(count)} ${count === 1 ? one : many || one + "s"}`;

export function when(seconds) {
  if (!seconds) return "never";
  return new Date(seconds * 1000).toLocaleString("en-GB", {day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit"});
}

const STEPS = [[60, "second"], [3600, "minute"], [86400, "hour"], [86400 * 30, "day"], [86400 * 365, "month"], [Infinity, "year"]];
const LENGTH = {second: 1, minute: 60, hour: 3600, day: 86400, month: 86400 * 30, year: 86400 * 365};
const words = new Intl.RelativeTimeFormat("en-GB", {numeric: "auto"});

export function ago(seconds) {
  if (!seconds) return h("span", null, "never");
  const passed = seconds - Date.now() / 1000;
  const unit = STEPS.find(([limit]) => Math.abs(passed) < limit)[1];
  const text = Math.abs(passed) < 10 ? "just now" : words.format(Math.round(passed / LENGTH[unit]), unit);
  return h("time", {datetime: new Date(seconds * 1000).toISOString(), title: when(seconds)}, text);
}

export function short(url, length = 70) {
  const text = String(url).replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "");
  return text.length > length ? text.slice(0, length - 1) + "…" : text;
}

const ICONS = {
  plus: "M12 5v14M5 12h14", close: "M6 6l12 12M18 6 6 18", check: "M5 12.500l4.500 4.500L19 7.500",
  copy: "M9 9h10v11H9zM5 15V4h10", share: "M12 15V4M8 8l4-4 4 4M5 13v7h14v-7", edit: "M5 19l1-4L16.500 4.500l3 3L9 18z",
  play: "M8 5.500v13l10-6.500z", pause: "M9 6v12M15 6v12", stop: "M7 7h10v10H7z", search: "M10.500 5a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11M15 15l4.500 4.500",
  bin: "M5 7h14M10 7V4.500h4V7M7 7l1 13h8l1-13", again: "M19 12a7 7 0 1 1-2-5M19 4v4h-4", out: "M13 5h6v6M19 5l-9 9M10 6H5v13h13v-5",
};

// Line drawings, hidden from screen readers: buttons need text as well (class "unseen" hides it visually).
export const icon = (name) =>
  svg("svg", {viewBox: "0 0 24 24", width: 18, height: 18, class: "drawn", "aria-hidden": "true", focusable: "false"}, svg("path", {d: ICONS[name]}));
