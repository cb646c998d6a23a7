// A combobox for names of people, for keyboard, mouse and screen readers.

import { call, el, shown } from "./pieces.js";

const LEAST = 2; // minimum characters
const PAUSE = 150; // milliseconds to wait after the last key

// `left(name)` filters suggestions; the input is `picker.input`, its container `picker.box`.
export function picker({ id, label, hint, left }) {
  const list = el("ul", { id: `${id}-list`, class: "menu-list picks", role: "listbox", "aria-label": "People", hidden: true });
  const said = el("p", { class: "note", id: `${id}-said`, role: "status" });
  const input = el("input", {
    id, name: "name", maxlength: 200, required: true, autocomplete: "off", autocapitalize: "none", spellcheck: "false", role: "combobox",
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-describedby": `${id}-hint ${id}-said ${id}-error`,
  });
  const box = el("div", { class: "field picker" }, [
    el("label", { for: id, text: label }),
    el("p", { class: "hint", id: `${id}-hint`, text: hint }),
    input, list, said,
    el("p", { class: "field-error", id: `${id}-error` }),
  ]);
  let turn = 0;
  let timer = 0;
  let at = -1;

  function close() {
    turn += 1;
    clearTimeout(timer);
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(name) {
    input.value = name;
    said.textContent = "";
    close();
    input.focus();
  }

  function mark(place) {
    const options = [...list.children];
    at = (place + options.length) % options.length;
    options.forEach((one, index) => one.setAttribute("aria-selected", String(index === at)));
    options[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[at].id);
  }

  function offer(names) {
    said.textContent = names.length ? "" : "No account has a name that starts like this.";
    list.replaceChildren(...names.map((name, index) => {
      const option = el("li", { id: `${id}-${index}`, role: "option", "aria-selected": "false", dataset: { name } }, el("bdi", { text: shown(name, 80) }));
      option.addEventListener("pointerdown", (event) => { event.preventDefault(); choose(name); }); // before the input loses the focus
      return option;
    }));
    list.hidden = !names.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    at = -1;
  }

  async function look() {
    const begins = input.value.trim();
    const mine = ++turn;
    const found = await call("GET", "/people/names", { begins }).catch(() => []);
    if (mine === turn) offer(found.filter(left));
  }

  input.addEventListener("input", () => {
    close();
    said.textContent = "";
    if (input.value.trim().length >= LEAST) timer = setTimeout(look, PAUSE);
  });
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at < 0 ? -1 : at - 1);
    else if (event.key === "Enter" && at >= 0) choose(list.children[at].dataset.name);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  input.addEventListener("blur", close);
  return { box, input };
}
