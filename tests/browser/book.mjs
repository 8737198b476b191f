// Looks at the site of the documentation in a browser, and prints as JSON how many pages there are and what is wrong.
//
//   node book.mjs '{"book": FOLDER, "modules": FOLDER, "chromium": PATH, "searches": [[WORDS, PAGE], …]}'
//
// Opens every page of the table of contents, follows all links and their anchors, and types each of the searches: the wanted page is
// among the first five answers.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "here.js"))("playwright-core");
const faults = [];
const browser = await chromium.launch({
  executablePath: asked.chromium,
  args: "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --allow-file-access-from-files".split(" "),
});
const page = await browser.newPage();
let where = "";
page.on("pageerror", (error) => faults.push(`${where}: ${error.message}`));
await page.route(/^https?:/, (route) => {
  faults.push(`${where}: loads ${route.request().url()}`);
  route.abort();
});
const at = (path) => pathToFileURL(join(asked.book, path)).href;
const open = async (path) => {
  where = path;
  await page.goto(at(path));
};

await open("introduction.html");
await page.waitForSelector("mdbook-sidebar-scrollbox a");
const contents = await page.$$eval("mdbook-sidebar-scrollbox a[href]", (links) => links.filter((link) => !link.hash).map((link) => link.href));
const pages = [...new Set(contents)].map((href) => relative(asked.book, fileURLToPath(href)));

const ids = new Map();
const links = [];
for (const path of pages) {
  await open(path);
  ids.set(path, new Set(await page.$$eval("[id]", (elements) => elements.map((element) => element.id))));
  for (const href of await page.$$eval("main a[href]", (elements) => elements.map((element) => element.href))) links.push([path, href]);
  const lacking = await page.$$eval("main img:not([alt]), main img[alt='']", (images) => images.length);
  if (lacking) faults.push(`${path}: ${lacking} pictures without a text`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) faults.push(`${path}: ${wide} pixels wider than the window`);
}
for (const [path, href] of links.filter(([, href]) => href.startsWith("file:"))) {
  const url = new URL(href);
  const file = fileURLToPath(new URL(url.pathname, "file://"));
  const target = relative(asked.book, file);
  if (!existsSync(file)) faults.push(`${path}: ${target} is not there`);
  else if (url.hash && ids.has(target) && !ids.get(target).has(decodeURIComponent(url.hash.slice(1)))) faults.push(`${path}: ${target} has no ${url.hash}`);
}

for (const [words, wanted] of asked.searches) {
  await open("introduction.html");
  await page.keyboard.press("s");
  // The search runs when a key is released.
  await page.type("#mdbook-searchbar", words);
  await page.waitForSelector("#mdbook-searchresults li a", { timeout: 20_000 }).catch(() => {});
  const answers = await page.$$eval("#mdbook-searchresults li a[href]", (found) => found.slice(0, 5).map((link) => link.href));
  const found = answers.map((href) => relative(asked.book, fileURLToPath(href.replace(/[?#].*/, ""))));
  if (!found.includes(wanted)) faults.push(`search for "${words}": ${found.join(", ") || "nothing"}`);
}
await browser.close();
console.log(JSON.stringify({ pages: pages.length, faults }));
