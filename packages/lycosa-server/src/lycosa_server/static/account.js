// The account page: preferences are saved on change, everything else with a button.

import {del, get, inTurn, newest, patch, post, remember} from "./api.js";
import {$, ago, fill, h, when} from "./dom.js";
import {ask, attempt, calm, colour, complain, copier, later, loading, table, toast} from "./shell.js";

// -- preferences

const preferences = $("#preferences");
const state = $("#preferences-state");
const after = inTurn();
const chosen = new Set(); // changed by the user before the current values were loaded

async function showPreferences() {
  const {preferences: answer} = await get("/me");
  if (!chosen.has("theme")) preferences.elements.theme.value = answer.theme || "system";
  for (const name of ["suggestions", "history"]) if (!chosen.has(name)) preferences.elements[name].checked = answer[name] !== false;
}

preferences.addEventListener("submit", (event) => event.preventDefault());
preferences.addEventListener("change", (event) => {
  const {name, type, checked, value} = event.target;
  const wanted = type === "checkbox" ? checked : value;
  chosen.add(name);
  after(async () => {
    try {
      await patch("/me", {preferences: {[name]: wanted}});
      if (name === "theme") colour(wanted);
      state.textContent = "Saved.";
    } catch (error) {
      state.textContent = error.message;
      if (type === "checkbox") event.target.checked = !checked;
    }
  });
});

// -- password

const password = $("#password");
password.addEventListener("submit", (event) => {
  event.preventDefault();
  calm(password);
  const {old, new: fresh} = password.elements;
  const wrong = {};
  if (!old.value) wrong.old = "Enter your password.";
  if ([...fresh.value].length < Number(fresh.dataset.least)) wrong.new = `At least ${fresh.dataset.least} characters.`;
  if (Object.keys(wrong).length) return complain(password, {name: "ApiError", message: "", fields: wrong});
  attempt($("button", password), async () => {
    try {
      remember(await post("/me/password", {old: old.value, new: fresh.value}));
    } catch (error) {
      return complain(password, error.status === 401 ? Object.assign(error, {fields: {old: error.message}}) : error);
    }
    password.reset();
    toast("Password changed. Other browsers are signed out.");
    return showSessions();
  });
});

// -- sessions

function browser(agent) {
  const name = ["Firefox", "Edg", "OPR", "Chrome", "Safari"].find((one) => agent.includes(one));
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"].find((one) => agent.includes(one));
  return [{Edg: "Edge", OPR: "Opera"}[name] || name || "A browser", system && `on ${system}`].filter(Boolean).join(" ");
}

const showSessions = newest(() => get("/me/sessions"), (all) => {
  fill($("#sessions"), table({label: "Where you are signed in", rows: all, columns: [
    {title: "Browser", head: true, cell: (one) => h("span", {title: one.agent}, browser(one.agent), " ", one.current ? h("span", {class: "badge good"}, "this one") : null)},
    {title: "Since", cell: (one) => when(one.created)},
    {title: "Last used", cell: (one) => ago(one.seen)},
    {title: "", class: "tools", cell: (one) => one.current ? "" : h("button", {type: "button", class: "small", onclick: (event) => attempt(event.currentTarget, async () => {
      await del(`/me/sessions/${one.id}`);
      toast("That browser is signed out.");
      await showSessions();
    })}, "Sign out", h("span", {class: "unseen"}, ` ${browser(one.agent)}`))},
  ]}));
});

// -- tokens

const showTokens = newest(() => get("/me/tokens"), (all) => {
  const now = Date.now() / 1000;
  const over = (one) => one.revoked || (one.expires && one.expires < now);
  fill($("#tokens"), table({label: "Tokens", none: "No tokens yet.", rows: all, columns: [
    {title: "Name", head: true, cell: (one) => one.name},
    {title: "Scopes", class: "wide", cell: (one) => one.scopes.join(", ")},
    {title: "Expires", cell: (one) => one.expires ? when(one.expires) : "never"},
    {title: "Last used", cell: (one) => ago(one.used)},
    {title: "", class: "tools", cell: (one) => over(one) ? h("span", {class: "badge"}, one.revoked ? "revoked" : "expired") : h("button", {type: "button", class: "small danger", onclick: (event) => attempt(event.currentTarget, async () => {
      await del(`/me/tokens/${one.id}`);
      toast(`Token ${one.name} revoked.`);
      await showTokens();
    })}, "Revoke", h("span", {class: "unseen"}, ` ${one.name}`))},
  ]}));
});

const token = $("#token");
token.addEventListener("submit", (event) => {
  event.preventDefault();
  calm(token);
  const name = token.elements.name.value.trim();
  const scopes = [...token.querySelectorAll("[name=scope]:checked")].map((box) => box.value);
  if (!name) return complain(token, {name: "ApiError", message: "", fields: {name: "Enter a name."}});
  if (!scopes.length) return complain(token, {name: "ApiError", message: "Choose at least one scope."});
  attempt($("button", token), async () => {
    let made;
    try { made = await post("/me/tokens", {name, scopes, days: token.elements.days.value ? Number(token.elements.days.value) : null}); } catch (error) { return complain(token, error); }
    fill($("#made"), h("div", {class: "notice good"}, h("p", null, `Token ${made.name} created. Copy it now: it will not be shown again.`), h("div", {class: "secret"}, h("code", {tabindex: "0"}, made.token), copier(made.token))));
    token.reset();
    token.closest("details").open = false;
    $("#made code").focus();
    return showTokens();
  });
});

// -- deletion

$("#delete").addEventListener("click", async () => {
  const secret = h("input", {type: "password", id: "farewell", autocomplete: "current-password", required: true});
  const sure = await ask({title: "Delete your account?", text: "All your data is deleted immediately and permanently. Export it first if you want to keep it.", yes: "Delete everything", danger: true,
    content: h("div", {class: "field"}, h("label", {for: "farewell"}, "Your password"), secret)});
  if (!sure) return;
  attempt($("#delete"), async () => {
    await del("/me", {password: secret.value});
    later("Your account was deleted.");
    location.assign("/sign-in");
  });
});

for (const [place, show] of [["#preferences-state", showPreferences], ["#sessions", showSessions], ["#tokens", showTokens]]) {
  if (place !== "#preferences-state") fill($(place), loading());
  show().catch((error) => fill($(place), h("p", {class: "notice bad"}, error.message)));
}
