"use strict";
(() => {
  const root = document.documentElement;

  // Theme button; by default the page follows the system's theme.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  system.addEventListener("change", label);
  label();

  // Copy buttons for commands.
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

  // Open the list of pages when a link leads into it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const folded = target && target.closest("details");
    if (folded && !folded.open) { folded.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
