// An analyst in a browser: the dashboard, its filter, a drill into its rows, the chart builder
// and the laboratory. Nothing may show an error. Pictures are left in SHOTS.
import { mkdirSync } from 'node:fs'
import { chromium } from 'playwright-core'

const { SUPERSET, PASSWORD, CHROMIUM, SHOTS, DASHBOARD, CHARTS, DATABASE } = process.env
mkdirSync(SHOTS, { recursive: true })
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1500, height: 1000 } })
page.setDefaultTimeout(80_000)

async function shot(name) {
  await page.screenshot({ path: `${SHOTS}/superset-${name}.png` })
  console.log(`${name} is in superset-${name}.png`)
}

// Charts say what is wrong where they would be.
async function sound(where) {
  const wrong = await page.locator('[data-test="error-alert"], .ant-alert-error, [role="alert"]:has-text("Error")').allInnerTexts()
  if (wrong.length > 0) throw new Error(`${where}: ${wrong.join('; ')}`)
}

async function drawn(count) {
  await page.waitForFunction((n) => document.querySelectorAll('.slice_container').length >= n, Number(count))
  await page.waitForFunction(() => document.querySelectorAll('.loading, [data-test="loading-indicator"]').length === 0)
  await sound('a chart')
}

try {
  await page.goto(`${SUPERSET}/login/`)
  await page.fill('input[name="username"], #username', 'admin')
  await page.fill('input[name="password"], #password', PASSWORD)
  await page.click('button[type="submit"], input[type="submit"]')
  await page.waitForURL(/welcome/)

  await page.goto(`${SUPERSET}/superset/dashboard/${DASHBOARD}/`)
  // Charts are drawn when they come into view.
  for (let i = 0; i < Number(CHARTS) / 2; i++) {
    await page.mouse.move(800, 600)
    await page.mouse.wheel(0, 500)
    await page.waitForTimeout(700)
  }
  await drawn(CHARTS)
  await page.setViewportSize({ width: 1500, height: 3700 })
  await page.mouse.wheel(0, -9000)
  await page.waitForTimeout(3000)
  await drawn(CHARTS)
  await shot('charts')
  await page.setViewportSize({ width: 1500, height: 1000 })
  await page.waitForTimeout(1000)
  await shot('dashboard')

  // The filter: one ward, applied to every chart.
  await page.locator('[data-test="form-item-value"] .ant-select, .filter-container .ant-select').first().click()
  await page.keyboard.type('Surgery')
  await page.locator('.ant-select-item-option-content:has-text("Surgery")').first().click()
  await page.keyboard.press('Escape')
  await page.locator('[data-test="filter-bar__apply-button"]').click()
  await page.waitForTimeout(1000)
  await page.mouse.move(800, 600)
  await drawn(2)
  await shot('filter')

  // A drill into the rows behind a chart.
  await page.locator('[aria-label="More Options"]').first().click()
  await page.getByText('Drill to detail', { exact: true }).first().click()
  await page.waitForSelector('.ant-modal td, .ant-modal .virtual-table-cell')
  await sound('the drill')
  await shot('drill')
  await page.keyboard.press('Escape')

  // The laboratory.
  await page.goto(`${SUPERSET}/sqllab/?dbid=${DATABASE}&sql=${encodeURIComponent('SELECT chapter, count(*), round(avg(cost)) AS cost FROM patients JOIN icd10 ON code = diagnosis GROUP BY 1 ORDER BY 2 DESC')}&title=Chapters&autorun=true`)
  await page.waitForSelector('[data-test="table-container"], .virtual-table-cell, [role="gridcell"]')
  await sound('the laboratory')
  await shot('laboratory')
} finally {
  await shot('last')
  await browser.close()
}
