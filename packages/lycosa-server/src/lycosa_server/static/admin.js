// Admin page: people, invitations, seed catalogue, audit log, server status. Tabs load when first opened.

import {del, get, newest, patch, post} from "./api.js";
import {$, ago, fill, h, number, outside, short, when} from "./dom.js";
import {ask, attempt, calm, complain, copier, dialog, loading, table, tabs, toast} from "./shell.js";

const myName = $(".who").textContent;
const words = (text) => h("span", {class: "unseen"}, ` ${text}`);

// -- people

const people = newest(() => get("/people"), (all) => {
  fill($("#people"), table({label: "People", rows: all, columns: [
    {title: "Name", head: true, cell: (one) => [one.name, " ", one.disabled ? h("span", {class: "badge bad"}, "suspended") : null, one.name === myName ? h("span", {class: "badge good"}, "you") : null]},
    {title: "Role", cell: (one) => h("select", {"aria-label": `Role of ${one.name}`, value: one.role, onchange: (event) => change(event.currentTarget, one, {role: event.currentTarget.value})},
      ["admin", "member", "reader"].map((role) => h("option", {value: role}, role)))},
    {title: "Since", cell: (one) => when(one.created)},
    {title: "", class: "tools", cell: (one) => h("div", {class: "row"},
      h("button", {type: "button", class: "small", onclick: (event) => one.disabled ? change(event.currentTarget, one, {disabled: false}) : suspend(event.currentTarget, one)}, one.disabled ? "Reactivate" : "Suspend", words(one.name)),
      one.disabled || one.name === myName ? null : h("button", {type: "button", class: "small", onclick: () => renew(one)}, "Reset password", words(one.name)),
      h("button", {type: "button", class: "small danger", onclick: () => remove(one)}, "Delete", words(one.name)))},
  ]}));
});

async function change(control, one, wanted) {
  const done = await attempt(control, async () => {
    await patch(`/people/${one.id}`, wanted);
    toast(wanted.role ? `${one.name} is now ${wanted.role}.` : `${one.name} is ${wanted.disabled ? "suspended" : "active again"}.`);
    return true;
  });
  if (!done && wanted.role) control.value = one.role;
  if (done) await people();
}

async function suspend(control, one) {
  const text = one.name === myName
    ? "You are signed out immediately and cannot sign in again until another admin reactivates your account. Your running crawls are paused."
    : `${one.name} is signed out immediately and cannot sign in until you reactivate the account. Running crawls are paused; nothing is deleted.`;
  if (await ask({title: `Suspend ${one.name}?`, text, yes: "Suspend", danger: true})) await change(control, one, {disabled: true});
}

async function renew(one) {
  const sure = await ask({title: `Reset the password of ${one.name}?`, text: `You get a link to send to ${one.name}. Anyone who opens it can choose the new password, once, within a day. ${one.name} is notified that you created it. The old password works until the link is used.`, yes: "Create link"});
  if (sure) await attempt(null, async () => {
    const made = await post(`/people/${one.id}/reset`, {});
    dialog(`Link for ${one.name}`, h("div", null, h("p", null, "Send it to them. It will not be shown again."),
      h("div", {class: "secret"}, h("code", {tabindex: "0"}, made.link), copier(made.link, "Copy the link"))));
  });
}

async function remove(one) {
  const sure = await ask({title: `Delete ${one.name}?`, text: "The account, its interests and all their crawls are deleted permanently, including for the people they are shared with.", yes: "Delete", danger: true});
  if (sure) await attempt(null, async () => { await del(`/people/${one.id}`); toast(`${one.name} was deleted.`); await people(); });
}

// -- invitations

const invitations = newest(() => get("/invitations"), (all) => {
  const now = Date.now() / 1000;
  fill($("#invitations"), table({label: "Invitations", rows: all, none: "No invitations.", columns: [
    {title: "Note", head: true, cell: (one) => one.note || h("span", {class: "note"}, "no note")},
    {title: "Role", class: "short", cell: (one) => one.role},
    {title: "Created by", class: "short", cell: (one) => one.made_by || "first start"},
    {title: "State", cell: (one) => one.used ? ["used ", ago(one.used)] : one.expires < now ? "expired" : ["valid until ", when(one.expires)]},
    {title: "", class: "tools", cell: (one) => one.used || one.expires < now ? "" : h("button", {type: "button", class: "small danger", onclick: (event) => attempt(event.currentTarget, async () => {
      await del(`/invitations/${one.id}`);
      toast("Invitation revoked.");
      await invitations();
    })}, "Revoke", words(one.note))},
  ]}));
});

const invite = $("#invite");
invite.addEventListener("submit", (event) => {
  event.preventDefault();
  calm(invite);
  attempt($("button", invite), async () => {
    let made;
    const {role, note, days} = invite.elements;
    try { made = await post("/invitations", {role: role.value, note: note.value.trim(), days: Number(days.value)}); } catch (error) { return complain(invite, error); }
    fill($("#invited"), h("div", {class: "notice good"}, h("p", null, `Link for one ${made.role}${made.note ? ` (${made.note})` : ""}. Send it to them. It will not be shown again.`),
      h("div", {class: "secret"}, h("code", {tabindex: "0"}, made.link), copier(made.link, "Copy the link"))));
    note.value = "";
    $("#invited code").focus();
    return invitations();
  });
});

// -- the catalogue

const catalogue = newest(() => get("/catalogue"), ({preferences}) => {
  fill($("#preferences"), preferences.map(({preference}) => h("option", {value: preference})));
  fill($("#catalogue"), preferences.length ? preferences.map(({preference, seeds}) => h("section", {class: "card", "aria-label": preference}, h("h3", null, preference), table({label: preference, rows: seeds, columns: [
    {title: "Title", head: true, cell: (one) => [one.title || short(one.url), one.note ? h("p", {class: "note"}, one.note) : null]},
    {title: "Address", class: "wide", cell: (one) => outside(one.url)},
    {title: "", class: "tools", cell: (one) => h("div", {class: "row"},
      h("button", {type: "button", class: "small danger", onclick: (event) => attempt(event.currentTarget, async () => {
        await del(`/catalogue/${one.id}`);
        toast("Removed from the catalogue.");
        await catalogue();
      })}, "Remove", words(one.title || one.url)))},
  ]}))) : h("p", {class: "note"}, "The catalogue is empty."));
});

const entry = $("#entry");
entry.addEventListener("submit", (event) => {
  event.preventDefault();
  calm(entry);
  const {preference, url, title, note} = entry.elements;
  const wrong = {};
  if (!preference.value.trim()) wrong.preference = "Enter a subject.";
  if (!url.value.trim()) wrong.url = "Enter an address.";
  if (Object.keys(wrong).length) return complain(entry, {name: "ApiError", message: "", fields: wrong});
  attempt($("button", entry), async () => {
    try { await post("/catalogue", {preference: preference.value.trim(), url: url.value.trim(), title: title.value.trim(), note: note.value.trim()}); } catch (error) { return complain(entry, error); }
    for (const control of [url, title, note]) control.value = "";
    toast("Added to the catalogue.");
    url.focus();
    return catalogue();
  });
});

// -- the audit log

let entries = [];
const older = $("#older");

async function audit(before = null) {
  const data = (await get("/audit", {before, limit: 50})).entries;
  entries = before === null ? data : [...entries, ...data];
  older.hidden = data.length < 50;
  fill($("#audit"), table({label: "Audit log", rows: entries, columns: [
    {title: "When", class: "when", head: true, cell: (one) => when(one.at)},
    {title: "Who", class: "short", cell: (one) => one.name || h("span", {class: "note"}, "not signed in")},
    {title: "What", cell: (one) => [one.action, one.subject ? [": ", h("b", null, one.subject)] : null, one.detail ? h("span", {class: "note"}, ` ${one.detail}`) : null]},
    {title: "From", class: "short", cell: (one) => one.address || "–"},
  ]}));
}

older.addEventListener("click", () => attempt(older, () => audit(entries[entries.length - 1].at)));

// -- the server: shows all fields of the response; NAMES has labels for known ones

const NAMES = {
  url: "Address", schema_version: "Schema version", crawls: "Concurrent crawls", crawls_per_person: "Concurrent crawls per person",
  max_budget: "Maximum pages per crawl", max_interests: "Maximum interests per person", max_models: "Maximum models per person", concurrency: "Concurrent requests per crawl",
  delay: "Seconds between requests to a host", heartbeat: "Last heartbeat", pid: "Process ID", stats: "Status", in_flight: "Requests in flight", pages: "Pages since it started",
};
const TIMES = new Set(["heartbeat", "started", "since", "at"]);
const title = (name) => NAMES[name] || name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
const plain = (data) => data === null || typeof data !== "object";
const pairs = (data) => h("dl", {class: "pairs"}, Object.entries(data).map(([key, one]) => h("div", null, h("dt", null, title(key)), h("dd", null, value(key, one)))));

function value(name, data) {
  if (data === null || data === "" || data === undefined) return "–";
  if (typeof data === "boolean") return data ? "yes" : "no";
  if (typeof data === "number") return TIMES.has(name) && data > 1e9 ? ago(data) : name === "pid" ? String(data) : number(data);
  if (Array.isArray(data)) return data.length ? h("ul", {class: "plain-list"}, data.map((one) => h("li", null, value(name, one)))) : "none";
  if (typeof data === "object") return Object.keys(data).length ? pairs(data) : "none";
  return String(data);
}

async function server() {
  const [health, data] = await Promise.all([get("/health", null, {quiet: true}), get("/server")]);
  const parts = Object.entries(data);
  const well = (is) => h("span", {class: `badge ${is ? "good" : "bad"}`}, is ? "up" : "down");
  fill($("#server"),
    h("section", {class: "card", "aria-labelledby": "server-health"}, h("h3", {id: "server-health"}, health.status === "ok" ? "All systems working" : "Something is wrong"),
      h("dl", {class: "pairs"},
        h("div", null, h("dt", null, "Database"), h("dd", null, well(health.database))),
        h("div", null, h("dt", null, "Crawl process"), h("dd", null, well(health.crawl_process))),
        parts.filter(([, one]) => plain(one)).map(([name, one]) => h("div", null, h("dt", null, name === "database" ? "Database type" : title(name)), h("dd", null, value(name, one)))))),
    parts.filter(([, one]) => !plain(one)).map(([name, one]) => h("section", {class: "card", "aria-label": title(name)}, h("h3", null, title(name)), h("div", null, value(name, one)))),
    h("div", {class: "actions"}, h("button", {type: "button", onclick: (event) => attempt(event.currentTarget, server)}, "Refresh")));
}

const PARTS = {people, invitations, catalogue, audit: () => audit(), server};

tabs($('[role="tablist"]'), {change: (name) => {
  const place = $(`#${name}`);
  if (!place.children.length) fill(place, loading());
  PARTS[name]().catch((error) => fill(place, h("p", {class: "notice bad", role: "alert"}, error.message)));
}});
