import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type Browser, launch, type Page } from 'puppeteer-core'
import { z } from 'zod'

/** Debian's package chromium-headless-shell, or another Chromium. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell'

export async function startBrowser(): Promise<Browser> {
  // Chromium has no sandbox for root, and suites run as root. Only our own pages are opened.
  return launch({ executablePath, args: ['--no-sandbox'] })
}

/** A page that records what the browser reports as an error: exceptions, violated policies, failed requests. */
export async function openPage(
  browser: Browser,
): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  return { page, errors }
}

const axeResult = z.object({
  violations: z.array(
    z.looseObject({
      id: z.string(),
      impact: z.string().nullish(),
      nodes: z.array(z.looseObject({ html: z.string() })),
    }),
  ),
})

/** Lists serious and critical findings of axe-core on a page. */
export async function listAccessibilityProblems(page: Page): Promise<readonly string[]> {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(axe)
  const { violations } = axeResult.parse(
    JSON.parse(String(await page.evaluate('axe.run().then(JSON.stringify)'))),
  )
  return violations.flatMap(({ id, impact, nodes }) =>
    impact === 'serious' || impact === 'critical' ? [`${id}: ${nodes[0]?.html ?? ''}`] : [],
  )
}

/** Milliseconds that a render took. */
export interface RenderTime {
  /** Processor time of the page's main thread: script, style, layout and paint. Other programs do not count. */
  readonly threadMs: number
  /** Time from the arrival of the data until the browser has shown it, including waits for a processor. */
  readonly wallMs: number
}

/** Opens addresses one after the other. Each must show data that the page has not read yet. */
export async function measureRender(
  page: Page,
  hashes: readonly string[],
  selector: string,
): Promise<readonly RenderTime[]> {
  const session = await page.createCDPSession()
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const readThreadMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
  }
  const times: RenderTime[] = []
  for (const hash of hashes) {
    const before = await readThreadMs()
    await page.evaluate(`performance.clearMeasures(); location.hash = ${JSON.stringify(hash)}`)
    await page.waitForFunction("performance.getEntriesByName('view-shown').length > 0")
    await page.waitForSelector(selector)
    const wallMs = Number(await page.evaluate("performance.getEntriesByName('view-shown').at(-1).duration"))
    times.push({ threadMs: (await readThreadMs()) - before, wallMs })
  }
  await session.detach()
  return times
}

/** Returns the least time of each kind: it depends least on other programs of the machine. */
export function findLeastTime(times: readonly RenderTime[]): RenderTime {
  const least = (kind: keyof RenderTime): number => Math.min(...times.map((time) => time[kind]))
  return { threadMs: least('threadMs'), wallMs: least('wallMs') }
}
