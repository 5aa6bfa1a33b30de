import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import { listAccessibilityProblems, openPage, startBrowser } from '../support/ui/browser.ts'

/** Screenshots of all pages, for a person to check. */
const screenshots = join(import.meta.dirname, '../../dist/ui-screenshots/lab')
const clusterNow = setUpCluster('ui', '1+1', '1.37.1')

const stack = new AsyncDisposableStack()
let browser: Browser
let page: Page
let errors: readonly string[]
beforeAll(async () => {
  const { directory } = clusterNow()
  await mkdir(screenshots, { recursive: true })
  browser = await startBrowser()
  stack.defer(async () => browser.close())
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
  const program = spawn(
    inject('executable'),
    ['ui', '--allow-changes', '-f', join(directory, 'cluster.yml')],
    {
      ...{ env, stdio: ['ignore', 'pipe', 'inherit'] },
    },
  )
  stack.defer(() => void program.kill('SIGKILL'))
  const [first]: unknown[] = await once(program.stdout, 'data')
  ;({ page, errors } = await openPage(browser))
  await page.setViewport({ width: 1280, height: 1400 })
  await page.goto(String(first).trim())
  // The agent does not heal the kubelet, because it does not run.
  await getHost('w1').script('systemctl stop hyperkube-agent kubelet')
})
afterAll(async () => stack.disposeAsync())

function getHost(name: string): Host {
  const found = clusterNow().hosts.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** Opens a page, waits for its data, and returns its text. Expects no serious finding of axe-core. */
async function readPage(name: string, hash: string, selector: string): Promise<string> {
  await page.goto(new URL(hash, page.url()).href)
  await page.waitForSelector(selector, { timeout: 120_000 })
  await page.screenshot({ path: join(screenshots, `${name}.png`) })
  expect(await listAccessibilityProblems(page), name).toEqual([])
  return String(await page.evaluate("document.querySelector('main').innerText"))
}

/** Waits for a condition in the page. If it does not occur, the error contains the text of the page. */
async function waitFor(condition: string, timeout: number): Promise<void> {
  await page.waitForFunction(condition, { timeout }).catch(async (cause: unknown) => {
    const text = String(await page.evaluate("document.querySelector('main').innerText"))
    throw new Error(`${condition} did not occur: ${text}`, { cause })
  })
}

test('the overview explains the stopped kubelet, and names the command to type', async () => {
  await page.waitForSelector('article', { timeout: 120_000 })
  const text = await readPage('overview', '#/lab', 'article')
  expect(text).toContain('w1')
  expect(text).toMatch(/kubelet/)
  const commands: unknown = await page.evaluate(
    "[...document.querySelectorAll('article .command')].map((one) => one.textContent)",
  )
  expect(commands).toEqual(expect.arrayContaining([expect.stringMatching(/^hyperkube .*--file /)]))
  const [first]: unknown[] = [
    await page.evaluate("document.querySelector('table.grid tbody th').textContent"),
  ]
  // The host with the most problems is first.
  expect(first).toBe('w1')
})

test('the plan has the change of cluster.yml as a diff', async () => {
  await clusterNow().operator.edit((document) =>
    document.setIn(['spec', 'components', 'kubelet', 'maxPods'], 120),
  )
  const text = await readPage('plan', '#/lab/plan', 'details')
  await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
  expect(text).toContain('cp1')
  expect(String(await page.evaluate("document.querySelector('main').textContent"))).toContain('maxPods: 120')
})

test('etcd, certificates and logs are those of the hosts', async () => {
  expect(await readPage('etcd', '#/lab/etcd', 'meter')).toContain('cp1')
  expect(await readPage('certificates', '#/lab/certificates', 'progress')).toContain('apiserver')
  const logs = await readPage('logs', '#/lab/logs/component%3Dkubelet%26since%3D1h%26host%3Dw1', 'table.logs')
  expect(logs).toContain('kubelet')
  const sources = await page.evaluate(
    "[...new Set([...document.querySelectorAll('table.logs tbody tr')].map(({ cells }) => `${cells[1].textContent} ${cells[2].textContent}`))]",
  )
  expect(sources).toEqual(['w1 kubelet'])
})

test(
  'the plan is applied from its page, and its run is shown until the end',
  { timeout: 600_000 },
  async () => {
    await getHost('w1').script('systemctl start hyperkube-agent kubelet')
    await page.goto(new URL('#/lab/plan', page.url()).href)
    await page.click('.title button')
    await waitFor(
      "!document.querySelector('.title button').disabled && document.querySelector('input[name=confirm]') !== null",
      120_000,
    )
    const plan = String(await page.evaluate("document.querySelector('main').innerText"))
    expect(plan).not.toContain('ROLLOUT_WORKER_SKIPPED')
    await page.type('input[name=confirm]', 'lab')
    await page.keyboard.press('Enter')
    await waitFor("location.hash.startsWith('#/lab/runs/')", 60_000)
    const hash = new URL(page.url()).hash
    const live = await readPage('run-live', hash, 'main strong')
    expect(live).toContain('no end recorded')
    await waitFor("document.querySelector('main .badge').textContent === 'done'", 300_000)
    const text = await readPage('run', hash, 'table.timeline')
    expect(text).toContain('kubelet on cp1')
    expect(text).toContain('kubelet on w1')
    expect(text).not.toContain('not ended')
    expect((await clusterNow().operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
  },
)

test('no response had a secret, and the browser reported no error', async () => {
  expect(errors).toEqual([])
  const html = String(await page.evaluate('document.documentElement.outerHTML'))
  expect(html).not.toContain('PRIVATE KEY')
})
