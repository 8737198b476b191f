// What is looked at inside a page. Each function runs there by itself, so it uses nothing from outside, and returns what is
// wrong as a list of texts.

/** Elements, attributes, landmarks, headings, ids, plots and tables; `text` is the page as it lies on the disk. */
export function structure(text) {
  const faults = [];
  const all = [...document.querySelectorAll("*")];
  // All text is escaped, so that every `<name` is an element. A browser that sees others has mended the page.
  const source = new Map();
  for (const [, name] of text.matchAll(/<([a-zA-Z][a-zA-Z0-9]*)[\s>]/g)) source.set(name, (source.get(name) ?? 0) + 1);
  const seen = new Map();
  for (const element of all) seen.set(element.localName, (seen.get(element.localName) ?? 0) + 1);
  for (const name of new Set([...source.keys(), ...seen.keys()])) {
    if (source.get(name) !== seen.get(name)) faults.push(`${source.get(name) ?? 0} <${name}> are written, the browser sees ${seen.get(name) ?? 0}`);
  }
  const known = "html head meta title link script body a header nav main h1 h2 h3 section p ul li strong b small span code div dl dt dd table caption thead tbody tr th td br time details summary footer svg desc g path circle rect text".split(" ");
  for (const name of seen.keys()) if (!known.includes(name)) faults.push(`there is a <${name}>`);
  const open = [];
  const single = ["meta", "link", "br", "!DOCTYPE"];
  for (const [, close, name] of text.matchAll(/<(\/?)([a-zA-Z!][a-zA-Z0-9]*)[^>]*>/g)) {
    if (single.includes(name)) continue;
    if (!close) open.push(name);
    else if (open.pop() !== name) faults.push(`</${name}> closes something else`);
  }
  if (open.length) faults.push(`<${open.pop()}> is never closed`);
  for (const element of all) {
    for (const { name, value } of element.attributes) {
      if (/^on|^style$/i.test(name)) faults.push(`<${element.localName}> has the attribute ${name}`);
      if (/^(href|src)$/.test(name) && /^\s*(javascript|vbscript|data):/i.test(value) && element.localName !== "link") faults.push(`a link to ${value}`);
    }
  }
  for (const [name, least, most] of [["body > header", 1, 1], ["nav", 1, 1], ["main", 1, 1], ["body > footer", 1, 1], ["h1", 1, 1], ["html[lang]", 1, 1], ["head > title", 1, 1]]) {
    const count = document.querySelectorAll(name).length;
    if (count < least || count > most) faults.push(`${count} of ${name}`);
  }
  if (!document.title.trim()) faults.push("no title");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const own = Number(heading.localName[1]);
    if (own > level + 1) faults.push(`a heading of level ${own} below one of ${level}: ${heading.textContent}`);
    if (!heading.textContent.trim()) faults.push("a heading without text");
    level = own;
  }
  const ids = new Set();
  for (const { id } of document.querySelectorAll("[id]")) {
    if (ids.has(id) || !id) faults.push(`the id ${id} stands twice`);
    ids.add(id);
  }
  for (const element of document.querySelectorAll("[aria-labelledby]")) {
    for (const id of element.getAttribute("aria-labelledby").split(" ")) {
      if (!document.getElementById(id)?.textContent.trim()) faults.push(`aria-labelledby="${id}" names nothing`);
    }
  }
  // As the rule `landmark-unique` of axe has it.
  const regions = new Set();
  for (const region of document.querySelectorAll("[role=region], section[aria-label], section[aria-labelledby], nav")) {
    const labels = (region.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent);
    const name = (region.getAttribute("aria-label") ?? labels.join(" ")).trim();
    if (!name || regions.has(name)) faults.push(`two regions, or one without a name: ${name}`);
    regions.add(name);
  }
  for (const plot of document.querySelectorAll("svg.plot")) {
    const [lines, labels] = [".mark > path", ".mark:not(.ack) > text"].map((of) => plot.querySelectorAll(of).length);
    if (lines !== labels) faults.push(`${lines} lines of changes have ${labels} labels`);
    if (plot.getAttribute("role") !== "img" || !plot.querySelector(":scope > title") || !plot.querySelector(":scope > desc")) faults.push("a plot without role, title or description");
  }
  for (const plot of document.querySelectorAll("svg:not(.plot)")) if (plot.getAttribute("aria-hidden") !== "true") faults.push("a small drawing that is read out");
  for (const path of document.querySelectorAll("svg [d], svg [cx], svg [x], svg [width], svg [height]")) {
    for (const { name, value } of path.attributes) {
      if (/NaN|inf|undefined/i.test(value) && ["d", "cx", "cy", "x", "y", "r", "width", "height"].includes(name)) faults.push(`a drawing with ${name}="${value.slice(0, 60)}"`);
    }
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption?.textContent.trim()) faults.push("a table without caption");
    const columns = table.tHead?.rows[0]?.cells.length;
    for (const cell of table.querySelectorAll("th")) if (!cell.scope) faults.push(`a th without scope: ${cell.textContent}`);
    for (const row of table.tBodies[0]?.rows ?? []) {
      const count = [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
      if (count !== columns) faults.push(`a row of ${count} cells in a table of ${columns} columns: ${table.caption?.textContent}`);
    }
  }
  for (const link of document.querySelectorAll("a")) {
    if (!link.textContent.trim() && !link.getAttribute("aria-label")) faults.push(`a link without text to ${link.getAttribute("href")}`);
  }
  return faults;
}

/** What a page links to, and the anchors that others may link to. */
export function links() {
  const raw = [...document.querySelectorAll("a[href], link[href], script[src]")].map((element) => element.getAttribute("href") ?? element.getAttribute("src"));
  return { raw, ids: [...document.querySelectorAll("[id]")].map((element) => element.id) };
}

/** Contrast of all text and of what plots are made of, against what is really behind it. */
export function contrast() {
  const faults = new Set();
  const canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const luminance = (color) => {
    const [red, green, blue] = color.map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const shown = (element) => {
    let opacity = 1;
    for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  const white = matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const back = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      if (at.namespaceURI.endsWith("xhtml")) layers.push(rgba(getComputedStyle(at).backgroundColor));
    }
    return layers.reverse().reduce((below, top) => over(top, below), white);
  };
  // What is filled below a place of a drawing and was drawn before.
  const below = (element) => {
    const svg = element.closest("svg");
    const place = element.getBoundingClientRect();
    const backs = [back(svg)];
    for (const shape of svg.querySelectorAll("rect, .reach")) {
      if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      const own = shape.getBoundingClientRect();
      if (own.right < place.left || own.left > place.right || own.bottom < place.top || own.top > place.bottom) continue;
      const color = rgba(getComputedStyle(shape).fill);
      const fill = [...color.slice(0, 3), color[3] * shown(shape)];
      const covers = own.left <= place.left + 1 && own.right >= place.right - 1 && own.top <= place.top + 1 && own.bottom >= place.bottom - 1;
      const drawn = backs.map((other) => over(fill, other));
      if (covers && shape.localName === "rect") backs.splice(0, backs.length, ...drawn);
      else backs.push(...drawn);
      if (backs.length > 16) break;
    }
    return backs;
  };
  let count = 0;
  const judge = (what, color, backs, opacity, least) => {
    count += 1;
    const top = [...color.slice(0, 3), color[3] * opacity];
    const worst = Math.min(...backs.map((other) => ratio(over(top, other), other)));
    if (worst < least) faults.add(`${what}: contrast ${worst.toFixed(2)} below ${least}`);
  };
  const known = new Set();
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || ["title", "desc", "script", "style"].includes(element.localName)) continue;
    const style = getComputedStyle(element);
    if (style.visibility !== "visible" || !element.getClientRects().length || shown(element) === 0) continue;
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const path = `${element.parentElement?.className.baseVal ?? element.parentElement?.className} ${element.localName}.${element.className.baseVal ?? element.className}`;
    if (element.namespaceURI.endsWith("svg")) judge(`text in a drawing (${path})`, rgba(style.fill), below(element), shown(element), least);
    else {
      const key = `${path} ${style.color} ${least} ${back(element)}`;
      if (!known.has(key)) judge(`text (${path}: ${node.textContent.trim().slice(0, 30)})`, rgba(style.color), [back(element)], shown(element), least);
      known.add(key);
    }
  }
  for (const mark of document.querySelectorAll("circle, .level, .mark path, .curve, .bar, .ideal, .median, .spark path")) {
    if (!mark.getClientRects().length) continue;
    const style = getComputedStyle(mark);
    const isRing = mark.matches(".aside");
    const color = mark.localName === "circle" && !isRing ? style.fill : style.stroke;
    if (color === "none") continue;
    judge(`a mark (${mark.parentElement.className.baseVal} ${mark.className.baseVal})`, rgba(color), below(mark), shown(mark), 3);
  }
  return { faults: [...faults], count };
}

/** Whether everything has room: no page that scrolls sideways, no text that is too small, cut off or over other text. */
export function room() {
  const faults = new Set();
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth > width) {
    const widest = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > width + 1 && !element.closest(".wide"));
    faults.add(`the page is ${document.scrollingElement.scrollWidth} wide, and the screen ${width}: ${widest.slice(0, 2).map((element) => element.outerHTML.slice(0, 120)).join(" and ")}`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || ["title", "desc", "script"].includes(element.localName) || !element.getClientRects().length) continue;
    if (element.closest(".skip")) continue;
    const isDrawn = element.namespaceURI.endsWith("svg");
    const scale = isDrawn ? Math.abs(element.getScreenCTM().a) : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < 9.99) faults.add(`text of ${size.toFixed(1)} px (${element.localName}.${element.className.baseVal ?? element.className}): ${node.textContent.trim().slice(0, 30)}`);
    const range = document.createRange();
    range.selectNodeContents(node);
    const place = range.getBoundingClientRect();
    if (!element.closest(".wide") && (place.right > width + 1 || place.left < -1)) faults.add(`text leaves the screen: ${node.textContent.trim().slice(0, 60)}`);
    if (isDrawn) texts.push([element, place]);
  }
  const byPlot = Map.groupBy(texts, ([element]) => element.closest("svg"));
  for (const own of byPlot.values()) {
    own.forEach(([one, a], at) => {
      for (const [other, b] of own.slice(at + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        // Lines of text are taller than their letters.
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 4) faults.add(`“${one.textContent.slice(0, 40)}” stands over “${other.textContent.slice(0, 40)}”`);
      }
    });
  }
  for (const element of document.querySelectorAll("body *")) {
    if (/hidden|clip/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1 && element.namespaceURI.endsWith("xhtml")) {
      faults.add(`cut off: ${element.textContent.slice(0, 40)}`);
    }
  }
  return [...faults];
}

/** The first thing said, and how far down it reaches. */
export function news() {
  const said = document.querySelector(".news ul.open > li") ?? document.querySelector(".news p");
  return said ? { text: said.textContent.trim().replace(/\s+/g, " "), bottom: said.getBoundingClientRect().bottom } : null;
}

/** Marks all that a keyboard must reach, in the order of the document. */
export function reachable() {
  const all = [...document.querySelectorAll("a[href], summary, [tabindex='0'], button, input, select")];
  const shown = all.filter((element) => element.matches(".skip") || element.checkVisibility({ visibilityProperty: true }));
  window.order = shown;
  const scrolls = [...document.querySelectorAll("*")].filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth);
  return { count: shown.length, unreachable: scrolls.filter((element) => element.tabIndex !== 0).map((element) => element.outerHTML.slice(0, 80)) };
}

/** Where the focus is among what was marked, and whether one sees that it is there. */
export function focus() {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const place = at.getBoundingClientRect();
  return {
    at: window.order.indexOf(at),
    what: at.outerHTML.slice(0, 80),
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    onScreen: place.bottom > 0 && place.top < innerHeight && place.right > 0 && place.left < innerWidth,
  };
}

/** What a page on paper needs. */
export function paper() {
  const faults = [];
  for (const chart of document.querySelectorAll(".chart, tr, ul.open li, svg.plot")) {
    if (!chart.getClientRects().length) continue;
    const owner = chart.closest(".chart") ?? chart;
    if (getComputedStyle(owner).breakInside !== "avoid") faults.push(`may be cut in two: ${chart.localName}.${chart.className.baseVal ?? chart.className}`);
  }
  for (const element of document.querySelectorAll(".wide")) if (getComputedStyle(element).overflowX !== "visible") faults.push("a table that scrolls on paper");
  for (const table of document.querySelectorAll("table")) {
    const right = table.getBoundingClientRect().right;
    if (right > innerWidth + 1) faults.push(`a table is cut off on paper, at ${innerWidth} of ${Math.round(right)} px: ${table.caption?.textContent.slice(0, 60)}`);
  }
  if (document.querySelector("header nav")?.getClientRects().length) faults.push("links of the site are printed");
  return [...new Set(faults)];
}
