// Accepting an invitation, or choosing a new password by a link that an admin made. The code is in the fragment of the address (/join#CODE), which browsers send to nobody.

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
  let told;
  try { told = await get("/invitations/check", {code}, {open: true}); } catch (error) {
    if (error.status === 404 || error.status === 422) return refuse("This link is no longer valid", "It was used, revoked or has expired. Ask the person who sent it for a new one.");
    return refuse("That did not work", error.message);
  }
  if (told.name) return renew(told);
  $("#title").textContent = told.role === "admin" ? "Welcome to Lycosa" : "Join Lycosa";
  fill(state, h("p", {class: "lead"}, told.role === "admin" ? "You are the first admin of this server. Create your account, then your first interest." : "You are invited."),
    h("p", {class: "note"}, ROLES[told.role] || "", " The invitation is valid until ", when(told.expires), "."));
  form.hidden = false;
  $("#name").focus();
}

let whose = "";  // the account that gets a new password, if the link is for that

function renew(told) {
  whose = told.name;
  $("#title").textContent = "Choose a new password";
  fill(state, h("p", {class: "lead"}, `For your account, ${whose}.`),
    h("p", {class: "note"}, "You will be signed out everywhere. The link is valid until ", when(told.expires), "."));
  form.elements.name.value = whose;
  $("#name-hint").hidden = true;
  form.elements.name.readOnly = true;  // stays, so that a password manager knows whose it is
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
      const told = whose
        ? await post("/invitations/reset", {code, password}, {open: true})
        : await post("/invitations/accept", {code, name: name.trim(), password}, {open: true});
      remember(told);
      later(`Welcome, ${told.person.name}.`);
      location.replace("/");
    } catch (error) { complain(form, error); }
  });
});

begin();
