// The frame of every page: menu, notices, theme, signing out. And components shared by pages:
//
//   toast("Saved")  toast("…", "bad")             a message, announced to screen readers (bad ones stay until closed)
//   await attempt(button, async () => {…})        runs it with the button busy; on failure shows a toast, returns undefined
//   await ask({title, text, yes: "Delete", danger: true, content})   a confirmation dialog: true or false
//   dialog(title, content, {wide})                a dialog with a close button; returns the <dialog>
//   tabs(list, {change})                          <div role="tablist"> of <button role="tab" aria-controls=panel data-tab=name>:
//                                                 arrows, Home, End; state kept in #name; returns {show(name), current()}
//   field({id, label, hint, control})             label, hint, control and error message of a field
//   complain(form, error)                         shows an ApiError at its fields, or in .form-error; moves the focus
//   calm(form)                                    removes these messages
//   copier(text, label)                           a button that copies
//   badge(crawl)                                  the state of a crawl as a coloured word
//   empty(title, text, ...actions)                placeholder for an empty list
//   loading(text)                                 placeholder while loading
//   table({caption, columns: [{title, cell(row), class, head}], rows, label})   a table with th scope; cards on phones
//
// CSS classes are listed at the top of site.css.

import {del, patch, session} from "./api.js";
import {$, fill, h, icon} from "./dom.js";
import {bell} from "./notices.js";

// -- messages

export function toast(text, kind = "good") {
  const box = $("#toasts");
  const close = h("button", {type: "button", class: "icon", onclick: () => note.remove()}, icon("close"), h("span", {class: "unseen"}, "Close this message"));
  const note = h("div", {class: `toast ${kind}`, role: kind === "bad" ? "alert" : null}, h("p", null, text), close);
  box.append(note);
  while (box.children.length > 3) box.firstChild.remove();
  if (kind !== "bad") setTimeout(() => note.remove(), 6000);
  return note;
}

export async function attempt(button, action) {
  if (button && button.getAttribute("aria-disabled") === "true") return undefined;
  if (button) { button.setAttribute("aria-disabled", "true"); button.classList.add("busy"); }
  try {
    return await action();
  } catch (error) {
    if (error.name !== "ApiError") console.error(error);
    toast(error.name === "ApiError" ? error.message : "Something went wrong on this page. Reload it and try again.", "bad");
    return undefined;
  } finally {
    if (button) { button.removeAttribute("aria-disabled"); button.classList.remove("busy"); }
  }
}

// -- dialogs: native ones, which trap the focus, close on Esc and restore the focus

let dialogs = 0;

export function dialog(title, content, {wide = false} = {}) {
  const id = `dialog-${++dialogs}`;
  const box = h("dialog", {class: wide ? "wide" : null, "aria-labelledby": id},
    h("div", {class: "dialog-head"}, h("h2", {id}, title),
      h("button", {type: "button", class: "icon", onclick: () => box.close()}, icon("close"), h("span", {class: "unseen"}, "Close"))),
    h("div", {class: "dialog-body"}, content));
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  document.body.append(box);
  box.showModal();
  const first = $(".dialog-body :is(input, select, textarea)", box);  // rather than the close button
  if (first) first.focus();
  return box;
}

export function ask({title, text, yes = "Yes", no = "Cancel", danger = false, content = null}) {
  return new Promise((answer) => {
    let said = false;
    const body = h("form", {method: "dialog", onsubmit: (event) => { event.preventDefault(); said = true; box.close(); }},
      text ? h("p", null, text) : null, content,
      h("div", {class: "actions"},
        h("button", {type: "submit", class: danger ? "danger" : "primary"}, yes),
        h("button", {type: "button", onclick: () => box.close()}, no)));
    const box = dialog(title, body);
    const first = $("input, textarea, select", body) || $("button[type=button]", body);
    if (first) first.focus();
    box.addEventListener("close", () => answer(said));
  });
}

// -- tabs

export function tabs(list, {change = () => {}, hash = true} = {}) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const usable = () => all.filter((tab) => !tab.hidden);
  let current = null;
  const show = (name, focus = false) => {
    const tab = usable().find((one) => one.dataset.tab === name) || usable()[0];
    for (const one of all) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      const panel = document.getElementById(one.getAttribute("aria-controls"));
      if (panel) panel.hidden = !chosen;
    }
    if (focus) tab.focus();
    tab.scrollIntoView({block: "nearest", inline: "nearest"});
    if (current !== tab.dataset.tab) { current = tab.dataset.tab; change(current); }
  };
  const go = (name) => {
    if (hash && location.hash.slice(1) !== name) history.replaceState(null, "", "#" + name);
    show(name, true);
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) go(tab.dataset.tab);
  });
  list.addEventListener("keydown", (event) => {
    const shown = usable();
    const at = shown.findIndex((tab) => tab.dataset.tab === current);
    const next = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1}[event.key];
    if (next === undefined) return;
    event.preventDefault();
    go(shown[(next + shown.length) % shown.length].dataset.tab);
  });
  if (hash) addEventListener("hashchange", () => { if (all.some((tab) => tab.dataset.tab === location.hash.slice(1))) show(location.hash.slice(1)); });
  show(hash ? location.hash.slice(1) : "");
  return {show, current: () => current};
}

// -- forms

export function field({id, label, hint, control, optional = false}) {
  const help = hint ? h("p", {class: "hint", id: `${id}-hint`}, hint) : null;
  const error = h("p", {class: "field-error", id: `${id}-error`});
  control.id = id;
  control.setAttribute("aria-describedby", [help && help.id, error.id].filter(Boolean).join(" "));
  return h("div", {class: "field"}, h("label", {for: id}, label, optional ? h("span", {class: "optional"}, " optional") : null), help, control, error);
}

export function calm(form) {
  for (const place of form.querySelectorAll(".field-error, .form-error")) place.textContent = "";
  for (const control of form.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
}

// Fields are found by name; "settings.words" also by "words". Other errors are shown in the form's .form-error.
export function complain(form, error) {
  calm(form);
  const answer = error.name === "ApiError" ? error.message : "Something went wrong on this page. Reload it and try again.";
  if (error.name !== "ApiError") console.error(error);
  let first = null;
  for (const [name, message] of Object.entries(error.fields || {})) {
    const parts = name.split(".");
    const control = parts.map((_, at) => form.elements.namedItem(parts[parts.length - 1 - at])).find((found) => found && found.id);
    if (!control) continue;
    control.setAttribute("aria-invalid", "true");
    const place = document.getElementById(`${control.id}-error`);
    if (place) place.textContent = message;
    first = first || control;
  }
  const place = $(".form-error", form);
  if (!first && place) { place.textContent = answer; place.focus(); } else if (first) first.focus(); else toast(answer, "bad");
}

export function copier(text, label = "Copy") {
  const button = h("button", {type: "button", class: "small", onclick: async () => {
    try { await navigator.clipboard.writeText(text); words.textContent = "Copied"; } catch { words.textContent = "Select and copy it"; }
    setTimeout(() => { words.textContent = label; }, 2000);
  }}, icon("copy"));
  const words = h("span", {"aria-live": "polite"}, label);
  button.append(words);
  return button;
}

// -- shared components

const STATES = {
  queued: ["Queued", "warn"], running: ["Running", "live"], paused: ["Paused", "warn"],
  stopped: ["Stopped", ""], finished: ["Finished", "good"], failed: ["Failed", "bad"],
};

export function badge(crawl) {
  if (!crawl) return h("span", {class: "badge"}, "Not started");
  const [word, kind] = STATES[crawl.state] || [crawl.state, ""];
  const looking = crawl.state === "running" && crawl.task === "refresh";
  return h("span", {class: `badge ${kind}`, title: crawl.reason || null}, looking ? "Revisiting" : word);
}

export const empty = (title, text, ...actions) =>
  h("div", {class: "empty"}, h("h2", null, title), text ? h("p", null, text) : null, actions.length ? h("div", {class: "actions"}, actions) : null);

export const loading = (text = "Loading …") => h("p", {class: "loading", role: "status"}, text);

export function table({caption, columns, rows, label, none = "Nothing yet."}) {
  if (!rows.length) return h("p", {class: "note"}, none);
  return h("table", {class: "cards", "aria-label": label},
    caption ? h("caption", null, caption) : null,
    h("thead", null, h("tr", null, columns.map((column) => h("th", {scope: "col", class: column.class}, column.title || h("span", {class: "unseen"}, column.label || "Actions"))))),
    h("tbody", null, rows.map((row) => h("tr", null, columns.map((column) =>
      h(column.head ? "th" : "td", {scope: column.head ? "row" : null, class: column.class, dataset: {label: column.title || ""}}, column.cell(row)))))));
}

// -- the header

function unfold(button, panel, opened = () => {}) {
  const set = (open) => {
    panel.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) opened();
  };
  button.addEventListener("click", () => set(panel.hidden));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    set(false);
    button.focus();
  });
  document.addEventListener("click", (event) => { if (!panel.hidden && !panel.contains(event.target) && !button.contains(event.target)) set(false); });
  document.addEventListener("focusin", (event) => { if (!panel.hidden && !panel.contains(event.target) && !button.contains(event.target) && event.target !== document.body) set(false); });
}

const root = document.documentElement;
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

// The account page uses it, too.
export function colour(theme) {
  if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
  const button = $("#theme-button");
  if (button) button.textContent = dark() ? "Light colours" : "Dark colours";
  dispatchEvent(new CustomEvent("lycosa:theme"));
}

const menu = $("#menu-button");
if (menu) {
  unfold(menu, $("#menu"));
  colour(root.dataset.theme || "system");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colour(root.dataset.theme || "system"));
  $("#theme-button").addEventListener("click", (event) => attempt(event.currentTarget, async () => {
    const theme = dark() ? "light" : "dark";
    colour(theme);
    await patch("/me", {preferences: {theme}});
  }));
  $("#sign-out").addEventListener("click", (event) => attempt(event.currentTarget, async () => {
    await del("/session");
    location.assign("/sign-in");
  }));
  bell($("#bell"), $("#bell-count"), $("#notices"), unfold);
  session().catch((error) => toast(error.message, "bad"));
}

// Buttons are disabled until the page's script, which handles the form, has run.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button[type=submit]:disabled")) button.disabled = false;
});

// Show a message on the next page, such as "Interest deleted".
export const later = (text) => sessionStorage.setItem("message", text);
const laterMessage = sessionStorage.getItem("message");
if (laterMessage) { sessionStorage.removeItem("message"); toast(laterMessage); }

export {fill};
