// Keys, ready-made commands, and a look every second whether the bot has answered. The page works without all this.
"use strict";

const typing = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
const links = [...document.querySelectorAll(".issues .title")];
let chosen = -1;

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && typing()) return document.activeElement.blur();
  if (typing() || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.querySelector(event.key === "/" ? "#q" : event.key === "r" ? "textarea#body" : "#none");
  if (box) {
    event.preventDefault();
    box.focus();
  } else if (event.key === "c") {
    document.querySelector("header .button").click();
  } else if (event.key === "u") {
    document.querySelector("header .repository").click();
  } else if ((event.key === "j" || event.key === "k") && links.length) {
    chosen = Math.min(links.length - 1, Math.max(0, chosen + (event.key === "j" ? 1 : -1)));
    links[chosen].focus();
  }
});

for (const button of document.querySelectorAll(".insert")) {
  button.addEventListener("click", () => {
    const text = document.querySelector("textarea#body");
    text.value += (text.value && !text.value.endsWith("\n") ? "\n" : "") + button.dataset.text;
    text.focus();
  });
}

const thread = document.querySelector("#thread");
if (thread) {
  let shown = thread.innerHTML;
  setInterval(async () => {
    if (document.hidden) return;
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const now = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#thread").innerHTML;
    if (now === shown) return;
    // Only the conversation is replaced, so that a half-written comment and the open folds below it survive.
    const open = new Set([...thread.querySelectorAll("details[open] > summary")].map((s) => s.textContent));
    thread.innerHTML = shown = now;
    for (const summary of thread.querySelectorAll("details > summary")) {
      if (open.has(summary.textContent)) summary.parentElement.open = true;
    }
  }, 1000);
}
