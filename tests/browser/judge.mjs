// Looks at a site in a browser, and prints what is wrong with it as JSON.
//
//   node judge.mjs '{"site": FOLDER, "over": "file" | "http", "modules": FOLDER, "chromium": PATH, "deep": N, "shots": FOLDER?}'
//
// Every page is opened once with its scripts off and once with them on; of each kind of page the `deep` largest are looked at
// closely. `modules` holds node_modules/playwright-core. Nothing is judged here of what the site says: whoever calls knows that.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, extname, join, posix, relative } from "node:path";
import { pathToFileURL } from "node:url";
import * as look from "./look.mjs";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "here.js"))("playwright-core");
const faults = [];
const counts = {};
// What is wrong on many pages is said once, with the first of them.
const say = (check, page, what) => {
  const known = faults.find((fault) => fault.check === check && fault.what === what);
  if (known) known.times += 1;
  else faults.push({ check, page, what, times: 1 });
};
const count = (what, by = 1) => (counts[what] = (counts[what] ?? 0) + by);

const files = readdirSync(asked.site, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(asked.site, join(entry.parentPath ?? entry.path, entry.name)))
  .filter((path) => !path.startsWith("."))
  .sort();
const pages = files.filter((path) => path.endsWith(".html"));
const kindOf = (path) => path.replace(/^(benchmarks)\/[^/]+/, "$1/*").replace(/\/(cases|runs)\/.*/, "/$1/*").replace(/^(compare|environments)\/(?!index).*/, "$1/*").replace(/-\d+\.html$/, "-N.html");
const size = (path) => statSync(join(asked.site, path)).size;
const byKind = {};
for (const path of [...pages].sort((one, other) => size(other) - size(one) || (one < other ? -1 : 1))) (byKind[kindOf(path)] ??= []).push(path);
const closely = Object.values(byKind).flatMap((own) => own.slice(0, asked.deep ?? 1));

// A drawing that is opened by itself cannot name an icon.
let isBadge = false;

/** Serves the files of the site and nothing else. */
async function serve() {
  const types = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".xml": "application/atom+xml", ".json": "application/json", ".csv": "text/csv" };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname).slice(1) || "index.html";
    if (path === "favicon.ico" && isBadge) return response.writeHead(204).end();
    if (!files.includes(path)) say("requests", path, "was asked for, and is no file of the site");
    response.writeHead(files.includes(path) ? 200 : 404, { "content-type": types[extname(path)] ?? "text/plain" });
    response.end(files.includes(path) ? readFileSync(join(asked.site, path)) : "");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const server = asked.over === "http" ? await serve() : null;
const base = server ? `http://127.0.0.1:${server.address().port}/` : pathToFileURL(asked.site).href + "/";
const browser = await chromium.launch({
  executablePath: asked.chromium,
  args: "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(" "),
});

/** A window that hears all that a page should not do. */
async function tab(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const name = () => decodeURIComponent(page.url().slice(base.length));
  page.on("console", (message) => say("console", name(), message.text()));
  page.on("pageerror", (error) => say("console", name(), String(error)));
  page.on("dialog", (dialog) => (say("scripts", name(), `a dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("popup", () => say("scripts", name(), "opened a window"));
  context.on("request", (request) => {
    count("requests");
    const path = request.url().startsWith(base) && decodeURIComponent(request.url().slice(base.length).split("#")[0]);
    if (!request.url().startsWith("data:") && !files.includes(path || "index.html")) say("requests", name(), request.url().slice(0, 200));
  });
  context.on("requestfailed", (request) => say("requests", name(), `failed: ${request.url().slice(0, 200)}`));
  await context.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
  });
  return page;
}

const open = (page, path) => page.goto(base + path.split("/").map(encodeURIComponent).join("/"), { waitUntil: "load" });
const words = (page) => page.evaluate(() => document.body.innerText);

const plain = await tab({ javaScriptEnabled: false });
const lively = await tab({});
const anchors = new Map();
const linked = [];
const titles = new Map();

for (const path of pages) {
  await open(plain, path);
  count("pages");
  const source = readFileSync(join(asked.site, path), "utf8");
  for (const what of await plain.evaluate(look.structure, source)) say("structure", path, what);
  const { raw, ids } = await plain.evaluate(look.links);
  anchors.set(path, new Set(ids));
  linked.push(...raw.map((target) => [path, target]));
  const title = await plain.title();
  if (titles.has(title)) say("structure", path, `has the title of ${titles.get(title)}: ${title.slice(0, 80)}`);
  titles.set(title, path);
  const without = await words(plain);
  await open(lively, path);
  const violations = await lively.evaluate(() => [window.violations, window.hurt ? ["a script of a user ran"] : []].flat());
  for (const what of violations) say("scripts", path, what);
  if ((await words(lively)) !== without) say("scripts", path, "says something else with its scripts than without");
}

for (const [path, target] of linked) {
  count("links");
  if (/^https?:\/\//.test(target)) {
    count("links outside");
    continue;
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) {
    if (!target.startsWith("data:image/")) say("links", path, `to ${target}`);
    continue;
  }
  const [file, anchor] = target.split("#");
  const place = file ? posix.normalize(posix.join(dirname(path), decodeURIComponent(file))) : path;
  if (!files.includes(place)) say("links", path, `${target} is not there`);
  else if (anchor && !anchors.get(place)?.has(decodeURIComponent(anchor))) say("links", path, `${target} has no such anchor`);
}
const found = new Set(linked.map(([path, target]) => posix.normalize(posix.join(dirname(path), decodeURIComponent(target.split("#")[0])))));
for (const path of pages) if (path !== "index.html" && !found.has(path)) say("links", path, "no page links to it");

for (const path of closely) {
  count("pages looked at closely");
  await open(lively, path);
  const shades = [];
  for (const [media, colorScheme] of [["screen", "light"], ["screen", "dark"], ["print", "light"], ["print", "dark"]]) {
    await lively.emulateMedia({ media, colorScheme });
    const seen = await lively.evaluate(look.contrast);
    count("contrasts", seen.count);
    for (const what of seen.faults) say("contrast", path, `${media}, ${colorScheme}: ${what}`);
    if (media === "screen") shades.push(await lively.evaluate(() => getComputedStyle(document.body).backgroundColor));
  }
  if (shades[0] === shades[1]) say("contrast", path, "light and dark are alike");

  for (const [width, height] of [[360, 740], [1280, 800]]) {
    await lively.setViewportSize({ width, height });
    await lively.emulateMedia({ media: "screen", colorScheme: "light" });
    await lively.evaluate(() => window.scrollTo(0, 0));
    for (const what of await lively.evaluate(look.room)) say("room", path, `${width} px: ${what}`);
    const news = path === "index.html" && (await lively.evaluate(look.news));
    if (news && news.bottom > height) say("first screen", path, `${width}×${height}: the news ends at ${news.bottom}`);
    if (news) counts[`news at ${width}`] = news.text;
    await keyboard(path, width);
    if (asked.shots) await shoot(path, width);
  }
  await hover(path);
  // A4 without its margins.
  await lively.setViewportSize({ width: 718, height: 1040 });
  await lively.emulateMedia({ media: "print", colorScheme: "light" });
  for (const what of await lively.evaluate(look.paper)) say("paper", path, what);
  await lively.setViewportSize({ width: 1280, height: 800 });
  await lively.emulateMedia({ media: "screen", reducedMotion: "reduce" });
  const moves = await lively.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior !== "auto" || document.getAnimations().length > 0);
  if (moves) say("motion", path, "moves for somebody who asked for no motion");
  await lively.emulateMedia({ reducedMotion: null });
}

/** Goes through the page by Tab, and over its beginning by the skip link. */
async function keyboard(path, width) {
  const most = width > 500 ? 120 : 25;
  await open(lively, path);
  const { count: all, unreachable } = await lively.evaluate(look.reachable);
  for (const what of unreachable) say("keyboard", path, `${width} px: scrolls, and no key reaches it: ${what}`);
  for (let at = 0; at < Math.min(all, most); at += 1) {
    await lively.keyboard.press("Tab");
    const focus = await lively.evaluate(look.focus);
    count("stops of Tab");
    if (focus.at !== at) return say("keyboard", path, `${width} px: Tab ${at + 1} goes to ${focus.what}`);
    if (!focus.outlined) say("keyboard", path, `the focus is not seen on ${focus.what}`);
    if (!focus.onScreen) say("keyboard", path, `${width} px: the focus is off the screen on ${focus.what}`);
  }
  await open(lively, path);
  await lively.evaluate(look.reachable);
  await lively.keyboard.press("Tab");
  await lively.keyboard.press("Enter");
  await lively.keyboard.press("Tab");
  const skipped = await lively.evaluate(() => [document.activeElement.closest("main, footer") !== null, document.activeElement.outerHTML.slice(0, 80)]);
  if (!skipped[0]) say("keyboard", path, `behind the skip link is ${skipped[1]}`);
}

/** Points at the plots: the tip says something, stays on the screen, and goes away. */
async function hover(path) {
  for (const [width, height] of [[360, 740], [1280, 800]]) {
    await lively.setViewportSize({ width, height });
    await open(lively, path);
    const plots = await lively.locator("svg.plot:has(circle.dot > title)").all();
    for (const plot of plots.slice(0, 3)) {
      await plot.scrollIntoViewIfNeeded();
      for (const share of [0.15, 0.95]) {
        const place = await plot.boundingBox();
        await lively.mouse.move(place.x + place.width * share, place.y + place.height / 2);
        const tip = await lively.evaluate(() => {
          const own = document.querySelector(".tip");
          const at = own.getBoundingClientRect();
          return { text: own.hidden ? "" : own.textContent, fits: at.left >= 0 && at.right <= innerWidth && document.scrollingElement.scrollWidth <= innerWidth };
        });
        count("tips");
        if (!tip.text.trim()) say("tips", path, `${width} px: pointing at a plot says nothing`);
        else if (!tip.fits) say("tips", path, `${width} px: the tip leaves the screen: ${tip.text.slice(0, 60)}`);
      }
      await lively.mouse.move(0, 0);
      if (!(await lively.evaluate(() => document.querySelector(".tip").hidden))) say("tips", path, "a tip stays");
    }
  }
}

async function shoot(path, width) {
  mkdirSync(asked.shots, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    await lively.emulateMedia({ media: "screen", colorScheme });
    await open(lively, path);
    const name = `${path.replaceAll("/", "_").slice(0, 80)}-${width}-${colorScheme}.png`;
    await lively.screenshot({ path: join(asked.shots, name), fullPage: true, clip: { x: 0, y: 0, width, height: 2600 } }).catch(() => lively.screenshot({ path: join(asked.shots, name) }));
  }
  await lively.emulateMedia({ media: "screen", colorScheme: "light" });
}

// Drawings and feeds by themselves: a browser reads XML strictly.
await open(plain, "index.html");
for (const path of files.filter((path) => /\.(svg|xml)$/.test(path))) {
  count("XML");
  const fault = await plain.evaluate((text) => new DOMParser().parseFromString(text, "application/xml").querySelector("parsererror")?.textContent, readFileSync(join(asked.site, path), "utf8"));
  if (fault) say("XML", path, fault.slice(0, 200));
}
isBadge = true;
for (const path of files.filter((path) => path.endsWith(".svg")).slice(0, 5)) {
  await open(lively, path);
  const seen = await lively.evaluate(look.contrast);
  for (const what of seen.faults) say("contrast", path, what);
  if (await lively.evaluate(() => window.hurt)) say("scripts", path, "a script of a user ran");
}

await browser.close();
server?.close();
console.log(JSON.stringify({ faults, counts }));
