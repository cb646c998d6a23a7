// Who else may see the interest: people by name, to read or to edit.

import { ago, button, call, el, section, shown, tell } from "./pieces.js";
import { ask, complain, calm } from "./shell.js";

const MODES = { read: "may read", edit: "may edit and crawl" };

export function mount(panel, context) {
  const list = el("ul", { class: "shares" });
  const said = el("p", { class: "note" });
  const names = el("datalist", { id: "share-names" });
  const name = el("input", { id: "share-name", name: "name", list: "share-names", maxlength: 200, required: true, autocomplete: "off", "aria-describedby": "share-name-error" });
  const mode = el("select", { id: "share-mode", name: "mode" }, Object.entries(MODES).map(([value, text]) => el("option", { value, text })));
  const form = el("form", { class: "share-form" }, [
    el("div", { class: "field" }, [el("label", { for: "share-name", text: "Name" }), name, names, el("p", { class: "field-error", id: "share-name-error" })]),
    el("div", { class: "field" }, [el("label", { for: "share-mode", text: "What they may do" }), mode]),
    el("button", { type: "submit", class: "primary", text: "Share" }),
    el("p", { class: "form-error", tabindex: "-1" }),
  ]);
  let turn = 0;

  name.addEventListener("input", async () => {
    const mine = ++turn;
    const begins = name.value.trim();
    if (begins.length < 2) return;
    const found = await call("GET", "/people/names", { begins }).catch(() => []);
    if (mine === turn) names.replaceChildren(...found.map((one) => el("option", { value: one })));
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    calm(form);
    try {
      await call("PUT", `/interests/${context.interest.id}/shares`, { name: name.value.trim(), mode: mode.value });
      tell(`Shared with ${shown(name.value, 60)}`);
      form.reset();
      await load();
    } catch (error) {
      complain(form, error);
    }
  });

  function row(share) {
    const to = el("select", { "aria-label": `What ${shown(share.person.name, 60)} may do`, value: share.mode }, Object.entries(MODES).map(([value, text]) => el("option", { value, text })));
    to.addEventListener("change", async () => {
      try {
        await call("PUT", `/interests/${context.interest.id}/shares`, { name: share.person.name, mode: to.value });
        tell("Changed");
      } catch (error) {
        to.value = share.mode;
        tell(error.message, "bad");
      }
    });
    return el("li", {}, [
      el("strong", {}, el("bdi", { text: shown(share.person.name, 80) })),
      to,
      el("span", { class: "note" }, ["since ", ago(share.created)]),
      button("Take away", async () => {
        await call("DELETE", `/interests/${context.interest.id}/shares/${encodeURIComponent(share.person.id)}`);
        await load();
      }, { class: "small", "aria-label": `Take the interest away from ${shown(share.person.name, 60)}` }),
    ]);
  }

  async function load() {
    if (context.interest.mode !== "own") return;
    const shares = await call("GET", `/interests/${context.interest.id}/shares`);
    list.replaceChildren(...shares.map(row));
    said.textContent = shares.length ? "" : "Nobody else sees this interest.";
  }

  async function leave() {
    if (await ask({ title: "Leave this interest?", text: "You will not see it any more, unless it is shared with you again.", yes: "Leave", danger: true })) {
      await call("DELETE", `/interests/${context.interest.id}/shares/${encodeURIComponent(context.person.id)}`);
      location.assign("/");
    }
  }

  return {
    async show() {
      if (context.interest.mode === "own") {
        if (!panel.contains(list)) {
          panel.replaceChildren(section("Shared with", el("div", {}, [said, list])), ...(context.may.write ? [section("Share with somebody", form)] : []));
        }
        await load();
      } else {
        panel.replaceChildren(
          el("p", {}, ["This interest belongs to ", el("strong", { text: shown(context.interest.owner.name, 80) }), ` and is shared with you: you ${MODES[context.interest.mode] ?? ""}.`]),
          button("Leave it", leave, { class: "danger" }),
        );
      }
    },
    changed() {},
  };
}
