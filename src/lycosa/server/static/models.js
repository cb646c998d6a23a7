// The person's models: bringing one along, looking at the topics in it, taking it away.

import {del, get, href, newest, upload} from "./api.js";
import {$, ago, fill, h, number, percent, plural} from "./dom.js";
import {ask, attempt, calm, complain, dialog, empty, toast} from "./shell.js";
import {topics} from "./topics.js";

const KINDS = {classifier: "classifier", rules: "rules between classes", browsing: "browsing paths", directory: "topic directory"};
let drawn = "";

const load = newest(() => get("/models"), (all) => {
  const now = JSON.stringify(all);
  if (now !== drawn) { // what stayed the same is left alone: somebody may be about to click it
    drawn = now;
    fill($("#models"), all.length ? h("div", {class: "cards-grid"}, all.map(card)) : empty("No models yet", "Upload a model."));
  }
});

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
  const tree = model.kind === "directory" || Object.keys(model.about.classes || {}).length > 0;
  return h("article", {class: "card model", dataset: {model: model.id}},
    h("h3", null, h("bdi", null, model.name)),
    h("p", {class: "row"}, h("span", {class: "badge"}, KINDS[model.kind]), h("span", {class: "note"}, ago(model.created))),
    h("p", {class: "note"}, facts(model)),
    (model.about.notes || []).length ? h("details", null, h("summary", null, "Notes"), h("ul", null, model.about.notes.map((note) => h("li", {class: "note"}, note)))) : null,
    h("div", {class: "actions"},
      tree ? h("button", {type: "button", class: "small", onclick: () => browse(model)}, "Topics") : null,
      h("a", {class: "button small", href: href(`/models/${model.id}/file`), download: true}, "Download"),
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

// -- topics: looked at, and, of a directory, marked to begin something from them

function browse(model) {
  let chosen = [];
  const said = h("p", {class: "note", role: "status"}, model.kind === "directory" ? "Select topics by clicking them." : "The classes it distinguishes. Select them when you create an interest that uses this model.");
  const begin = h("button", {type: "button", class: "primary", disabled: true}, "New interest from these");
  const tree = topics(model.id, [], (now) => {
    chosen = now;
    said.textContent = now.length ? `Selected: ${now.join(", ")}` : "Select topics by clicking them.";
    begin.disabled = !now.length;
  });
  dialog(model.name, h("div", null, said, tree, model.kind === "directory" ? h("div", {class: "actions"}, begin) : null), {wide: true});
  begin.addEventListener("click", () => attempt(begin, async () => {
    const told = await Promise.all(chosen.map((under) => get(`/models/${model.id}/topics`, {under})));
    const words = chosen.map((path) => path.split("/").pop()).join(" ");
    sessionStorage.setItem("lycosa-begin", JSON.stringify({words, seeds: told.flatMap((one) => one.pages)}));
    location.assign("/interests/new");
  }));
}

// -- uploading

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

load().catch((error) => toast(error.message, "bad"));
