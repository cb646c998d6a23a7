// The models page: upload, train, browse topics, delete.

import {del, get, href, newest, post, upload} from "./api.js";
import {$, ago, fill, h, number, percent, plural} from "./dom.js";
import {ask, attempt, calm, complain, dialog, empty, toast} from "./shell.js";
import {topics} from "./topics.js";

const KINDS = {classifier: "classifier", rules: "rules between classes", browsing: "browsing paths", directory: "topic directory"};
const HINTS = {
  classifier: "From one interest it learns relevant and irrelevant. With several interests, or topics of a directory, each is a class.",
  rules: "Learns which classes of pages link to which, from one interest's crawl.",
  browsing: "Learns which pages lead to relevant ones, from one interest's crawl.",
};
const STATES = {queued: "queued", training: "training", failed: "failed"};
let drawn = "";
let marked = null; // {directory, topics}: classes for a classifier
let timer = 0;

const load = newest(() => get("/models"), (all) => {
  const now = JSON.stringify(all);
  if (now !== drawn) { // unchanged rows stay: one may be about to be clicked
    drawn = now;
    fill($("#models"), all.length ? h("div", {class: "cards-grid"}, all.map(card)) : empty("No models yet", "Upload a model, or train one on the pages of your interests."));
    const by = $("#model");
    const chosen = by?.value;
    const known = all.filter((one) => one.kind === "classifier" && one.state === "ready");
    if (by) fill(by, known.map((one) => h("option", {value: one.id}, one.name)));
    if (known.some((one) => one.id === chosen)) by.value = chosen;
  }
  clearTimeout(timer);
  if (all.some((one) => ["queued", "training"].includes(one.state))) timer = setTimeout(again, 1500);
});

// Poll while a model is being trained, also after the server was unavailable.
const again = () => load().catch(() => { timer = setTimeout(again, 5000); });

function facts({about, size}) {
  const classes = Object.keys(about.classes || {}).length;
  return [
    about.classifier, classes ? plural(classes, "class", "classes") : "", about.rules ? plural(about.rules, "rule") : "",
    about.topics ? plural(about.topics, "topic") : "", about.pages ? plural(about.pages, "page") : "", about.relevant ? `${number(about.relevant)} relevant` : "",
    about.accuracy ? `${percent(about.accuracy)} correct on held-out pages (largest class: ${percent(about.majority)})` : "",
    size ? `${number(Math.max(1, Math.round(size / 1000)))} kB` : "",
  ].filter(Boolean).join(" · ");
}

function card(model) {
  const ready = model.state === "ready";
  const tree = ready && (model.kind === "directory" || Object.keys(model.about.classes || {}).length > 0);
  return h("article", {class: "card model", dataset: {model: model.id}},
    h("h3", null, h("bdi", null, model.name)),
    h("p", {class: "row"}, h("span", {class: "badge"}, KINDS[model.kind]), ready ? null : h("span", {class: `badge ${model.state === "failed" ? "bad" : "live"}`}, STATES[model.state]), h("span", {class: "note"}, ago(model.created))),
    model.reason ? h("p", {class: "field-error"}, model.reason) : null,
    ready ? h("p", {class: "note"}, facts(model)) : null,
    (model.about.notes || []).length ? h("details", null, h("summary", null, "Notes"), h("ul", null, model.about.notes.map((note) => h("li", {class: "note"}, note)))) : null,
    h("div", {class: "actions"},
      tree ? h("button", {type: "button", class: "small", onclick: () => browse(model)}, "Topics") : null,
      ready ? h("a", {class: "button small", href: href(`/models/${model.id}/file`), download: true}, "Download") : null,
      h("button", {type: "button", class: "small danger", onclick: (event) => remove(event.currentTarget, model)}, "Delete")));
}

function remove(button, model) {
  attempt(button, async () => {
    if (!(await ask({title: `Delete ${model.name}?`, text: "Crawls that use it keep their copy. This cannot be undone.", yes: "Delete", danger: true}))) return;
    await del(`/models/${model.id}`);
    await load();
    toast("Deleted.");
  });
}

// -- topics: browse them, and select those of a directory to start from

function browse(model) {
  let chosen = [];
  const said = h("p", {class: "note", role: "status"}, model.kind === "directory" ? "Select topics by clicking them." : "The classes it distinguishes. Select them when you create an interest that uses this model.");
  const begin = h("button", {type: "button", class: "primary", disabled: true}, "New interest from these");
  const teach = h("button", {type: "button", disabled: true}, "Train a classifier on these");
  const tree = topics(model.id, [], (now) => {
    chosen = now;
    said.textContent = now.length ? `Selected: ${now.join(", ")}` : "Select topics by clicking them.";
    for (const one of [begin, teach]) one.disabled = !now.length;
  });
  const box = dialog(model.name, h("div", null, said, tree, model.kind === "directory" ? h("div", {class: "actions"}, begin, teach) : null), {wide: true});
  begin.addEventListener("click", () => attempt(begin, async () => {
    const answer = await Promise.all(chosen.map((under) => get(`/models/${model.id}/topics`, {under})));
    const words = chosen.map((path) => path.split("/").pop()).join(" ");
    sessionStorage.setItem("lycosa-begin", JSON.stringify({words, seeds: answer.flatMap((one) => one.pages)}));
    location.assign("/interests/new");
  }));
  teach.addEventListener("click", () => {
    marked = {directory: model.id, topics: chosen};
    box.close();
    showMarked();
    $("#train-name").focus();
  });
}

function showMarked() {
  const place = $("#marked");
  place.hidden = !marked;
  if (!marked) return;
  $("#kind").value = "classifier";
  kinds();
  fill(place, h("p", {class: "notice"}, `Classes: the directory's topics ${marked.topics.join(", ")}. Pages: those of these topics that the interests above have fetched. `,
    h("button", {type: "button", class: "small", onclick: () => { marked = null; showMarked(); }}, "Learn from labels instead")));
}

// -- uploading and training

function kinds() {
  const kind = $("#kind").value;
  $("#kind-hint").textContent = HINTS[kind];
  $("#classifier-field").hidden = kind !== "classifier";
  $("#model-field").hidden = kind !== "rules";
}

$("#upload")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  calm(form);
  const file = form.elements.file.files[0];
  if (!file) return complain(form, {name: "ApiError", message: "", fields: {file: "Choose a file."}});
  if (file.size > 64e6) return complain(form, {name: "ApiError", message: "", fields: {file: "The file is larger than 64 MB."}});
  return attempt($("button", form), async () => {
    try { await upload("/models", file, {name: form.elements.name.value.trim()}); } catch (error) { return complain(form, error); }
    form.reset();
    await load();
    return toast("Uploaded.");
  });
});

$("#train")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  calm(form);
  const kind = $("#kind").value;
  const interests = [...form.querySelectorAll("input[name=interest]:checked")].map((box) => box.value);
  if (!interests.length) return complain(form, {name: "ApiError", message: "Choose an interest to learn from.", fields: {}});
  const body = {name: $("#train-name").value.trim() || "model", kind, interests, ...(kind === "classifier" ? {classifier: $("#classifier").value, ...marked} : {}), ...(kind === "rules" ? {model: $("#model").value} : {})};
  return attempt($("button[type=submit]", form), async () => {
    try { await post("/models/train", body); } catch (error) { return complain(form, error); }
    form.reset();
    marked = null;
    showMarked();
    kinds();
    await load();
    return toast("Training started.");
  });
});

async function begin() {
  await load();
  if (!$("#train")) return;
  const own = (await get("/interests")).filter((one) => one.mode === "own" && one.crawl);
  fill($("#interests"), own.length ? own.map((one) => h("label", {class: "check"}, h("input", {type: "checkbox", name: "interest", value: one.id}),
    h("span", null, h("bdi", null, one.name), h("span", {class: "note"}, ` ${number(one.labels.yes)} yes, ${number(one.labels.no)} no, ${plural(one.crawl.pages, "page")}`)))) : h("p", {class: "note"}, "None of your interests has any pages yet."));
  $("#kind").addEventListener("change", kinds);
  kinds();
}

begin().catch((error) => toast(error.message, "bad"));
