// The bell: how many notices are unread, and the list of them. Asked for when the page opens, each minute while it is
// looked at, and when the list is opened; an open list counts as read.

import {get, post} from "./api.js";
import {ago, fill, h} from "./dom.js";

export function bell(button, count, panel, unfold) {
  let turn = 0; // what was asked for before the list was opened does not know that it was read
  const mark = (unread) => {
    count.hidden = !unread;
    fill(count, unread > 99 ? "99+" : String(unread || ""), h("span", {class: "unseen"}, " unread"));
  };
  const ask = async () => {
    const mine = ++turn;
    try {
      const {unread} = await get("/me/notices", {unread: true}, {quiet: true});
      if (mine === turn) mark(unread);
    } catch { /* told elsewhere, or next time */ }
  };
  const open = async () => {
    const mine = ++turn;
    fill(panel, h("h2", null, "Notices"), h("p", {class: "loading", role: "status"}, "Loading …"));
    let told;
    try { told = await get("/me/notices"); } catch (error) {
      if (mine !== turn) return;
      fill(panel, h("h2", null, "Notices"), h("p", {class: "notice bad"}, error.message));
      return;
    }
    if (mine !== turn) return;
    fill(panel, h("h2", null, "Notices"), told.notices.length
      ? h("ul", null, told.notices.slice(0, 30).map((notice) => h("li", {class: notice.read ? null : "unread"},
        notice.interest ? h("a", {href: `/interests/${notice.interest}${notice.kind === "changes" ? "#changes" : ""}`}, notice.text) : h("span", null, notice.text),
        h("p", {class: "note"}, notice.read ? null : h("span", {class: "unseen"}, "New. "), ago(notice.at)))))
      : h("p", {class: "note"}, "No notices. You are notified here when a crawl ends, pages change, or somebody shares an interest with you."));
    mark(0);
    const ids = told.notices.filter((notice) => !notice.read).map((notice) => notice.id); // one that came since was not seen
    if (ids.length) post("/me/notices/read", {ids: told.unread > ids.length ? null : ids}, {quiet: true}).catch(() => {});
  };
  unfold(button, panel, open);
  ask();
  setInterval(() => { if (!document.hidden && panel.hidden) ask(); }, 60000);
}
