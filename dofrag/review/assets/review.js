// Keys, and verdicts kept without leaving the page. Everything here also works, more slowly, without it.
"use strict";
(() => {
  const body = document.body;
  const help = document.getElementById("help");
  const opener = document.getElementById("help-open");
  const targets = [...document.querySelectorAll(".target")];
  const links = [...document.querySelectorAll(".rows .question")];
  let current = -1;
  let choosing = null; // the form whose reasons are being chosen
  let quoteAt = -1;

  opener.hidden = false;
  opener.addEventListener("click", () => help.showModal());

  function reveal(element) {
    for (let box = element; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
  }

  function goTo(index) {
    if (!targets.length) return;
    current = Math.max(0, Math.min(targets.length - 1, index));
    quoteAt = -1;
    targets.forEach((t, i) => t.toggleAttribute("data-current", i === current));
    targets[current].focus({ preventScroll: true });
    targets[current].scrollIntoView({ block: "start" });
  }

  function step(by) {
    if (targets.length) return goTo(current < 0 ? (by > 0 ? 0 : targets.length - 1) : current + by);
    const at = links.indexOf(document.activeElement);
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
    if (next) next.focus();
  }

  function follow(rel) {
    const link = document.querySelector(`a[rel="${rel}"], link[rel="${rel}"]`);
    if (link) location.assign(link.href);
  }

  function nextQuote() {
    const scope = targets[Math.max(0, current)] || document;
    const marks = [...(scope.querySelectorAll("mark[id]").length ? scope : document).querySelectorAll("mark[id]")];
    if (!marks.length) return;
    const at = (quoteAt + 1) % marks.length;
    reveal(marks[at]);
    marks[at].focus({ preventScroll: true }); // which may make another claim the current one
    marks[at].scrollIntoView({ block: "center" });
    quoteAt = at;
  }

  function say(form, message, kind) {
    const out = form.querySelector("output");
    out.textContent = message;
    out.className = kind || "";
  }

  async function save(form) {
    choosing = null;
    try {
      const response = await fetch(form.action, {
        method: "POST",
        body: new URLSearchParams(new FormData(form)),
        headers: { Accept: "application/json" },
      });
      const answer = await response.json();
      say(form, answer.message, response.ok ? "" : "bad");
      if (!response.ok) return;
      form.closest(".target")?.focus({ preventScroll: true });
    } catch (error) {
      say(form, body.dataset.notSaved, "bad");
    }
  }

  function form() {
    const target = targets[Math.max(0, current)];
    return target ? target.querySelector("form.verdict") : null;
  }

  function choose(number) {
    const chosen = form();
    if (!chosen) return;
    if (current < 0) goTo(0);
    const radio = chosen.querySelectorAll('input[name="verdict"]')[number - 1];
    if (!radio) return;
    radio.checked = true;
    const reasons = [...chosen.querySelectorAll('input[name="reason"]')];
    if (radio.value === "correct") reasons.forEach((r) => (r.checked = false));
    if (radio.value === "partial" || radio.value === "incorrect") {
      choosing = chosen;
      reasons[0].focus({ preventScroll: true });
      say(chosen, body.dataset.pick, "ask");
    } else save(chosen);
  }

  function inReasons(key) {
    const boxes = [...choosing.querySelectorAll('input[name="reason"]')];
    if (key >= "1" && key <= "7") boxes[Number(key) - 1]?.click();
    else if (key === "Enter") save(choosing);
    else if (key === "Escape") {
      choosing.reset();
      say(choosing, "");
      choosing.closest(".target").focus({ preventScroll: true });
      choosing = null;
    } else return false;
    return true;
  }

  const sections = { a: "answer", m: "matrix", l: "timeline", f: "passages" };
  const actions = {
    j: () => step(1),
    k: () => step(-1),
    n: () => follow("next"),
    p: () => follow("prev"),
    u: () => document.getElementById("up")?.click(),
    c: nextQuote,
    r: () => goTo(targets.findIndex((t) => t.id === "run")),
    t: () => form()?.querySelector("textarea").focus(),
    "/": () => document.getElementById("search")?.focus(),
    "?": () => help.showModal(),
    1: () => choose(1),
    2: () => choose(2),
    3: () => choose(3),
    4: () => choose(4),
  };

  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (event.ctrlKey && event.key === "Enter" && at.form?.classList.contains("verdict")) {
      event.preventDefault();
      at.form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = at.matches('textarea, select, input:not([type="radio"]):not([type="checkbox"])');
    if (typing) {
      if (event.key === "Escape") (at.closest(".target") || document.getElementById("main")).focus();
      return;
    }
    if (choosing && inReasons(event.key)) return event.preventDefault();
    if (body.dataset.keys === "off") return;
    const section = sections[event.key];
    const action = section && document.getElementById(section) ? () => {
      document.getElementById(section).scrollIntoView({ block: "start" });
    } : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form.verdict")) return;
    event.preventDefault();
    save(event.target);
  });

  document.addEventListener("focusin", (event) => {
    const target = event.target.closest?.(".target");
    if (choosing && !choosing.contains(event.target)) choosing = null;
    const index = targets.indexOf(target);
    if (index >= 0 && index !== current) {
      current = index;
      quoteAt = -1;
      targets.forEach((t, i) => t.toggleAttribute("data-current", i === current));
    }
  });

  function arrive() {
    const element = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (element) reveal(element);
    if (element?.tagName === "MARK") element.focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", arrive);
  arrive();
})();
