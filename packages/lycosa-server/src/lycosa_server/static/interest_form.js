// The form for creating and editing an interest. Mistakes that can be detected here are shown at their fields;
// the server validates everything again.

import {get, patch, post, upload} from "./api.js";
import {$, fill, h, number, outside, plural, short} from "./dom.js";
import {attempt, calm, complain, dialog, later, toast} from "./shell.js";
import {topics} from "./topics.js";

const form = $("#interest");
const interest = $("#main").dataset.interest;
const fields = form.elements;
const KINDS = {bookmarks: "bookmarks file", opml: "list of feeds", list: "list of addresses", sitemap: "sitemap", feed: "feed"};
const MOST = {examples: 100, seeds: 1000};
const OFTEN = ["always", "frequently", "infrequently", "detect"];
const PLAIN = ["automatic", "best-first", "breadth-first"]; // strategies offered directly; automatic is scent
let kept = null;
let failed = new Set(); // lists that failed to load: their selections are kept

// -- addresses, one per line; https is the default scheme

const lines = (name) => [...new Set(fields[name].value.split(/\s+/).filter(Boolean))];
const pieces = (name) => [...new Set(fields[name].value.split(/\n/).map((line) => line.trim()).filter(Boolean))];
const address = (text) => (/^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[^/]+:\d+/.test(text) ? text : "https://" + text);
const addresses = (name) => lines(name).map(address);

// What is no address: words, above all. A bare name without a dot is one only with a scheme, as in http://intranet/
function odd(name) {
  return lines(name).find((text) => {
    try {
      const {protocol, hostname} = new URL(address(text));
      return !/^https?:$/.test(protocol) || (address(text) !== text && !hostname.includes(".") && hostname !== "localhost");
    } catch { return true; }
  });
}

function append(name, urls) {
  const all = [...new Set([...lines(name), ...urls])];
  fields[name].value = all.slice(0, MOST[name]).join("\n");
  fields[name].rows = Math.min(12, Math.max(4, all.length));
  if (all.length > MOST[name]) toast(`Only the first ${number(MOST[name])} were added, the maximum.`, "bad");
}

// -- the catalogue, strategies and judges

async function choices() {
  const [catalogue, strategies, judges, detectors, models] = await Promise.allSettled(["/catalogue", "/strategies", "/judges", "/detectors", "/models"].map((path) => get(path)));
  failed = new Set([["preferences", catalogue], ["detect", detectors]].filter(([, one]) => one.status === "rejected").map(([name]) => name));
  preferences(catalogue.status === "fulfilled" ? catalogue.value.preferences : [], catalogue.reason);
  plain(strategies.value || []);
  options("judge", judges.value || [], kept ? kept.settings.judge : "automatic");
  noticing(detectors.value || []);
  byModel((models.value || []).filter((one) => one.state === "ready"), strategies.value || []);
}

// -- models: the classifier with its topics, and the strategy's model

let targets = [];

function byModel(all, strategies) {
  const wished = kept ? kept.settings : {model: "", targets: [], strategy_model: ""};
  const judging = all.filter((one) => one.kind === "classifier");
  targets = wished.targets;
  const known = (some, id) => (id && !some.some((one) => one.id === id) ? [...some, {id, name: "a model of the owner"}] : some); // in a shared interest
  $("#by-model").hidden = !known(judging, wished.model).length;
  fill(fields.model, h("option", {value: ""}, "None: use words or examples"), known(judging, wished.model).map((one) => h("option", {value: one.id}, one.name)));
  fields.model.value = wished.model;
  const judge = () => {
    const model = fields.model.value;
    for (const name of ["words", "examples", "judge"]) fields[name].disabled = Boolean(model);
    $("#targets").hidden = !model;
    if (model) fill($("#targets-tree"), topics(model, targets, (now) => { targets = now; }));
  };
  fields.model.addEventListener("change", () => { targets = []; judge(); });
  judge();
  const guide = () => {
    const other = fields.other_strategy.value;
    for (const radio of fields.strategy) radio.disabled = Boolean(other);
    $("#strategy-set").textContent = other ? `Set under “Advanced”: ${other}.` : "";
    const needed = (strategies.find((one) => one.name === other.split(",")[0]) || {}).model || "";
    $("#taught").hidden = !needed;
    const fitting = known(all.filter((one) => one.kind === needed), needed ? wished.strategy_model : "");
    fill(fields.strategy_model, fitting.length ? fitting.map((one) => h("option", {value: one.id}, one.name)) : h("option", {value: ""}, needed ? `You have no ${needed} model yet` : ""));
    if (fitting.some((one) => one.id === wished.strategy_model)) fields.strategy_model.value = wished.strategy_model;
  };
  fields.other_strategy.addEventListener("change", guide);
  guide();
}

function noticing(all) {
  const chosen = new Set(kept ? kept.settings.detect : []);
  fill($("#detectors"), all.map(({name, summary, automatic}) => h("label", {class: "check"}, h("input", {type: "checkbox", name: "detect", value: name, checked: chosen.has(name)}),
    h("span", null, name, automatic ? " (default)" : "", h("span", {class: "note"}, ` ${summary}`)))));
}

function preferences(all, error) {
  const place = $("#preferences");
  if (!all.length) return fill(place, h("p", {class: "note"}, error ? error.message : "The catalogue is empty."));
  const chosen = new Set(kept ? kept.settings.preferences : []);
  return fill(place, h("div", {class: "checks"}, all.map(({preference, seeds}) => h("div", null,
    h("label", {class: "check"}, h("input", {type: "checkbox", name: "preferences", value: preference, checked: chosen.has(preference)}), h("span", null, preference)),
    h("details", {class: "seeds"}, h("summary", null, plural(seeds.length, "seed"), h("span", {class: "unseen"}, ` for ${preference}`)),
      h("ul", null, seeds.map((seed) => h("li", null, outside(seed.url, seed.title || short(seed.url)), seed.note ? h("span", {class: "note"}, ` ${seed.note}`) : null))))))));
}

const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function plain(all) {
  const wished = kept ? kept.settings.strategy : "automatic";
  const now = wished === "scent" ? "automatic" : wished;
  const others = all.filter((one) => one.name !== "scent" && !PLAIN.includes(one.name));
  if (kept && PLAIN.includes(now)) fields.strategy.value = now;
  options("other_strategy", [{name: "", label: "None"}, ...others], PLAIN.includes(now) ? "" : now);
}

function options(name, all, now) {
  const select = fields[name];
  const automatic = all.find((one) => one.automatic);
  const known = [...all];
  if (automatic) known.unshift({name: "automatic", label: "Automatic (recommended)", summary: `Uses ${automatic.name}: ${automatic.summary}.`});
  if (!known.some((one) => one.name === now)) known.push({name: now, summary: ""});
  const option = (one) => h("option", {value: one.name}, one.label || (one.summary ? `${one.name}: ${clip(one.summary, 90)}` : one.name));
  const groups = [...new Set(known.map((one) => one.group || ""))].filter(Boolean);
  fill(select, known.filter((one) => !one.group).map(option), groups.map((label) => h("optgroup", {label}, known.filter((one) => one.group === label).map(option))));
  select.value = now;
  const tell = () => { $(`#${name}-summary`).textContent = (known.find((one) => one.name === select.value) || {}).summary || ""; };
  select.addEventListener("change", tell);
  tell();
}

// -- importing addresses from a file

$("#file").addEventListener("change", async (event) => {
  const input = event.currentTarget;
  const file = input.files[0];
  if (!file) return;
  const state = $("#file-state");
  state.textContent = `Reading ${file.name} …`;
  try {
    if (file.size > 5e6) throw Object.assign(new Error(`${file.name} is larger than 5 MB.`), {name: "ApiError"});
    const answer = await upload("/imports", file);
    state.textContent = `${plural(answer.urls.length, "address", "addresses")} in ${file.name}${answer.skipped ? `, ${number(answer.skipped)} skipped` : ""}. ${answer.note || ""}`;
    if (answer.urls.length) choose(file.name, answer);
  } catch (error) {
    state.textContent = error.name === "ApiError" ? error.message : "The file could not be read.";
  }
  input.value = "";
});

function choose(name, {form: kind, urls}) {
  const boxes = urls.map(({url}) => h("input", {type: "checkbox", value: url, checked: true}));
  const rows = urls.map(({url, title}, at) => h("li", null, h("label", {class: "check"}, boxes[at], h("span", null, title || short(url), title ? h("span", {class: "note address"}, short(url)) : null))));
  const count = h("p", {class: "note", role: "status"});
  const tell = () => { count.textContent = `${number(boxes.filter((box) => box.checked).length)} of ${number(boxes.length)} selected`; };
  const filter = h("input", {type: "search", id: "import-filter", oninput: () => {
    const text = filter.value.toLowerCase();
    rows.forEach((row, at) => { row.hidden = !(urls[at].url + " " + (urls[at].title || "")).toLowerCase().includes(text); });
  }});
  const set = (on) => { boxes.forEach((box, at) => { if (!rows[at].hidden) box.checked = on; }); tell(); };
  const take = (to) => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    if (!chosen.length) return toast("Nothing is selected.", "bad");
    append(to, chosen);
    box.close();
    toast(`${plural(chosen.length, "address", "addresses")} added as ${to === "seeds" ? "seeds" : "examples"}.`);
    return fields[to].focus();
  };
  const box = dialog(`From ${name}`, h("div", null,
    h("p", null, `Choose what to import from this ${KINDS[kind] || "file"}. “All” and “None” apply to the addresses shown.`),
    h("div", {class: "field"}, h("label", {for: "import-filter"}, "Filter"), filter),
    h("div", {class: "row"}, h("button", {type: "button", class: "small", onclick: () => set(true)}, "All"), h("button", {type: "button", class: "small", onclick: () => set(false)}, "None"), count),
    h("ul", {class: "urls", onchange: tell, tabindex: "0", "aria-label": "Addresses in the file"}, rows),
    h("div", {class: "actions"},
      h("button", {type: "button", class: "primary", onclick: () => take("seeds")}, "Add as seeds"),
      h("button", {type: "button", onclick: () => take("examples")}, "Add as examples"))), {wide: true});
  tell();
}

// -- filling and reading the form

function show({name, settings, revisit_every: again}) {
  fields.title.value = name;
  for (const key of ["words", "budget", "threshold", "max_depth", "host_budget", "respect_opt_outs"]) fields[key].value = settings[key];
  for (const key of ["examples", "seeds", "hosts", "domains", "exclude", "always", "frequently", "infrequently"]) {
    fields[key].value = settings[key].join("\n");
    fields[key].rows = Math.min(12, Math.max(fields[key].rows, settings[key].length));
  }
  fields.languages.value = settings.languages.join(" ");
  for (const key of OFTEN) if (settings[key].length) $("#freshness").open = true;
  for (const key of ["frequent", "infrequent"]) period(fields[key], settings[key]);
  period(fields.again, again);
  const usual = {threshold: 0, max_depth: 0, host_budget: 0, respect_opt_outs: "", judge: "automatic"};
  $("#advanced").open = ![...PLAIN, "scent"].includes(settings.strategy) || Object.entries(usual).some(([key, value]) => settings[key] !== value) || ["hosts", "domains", "exclude", "languages"].some((key) => settings[key].length);
}

function period(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.append(h("option", {value}, `Every ${value}`));
  select.value = value;
}

const checked = (name) => (kept && failed.has(name) ? kept.settings[name] : [...form.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value));

function gather() {
  const model = fields.model.value;
  const settings = {
    words: model ? "" : fields.words.value.trim(), model, targets: model ? targets : [],
    strategy_model: $("#taught").hidden ? "" : fields.strategy_model.value,
    examples: model ? [] : addresses("examples"), seeds: addresses("seeds"),
    preferences: checked("preferences"),
    strategy: fields.other_strategy.value || fields.strategy.value, judge: model ? "automatic" : fields.judge.value,
    budget: Number(fields.budget.value), threshold: Number(fields.threshold.value),
    max_depth: Number(fields.max_depth.value), host_budget: Number(fields.host_budget.value),
    hosts: lines("hosts"), domains: lines("domains"), exclude: pieces("exclude"),
    respect_opt_outs: fields.respect_opt_outs.value,
    languages: fields.languages.value.split(/[\s,]+/).filter(Boolean),
    always: pieces("always"), frequently: pieces("frequently"), infrequently: pieces("infrequently"),
    frequent: fields.frequent.value, infrequent: fields.infrequent.value,
    detect: checked("detect"),
  };
  return {name: (fields.title.value.trim() || settings.words || targets.join(", ") || (settings.examples[0] ? short(settings.examples[0]) : "")).slice(0, 120), settings, revisit_every: fields.again.value};
}

function check({settings}) {
  const wrong = {};
  if (settings.model && !settings.targets.length) wrong.targets = "Select at least one topic.";
  if (!$("#taught").hidden && !settings.strategy_model) wrong.strategy_model = "This strategy needs a model: train or upload one first, or choose another strategy.";
  if (!settings.words && !settings.examples.length && !settings.model) wrong.words = "Say what you are looking for, in words or with an example page.";
  for (const key of ["examples", "seeds"]) {
    const bad = odd(key);
    if (bad) wrong[key] = `${bad} is not a web address. Example: https://example.org/reefs`;
    else if (settings[key].length > MOST[key]) wrong[key] = `${number(settings[key].length)} are too many: the maximum is ${number(MOST[key])}.`;
  }
  if (!settings.seeds.length && !settings.preferences.length && !wrong.seeds) wrong.seeds = "Enter a seed, or choose a subject from the catalogue below.";
  const most = Number(fields.budget.max);
  if (!Number.isInteger(settings.budget) || settings.budget < 1 || settings.budget > most) wrong.budget = `Enter a whole number from 1 to ${number(most)}.`;
  for (const key of ["max_depth", "host_budget"]) if (!Number.isInteger(settings[key]) || settings[key] < 0) wrong[key] = "Enter a whole number, 0 or more.";
  if (!(settings.threshold >= 0)) wrong.threshold = "Enter a number, 0 or more.";
  if (Object.keys(wrong).some((key) => ["max_depth", "host_budget", "threshold", "strategy_model"].includes(key))) $("#advanced").open = true;
  return wrong;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  calm(form);
  const button = event.submitter || $("button.primary", form);
  attempt(button, async () => {
    await begun; // submitting before the lists are loaded would lose their selections
    if (interest && !kept) return complain(form, {name: "ApiError", message: "The interest could not be loaded. Reload the page.", fields: {}});
    const wanted = gather();
    const wrong = check(wanted);
    if (Object.keys(wrong).length) return complain(form, {name: "ApiError", message: "", fields: wrong});
    let made;
    try { made = interest ? await patch(`/interests/${interest}`, wanted) : await post("/interests", wanted); } catch (error) { return complain(form, error); }
    let place = "";
    if (button.value === "start") {
      try {
        await post(`/interests/${made.id}/crawls`);
        place = "#live";
        later("The crawl has been queued.");
      } catch (error) { later(`Saved, but no crawl was started: ${error.message}`); }
    } else if (button.value === "judge") {
      try {
        await post(`/interests/${made.id}/judge`);
        place = "#results";
        later("Judging the pages again.");
      } catch (error) { later(`Saved, but the pages were not judged again: ${error.message}`); }
    } else later("Saved.");
    location.assign(`/interests/${made.id}${place}`);
    return undefined;
  });
});

async function begin() {
  if (interest) {
    try { kept = await get(`/interests/${interest}`); } catch (error) { form.hidden = false; return complain(form, error); }
    show(kept);
    form.hidden = false; // not earlier: input would be overwritten
  }
  const given = interest ? null : sessionStorage.getItem("lycosa-begin"); // topics selected in a directory
  if (given) {
    sessionStorage.removeItem("lycosa-begin");
    const {words, seeds} = JSON.parse(given);
    fields.words.value = words;
    append("seeds", seeds);
  }
  return choices();
}

const begun = begin();
