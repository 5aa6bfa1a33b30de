import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, hostname, totalmem } from 'node:os'
import { join, win32 } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildEngine } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { installWine } from '../../lab/prerequisites.ts'
import { type Report, terminalReport } from '../../lab/report.ts'
import { bundleInWine, executableInWine } from '../../lab/wine/executable.ts'
import {
  checkFlags,
  type FlagCheck,
  type GoProgram,
  putStandIn,
  tryPrograms,
} from '../../lab/wine/go-programs.ts'
import { nodeForWindows, nodeVersion } from '../../lab/wine/node-for-windows.ts'
import { standInName } from '../../lab/wine/prng-library.ts'
import { newWine, type Wine } from '../../lab/wine/wine.ts'
import { bareFactsFormat } from '../../src/contract/basic-facts.ts'
import { hostAnswerFormat } from '../../src/contract/host-call.ts'
import type { Argv } from '../../src/kit/command.ts'
import { goldenComponent, goldenPlan, layOut } from '../support/wine-layout.ts'
import { type Shown, wineText } from '../support/wine-evidence.ts'

const root = join(import.meta.dirname, '../..')
const spooler = String.raw`C:\windows\system32\spoolsv.exe`

let report: Report
let wine: Wine
let hyperkube: string
let driver: Argv
const shown: Shown[] = []
const unanswered = new Set<string>()
const programs: GoProgram[] = []
const flags: FlagCheck[] = []
/** Why the kubelet went no further. */
let ended = ''

beforeAll(async () => {
  report = terminalReport()
  await installWine(report)
  const node = await nodeForWindows(cacheDirectory(), report)
  wine = await newWine()
  hyperkube = await executableInWine(wine, node)
  driver = await bundleInWine(wine, node, 'test/support/wine-driver.ts')
}, 900_000)
afterEach(({ task }) => void shown.push({ what: task.name, well: task.result?.state !== 'fail' }))
afterAll(async () => {
  try {
    const [version = ''] = (await wine.run([hyperkube, 'version'])).stdout.split(/\r?\n/)
    const evidence = {
      date: new Date(),
      wine: wine.version,
      node: nodeVersion,
      hyperkube: version,
      shown,
      unanswered: [...unanswered].toSorted(),
      programs,
      flags,
      standIn: standInName,
      kubelet: ended,
    }
    await writeFile(join(root, 'docs/evidence/wine.md'), wineText(evidence))
  } finally {
    await wine?.[Symbol.asyncDispose]()
  }
}, 120_000)

async function ask(request: object): Promise<unknown> {
  const { stdout } = await wine.run(driver, { input: JSON.stringify(request) })
  return JSON.parse(stdout)
}

/** What our program answers when it is called over ssh. */
async function call(
  wish: object,
): Promise<readonly z.infer<typeof hostAnswerFormat.newest.schema>['answer'][]> {
  const head = { apiVersion: 'hyperkube.dev/v1', kind: 'HostCall', base: String.raw`C:\hyperkube` }
  const input = `${JSON.stringify({ ...head, ask: wish })}\n`
  const { stdout } = await wine.run([hyperkube, 'host-call'], { input })
  const lines = stdout.trim().split(/\r?\n/)
  return lines.map((line) => hostAnswerFormat.newest.schema.parse(JSON.parse(line)).answer)
}

/** As it is in a plan, with a program of Wine that is a service and needs nothing. */
function service(name: string, more: object = {}): object {
  return {
    supervisor: 'scm',
    name,
    description: `of no use: ${name} "in quotes", Grüße`,
    program: spooler,
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
    arguments: ['--name=a b', String.raw`C:\with blanks\ "`, 'Grüße'],
    environment: { NODE_NAME: 'nt1', HTTPS_PROXY: String.raw`http://user:p"ss\w0rd@proxy:3128` },
    dependsOn: ['hk-one'],
  })
  await ask({ ask: 'put', services: [service('hk-one'), two] })
  expect(await ask({ ask: 'list', names: ['hk-one', 'hk-two', 'hk-none'] })).toMatchObject([
    { name: 'hk-one', state: 'Stopped', startMode: 'Auto', processId: 0, dependsOn: [], environment: [] },
    {
      name: 'hk-two',
      description: 'of no use: hk-two "in quotes", Grüße',
      commandLine: String.raw`"${spooler}" "--name=a b" "C:\with blanks\ \"" Grüße`,
      dependsOn: ['hk-one'],
      environment: ['NODE_NAME=nt1', String.raw`HTTPS_PROXY=http://user:p"ss\w0rd@proxy:3128`],
    },
  ])
  await ask({ ask: 'put', services: [service('hk-two', { description: 'another' })] })
  expect(await ask({ ask: 'list', names: ['hk-two'] })).toMatchObject([
    { description: 'another', commandLine: `"${spooler}"`, dependsOn: [], environment: [] },
  ])
  for (const name of ['hk-one', 'hk-two', 'hk-one']) await ask({ ask: 'remove', name })
  expect(await ask({ ask: 'list', names: ['hk-one', 'hk-two'] })).toEqual([])
})

test('a service starts, is another process after a restart, and stops', async () => {
  const show = async (): Promise<unknown> => ask({ ask: 'show', name: 'hk-runs' })
  await ask({ ask: 'put', services: [service('hk-runs')] })
  expect(await show()).toMatchObject({ load: 'loaded', active: 'inactive', enabled: true, pid: 0 })
  await ask({ ask: 'start', name: 'hk-runs' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'active', sub: 'running' })
  const first = await show()
  await ask({ ask: 'restart', name: 'hk-runs' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'active' })
  expect(await show()).not.toEqual(first)
  await ask({ ask: 'stop', name: 'hk-runs' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'inactive', pid: 0 })
  await ask({ ask: 'remove', name: 'hk-runs' })
  expect(await show()).toMatchObject({ load: 'not-found' })
})

test('a service starts with the host', async () => {
  await ask({ ask: 'put', services: [service('hk-boots')] })
  await wine.reboot()
  const show = async (): Promise<unknown> => ask({ ask: 'show', name: 'hk-boots' })
  await expect
    .poll(show, { timeout: 60_000, interval: 1000 })
    .toMatchObject({ active: 'active', sub: 'running' })
  await ask({ ask: 'stop', name: 'hk-boots' })
  await ask({ ask: 'remove', name: 'hk-boots' })
})

test('a service is as the contract of all hosts wants it', async () => {
  const came = z.record(z.string(), z.string()).parse(await ask({ ask: 'contract' }))
  expect(came).toMatchObject({ 'a service is as it was put last, and goes': '' })
  for (const failure of Object.values(came)) {
    const operation = /^([a-z]+\.[a-z]+) was not answered: PowerShell ended by itself with 0/.exec(
      failure,
    )?.[1]
    if (operation !== undefined) unanswered.add(operation)
  }
})

test('facts are what needs no PowerShell, and the name of what could not be asked', async () => {
  await ask({ ask: 'put', services: [service('kubelet')] })
  const { code, stdout, stderr } = await wine.run([hyperkube, 'facts', '-o', 'json'], { allowFailure: true })
  await ask({ ask: 'remove', name: 'kubelet' })
  expect(code).not.toBe(0)
  const { system } = bareFactsFormat.newest.schema.parse(JSON.parse(stdout))
  expect(system).toMatchObject({
    ...{ os: 'windows', arch: 'amd64', cpus: availableParallelism(), hostname: hostname().toLowerCase() },
    disks: [{ path: 'C:\\' }],
    foreignServices: ['kubelet'],
  })
  expect(system.build).toBeGreaterThan(0)
  expect(system.memoryBytes / totalmem()).toBeCloseTo(1, 1)
  expect(stderr).toContain(
    'POWERSHELL_ENDED: system.describe was not answered: PowerShell ended by itself with 0',
  )
})

test('host-call tells of services, and of all else why not', async () => {
  expect(await call({ type: 'services', names: ['eventlog', 'kubelet'] })).toEqual([
    {
      type: 'services',
      services: [
        { name: 'eventlog', state: 'active', enabled: true },
        { name: 'kubelet', state: 'missing' },
      ],
    },
  ])
  const files = new Map(
    (await call({ type: 'inspect' })).map((one) => (one.type === 'file' ? [one.file, one.text] : ['', ''])),
  )
  expect(JSON.parse(files.get('services.json') ?? '')).toEqual([])
  expect(files.get('adapters.json')).toContain('adapters.list was not answered')
})

test('upstream’s programs need nothing that Windows Server 2022 lacks', async () => {
  await putStandIn(wine)
  for (const built of await buildEngine(selectParts(['windows']), { cache: cacheDirectory(), report })) {
    programs.push(...(await tryPrograms(wine, built)))
  }
  expect(programs.filter(({ foreign }) => foreign.length > 0)).toEqual([])
}, 7_200_000)

test('upstream’s host-local gives kube-proxy an address once, and takes it back', async () => {
  const plugins = win32.dirname(programs.find(({ name }) => name === 'host-local')?.path ?? '')
  const wish = { plugins, network: 'flannel.4096', subnet: '10.244.3.0/24' }
  expect(await ask({ ask: 'addresses', ...wish })).toEqual({
    before: null,
    taken: ['10.244.3.2', '10.244.3.2', '10.244.3.2'],
    after: null,
  })
})

test('upstream’s containerd takes the settings of a plan, opens its pipe, and tells of its images', async () => {
  const component = await goldenComponent('containerd')
  await layOut(wine, component, programs)
  // What finds nobody's session around itself is a service; here it finds one, and never tells the manager that it runs.
  const args = component.service.arguments.filter((one) => one !== '--run-service')
  const running = wine.run([component.service.program, ...args], { allowFailure: true, within: 60_000 })
  const ctr = programs.find(({ name }) => name === 'ctr')?.path ?? ''
  const asked = { ask: 'runtime', component, ctr, images: ['none'] }
  await expect
    .poll(async () => ask(asked), { timeout: 30_000 })
    .toEqual({ opened: ['npipe:////./pipe/containerd-containerd'], images: [] })
  expect((await wine.run([ctr, 'version'])).stdout).toMatch(/Server:\s+Version:\s+v2\.3\.7/)
  await wine.run(['taskkill.exe', '/F', '/IM', 'containerd.exe'])
  await running
})

test('upstream’s kube-proxy runs as the service that a plan makes of it', async () => {
  const component = await goldenComponent('kube-proxy')
  await layOut(wine, component, programs)
  const show = async (): Promise<unknown> => ask({ ask: 'show', name: 'kube-proxy' })
  await ask({ ask: 'put', services: [component.service] })
  await ask({ ask: 'start', name: 'kube-proxy' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'active', sub: 'running' })
  const log = wine.place(String.raw`C:\hyperkube\logs\kube-proxy.log`)
  await expect
    .poll(async () => readFile(log, 'utf8'), { timeout: 30_000, interval: 500 })
    .toContain('failed to list *v1.Node')
  await ask({ ask: 'stop', name: 'kube-proxy' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'inactive', pid: 0 })
  await ask({ ask: 'remove', name: 'kube-proxy' })
})

test('upstream’s kubelet takes the settings of a plan', async () => {
  const component = await goldenComponent('kubelet')
  await layOut(wine, component, programs)
  const args = component.service.arguments.filter((one) => !one.startsWith('--windows-service'))
  const { stdout, stderr } = await wine.run([component.service.program, ...args], { allowFailure: true })
  const said = stdout + stderr
  expect(said).toContain('"Effective KubeletConfiguration"')
  expect(said).not.toMatch(/strict decoding error|unknown field|failed to load kubelet config/)
  ended = /"command failed" err="(?<why>.*)"/.exec(said)?.groups?.['why'] ?? said.slice(-300)
})

test('upstream’s programs take the flags of a plan', async () => {
  const plan = await goldenPlan()
  const started = plan.components.flatMap(({ service: one }) =>
    one?.supervisor === 'scm' ? [one, ...(one.runner === undefined ? [] : [one.runner])] : [],
  )
  for (const { program, arguments: args } of started) {
    const found = programs.find(({ name }) => program.endsWith(`\\${name}.exe`))
    if (found !== undefined) flags.push(await checkFlags(wine, found, args))
  }
  const checked = new Set(flags.map(({ program }) => program))
  expect([...checked].toSorted()).toEqual([
    'containerd',
    'flanneld',
    'kube-log-runner',
    'kube-proxy',
    'kubelet',
  ])
  expect(flags.filter(({ missing }) => missing.length > 0)).toEqual([])
})
