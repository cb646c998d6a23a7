// Signing in, then on to the requested page: a path of this site, checked by the server and again here.

import {post, remember} from "./api.js";
import {$} from "./dom.js";
import {attempt, calm, complain} from "./shell.js";

const form = $("#sign-in");
const next = form.dataset.next;
const target = /^\/(?![/\\])/.test(next) ? next : "/";

form.addEventListener("submit", (event) => {
  event.preventDefault();
  calm(form);
  const missing = {};
  for (const name of ["name", "password"]) if (!form.elements[name].value) missing[name] = `Enter your ${name}.`;
  if (Object.keys(missing).length) return complain(form, {name: "ApiError", message: "", fields: missing});
  attempt($("button", form), async () => {
    try {
      remember(await post("/session", {name: form.elements.name.value.trim(), password: form.elements.password.value}, {open: true}));
      location.assign(target + (target.includes("#") ? "" : location.hash));
    } catch (error) {
      form.elements.password.value = "";
      complain(form, error);
    }
  });
});
