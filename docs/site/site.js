// Comfort only: every page says the same without it.
"use strict";

// What a session was, at the one nearest to the pointer. The words are those of the plot's own titles.
(function () {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  let last = null;
  function hide() {
    tip.hidden = true;
    if (last) last.classList.remove("near");
    last = null;
  }
  function show(plot, event) {
    const place = plot.getBoundingClientRect();
    const x = ((event.clientX - place.left) / place.width) * plot.viewBox.baseVal.width;
    let nearest = null;
    for (const dot of plot.querySelectorAll("circle.dot")) {
      if (!dot.firstElementChild) continue;
      if (!nearest || Math.abs(dot.cx.baseVal.value - x) < Math.abs(nearest.cx.baseVal.value - x)) nearest = dot;
    }
    if (nearest === last) return;
    hide();
    if (!nearest) return;
    last = nearest;
    nearest.classList.add("near");
    tip.textContent = nearest.firstElementChild.textContent;
    tip.hidden = false;
    const dot = nearest.getBoundingClientRect();
    const left = Math.min(dot.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(8, left) + window.scrollX + "px";
    // Above the plot, so that it hides none of it.
    tip.style.top = Math.max(place.top - tip.offsetHeight - 2, 2) + window.scrollY + "px";
  }
  for (const plot of document.querySelectorAll("svg.plot")) {
    plot.addEventListener("pointermove", (event) => show(plot, event));
    plot.addEventListener("pointerleave", hide);
  }
})();

// How long ago that was, beside the date that stands there.
(function () {
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const time of document.querySelectorAll("time")) {
    const days = Math.round((Date.parse(time.dateTime) - Date.now()) / 86400000);
    if (Number.isFinite(days)) time.title = time.dateTime + ", " + words.format(days, "day");
  }
})();
