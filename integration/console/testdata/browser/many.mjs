// Looks at the console of many tables at four widths in light, and at two of them in dark, whose colors alone are
// others. At those two it asks whether pages are accessible. It leaves pictures in the folder SHOTS, and prints a line
// for everything that is wrong. The environment has CONSOLE, OPERATOR, PASSWORD, CHROMIUM, SHOTS, TABLES, how many
// there are, HALTED, those that need the operator, and WITHHELD, one that waits.
import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { CONSOLE, OPERATOR, PASSWORD, CHROMIUM, SHOTS, TABLES, WITHHELD } = process.env;
const halted = JSON.parse(process.env.HALTED);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const origin = new URL(CONSOLE).origin;
mkdirSync(SHOTS, { recursive: true });

// patience is in milliseconds, for machines that run much else.
const patience = 180000;

let wrong = 0;
function check(held, what) {
  if (held) return;
  wrong++;
  console.log(`wrong: ${what}`);
}

async function login(page) {
  await page.goto(CONSOLE);
  await page.getByLabel("User").fill(OPERATOR);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(CONSOLE);
}

const all = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
async function accessible(page, what, rules) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((runOnly) => globalThis.axe.run({ runOnly, resultTypes: ["violations"] }), rules);
  for (const v of violations) check(false, `${what}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
}

// fits: nothing is wider than the window, and no text is cut off by what holds it.
async function fits(page, what) {
  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(wide <= seen, `${what} is ${wide} wide in a window of ${seen}`);
  const cut = await page.evaluate(() => [...document.querySelectorAll("main *, header *")]
    .filter((e) => !e.closest(".hidden, svg, .scroll, thead") && e.clientWidth > 0 && getComputedStyle(e).overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.outerHTML.slice(0, 120)));
  for (const e of cut) check(false, `${what} cuts off ${e}`);
}

// seesAudiences: what each audience sees of the table, and who that is; tables tells how many tables there are of it.
async function seesAudiences(page, what, tables) {
  const section = page.locator("[aria-labelledby=audiences]");
  // The page may draw the section anew meanwhile.
  for (let left = 5; left > 0; left--) {
    try {
      await section.screenshot({ path: `${SHOTS}/audiences-${what.replace(/[^a-z0-9]+/g, "-")}.png` });
      break;
    } catch (e) {
      if (left === 1 || !String(e).includes("not attached")) throw e;
    }
  }
  check(await section.locator("table").count() === tables, `${what} has not ${tables} tables of audiences`);
  const texts = await section.locator("tbody tr").evaluateAll((all) => all.map((tr) => tr.innerText.replace(/\s+/g, " ")));
  const press = texts.find((text) => text.includes("press") && text.includes("50-anonymity"));
  check(press && press.includes("published") && press.includes("200") && press.includes("without diagnosis"), `${what} says of the press ${press}`);
  check(texts.some((text) => text.includes("bob, carla")) && texts.some((text) => text.includes("anna")), `${what} does not say who belongs to audiences: ${texts}`);
}

// compact: a table that is well takes so much room at most, in pixels.
const room = { 360: 104, 768: 70, 1280: 54, 1920: 32 };

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const looks = [["light", [360, 768, 1280, 1920], all], ["dark", [360, 1280], ["color-contrast"]]];
for (const [colorScheme, widths, rules] of looks) for (const width of widths) {
  const ctx = await browser.newContext({ viewport: { width, height: width < 500 ? 740 : 1000 }, colorScheme, bypassCSP: true, isMobile: width < 500, hasTouch: width < 500, deviceScaleFactor: width < 500 ? 2 : 1 });
  ctx.setDefaultTimeout(patience);
  const page = await ctx.newPage();
  await login(page);
  // Every table has been counted, and what needs the operator has been found.
  for (let seen = false, end = Date.now() + patience; !seen && Date.now() < end; await page.waitForTimeout(seen ? 0 : 500)) {
    const o = await (await page.request.get(`${origin}/api/overview`)).json();
    seen = o.tables.filter((t) => t.state === "published" && t.rows > 0).length === TABLES - halted.length - 1 && o.needs.length === 3 && o.tables.every((t) => (t.audiences ?? []).every((a) => a.rows > 0 && a.information_loss > 0));
  }
  for (const [name, path] of [["overview", "/"], ["table", "/tables/public.warehouse_of_measurements_no_003"], ["halted", `/tables/${halted[0]}`], ["whatif", "/whatif"], ["configuration", "/configuration"], ["actions", "/actions"], ["activity", "/activity"]]) {
    const what = `${name} (${width}, ${colorScheme})`;
    await page.goto(origin + path);
    await page.screenshot({ path: `${SHOTS}/${name}-${width}-${colorScheme}.png`, fullPage: name !== "overview" });
    await fits(page, what);
    if (width === 360 || width === 1280) await accessible(page, what, rules);
    check((await page.title()).startsWith("3 things need you · "), `the title of ${what} is ${await page.title()}`);
    const listed = await page.locator(".nav-tables li").evaluateAll((all) => all.map((li) => li.textContent.trim()));
    check(listed.length == TABLES && listed[0] === `${halted[0]} ${listed[0].split(" ")[1]}` && listed[1].startsWith(halted[1]) && listed[2] === `${WITHHELD} withheld`, `the side list of ${what} begins with ${listed.slice(0, 4)}`);
    if (name === "table" || name === "overview") await seesAudiences(page, what, name === "table" ? 1 : 2);
    if (name !== "overview") continue;
    await page.evaluate(() => document.getElementById("tables").scrollIntoView());
    await page.screenshot({ path: `${SHOTS}/tables-${width}-${colorScheme}.png` });
    const first = await page.locator("[aria-labelledby=tables] .dense tbody th").evaluateAll((all) => all.slice(0, 3).map((th) => th.textContent.trim()));
    check(first.join() === [...halted, WITHHELD].join(), `the first tables of ${what} are ${first}`);
    const tall = await page.locator("[aria-labelledby=tables] .dense tbody tr").evaluateAll((all) => Math.max(...all.slice(3).map((tr) => tr.getBoundingClientRect().height)));
    check(tall <= room[width], `a table of ${what} is ${tall} tall`);
    const order = await page.evaluate(() => document.getElementById("replication").compareDocumentPosition(document.getElementById("tables")) & Node.DOCUMENT_POSITION_FOLLOWING);
    check(order, `the tables of ${what} come before replication`);
  }
  await ctx.close();
}

// What begins to need the operator is told while a page is open.
{
  const ctx = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  ctx.setDefaultTimeout(patience);
  const page = await ctx.newPage();
  await login(page);
  await page.evaluate(() => {
    globalThis.told = [];
    new MutationObserver(() => globalThis.told.push(document.getElementById("news").textContent)).observe(document.getElementById("news"), { childList: true, characterData: true, subtree: true });
  });
  check(await page.locator("#news").getAttribute("role") === "status", "what is new is in no live region");
  console.log("halt one now");
  await page.waitForFunction(() => document.title.startsWith("4 things need you"), null, { timeout: patience }).catch(() => check(false, "the title stays as it was"));
  check((await page.evaluate(() => globalThis.told)).join() === "4 things need you", `a screen reader is told ${await page.evaluate(() => globalThis.told)}`);
  await page.waitForFunction(() => [...document.querySelectorAll(".nav-tables li")].filter((li) => /withdrawn|halted/.test(li.textContent)).length === 3, null, { timeout: patience }).catch(() => check(false, "the side list stays as it was"));
  await ctx.close();
}

await browser.close();
console.log(wrong ? `${wrong} wrong` : "all right");
process.exitCode = wrong ? 1 : 0;
