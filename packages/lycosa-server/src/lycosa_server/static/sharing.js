// The tab Sharing: people who may read or edit the interest.

import { inTurn, newest } from "./api.js";
import { picker } from "./people_picker.js";
import { ago, button, call, el, section, shown, tell } from "./pieces.js";
import { ask, complain, calm } from "./shell.js";

const MODES = { read: "can read", edit: "can edit and crawl" };

export function mount(panel, context) {
  const list = el("ul", { class: "shares" });
  const said = el("p", { class: "note" });
  let taken = new Set();
  const people = picker({
    id: "share-name", label: "Name", hint: "Type at least two letters, then choose a person.",
    left: (one) => !taken.has(one) && one !== context.person.name,
  });
  const name = people.input;
  const mode = el("select", { id: "share-mode", name: "mode" }, Object.entries(MODES).map(([value, text]) => el("option", { value, text })));
  const form = el("form", { class: "share-form" }, [
    people.box,
    el("div", { class: "field" }, [el("label", { for: "share-mode", text: "Permission" }), mode]),
    el("button", { type: "submit", class: "primary", text: "Share" }),
    el("p", { class: "form-error", tabindex: "-1" }),
  ]);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    calm(form);
    const given = name.value;
    try {
      await call("PUT", `/interests/${context.interest.id}/shares`, { name: given.trim(), mode: mode.value });
      tell(`Shared with ${shown(given, 60)}`);
      if (name.value === given) form.reset(); // otherwise the next name is being typed
      await load();
    } catch (error) {
      complain(form, error);
    }
  });

  function row(share) {
    const to = el("select", { "aria-label": `Permission of ${shown(share.person.name, 60)}`, value: share.mode }, Object.entries(MODES).map(([value, text]) => el("option", { value, text })));
    const after = inTurn(); // the last choice wins
    to.addEventListener("change", () => after(async () => {
      try {
        await call("PUT", `/interests/${context.interest.id}/shares`, { name: share.person.name, mode: to.value });
        share.mode = to.value;
        tell("Changed");
      } catch (error) {
        to.value = share.mode;
        tell(error.message, "bad");
      }
    }));
    return el("li", {}, [
      el("strong", {}, el("bdi", { text: shown(share.person.name, 80) })),
      to,
      el("span", { class: "note" }, ["since ", ago(share.created)]),
      button("Remove", async () => {
        await call("DELETE", `/interests/${context.interest.id}/shares/${encodeURIComponent(share.person.id)}`);
        await load();
      }, { class: "small", "aria-label": `Stop sharing with ${shown(share.person.name, 60)}` }),
    ]);
  }

  const load = newest(() => call("GET", `/interests/${context.interest.id}/shares`), (shares) => {
    list.replaceChildren(...shares.map(row));
    taken = new Set(shares.map((share) => share.person.name));
    said.textContent = shares.length ? "" : "Only you can see this interest.";
  });

  async function leave() {
    if (await ask({ title: "Leave this interest?", text: "You will no longer see it unless it is shared with you again.", yes: "Leave", danger: true })) {
      await call("DELETE", `/interests/${context.interest.id}/shares/${encodeURIComponent(context.person.id)}`);
      location.assign("/");
    }
  }

  return {
    async show() {
      if (context.interest.mode === "own") {
        if (!panel.contains(list)) {
          panel.replaceChildren(section("Shared with", el("div", {}, [said, list])), ...(context.may.write ? [section("Share with someone", form)] : []));
        }
        await load();
      } else {
        panel.replaceChildren(
          el("p", {}, ["This interest belongs to ", el("strong", { text: shown(context.interest.owner.name, 80) }), ` and is shared with you: you ${MODES[context.interest.mode] ?? ""}.`]),
          button("Leave", leave, { class: "danger" }),
        );
      }
    },
    changed() {},
  };
}
