import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { bundleInterface } from '../../scripts/ui-bundle.ts'
import { startUiServer, type UiServer } from '../../src/ui/server.ts'
import { buildWebFiles, webAssets } from '../../src/ui/web-files.ts'
import {
  findLeastTime,
  listAccessibilityProblems,
  measureRender,
  openPage,
  type RenderTime,
  startBrowser,
} from '../support/ui/browser.ts'
import { readFixture } from '../support/ui/view-fixtures.ts'

/** Screenshots of all pages, for a person to check. */
const screenshots = join(import.meta.dirname, '../../dist/ui-screenshots')
const maxShownMs = 200

let directory = ''
let browser: Browser
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-ui-'))
  await mkdir(screenshots, { recursive: true })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await rm(directory, { recursive: true })
})

describe('200 clusters and 1,000 hosts', () => {
  let server: UiServer
  let page: Page
  let errors: readonly string[]
  const applied: string[] = []
  let now = new Date('2026-11-18T12:00:00Z')
  beforeAll(async () => {
    await bundleInterface(directory)
    const read = async (name: string): Promise<string> => readFile(join(directory, name), 'utf8')
    const files = buildWebFiles(await read(webAssets.script), await read(webAssets.style))
    server = await startUiServer({
      port: 0,
      files,
      readView: readFixture,
      applyPlan: async ({ cluster }) => {
        applied.push(cluster)
        return { run: '2026-11-17T06-29-17.472Z-up' }
      },
      now: () => now,
    })
    ;({ page, errors } = await openPage(browser))
    await page.setViewport({ width: 1280, height: 900 })
    await page.goto(server.url)
  })
  afterAll(async () => server[Symbol.asyncDispose]())

  test('the fleet has all clusters, the worst first', async () => {
    await page.waitForSelector('table.clusters')
    expect(await page.evaluate("document.querySelectorAll('tbody tr').length")).toBe(200)
    expect(await page.evaluate("document.querySelector('tbody .badge').textContent")).toBe('unhealthy')
  })

  test('200 clusters and 1,000 hosts need less than 200 ms after their data', async () => {
    const clusters = ['#/shop-100', '#/shop-101', '#/shop-102', '#/shop-103', '#/shop-104']
    const grid = findLeastTime(await measureRender(page, clusters, 'ul.hosts'))
    expect(await page.evaluate("document.querySelectorAll('table.grid tbody tr, ul.hosts li').length")).toBe(
      1000,
    )
    const fleets: RenderTime[] = []
    for (const cluster of clusters) {
      await page.evaluate(`location.hash = '${cluster}/runs'`)
      await page.reload()
      await page.waitForSelector('table')
      fleets.push(...(await measureRender(page, ['#/'], 'table.clusters')))
    }
    const fleet = findLeastTime(fleets)
    for (const [name, { threadMs, wallMs }] of Object.entries({ grid, fleet }))
      process.stderr.write(
        `${name}: ${threadMs.toFixed(0)} ms of the main thread, ${wallMs.toFixed(0)} ms in all\n`,
      )
    expect(grid.threadMs).toBeLessThan(maxShownMs)
    expect(fleet.threadMs).toBeLessThan(maxShownMs)
  })

  test('keys move between clusters, filter and open one', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('region=us shop-0')
    expect(await page.evaluate("document.querySelectorAll('tbody tr').length")).toBe(50)
    await page.keyboard.press('Tab')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const second = String(await page.evaluate('document.activeElement.textContent'))
    expect(second).toMatch(/^shop-0\d\d$/)
    await page.keyboard.press('Enter')
    await page.waitForFunction(`document.querySelector('h1').textContent === ${JSON.stringify(second)}`)
    await page.keyboard.press('f')
    await page.waitForSelector('table.clusters')
  })

  test('what is wrong comes first, with its command', async () => {
    await page.goto(new URL('#/shop-000', page.url()).href)
    await page.waitForSelector('table.grid')
    expect(await page.evaluate("document.querySelector('article').textContent")).toContain(
      'hyperkube etcd rejoin cp1',
    )
    expect(await page.evaluate("document.querySelector('table.grid tbody th').textContent")).toMatch(
      /cp1|w997/,
    )
  })

  test('a run that has not ended is read again, and names its wait and its failure', async () => {
    await page.goto(new URL('#/small/runs/2026-11-17T06-29-17.472Z-up', page.url()).href)
    await page.waitForSelector('table.timeline')
    const text = String(await page.evaluate("document.querySelector('main').innerText"))
    expect(text).toContain('no end recorded, last event 5.0 s ago')
    expect(text).toContain('w1 waits 20.0 s for the node to be ready')
    expect(text).toContain('hyperkube logs kube-apiserver --limit cp2')
    const request = await page.waitForRequest((one) => one.url().includes('/small/run?name='))
    expect(request.method()).toBe('GET')
  })

  test('logs are searched by component and text, and the address has the search', async () => {
    await page.goto(new URL('#/small/logs', page.url()).href)
    await page.waitForSelector('table.logs')
    await page.select('select[name=component]', 'kubelet')
    await page.type('input[name=text]', 'timed out')
    await page.keyboard.press('Enter')
    await page.waitForFunction("document.querySelector('table.logs')?.textContent.includes('timed out')")
    expect(await page.evaluate("document.querySelectorAll('table.logs tbody tr').length")).toBe(1)
    expect(page.url()).toContain('component%3Dkubelet')
    expect(await page.evaluate("document.querySelector('select[name=component]').value")).toBe('kubelet')
  })

  test('a plan is applied only if the name of the cluster was typed', async () => {
    await page.goto(new URL('#/small/plan', page.url()).href)
    await page.waitForSelector('input[name=confirm]')
    await page.type('input[name=confirm]', 'smal')
    await page.keyboard.press('Enter')
    await page.waitForFunction("document.querySelector('main').innerText.includes('UI_NOT_CONFIRMED')")
    expect(applied).toEqual([])
    await page.type('input[name=confirm]', 'l')
    await page.keyboard.press('Enter')
    await page.waitForSelector('table.timeline')
    expect(applied).toEqual(['small'])
    expect(page.url()).toContain('#/small/runs/2026-11-17T06-29-17.472Z-up')
  })

  test('the page of etcd draws a chart after a second read', async () => {
    await page.goto(new URL('#/small/etcd', page.url()).href)
    await page.waitForSelector('meter')
    expect(await page.$('figure.chart')).toBeNull()
    const before = now
    now = new Date(before.getTime() + 30_000)
    await page.click('.title button')
    await page.waitForSelector('figure.chart polyline.line2')
    now = before
    expect(await page.evaluate("document.querySelector('figcaption').textContent")).toContain(
      'at most 400.0 MB',
    )
    expect(await page.evaluate("document.querySelector('polyline.line1').getAttribute('points')")).toBe(
      '0.0,4.0 1000.0,4.0',
    )
  })

  const pages = [
    { name: 'fleet', hash: '#/', selector: '.clusters' },
    { name: 'cluster', hash: '#/small', selector: '.grid' },
    { name: 'plan', hash: '#/small/plan', selector: 'details' },
    { name: 'etcd', hash: '#/small/etcd', selector: 'meter' },
    { name: 'certificates', hash: '#/small/certificates', selector: 'progress' },
    { name: 'runs', hash: '#/small/runs', selector: 'table' },
    { name: 'run', hash: '#/small/runs/2026-11-17T06-29-17.472Z-up', selector: 'table.timeline' },
    { name: 'logs', hash: '#/small/logs', selector: 'table.logs' },
  ]
  const variants = pages.flatMap((one) =>
    (['light', 'dark'] as const).map((scheme) => ({ ...one, scheme, title: `${one.name}, ${scheme}` })),
  )
  test.each(variants)(
    '$title: no serious finding of axe-core, and no scrolling sideways',
    async ({ name, hash, selector, scheme }) => {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      for (const [size, width] of Object.entries({ phone: 390, desktop: 1280 })) {
        await page.setViewport({ width, height: 900 })
        await page.goto(new URL(hash, page.url()).href)
        await page.waitForSelector(selector)
        await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        await page.screenshot({ path: join(screenshots, `${name}-${scheme}-${size}.png`) })
        // Only tables scroll sideways.
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), size).toBe(true)
      }
      expect(await listAccessibilityProblems(page)).toEqual([])
    },
  )

  test('the browser reported no error, and no violated policy', () => {
    expect(errors).toEqual([])
  })

  test('a second browser cannot use the address', async () => {
    const other = await browser.createBrowserContext()
    const response = await (await other.newPage()).goto(server.url)
    expect(response?.status()).toBe(401)
    await other.close()
  })
})

test('the executable serves a fleet, and Ctrl-C ends it', async () => {
  const cluster = (name: string): string => `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: ${name}, fleet: ../../fleet.yml }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
`
  const fleet = `apiVersion: hyperkube.dev/v1
kind: Fleet
metadata: { name: retail }
spec: { clusters: [clusters/*/cluster.yml] }
`
  await writeFile(join(directory, 'fleet.yml'), fleet)
  for (const name of ['berlin', 'bonn']) {
    await mkdir(join(directory, 'clusters', name), { recursive: true })
    await writeFile(join(directory, 'clusters', name, 'cluster.yml'), cluster(name))
  }
  const program = spawn(inject('executable'), ['ui'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [first]: unknown[] = await once(program.stdout, 'data')
    const { page, errors } = await openPage(browser)
    await page.goto(String(first).trim())
    await page.waitForSelector('table.clusters')
    const text = String(await page.evaluate("document.querySelector('main').innerText"))
    expect(text).toContain('berlin')
    expect(text).toContain('cluster.identity does not exist')
    expect(errors).toEqual([])
    program.kill('SIGINT')
    const [code]: unknown[] = await once(program, 'exit')
    expect(code).toBe(130)
  } finally {
    program.kill('SIGKILL')
  }
})
