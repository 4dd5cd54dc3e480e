// Goes through the console as an operator does, in Chromium: by mouse, by keyboard, on a
// phone, in the dark and without scripts. Prints a line for everything that is wrong and
// leaves pictures in the folder SHOTS. The environment has CONSOLE, OPERATOR, PASSWORD,
// CHROMIUM, SHOTS and CANARIES, texts that no page may hold.
import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { CONSOLE, OPERATOR, PASSWORD, CHROMIUM, SHOTS } = process.env;
const canaries = JSON.parse(process.env.CANARIES ?? "[]");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const origin = new URL(CONSOLE).origin;
const table = process.env.TABLE ?? "public.patients";
mkdirSync(SHOTS, { recursive: true });

// patience is in milliseconds, for machines that run much else.
const patience = 180000;

let wrong = 0;
function check(held, what) {
  if (held) return;
  wrong++;
  console.log(`wrong: ${what}`);
}

const desktop = { width: 1280, height: 900 }, phone = { width: 360, height: 740 };
const pages = [
  ["overview", "/"], ["table", `/tables/${table}`], ["whatif", `/whatif/${table}`], ["whatif-persons", "/whatif/public.stays"],
  ["activity", "/activity"], ["configuration", "/configuration"], ["actions", "/actions"],
  ["confirm", `/actions/rebuild?table=${table}`],
];

// watch notes what a page must not do.
function watch(page) {
  page.on("console", (m) => check(!["error", "warning"].includes(m.type()) || / 4\d\d /.test(m.text()), `${page.url()} says: ${m.text()}`));
  page.on("pageerror", (e) => check(false, `${page.url()} fails: ${e.message}`));
  page.on("request", (r) => check(r.url().startsWith(origin) || r.url().startsWith("data:"), `${page.url()} asks ${r.url()}`));
}

async function login(page) {
  await page.goto(CONSOLE);
  await page.getByLabel("User").fill(OPERATOR);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(CONSOLE);
}

// accessible has axe look at a page: by all rules, or at its colors alone.
const all = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
async function accessible(page, what, runOnly = all) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((runOnly) => globalThis.axe.run({ runOnly, resultTypes: ["violations"] }), runOnly);
  for (const v of violations) check(false, `${what}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
}

async function fits(page, what) {
  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(wide <= seen, `${what} is ${wide} wide in a window of ${seen}`);
}

async function holdsNothingRaw(page, what) {
  const text = await page.content();
  for (const c of canaries) check(!text.includes(c), `${what} holds a raw value`);
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
// The policy of the pages lets no test's script in either; bypassing it is the browser's own.
async function context(more) {
  const ctx = await browser.newContext({ viewport: desktop, bypassCSP: true, ...more });
  ctx.setDefaultTimeout(patience);
  return ctx;
}

// Strangers are sent to the login, and wrong passwords are told.
{
  const page = await (await context()).newPage();
  watch(page);
  await page.goto(`${CONSOLE}tables/${table}`);
  check(new URL(page.url()).pathname === "/login", "a stranger is not sent to the login");
  await accessible(page, "login");
  await page.screenshot({ path: `${SHOTS}/login-light.png` });
  await page.getByLabel("User").fill(OPERATOR);
  await page.getByLabel("Password").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/tables/${table}`);
  await page.context().close();
}

// A trial by mouse.
{
  const page = await (await context()).newPage();
  watch(page);
  await login(page);
  await page.getByRole("link", { name: "What if" }).first().click();
  await page.getByLabel("Values of k").fill(process.env.KS ?? "2, 10, 50");
  await page.getByLabel("Records in the sample").fill(process.env.SAMPLE ?? "500");
  for (const method of (process.env.METHODS ?? "hilbert").split(",")) await page.getByLabel(method, { exact: true }).check();
  await page.getByRole("button", { name: "Measure" }).click();
  await page.getByRole("heading", { name: "Outcome" }).waitFor();
  check(await page.locator("figure.chart").count() === 2, "a trial shows no curves");
  check(await page.getByText("in force").count() > 0, "nothing marks what is in force");
  await page.context().close();
}

// Every page in light, dark and on a phone.
const onPhone = { viewport: phone, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
for (const [look, more, rules] of [["light", { colorScheme: "light" }, all], ["dark", { colorScheme: "dark" }, ["color-contrast"]], ["phone", onPhone, all]]) {
  const ctx = await context(more);
  const page = await ctx.newPage();
  watch(page);
  await page.goto(CONSOLE);
  await page.screenshot({ path: `${SHOTS}/login-${look}.png` });
  await login(page);
  for (const [name, path] of pages) {
    const answer = await page.goto(origin + path);
    const what = `${name} (${look})`;
    check(answer.ok(), `${what}: ${answer.status()}`);
    check(await page.locator("h1").count() === 1, `${what} has not one heading of the first level`);
    if (name === "table") await page.locator("details").evaluateAll((all) => all.forEach((d) => { d.open = false; }));
    await page.screenshot({ path: `${SHOTS}/${name}-${look}.png`, fullPage: true });
    await fits(page, what);
    await accessible(page, what, rules);
    await holdsNothingRaw(page, what);
    for (const { name, ...cookie } of await ctx.cookies()) check(cookie.httpOnly && cookie.sameSite === "Strict", `${what} has a cookie that scripts read: ${name}`);
  }
  await ctx.close();
}

// By keyboard alone.
{
  const page = await (await context()).newPage();
  watch(page);
  await page.goto(CONSOLE);
  check(await page.evaluate(() => document.activeElement.id) === "user", "the login does not begin with the user");
  await page.keyboard.type(OPERATOR);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(CONSOLE);
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  await page.keyboard.press("Tab");
  check(await focused() === "Skip to the content", `the first stop is ${await focused()}`);
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => document.activeElement.id) === "main", "skipping leads nowhere");
  const stops = [];
  await page.goto(CONSOLE);
  for (let i = 0; i < 18; i++) {
    await page.keyboard.press("Tab");
    stops.push(await focused());
    if (await page.evaluate(() => document.activeElement === document.body)) break; // past the last stop
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    check(outline !== "none", `the focus on ${stops.at(-1)} is not seen`);
  }
  for (const want of ["Overview", "What if", "Activity", "Configuration", table, "Sign out"]) check(stops.includes(want), `the keyboard does not reach ${want}: ${stops}`);
  await page.getByRole("button", { name: "Use dark colors" }).focus();
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => document.documentElement.dataset.theme) === "dark", "the choice of dark does nothing");
  await page.reload();
  check(await page.evaluate(() => document.documentElement.dataset.theme) === "dark", "the choice of dark is forgotten");
  // An action, with its confirmation.
  await page.goto(`${origin}/actions/loglevel?level=warn`);
  await page.getByLabel("I have read the price.").focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("logs from warn on").waitFor();
  await page.getByRole("button", { name: "Sign out" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/login");
  await page.goto(CONSOLE);
  check(new URL(page.url()).pathname === "/login", "who signed out is still in");
  await page.context().close();
}

// Without scripts.
{
  const page = await (await context({ javaScriptEnabled: false })).newPage();
  await login(page);
  for (const [name, path] of pages) {
    await page.goto(origin + path);
    check(await page.locator("h1").count() === 1, `${name} needs scripts`);
  }
  await page.goto(`${origin}/whatif/${table}`);
  await page.getByRole("button", { name: "Measure" }).click();
  await page.getByRole("heading", { name: /Measuring|Outcome/ }).waitFor();
  await page.context().close();
}

// Figures change without a reload of the page, and the policy lets no script in that a page
// would hold.
{
  const ctx = await browser.newContext({ viewport: desktop });
  const page = await ctx.newPage();
  watch(page);
  await login(page);
  const shown = () => page.locator("footer time").getAttribute("datetime");
  const before = await shown();
  await page.waitForFunction((old) => document.querySelector("footer time").dateTime !== old, before, { timeout: patience }).catch(() => check(false, "the figures stay as they were"));
  await ctx.close();
}
{
  const page = await (await browser.newContext()).newPage();
  await login(page);
  await page.evaluate(() => { const s = document.createElement("script"); s.textContent = "globalThis.ran = true"; document.head.append(s); });
  check(!(await page.evaluate(() => globalThis.ran)), "an inline script runs");
}

await browser.close();
console.log(wrong ? `${wrong} wrong` : "all right");
process.exitCode = wrong ? 1 : 0;
