"use strict";
(() => {
  const root = document.documentElement;

  // A theme of the reader's choice; without one the page follows the system.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  system.addEventListener("change", label);
  label();

  // Commands can be copied.
  if (navigator.clipboard) {
    for (const command of document.querySelectorAll("code.command")) {
      const copy = document.createElement("button");
      copy.type = "button";
      copy.className = "copier";
      copy.textContent = "Copy";
      copy.addEventListener("click", () => navigator.clipboard.writeText(command.textContent).then(() => {
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      }, () => {}));
      command.after(copy);
    }
  }

  // A link to a page of the list opens the list.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const folded = target && target.closest("details");
    if (folded && !folded.open) { folded.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Values of the curve under the pointer, or along it with the arrow keys.
  const plot = document.getElementById("curve");
  if (!plot) return;
  const [pages, found, breadth] = ["pages", "found", "breadth"].map((name) => JSON.parse(plot.dataset[name]));
  const reading = document.getElementById("reading");
  const rule = document.createElement("span");
  rule.className = "rule";
  rule.hidden = true;
  plot.append(rule);
  plot.tabIndex = 0;
  const number = (value) => value.toLocaleString("en");
  let at = pages.length - 1;
  const tell = (index) => {
    at = Math.max(0, Math.min(pages.length - 1, index));
    rule.hidden = false;
    rule.style.left = 100 * pages[at] / pages[pages.length - 1] + "%";
    reading.textContent = "After " + number(pages[at]) + " pages: " + number(found[at]) + " relevant; breadth-first " + number(breadth[at]) + ".";
  };
  const hide = () => { rule.hidden = true; reading.textContent = ""; };
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    tell(Math.round((event.clientX - box.left) / box.width * (pages.length - 1)));
  });
  plot.addEventListener("pointerleave", hide);
  plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (step) { event.preventDefault(); tell(at + step); }
  });
})();
