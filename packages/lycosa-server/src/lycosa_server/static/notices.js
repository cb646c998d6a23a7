// The bell: number of unread notices, and their list. Loaded with the page, every minute while it is visible, and when
// the list is opened, which marks them as read.

import {get, post} from "./api.js";
import {ago, fill, h} from "./dom.js";

export function bell(button, count, panel, unfold) {
  let turn = 0; // responses requested before the list was opened are outdated
  const mark = (unread) => {
    count.hidden = !unread;
    fill(count, unread > 99 ? "99+" : String(unread || ""), h("span", {class: "unseen"}, " unread"));
  };
  const ask = async () => {
    const mine = ++turn;
    try {
      const {unread} = await get("/me/notices", {unread: true}, {quiet: true});
      if (mine === turn) mark(unread);
    } catch { /* reported elsewhere, or next time */ }
  };
  const open = async () => {
    const mine = ++turn;
    fill(panel, h("h2", null, "Notices"), h("p", {class: "loading", role: "status"}, "Loading …"));
    let answer;
    try { answer = await get("/me/notices"); } catch (error) {
      if (mine !== turn) return;
      fill(panel, h("h2", null, "Notices"), h("p", {class: "notice bad"}, error.message));
      return;
    }
    if (mine !== turn) return;
    fill(panel, h("h2", null, "Notices"), answer.notices.length
      ? h("ul", null, answer.notices.slice(0, 30).map((notice) => h("li", {class: notice.read ? null : "unread"},
        notice.interest ? h("a", {href: `/interests/${notice.interest}${notice.kind === "changes" ? "#changes" : ""}`}, notice.text) : h("span", null, notice.text),
        h("p", {class: "note"}, notice.read ? null : h("span", {class: "unseen"}, "New. "), ago(notice.at)))))
      : h("p", {class: "note"}, "No notices. You are notified here when a crawl ends, pages change, or somebody shares an interest with you."));
    mark(0);
    const ids = answer.notices.filter((notice) => !notice.read).map((notice) => notice.id); // newer notices were not seen
    if (ids.length) post("/me/notices/read", {ids: answer.unread > ids.length ? null : ids}, {quiet: true}).catch(() => {});
  };
  unfold(button, panel, open);
  ask();
  setInterval(() => { if (!document.hidden && panel.hidden) ask(); }, 60000);
}
