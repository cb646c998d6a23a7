// API client. Every call is JSON, with the session cookie and, for changes, the CSRF token.
//
//   const page = await get("/interests")                       paths without /api/v1
//   await get(`/crawls/${id}/pages`, {order: "date", host})    null, undefined and "" are omitted from the query
//   await post("/interests", {...})  put  patch  del           204 returns null
//   await upload("/imports", file, {name: "x"})                multipart, with further fields
//   const me = await session()                                 {person, csrf}, or null if signed out; cached per page
//   const load = newest(ask, show)                             returns a function that awaits ask() and shows the result; if it
//                                                              is called again meanwhile, only the later result is shown, and
//                                                              earlier callers wait for it
//   const after = inTurn()                                     after(async () => {…}) starts when the previous call has ended
//   href(`/crawls/${id}/export`, {form: "csv"})                a URL to link to
//   follow(`/crawls/${id}/events`, {after, on: {visit, progress, state}, done, lost, signal})
//                                                              server-sent events: on.X(data, id). Reconnects after the last
//                                                              id; ends when done() is true as the server closes, when access
//                                                              is revoked, or by signal.
//                                                              lost(true|false): connection lost, restored
// Failures throw ApiError: .message is for people; .status; .fields {name: message} for invalid fields.
// Signed-out users are sent to /sign-in and return afterwards. Options, last: {quiet: true} to skip that redirect,
// {open: true} for calls without a session, {signal} to abort.

const PREFIX = "/api/v1";

export class ApiError extends Error {
  constructor(message, status, fields = {}, wait = 0) {
    super(message);
    Object.assign(this, {name: "ApiError", status, fields, wait});
  }
}

export function href(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {})) {
    if (value === null || value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, one);
  }
  const text = query.toString();
  return PREFIX + path + (text ? "?" + text : "");
}

let asked = null;

export function session(fresh = false) {
  if (fresh || !asked) {
    asked = fetch(PREFIX + "/session", {credentials: "same-origin", headers: {Accept: "application/json"}})
      .then(async (answer) => {
        if (answer.status >= 500) throw await explain(answer);
        return answer.ok ? answer.json() : null;
      })
      .catch((error) => {
        asked = null; // retry on the next call
        throw error instanceof ApiError ? error : new ApiError("The server cannot be reached. Is it running, and are you online?", 0);
      });
  }
  return asked;
}

// Use the response of signing in or joining as the current session.
export const remember = (answer) => { asked = Promise.resolve(answer); };

const SAFE = new Set(["GET", "HEAD"]);

async function send(method, path, {body, form, params, signal, quiet, open} = {}, again = false) {
  const headers = {Accept: "application/json"};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let known = null;
  if (!SAFE.has(method) && !open) {
    known = await session();
    if (known) headers["X-CSRF-Token"] = known.csrf;
  }
  let answer;
  try {
    answer = await fetch(href(path, params), {method, headers, signal, credentials: "same-origin", body: form || (body === undefined ? undefined : JSON.stringify(body))});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server cannot be reached. Is it running, and are you online?", 0);
  }
  if (answer.ok) return answer;
  if (answer.status === 403 && !quiet && !open) {
    const now = await session(true);
    if (!now) return leave();
    if (known && now.csrf !== known.csrf && !again) return send(method, path, {body, form, params, signal}, true);
  }
  throw await explain(answer);
}

// Redirect to the sign-in page and back. The promise never settles, because the page is being left.
function leave() {
  location.assign("/sign-in?next=" + encodeURIComponent(location.pathname + location.search + location.hash));
  return new Promise(() => {});
}

async function explain(answer) {
  let detail = null;
  try { detail = (await answer.json()).detail; } catch { /* not JSON: use the status */ }
  const wait = Number(answer.headers.get("Retry-After")) || 0;
  const fields = {};
  let message = typeof detail === "string" ? detail : "";
  if (Array.isArray(detail)) {
    for (const {loc = [], msg = ""} of detail) {
      const name = loc.filter((part) => !["body", "query", "path"].includes(part)).join(".");
      fields[name] = msg;
      message += `${message ? "; " : ""}${name ? name + ": " : ""}${msg}`;
    }
  }
  if (!message) message = {404: "Not found, or not shared with you.", 413: "Too large.", 503: "The database is not available right now. Try again in a few seconds."}[answer.status] || `The server answered ${answer.status}.`;
  if (answer.status === 429 && wait && !/try again/i.test(message)) message += ` Try again in ${wait > 90 ? Math.ceil(wait / 60) + " minutes" : wait + " seconds"}.`;
  return new ApiError(message.charAt(0).toUpperCase() + message.slice(1), answer.status, fields, wait);
}

async function call(method, path, options) {
  const answer = await send(method, path, options);
  if (answer.status === 204) return null;
  return (answer.headers.get("Content-Type") || "").includes("json") ? answer.json() : answer.text();
}

export const get = (path, params, options) => call("GET", path, {params, ...options});
export const post = (path, body = {}, options) => call("POST", path, {body, ...options});
export const put = (path, body = {}, options) => call("PUT", path, {body, ...options});
export const patch = (path, body = {}, options) => call("PATCH", path, {body, ...options});
export const del = (path, body, options) => call("DELETE", path, {body, ...options});

export function upload(path, file, more = {}) {
  const form = new FormData();
  form.append("file", file);
  for (const [name, value] of Object.entries(more)) form.append(name, value);
  return call("POST", path, {form});
}

export function newest(ask, show) {
  let last = null;
  return (...given) => {
    const mine = (async () => {
      const answer = await ask(...given);
      return mine === last ? show(answer, ...given) : last;
    })();
    last = mine;
    return mine;
  };
}

export function inTurn() {
  let last = Promise.resolve();
  return (act) => (last = last.then(act, act));
}

const pause = (milliseconds, signal) => new Promise((go) => {
  const timer = setTimeout(go, milliseconds);
  if (signal) signal.addEventListener("abort", () => { clearTimeout(timer); go(); }, {once: true});
});

export async function follow(path, {after = null, params, on = {}, done = () => true, lost = () => {}, signal} = {}) {
  let last = after;
  let failures = 0;
  while (!(signal && signal.aborted)) {
    try {
      const answer = await send("GET", path, {params: {...params, after: last}, signal});
      if (failures) lost(false);
      failures = 0;
      await read(answer.body, (event, id, data) => {
        if (id) last = id;
        if (on[event]) on[event](JSON.parse(data), id);
      });
      if (done()) return;
      await pause(1000, signal);
    } catch (error) {
      if (error.name === "AbortError" || (signal && signal.aborted)) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      if (!failures) lost(true);
      failures += 1;
      await pause(Math.min(1000 * 2 ** failures, 15000), signal);
    }
  }
}

// Parse a stream of server-sent events: event, id and data lines; a blank line ends an event.
async function read(body, tell) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", event = "message", id = "", data = [];
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (data.length) tell(event, id, data.join("\n"));
        event = "message"; data = []; id = "";
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") event = text;
      else if (name === "id") id = text;
      else if (name === "data") data.push(text);
    }
  }
}
