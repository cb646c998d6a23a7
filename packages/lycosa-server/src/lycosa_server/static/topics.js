// A tree of topics, loaded branch by branch. Selecting a branch includes everything below it.
//
//   const tree = topics(model.id, ["Science/Physics"], (marked) => …)    returns an element; marked is a list of paths

import {get} from "./api.js";
import {fill, h, icon, plural} from "./dom.js";
import {attempt} from "./shell.js";

export function topics(model, marked, changed) {
  const chosen = new Set(marked);
  const above = (path) => [...chosen].some((one) => path !== one && path.startsWith(`${one}/`));
  const root = h("div", {class: "topics"}, h("p", {class: "loading"}, "Loading …"));

  function mark(path, on) {
    for (const one of [...chosen]) if (one.startsWith(`${path}/`)) chosen.delete(one); // the branch includes them
    if (on) chosen.add(path); else chosen.delete(path);
    show();
    changed([...chosen].sort());
  }

  function show() {
    for (const box of root.querySelectorAll("input[type=checkbox]")) {
      box.disabled = above(box.value);
      box.checked = chosen.has(box.value) || above(box.value);
    }
  }

  function node(topic) {
    const inside = h("ul", {hidden: true});
    const box = h("input", {type: "checkbox", value: topic.path, onchange: () => mark(topic.path, box.checked)});
    const label = h("label", {class: "check"}, box, h("span", null, h("bdi", null, topic.name), h("span", {class: "note"}, topic.pages ? plural(topic.pages, "page") : "")));
    const open = topic.below ? h("button", {type: "button", class: "icon small", "aria-expanded": "false", "aria-label": `Topics below ${topic.name}`}, icon("plus")) : h("span", {class: "leaf"});
    if (topic.below) open.addEventListener("click", () => attempt(open, async () => {
      if (!inside.childElementCount) await list(inside, topic.path);
      inside.hidden = !inside.hidden;
      open.setAttribute("aria-expanded", String(!inside.hidden));
    }));
    return h("li", null, h("div", {class: "topic"}, open, label), inside);
  }

  async function list(place, under) {
    const answer = await get(`/models/${model}/topics`, {under});
    fill(place, answer.topics.map(node), answer.more && answer.topics.length >= 500 ? h("li", {class: "note"}, "and more") : null);
    show();
  }

  const first = h("ul");
  list(first, "").then(() => fill(root, first), (error) => fill(root, h("p", {class: "field-error"}, error.message)));
  return root;
}
