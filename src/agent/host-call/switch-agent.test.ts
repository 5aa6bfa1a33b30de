import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type SimulatedWindows, simulatedWindows } from '../../../lab/windows/simulator/simulated-windows.ts'
import { advance } from '../../../lab/windows/simulator/time.ts'
import type { HostCall, HostCallBody, HostCallResponse } from '../../contract/host-call.ts'
import { scm } from '../../contract/service.ts'
import { buildWindowsPaths } from '../../contract/host-paths.ts'
import { runProgram } from '../../kit/command.ts'
import { createFakeDownloader } from '../host/testing/fake-downloader.ts'
import { handleHostCall } from './handle-host-call.ts'
import type { HostCallContext } from './host-call-context.ts'
import { rollBackAgent } from './switch-agent.ts'

const base = String.raw`C:\hyperkube`
const paths = buildWindowsPaths(base)
const callerGone = new AbortController().signal

let root: string
let downloads: Map<string, Uint8Array>
let wrapper: Extract<HostCallBody, { type: 'install' }>['artifact']

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'windows-'))
  await writeFile(join(root, 'shawl.exe'), 'a wrapper')
  await runProgram(['tar', '-czf', join(root, 'shawl.tgz'), '-C', root, 'shawl.exe'])
  const bytes = await readFile(join(root, 'shawl.tgz'))
  const url = 'https://mirror.example/shawl.zip'
  downloads = new Map([[url, bytes]])
  wrapper = {
    from: 'url',
    name: 'shawl',
    version: '1.9.0',
    url,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    directory: String.raw`C:\hyperkube\programs\shawl-1.9.0`,
    unpack: { kind: 'archive', strip: 0 },
  }
})
afterEach(async () => rm(root, { recursive: true, force: true }))

/** Opens the host from an uploaded program of the given version. */
async function openHost(version: string): Promise<SimulatedWindows & { readonly context: HostCallContext }> {
  const executable = join(root, `hyperkube-${version}.exe`)
  await writeFile(executable, `hyperkube ${version}`)
  const simulated = await simulatedWindows({
    root: join(root, 'host'),
    fetch: (toLocalPath) => createFakeDownloader(toLocalPath, downloads),
    version,
    executable,
    time: 'simulated',
  })
  const context: HostCallContext = {
    host: simulated.host,
    paths,
    arch: 'x64',
    readDiskUsage: async () => 0.5,
    callerGone,
  }
  return { ...simulated, context }
}

function service(name: string, version: string, command: string) {
  return scm.parse({
    supervisor: 'scm',
    name,
    description: `${name} of a test`,
    program: paths.program(version),
    arguments: [command, `--base-directory=${base}`],
    environment: {},
    native: false,
    runner: { program: String.raw`C:\hyperkube\programs\shawl-1.9.0\shawl.exe`, arguments: ['run', '--'] },
    dependsOn: [],
    restartAfter: [2000, 5000, 15_000],
  })
}

async function call(context: HostCallContext, body: HostCallBody): Promise<HostCallResponse['body'][]> {
  const text = JSON.stringify({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'HostCall',
    base,
    body,
  } satisfies HostCall)
  const lines = await Array.fromAsync(handleHostCall(text, () => context))
  return lines.map((line) => {
    const document: HostCallResponse = JSON.parse(line)
    return document.body
  })
}

function buildInstall(version: string, sha256 = computeSha256(version)): HostCallBody {
  return {
    type: 'install',
    version,
    sha256,
    artifact: wrapper,
    service: service('hyperkube-agent', version, 'agent'),
    rollback: service('hyperkube-revert', version, 'agent-revert'),
  }
}

function computeSha256(version: string): string {
  return createHash('sha256').update(`hyperkube ${version}`).digest('hex')
}

/** Installs a version on the host as its confirmed agent. */
async function installed(version: string): Promise<void> {
  const windows = await openHost(version)
  expect(await call(windows.context, buildInstall(version))).toEqual([
    { type: 'installed', provisional: false },
  ])
  await windows.save()
}

test('an empty host gets the agent, its service wrapper and a directory with restricted access', async () => {
  const { context, host, machine } = await openHost('0.1.0')
  expect(await call(context, { type: 'status' })).toMatchObject([{ running: false, administrator: true }])
  expect(await call(context, buildInstall('0.1.0'))).toEqual([{ type: 'installed', provisional: false }])
  expect(await call(context, { type: 'status' })).toMatchObject([
    { version: '0.1.0', running: true, provisional: false },
  ])
  expect(machine.services.get('hyperkube-agent')?.commandLine).toBe(
    String.raw`"C:\hyperkube\programs\shawl-1.9.0\shawl.exe" run -- C:\hyperkube\programs\hyperkube-0.1.0\hyperkube.exe agent --base-directory=C:\hyperkube`,
  )
  expect((await host.files.stat(base))?.mode).toBe(0o700)
  expect(machine.services.has('hyperkube-revert')).toBe(false)
})

test('the service wrapper may be uploaded beside the program, for a host without downloads', async () => {
  const bytes = [...downloads.values()][0] ?? Buffer.alloc(0)
  downloads.clear()
  const { context, host, machine } = await openHost('0.1.0')
  const install = { ...buildInstall('0.1.0'), beside: 'shawl-1.9.0' }
  await writeFile(join(root, 'shawl-1.9.0'), 'another')
  expect(await call(context, install)).toMatchObject([{ type: 'refused', code: 'UPLOAD_NOT_WHOLE' }])
  expect(machine.services.has('hyperkube-agent')).toBe(false)
  await writeFile(join(root, 'shawl-1.9.0'), bytes)
  expect(await call(context, install)).toEqual([{ type: 'installed', provisional: false }])
  expect(await host.files.list(String.raw`C:\hyperkube\state\agent\delivered\files`)).toEqual([])
})

test('a program with a wrong digest is refused and changes nothing', async () => {
  const { context, machine } = await openHost('0.1.0')
  expect(await call(context, buildInstall('0.1.0', 'f'.repeat(64)))).toMatchObject([
    { type: 'refused', code: 'UPLOAD_NOT_WHOLE' },
  ])
  expect(machine.services.has('hyperkube-agent')).toBe(false)
})

test('a new agent is provisional until it is confirmed', async () => {
  await installed('0.1.0')
  const { context, machine } = await openHost('0.2.0')
  expect(await call(context, buildInstall('0.2.0'))).toEqual([{ type: 'installed', provisional: true }])
  const revert = machine.services.get('hyperkube-revert')
  // The previous program performs the rollback, because the new one may be broken.
  expect([revert?.state, revert?.commandLine.includes('hyperkube-0.1.0')]).toEqual(['Running', true])
  expect(await call(context, { type: 'keep' })).toEqual([{ type: 'done' }])
  expect(await call(context, { type: 'status' })).toMatchObject([{ version: '0.2.0', provisional: false }])
  expect(machine.services.has('hyperkube-revert')).toBe(false)
  // The new agent is confirmed, so a late rollback does nothing.
  await rollBackAgent(context)
  expect(await call(context, { type: 'status' })).toMatchObject([{ version: '0.2.0', running: true }])
})

test('an agent that is not confirmed is rolled back', async () => {
  await installed('0.1.0')
  const { context, machine, host } = await openHost('0.2.0')
  await call(context, buildInstall('0.2.0'))
  await rollBackAgent(context)
  expect(await call(context, { type: 'status' })).toMatchObject([
    { version: '0.1.0', running: true, provisional: false },
  ])
  expect(machine.services.get('hyperkube-agent')?.commandLine).toContain('hyperkube-0.1.0')
  // Windows removes the rollback service when its own process ends.
  await host.operations.services.stop({ name: 'hyperkube-revert' })
  advance(machine, 10_000)
  expect(machine.services.has('hyperkube-revert')).toBe(false)
})

test('an install interrupted at any point leaves the previous agent, or the new one with its rollback service', async () => {
  await installed('0.1.0')
  const { changes, context: whole } = await openHost('0.2.0')
  await call(whole, buildInstall('0.2.0'))
  const amount = changes.length
  expect(amount).toBeGreaterThan(3)
  for (let cut = 0; cut < amount; cut++) {
    await rm(join(root, 'host'), { recursive: true })
    await mkdir(dirname(join(root, 'host')), { recursive: true })
    await installed('0.1.0')
    const { context, machine, faults } = await openHost('0.2.0')
    let left = cut
    faults.length = 0
    const { operations } = context.host
    const interrupted: HostCallContext = {
      ...context,
      host: { ...context.host, operations: interruptOperations(operations, () => left-- <= 0) },
    }
    await call(interrupted, buildInstall('0.2.0'))
    advance(machine, 10_000)
    const [status] = await call(context, { type: 'status' })
    const isNewAgent =
      machine.services.get('hyperkube-agent')?.commandLine.includes('hyperkube-0.2.0') === true
    const willRollBack = machine.services.has('hyperkube-revert')
    const isPreviousAgent = status?.type === 'status' && status.version === '0.1.0'
    expect([cut, isNewAgent ? willRollBack : isPreviousAgent]).toEqual([cut, true])
    // The next install completes the interrupted switch.
    expect(await call(context, buildInstall('0.2.0'))).toEqual([{ type: 'installed', provisional: true }])
  }
})

type Operations = HostCallContext['host']['operations']

/** Returns operations that fail while `isInterrupted` returns true, as if the caller had crashed. */
function interruptOperations(operations: Operations, isInterrupted: () => boolean): Operations {
  const { services } = operations
  const unlessInterrupted = async <T>(act: () => Promise<T>): Promise<T> => {
    if (isInterrupted()) throw new Error('cut')
    return act()
  }
  return {
    ...operations,
    services: {
      ...services,
      put: async (input) => unlessInterrupted(async () => services.put(input)),
      start: async (input) => unlessInterrupted(async () => services.start(input)),
      stop: async (input) => unlessInterrupted(async () => services.stop(input)),
    },
  }
}

test('an upload gets its final name only if it is correct', async () => {
  await installed('0.1.0')
  const { context, toLocalPath } = await openHost('0.1.0')
  const [deliveries] = await call(context, { type: 'uploads', folders: ['files'] })
  expect(deliveries).toEqual({ type: 'uploads', files: [] })
  const target = String.raw`C:\hyperkube\state\agent\delivered\files\x`
  const temporary = String.raw`C:\hyperkube\state\agent\delivered\files\.x.hyperkube-upload`
  await writeFile(toLocalPath(temporary), 'abc')
  const sha256 = createHash('sha256').update('abc').digest('hex')
  const acceptUpload: HostCallBody = { type: 'take', temporary, target, size: 3, sha256 }
  expect(await call(context, { ...acceptUpload, size: 4 })).toMatchObject([{ code: 'UPLOAD_NOT_WHOLE' }])
  await writeFile(toLocalPath(temporary), 'abc')
  expect(await call(context, acceptUpload)).toEqual([{ type: 'done' }])
  expect(await call(context, { type: 'uploads', folders: ['files'] })).toEqual([
    { type: 'uploads', files: [{ path: 'files/x', size: 3 }] },
  ])
  const outside = { ...acceptUpload, target: String.raw`C:\Windows\System32\x` }
  expect(await call(context, outside)).toMatchObject([{ type: 'refused', code: 'UPLOAD_FAILED' }])
})

test('services, missing programs and logs are reported without an agent', async () => {
  await installed('0.1.0')
  const { context, toLocalPath, machine } = await openHost('0.1.0')
  expect(await call(context, { type: 'services', names: ['hyperkube-agent', 'kubelet'] })).toEqual([
    {
      type: 'services',
      version: '0.1.0',
      services: [
        { name: 'hyperkube-agent', state: 'active', enabled: true },
        { name: 'kubelet', state: 'missing' },
      ],
    },
  ])
  machine.processes.clear()
  await rm(toLocalPath(paths.program('0.1.0')))
  expect(
    await call(
      { ...context, readDiskUsage: async () => 0.99 },
      { type: 'disk-state', names: ['hyperkube-agent'] },
    ),
  ).toEqual([
    {
      type: 'disk-state',
      disks: [{ mounted: 'C:\\', usedShare: 0.99 }],
      programs: [{ service: 'hyperkube-agent', path: paths.program('0.1.0') }],
    },
  ])
  await mkdir(toLocalPath(paths.logs), { recursive: true })
  const klog =
    'E0101 00:00:01.000000 1 x.go:1] it fails\r\n  as expected\r\nI0101 00:00:02.000000 1 x.go:2] ü\r\n'
  await writeFile(toLocalPath(`${paths.logs}\\kubelet.log`), klog)
  const logLines = await call(context, { type: 'logs', names: ['kubelet'], lines: 2, follow: false })
  expect(logLines).toMatchObject([
    { type: 'line', component: 'kubelet', priority: 6, message: '  as expected' },
    { type: 'line', priority: 6, message: 'I0101 00:00:02.000000 1 x.go:2] ü' },
    { type: 'done' },
  ])
  const files = await call(context, { type: 'inspect' })
  expect(files.map((response) => (response.type === 'file' ? response.file : response.type))).toContain(
    'networks.json',
  )
})
