import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, hostname, totalmem } from 'node:os'
import { join, win32 } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { installWine } from '../../lab/prerequisites.ts'
import { type Report, terminalReport } from '../../lab/report.ts'
import { buildExecutableInWine, bundleInWine } from '../../lab/wine/executable.ts'
import {
  checkFlags,
  type FlagCheck,
  type GoProgram,
  installPrngLibrary,
  tryGoPrograms,
} from '../../lab/wine/go-programs.ts'
import { fetchWindowsNode, nodeVersion } from '../../lab/wine/node-for-windows.ts'
import { prngLibraryName } from '../../lab/wine/prng-library.ts'
import { createWine, type Wine } from '../../lab/wine/wine.ts'
import { renderDerived } from '../../src/agent/resources/derived-file.ts'
import type { ComponentPlan } from '../../src/contract/component-plan.ts'
import { basicFactsFormat } from '../../src/contract/facts.ts'
import { hostCallResponseFormat } from '../../src/contract/host-call.ts'
import { type NodePlan, nodePlanFormat } from '../../src/contract/node-plan.ts'
import type { scm } from '../../src/contract/service.ts'
import type { Argv } from '../../src/kit/command.ts'
import { createTestCa } from '../../src/kit/testing/test-ca.ts'
import { type CheckResult, formatWineEvidence } from '../support/wine-evidence.ts'

const root = join(import.meta.dirname, '../..')
const spooler = String.raw`C:\windows\system32\spoolsv.exe`

let report: Report
let wine: Wine
let hyperkube: string
let driver: Argv
const shown: CheckResult[] = []
const unanswered = new Set<string>()
const programs: GoProgram[] = []
const flags: FlagCheck[] = []
/** The error with which the kubelet exited. */
let kubeletError = ''

beforeAll(async () => {
  report = terminalReport()
  await installWine(report)
  const node = await fetchWindowsNode(cacheDirectory(), report)
  wine = await createWine()
  hyperkube = await buildExecutableInWine(wine, node)
  driver = await bundleInWine(wine, node, 'test/support/wine-driver.ts')
}, 900_000)
afterEach(({ task }) => void shown.push({ what: task.name, passed: task.result?.state !== 'fail' }))
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
      standIn: prngLibraryName,
      kubelet: kubeletError,
    }
    await writeFile(join(root, 'docs/evidence/wine.md'), formatWineEvidence(evidence))
  } finally {
    await wine?.[Symbol.asyncDispose]()
  }
}, 120_000)

async function callDriver(request: object): Promise<unknown> {
  const { stdout } = await wine.run(driver, { input: JSON.stringify(request) })
  return JSON.parse(stdout)
}

/** Runs hyperkube's `host-call` command, as an operator does over ssh, and returns its responses. */
async function callHost(
  spec: object,
): Promise<readonly z.infer<typeof hostCallResponseFormat.newest.schema>['body'][]> {
  const head = { apiVersion: 'hyperkube.dev/v1', kind: 'HostCall', base: String.raw`C:\hyperkube` }
  const input = `${JSON.stringify({ ...head, body: spec })}\n`
  const { stdout } = await wine.run([hyperkube, 'host-call'], { input })
  const lines = stdout.trim().split(/\r?\n/)
  return lines.map((line) => hostCallResponseFormat.newest.schema.parse(JSON.parse(line)).body)
}

/** Builds a service spec. Its program is a service of Wine that needs no other service. */
function service(name: string, overrides: object = {}): object {
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
    ...overrides,
  }
}

test('hyperkube.exe prints its version', async () => {
  expect((await wine.run([hyperkube, 'version'])).stdout).toMatch(/^hyperkube \d+\.\d+\.\d+/)
})

test('services are created, listed with their settings, changed and removed', async () => {
  const two = service('hk-two', {
    arguments: ['--name=a b', String.raw`C:\with blanks\ "`, 'Grüße'],
    environment: { NODE_NAME: 'nt1', HTTPS_PROXY: String.raw`http://user:p"ss\w0rd@proxy:3128` },
    dependsOn: ['hk-one'],
  })
  await callDriver({ action: 'put', services: [service('hk-one'), two] })
  expect(await callDriver({ action: 'list', names: ['hk-one', 'hk-two', 'hk-none'] })).toMatchObject([
    { name: 'hk-one', state: 'Stopped', startMode: 'Auto', processId: 0, dependsOn: [], environment: [] },
    {
      name: 'hk-two',
      description: 'of no use: hk-two "in quotes", Grüße',
      commandLine: String.raw`"${spooler}" "--name=a b" "C:\with blanks\ \"" Grüße`,
      dependsOn: ['hk-one'],
      environment: ['NODE_NAME=nt1', String.raw`HTTPS_PROXY=http://user:p"ss\w0rd@proxy:3128`],
    },
  ])
  await callDriver({ action: 'put', services: [service('hk-two', { description: 'another' })] })
  expect(await callDriver({ action: 'list', names: ['hk-two'] })).toMatchObject([
    { description: 'another', commandLine: `"${spooler}"`, dependsOn: [], environment: [] },
  ])
  for (const name of ['hk-one', 'hk-two', 'hk-one']) await callDriver({ action: 'remove', name })
  expect(await callDriver({ action: 'list', names: ['hk-one', 'hk-two'] })).toEqual([])
})

test('a service starts, has a new process after a restart, and stops', async () => {
  const show = async (): Promise<unknown> => callDriver({ action: 'show', name: 'hk-runs' })
  await callDriver({ action: 'put', services: [service('hk-runs')] })
  expect(await show()).toMatchObject({ load: 'loaded', active: 'inactive', enabled: true, pid: 0 })
  await callDriver({ action: 'start', name: 'hk-runs' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'active', sub: 'running' })
  const first = await show()
  await callDriver({ action: 'restart', name: 'hk-runs' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'active' })
  expect(await show()).not.toEqual(first)
  await callDriver({ action: 'stop', name: 'hk-runs' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'inactive', pid: 0 })
  await callDriver({ action: 'remove', name: 'hk-runs' })
  expect(await show()).toMatchObject({ load: 'not-found' })
})

test('a service starts at boot', async () => {
  await callDriver({ action: 'put', services: [service('hk-boots')] })
  await wine.reboot()
  const show = async (): Promise<unknown> => callDriver({ action: 'show', name: 'hk-boots' })
  await expect
    .poll(show, { timeout: 60_000, interval: 1000 })
    .toMatchObject({ active: 'active', sub: 'running' })
  await callDriver({ action: 'stop', name: 'hk-boots' })
  await callDriver({ action: 'remove', name: 'hk-boots' })
})

test('the service check of the host contract passes', async () => {
  const results = z.record(z.string(), z.string()).parse(await callDriver({ action: 'contract' }))
  expect(results).toMatchObject({ 'a service has its last settings, and can be removed': '' })
  for (const failure of Object.values(results)) {
    const operation = /^([a-z]+\.[a-z]+) failed: PowerShell exited with 0/.exec(failure)?.[1]
    if (operation !== undefined) unanswered.add(operation)
  }
})

test('facts contain what needs no PowerShell, and name the failed operation', async () => {
  await callDriver({ action: 'put', services: [service('kubelet')] })
  const { code, stdout, stderr } = await wine.run([hyperkube, 'facts', '-o', 'json'], { allowFailure: true })
  await callDriver({ action: 'remove', name: 'kubelet' })
  expect(code).not.toBe(0)
  const { system } = basicFactsFormat.newest.schema.parse(JSON.parse(stdout))
  expect(system).toMatchObject({
    ...{ os: 'windows', arch: 'amd64', cpus: availableParallelism(), hostname: hostname().toLowerCase() },
    disks: [{ path: 'C:\\' }],
    foreignServices: ['kubelet'],
  })
  expect(system.build).toBeGreaterThan(0)
  expect(system.memoryBytes / totalmem()).toBeCloseTo(1, 1)
  expect(stderr).toContain('POWERSHELL_ENDED: system.describe failed: PowerShell exited with 0')
})

test('host-call reports services, and errors for operations without PowerShell', async () => {
  expect(await callHost({ type: 'services', names: ['eventlog', 'kubelet'] })).toEqual([
    {
      type: 'services',
      services: [
        { name: 'eventlog', state: 'active', enabled: true },
        { name: 'kubelet', state: 'missing' },
      ],
    },
  ])
  const files = new Map(
    (await callHost({ type: 'inspect' })).map((one) =>
      one.type === 'file' ? [one.file, one.text] : ['', ''],
    ),
  )
  expect(JSON.parse(files.get('services.json') ?? '')).toEqual([])
  expect(files.get('adapters.json')).toContain('adapters.list failed')
})

test('upstream programs load only libraries of Windows Server 2022', async () => {
  await installPrngLibrary(wine)
  for (const built of await buildComponents(selectParts(['windows']), { cache: cacheDirectory(), report })) {
    programs.push(...(await tryGoPrograms(wine, built)))
  }
  expect(programs.filter(({ foreign }) => foreign.length > 0)).toEqual([])
}, 7_200_000)

test('upstream host-local reserves one address for kube-proxy and releases it', async () => {
  const plugins = win32.dirname(programs.find(({ name }) => name === 'host-local')?.path ?? '')
  const spec = { plugins, network: 'flannel.4096', subnet: '10.244.3.0/24' }
  expect(await callDriver({ action: 'addresses', ...spec })).toEqual({
    before: null,
    reserved: ['10.244.3.2', '10.244.3.2', '10.244.3.2'],
    after: null,
  })
})

test('upstream containerd accepts the planned settings, opens its pipe and lists its images', async () => {
  const component = await readGoldenComponent('containerd')
  await installComponent(wine, component, programs)
  // Removes --run-service and starts containerd without the service manager. In Wine, services run in a user
  // session, so containerd does not detect that it is a service. With the flag, it would never report to the
  // service manager that it runs.
  const args = component.service.arguments.filter((one) => one !== '--run-service')
  const running = wine.run([component.service.program, ...args], { allowFailure: true, timeoutMs: 60_000 })
  const ctr = programs.find(({ name }) => name === 'ctr')?.path ?? ''
  const runtimeRequest = { action: 'runtime', component, ctr, images: ['none'] }
  await expect
    .poll(async () => callDriver(runtimeRequest), { timeout: 30_000 })
    .toEqual({ opened: ['npipe:////./pipe/containerd-containerd'], images: [] })
  expect((await wine.run([ctr, 'version'])).stdout).toMatch(/Server:\s+Version:\s+v2\.3\.7/)
  await wine.run(['taskkill.exe', '/F', '/IM', 'containerd.exe'])
  await running
})

test('upstream kube-proxy runs as the planned service', async () => {
  const component = await readGoldenComponent('kube-proxy')
  await installComponent(wine, component, programs)
  const show = async (): Promise<unknown> => callDriver({ action: 'show', name: 'kube-proxy' })
  await callDriver({ action: 'put', services: [component.service] })
  await callDriver({ action: 'start', name: 'kube-proxy' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'active', sub: 'running' })
  const log = wine.toLocalPath(String.raw`C:\hyperkube\logs\kube-proxy.log`)
  await expect
    .poll(async () => readFile(log, 'utf8'), { timeout: 30_000, interval: 500 })
    .toContain('failed to list *v1.Node')
  await callDriver({ action: 'stop', name: 'kube-proxy' })
  await expect.poll(show, { timeout: 30_000 }).toMatchObject({ active: 'inactive', pid: 0 })
  await callDriver({ action: 'remove', name: 'kube-proxy' })
})

test('upstream kubelet accepts the planned settings', async () => {
  const component = await readGoldenComponent('kubelet')
  await installComponent(wine, component, programs)
  const args = component.service.arguments.filter((one) => !one.startsWith('--windows-service'))
  const { stdout, stderr } = await wine.run([component.service.program, ...args], { allowFailure: true })
  const output = stdout + stderr
  expect(output).toContain('"Effective KubeletConfiguration"')
  expect(output).not.toMatch(/strict decoding error|unknown field|failed to load kubelet config/)
  kubeletError = /"command failed" err="(?<why>.*)"/.exec(output)?.groups?.['why'] ?? output.slice(-300)
})

test('upstream programs accept the planned flags', async () => {
  const plan = await readGoldenPlan()
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

/** A Windows component that runs as a service. */
type ServedComponent = ComponentPlan & { readonly service: z.infer<typeof scm> }

async function readGoldenPlan(): Promise<NodePlan> {
  const file = join(import.meta.dirname, '../../src/plan/testdata/windows/win1.yaml')
  return nodePlanFormat.newest.schema.parse(parse(await readFile(file, 'utf8')))
}

async function readGoldenComponent(name: string): Promise<ServedComponent> {
  const component = (await readGoldenPlan()).components.find((one) => one.name === name)
  if (component?.service?.supervisor !== 'scm') throw new Error(`the plan has no service ${name}`)
  return { ...component, service: component.service }
}

/**
 * Content of the file from which the templates of derived files get their values. On a real host flannel and
 * the agent provide this file.
 */
const derivedSource = 'SOURCE_VIP=10.244.3.2\nFLANNEL_SUBNET=10.244.3.1/24\n'

/**
 * Writes the directories, files, certificates and programs of a component according to its plan, without
 * access control lists.
 */
async function installComponent(
  { toLocalPath }: Pick<Wine, 'toLocalPath'>,
  component: ServedComponent,
  built: readonly GoProgram[],
): Promise<void> {
  const { directories, files, derivedFiles, certificates, service: spec } = component
  const ca = await createTestCa()
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(toLocalPath(win32.dirname(path)), { recursive: true })
    await writeFile(toLocalPath(path), text)
  }
  for (const { path } of [...directories, { path: String.raw`C:\hyperkube\logs` }])
    await mkdir(toLocalPath(path), { recursive: true })
  for (const { path, content } of files) {
    // The golden plan has a placeholder instead of a CA, so the real CA certificate is written.
    if (content.kind === 'text') await write(path, path.endsWith('ca.crt') ? ca.certificate : content.text)
  }
  for (const { path, template } of derivedFiles)
    await write(path, renderDerived(template, derivedSource) ?? '')
  for (const { certificateFile, keyFile, usages } of certificates) {
    const { certificate, privateKey } = usages.includes('server') ? ca.server : ca.client
    await write(certificateFile, certificate)
    await write(keyFile, privateKey)
  }
  for (const { program } of [spec, ...(spec.runner === undefined ? [] : [spec.runner])]) {
    const from = built.find(({ path }) => win32.basename(path) === win32.basename(program))
    if (from === undefined) throw new Error(`${program} was not built`)
    await mkdir(toLocalPath(win32.dirname(program)), { recursive: true })
    await copyFile(toLocalPath(from.path), toLocalPath(program))
  }
}
