"use strict";
(() => {
  const root = document.documentElement;

  // A theme of the reader's choice; without one the page follows the system.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const themed = () => {
    button.textContent = dark() ? "Light" : "Dark";
  };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; themed(); });
  system.addEventListener("change", themed);
  themed();
})();
