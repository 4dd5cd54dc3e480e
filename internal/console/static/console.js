// What the console does beyond its pages, all of which work without it: the choice of
// light or dark, newer figures, and a slider for k.
"use strict";

function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function offerTheme() {
  const button = document.querySelector("button.theme");
  if (!button) return;
  const show = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use light colors" : "Use dark colors");
  };
  button.hidden = false;
  show();
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("theme", next); } catch (_) { /* it lasts until the next page */ }
    show();
  });
}

// Replaces the content by that of the page as it is now, unless somebody works with it.
async function refresh(main) {
  if (document.hidden || main.contains(document.activeElement) && document.activeElement !== main || String(getSelection())) return;
  const open = [...main.querySelectorAll("details")].map((d) => d.open);
  const answer = await fetch(location.href, { headers: { "X-Console-Refresh": "1" }, credentials: "same-origin" });
  if (answer.redirected) { location.reload(); return; }
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.querySelector("main");
  if (!next || document.activeElement !== document.body && main.contains(document.activeElement)) return;
  main.replaceChildren(...next.childNodes);
  main.querySelectorAll("details").forEach((d, i) => { if (open[i] !== undefined) d.open = open[i]; });
  const footer = document.querySelector("footer");
  const newer = page.querySelector("footer");
  if (footer && newer) footer.replaceWith(newer);
  if (!("live" in next.dataset)) delete main.dataset.live;
  renew(page);
  offerSlider();
}

// Takes over what stands around the content: the title, what a screen reader is told, the list of tables.
function renew(page) {
  document.title = page.title;
  const news = document.getElementById("news"), newer = page.getElementById("news");
  if (news && newer && news.textContent !== newer.textContent) news.textContent = newer.textContent;
  for (const part of document.querySelectorAll("[data-fresh]")) {
    const next = page.querySelector(`[data-fresh="${part.dataset.fresh}"]`);
    if (!next || part.contains(document.activeElement) || part.innerHTML === next.innerHTML) continue;
    const at = part.scrollTop;
    part.replaceChildren(...next.childNodes);
    part.scrollTop = at;
  }
}

function keepFresh() {
  const main = document.querySelector("main[data-live]");
  if (!main) return;
  const pause = main.querySelector("progress") ? 1000 : 1000 * Number(main.dataset.live);
  setTimeout(async () => {
    try { await refresh(main); } catch (_) { /* kproxy may be starting again */ }
    keepFresh();
  }, pause);
}

function offerSlider() {
  const box = document.querySelector(".slider");
  if (!box) return;
  box.hidden = false;
  const slide = box.querySelector("input"), shown = box.querySelector("output"), list = document.getElementById("k");
  slide.addEventListener("input", () => { shown.textContent = slide.value; });
  box.querySelector("button").addEventListener("click", () => {
    const all = list.value.split(/[^0-9]+/).filter(Boolean).map(Number).concat(Number(slide.value));
    list.value = [...new Set(all)].sort((a, b) => a - b).join(", ");
  });
}

offerTheme();
offerSlider();
keepFresh();
