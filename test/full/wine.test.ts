import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { installWine } from '../../lab/prerequisites.ts'
import { terminalReport } from '../../lab/report.ts'
import { executableInWine } from '../../lab/wine/executable.ts'
import { nodeForWindows } from '../../lab/wine/node-for-windows.ts'
import { newWine, type Wine } from '../../lab/wine/wine.ts'

let wine: Wine
let hyperkube: string
let driver: string

beforeAll(async () => {
  const report = terminalReport()
  await installWine(report)
  const node = await nodeForWindows(cacheDirectory(), report)
  wine = await newWine()
  hyperkube = await executableInWine(wine, node, { name: 'hyperkube', entry: 'src/main.ts' })
  driver = await executableInWine(wine, node, { name: 'driver', entry: 'test/support/wine-driver.ts' })
}, 900_000)
afterAll(async () => wine?.[Symbol.asyncDispose]())

async function ask(request: object): Promise<unknown> {
  const { stdout } = await wine.run([driver], { input: JSON.stringify(request) })
  return JSON.parse(stdout)
}

/** As it is in a plan, with the one program of Wine that is a service and does nothing. */
function service(name: string, more: object = {}): object {
  return {
    supervisor: 'scm',
    name,
    description: `of no use: ${name} "in quotes", Grüße`,
    program: String.raw`C:\windows\system32\spoolsv.exe`,
    arguments: [],
    environment: {},
    native: true,
    dependsOn: [],
    restartAfter: [2000, 5000, 15_000],
    ...more,
  }
}

test('hyperkube.exe says its version', async () => {
  expect((await wine.run([hyperkube, 'version'])).stdout).toMatch(/^hyperkube \d+\.\d+\.\d+/)
})

test('services are made, told of as they were made, changed and removed', async () => {
  const two = service('hk-two', {
    arguments: ['--name=a b', String.raw`C:\with blanks\ ` + '"', 'Grüße'],
    environment: { NODE_NAME: 'nt1', HTTPS_PROXY: 'http://user:p"ss\\w0rd@proxy:3128' },
    dependsOn: ['hk-one'],
  })
  await ask({ ask: 'put', services: [service('hk-one'), two] })
  const before = await ask({ ask: 'list', names: ['hk-one', 'hk-two', 'hk-none'] })
  expect(before).toMatchObject([
    { name: 'hk-one', state: 'Stopped', startMode: 'Auto', processId: 0, dependsOn: [], environment: [] },
    {
      name: 'hk-two',
      description: 'of no use: hk-two "in quotes", Grüße',
      commandLine: String.raw`"C:\windows\system32\spoolsv.exe" "--name=a b" "C:\with blanks\ \"" Grüße`,
      dependsOn: ['hk-one'],
      environment: ['NODE_NAME=nt1', 'HTTPS_PROXY=http://user:p"ss\\w0rd@proxy:3128'],
    },
  ])
  await ask({ ask: 'put', services: [service('hk-two', { description: 'another' })] })
  expect(await ask({ ask: 'list', names: ['hk-two'] })).toMatchObject([
    {
      description: 'another',
      commandLine: String.raw`"C:\windows\system32\spoolsv.exe"`,
      dependsOn: [],
      environment: [],
    },
  ])
  for (const name of ['hk-one', 'hk-two', 'hk-one']) await ask({ ask: 'remove', name })
  expect(await ask({ ask: 'list', names: ['hk-one', 'hk-two'] })).toEqual([])
})

test('a service starts, is another process after a restart, and stops', async () => {
  await ask({ ask: 'put', services: [service('hk-runs')] })
  expect(await ask({ ask: 'show', name: 'hk-runs' })).toMatchObject({
    load: 'loaded',
    active: 'inactive',
    enabled: true,
  })
  await ask({ ask: 'start', name: 'hk-runs' })
  const first = await ask({ ask: 'show', name: 'hk-runs' })
  expect(first).toMatchObject({
    active: 'active',
    sub: 'running',
    invocation: expect.stringMatching(/^[1-9]/),
  })
  await ask({ ask: 'restart', name: 'hk-runs' })
  const second = await ask({ ask: 'show', name: 'hk-runs' })
  expect(second).toMatchObject({ active: 'active' })
  expect(second).not.toEqual(first)
  await ask({ ask: 'stop', name: 'hk-runs' })
  await expect
    .poll(async () => ask({ ask: 'show', name: 'hk-runs' }), { timeout: 30_000 })
    .toMatchObject({ active: 'inactive', pid: 0 })
  await ask({ ask: 'remove', name: 'hk-runs' })
  expect(await ask({ ask: 'show', name: 'hk-runs' })).toMatchObject({ load: 'not-found' })
})

test('a service is as the contract of all hosts wants it', async () => {
  expect(await ask({ ask: 'contract' })).toMatchObject({ 'a service is as it was put last, and goes': '' })
})
