// Accepting an invitation, or setting a new password with a reset link. The code is in the URL's fragment (/join#CODE), which browsers do not send.

import {get, post, remember} from "./api.js";
import {$, fill, h, when} from "./dom.js";
import {attempt, calm, complain, empty, later} from "./shell.js";

const code = decodeURIComponent(location.hash.slice(1));
const form = $("#join");
const LEAST = Number(form.dataset.least);
const state = $("#state");
const ROLES = {
  admin: "As an admin, you can do everything a member can, and manage accounts, invitations and the seed catalogue.",
  member: "As a member, you create interests, run crawls and share what you like.",
  reader: "As a reader, you see what others share with you.",
};

async function begin() {
  if (!code) return refuse("This address has no invitation", "Open the complete link you were given, including everything after the #.");
  let answer;
  try { answer = await get("/invitations/check", {code}, {open: true}); } catch (error) {
    if (error.status === 404 || error.status === 422) return refuse("This link is no longer valid", "It was used, revoked or has expired. Ask the person who sent it for a new one.");
    return refuse("That did not work", error.message);
  }
  if (answer.name) return renew(answer);
  $("#title").textContent = answer.role === "admin" ? "Welcome to Lycosa" : "Join Lycosa";
  fill(state, h("p", {class: "lead"}, answer.role === "admin" ? "You are the first admin of this server. Create your account, then your first interest." : "You are invited."),
    h("p", {class: "note"}, ROLES[answer.role] || "", " The invitation is valid until ", when(answer.expires), "."));
  form.hidden = false;
  $("#name").focus();
}

let whose = "";  // account name, if the link is for a password reset

function renew(answer) {
  whose = answer.name;
  $("#title").textContent = "Choose a new password";
  fill(state, h("p", {class: "lead"}, `For your account, ${whose}.`),
    h("p", {class: "note"}, "You will be signed out everywhere. The link is valid until ", when(answer.expires), "."));
  form.elements.name.value = whose;
  $("#name-hint").hidden = true;
  form.elements.name.readOnly = true;  // kept visible for password managers
  $("button", form).textContent = "Set password";
  form.hidden = false;
  form.elements.password.focus();
}

function refuse(title, text) {
  fill(state, empty(title, text, h("a", {class: "button", href: "/sign-in"}, "Sign in instead")));
}

const values = () => Object.fromEntries(["name", "password", "again"].map((name) => [name, form.elements[name].value]));
const rules = ({name, password}) => ({
  length: [...password].length >= LEAST,
  name: Boolean(password) && password.toLowerCase() !== name.trim().toLowerCase(),
});

form.addEventListener("input", () => {
  for (const [rule, met] of Object.entries(rules(values()))) $(`#rule-${rule}`).classList.toggle("met", met);
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  calm(form);
  const {name, password, again} = values();
  const wrong = {};
  const met = rules({name, password});
  if (!name.trim()) wrong.name = "Enter a user name.";
  if (!met.length) wrong.password = `At least ${LEAST} characters.`;
  else if (!met.name) wrong.password = "The password must differ from your user name.";
  else if (password !== again) wrong.again = "The passwords do not match.";
  if (Object.keys(wrong).length) return complain(form, {name: "ApiError", message: "", fields: wrong});
  attempt($("button", form), async () => {
    try {
      const answer = whose
        ? await post("/invitations/reset", {code, password}, {open: true})
        : await post("/invitations/accept", {code, name: name.trim(), password}, {open: true});
      remember(answer);
      later(`Welcome, ${answer.person.name}.`);
      location.replace("/");
    } catch (error) { complain(form, error); }
  });
});

begin();
