import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HostAnswer, HostAsk } from '../../../contract/host-call.ts'
import { scm } from '../../../contract/service.ts'
import { windowsPlaces } from '../../../contract/windows-paths.ts'
import { run } from '../../../kit/command.ts'
import { memoryFetch } from '../../host/testing/fake-downloader.ts'
import {
  type SimulatedWindows,
  simulatedWindows,
} from '../../../../lab/windows/simulator/simulated-windows.ts'
import { advance } from '../../../../lab/windows/simulator/time.ts'
import { answerCall } from './handle-host-call.ts'
import type { CallScene } from './host-call-context.ts'
import { goBack } from './switch-agent.ts'

const base = String.raw`C:\hyperkube`
const places = windowsPlaces(base)
const gone = new AbortController().signal

let root: string
let world: Map<string, Uint8Array>
let wrapper: Extract<HostAsk, { type: 'install' }>['artifact']

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'windows-'))
  await writeFile(join(root, 'shawl.exe'), 'a wrapper')
  await run(['tar', '-czf', join(root, 'shawl.tgz'), '-C', root, 'shawl.exe'])
  const bytes = await readFile(join(root, 'shawl.tgz'))
  const url = 'https://mirror.example/shawl.zip'
  world = new Map([[url, bytes]])
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

/** The host as a program of a version finds it, which was brought to it. */
async function openAs(version: string): Promise<SimulatedWindows & { readonly scene: CallScene }> {
  const executable = join(root, `hyperkube-${version}.exe`)
  await writeFile(executable, `hyperkube ${version}`)
  const simulated = await simulatedWindows({
    root: join(root, 'host'),
    fetch: (place) => memoryFetch(place, world),
    version,
    executable,
    time: 'simulated',
  })
  const scene: CallScene = { host: simulated.host, places, arch: 'x64', used: async () => 0.5, gone }
  return { ...simulated, scene }
}

function service(name: string, version: string, word: string) {
  return scm.parse({
    supervisor: 'scm',
    name,
    description: `${name} of a test`,
    program: places.program(version),
    arguments: [word, `--base-directory=${base}`],
    environment: {},
    native: false,
    runner: { program: String.raw`C:\hyperkube\programs\shawl-1.9.0\shawl.exe`, arguments: ['run', '--'] },
    dependsOn: [],
    restartAfter: [2000, 5000, 15_000],
  })
}

async function call(scene: CallScene, ask: HostAsk): Promise<HostAnswer['answer'][]> {
  const text = JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'HostCall', base, ask })
  const lines = await Array.fromAsync(answerCall(text, () => scene))
  return lines.map((line) => JSON.parse(line).answer)
}

function installOf(version: string, sha256 = sha256Of(version)): HostAsk {
  return {
    type: 'install',
    version,
    sha256,
    artifact: wrapper,
    service: service('hyperkube-agent', version, 'agent'),
    revert: service('hyperkube-revert', version, 'agent-revert'),
  }
}

function sha256Of(version: string): string {
  return createHash('sha256').update(`hyperkube ${version}`).digest('hex')
}

/** A host with an agent of a version, which somebody has spoken with. */
async function installed(version: string): Promise<void> {
  const windows = await openAs(version)
  expect(await call(windows.scene, installOf(version))).toEqual([{ type: 'installed', onTrial: false }])
  await windows.save()
}

test('a host without anything gets its agent, its wrapper, and a closed directory', async () => {
  const { scene, host, machine } = await openAs('0.1.0')
  expect(await call(scene, { type: 'look' })).toMatchObject([{ running: false, administrator: true }])
  expect(await call(scene, installOf('0.1.0'))).toEqual([{ type: 'installed', onTrial: false }])
  expect(await call(scene, { type: 'look' })).toMatchObject([
    { version: '0.1.0', running: true, onTrial: false },
  ])
  expect(machine.services.get('hyperkube-agent')?.commandLine).toBe(
    String.raw`"C:\hyperkube\programs\shawl-1.9.0\shawl.exe" run -- C:\hyperkube\programs\hyperkube-0.1.0\hyperkube.exe agent --base-directory=C:\hyperkube`,
  )
  expect((await host.files.stat(base))?.mode).toBe(0o700)
  expect(machine.services.has('hyperkube-revert')).toBe(false)
})

test('what starts it may come beside the program, to a host that can fetch nothing', async () => {
  const bytes = [...world.values()][0] ?? Buffer.alloc(0)
  world.clear()
  const { scene, host, machine } = await openAs('0.1.0')
  const ask = { ...installOf('0.1.0'), beside: 'shawl-1.9.0' }
  await writeFile(join(root, 'shawl-1.9.0'), 'another')
  expect(await call(scene, ask)).toMatchObject([{ type: 'refused', code: 'UPLOAD_NOT_WHOLE' }])
  expect(machine.services.has('hyperkube-agent')).toBe(false)
  await writeFile(join(root, 'shawl-1.9.0'), bytes)
  expect(await call(scene, ask)).toEqual([{ type: 'installed', onTrial: false }])
  expect(await host.files.list(String.raw`C:\hyperkube\state\agent\delivered\files`)).toEqual([])
})

test('a program that is not what it should be changes nothing', async () => {
  const { scene, machine } = await openAs('0.1.0')
  expect(await call(scene, installOf('0.1.0', 'f'.repeat(64)))).toMatchObject([
    { type: 'refused', code: 'UPLOAD_NOT_WHOLE' },
  ])
  expect(machine.services.has('hyperkube-agent')).toBe(false)
})

test('another one is on trial until it is kept', async () => {
  await installed('0.1.0')
  const { scene, machine } = await openAs('0.2.0')
  expect(await call(scene, installOf('0.2.0'))).toEqual([{ type: 'installed', onTrial: true }])
  const revert = machine.services.get('hyperkube-revert')
  // By the former program: the new one may be what is broken.
  expect([revert?.state, revert?.commandLine.includes('hyperkube-0.1.0')]).toEqual(['Running', true])
  expect(await call(scene, { type: 'keep' })).toEqual([{ type: 'done' }])
  expect(await call(scene, { type: 'look' })).toMatchObject([{ version: '0.2.0', onTrial: false }])
  expect(machine.services.has('hyperkube-revert')).toBe(false)
  // Somebody has spoken with it: whoever is late does nothing.
  await goBack(scene)
  expect(await call(scene, { type: 'look' })).toMatchObject([{ version: '0.2.0', running: true }])
})

test('nobody has spoken with it: the former one comes back', async () => {
  await installed('0.1.0')
  const { scene, machine, host } = await openAs('0.2.0')
  await call(scene, installOf('0.2.0'))
  await goBack(scene)
  expect(await call(scene, { type: 'look' })).toMatchObject([
    { version: '0.1.0', running: true, onTrial: false },
  ])
  expect(machine.services.get('hyperkube-agent')?.commandLine).toContain('hyperkube-0.1.0')
  // It goes with its own process, which has nothing more to do.
  await host.operations.services.stop({ name: 'hyperkube-revert' })
  advance(machine, 10_000)
  expect(machine.services.has('hyperkube-revert')).toBe(false)
})

test('who is cut at any moment leaves the former agent, or the new one with who goes back', async () => {
  await installed('0.1.0')
  const { changes, scene: whole } = await openAs('0.2.0')
  await call(whole, installOf('0.2.0'))
  const amount = changes.length
  expect(amount).toBeGreaterThan(3)
  for (let cut = 0; cut < amount; cut++) {
    await rm(join(root, 'host'), { recursive: true })
    await mkdir(dirname(join(root, 'host')), { recursive: true })
    await installed('0.1.0')
    const { scene, machine, trouble } = await openAs('0.2.0')
    let left = cut
    trouble.length = 0
    const { operations } = scene.host
    const dying: CallScene = {
      ...scene,
      host: { ...scene.host, operations: mortal(operations, () => left-- <= 0) },
    }
    await call(dying, installOf('0.2.0'))
    advance(machine, 10_000)
    const [seen] = await call(scene, { type: 'look' })
    const isNew = machine.services.get('hyperkube-agent')?.commandLine.includes('hyperkube-0.2.0') === true
    const goesBack = machine.services.has('hyperkube-revert')
    const isFormer = seen?.type === 'look' && seen.version === '0.1.0'
    expect([cut, isNew ? goesBack : isFormer]).toEqual([cut, true])
    // The next one ends it.
    expect(await call(scene, installOf('0.2.0'))).toEqual([{ type: 'installed', onTrial: true }])
  }
})

type Operations = CallScene['host']['operations']

/** Operations that change nothing any more from a moment on, as when whoever asks for them has died. */
function mortal(operations: Operations, isDead: () => boolean): Operations {
  const { services } = operations
  const unlessDead = async <T>(act: () => Promise<T>): Promise<T> => {
    if (isDead()) throw new Error('cut')
    return act()
  }
  return {
    ...operations,
    services: {
      ...services,
      put: async (input) => unlessDead(async () => services.put(input)),
      start: async (input) => unlessDead(async () => services.start(input)),
      stop: async (input) => unlessDead(async () => services.stop(input)),
    },
  }
}

test('what was brought gets its name only as what it should be', async () => {
  await installed('0.1.0')
  const { scene, place } = await openAs('0.1.0')
  const [deliveries] = await call(scene, { type: 'deliveries', folders: ['files'] })
  expect(deliveries).toEqual({ type: 'deliveries', files: [] })
  const target = String.raw`C:\hyperkube\state\agent\delivered\files\x`
  const temporary = String.raw`C:\hyperkube\state\agent\delivered\files\.x.hyperkube-upload`
  await writeFile(place(temporary), 'abc')
  const sha256 = createHash('sha256').update('abc').digest('hex')
  const take: HostAsk = { type: 'take', temporary, target, size: 3, sha256 }
  expect(await call(scene, { ...take, size: 4 })).toMatchObject([{ code: 'UPLOAD_NOT_WHOLE' }])
  await writeFile(place(temporary), 'abc')
  expect(await call(scene, take)).toEqual([{ type: 'done' }])
  expect(await call(scene, { type: 'deliveries', folders: ['files'] })).toEqual([
    { type: 'deliveries', files: [{ path: 'files/x', size: 3 }] },
  ])
  const outside = { ...take, target: String.raw`C:\Windows\System32\x` }
  expect(await call(scene, outside)).toMatchObject([{ type: 'refused', code: 'UPLOAD_FAILED' }])
})

test('services, programs that are gone, and logs are told without an agent', async () => {
  await installed('0.1.0')
  const { scene, place, machine } = await openAs('0.1.0')
  expect(await call(scene, { type: 'services', names: ['hyperkube-agent', 'kubelet'] })).toEqual([
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
  await rm(place(places.program('0.1.0')))
  expect(
    await call({ ...scene, used: async () => 0.99 }, { type: 'ground', names: ['hyperkube-agent'] }),
  ).toEqual([
    {
      type: 'ground',
      disks: [{ mounted: 'C:\\', used: 0.99 }],
      programs: [{ service: 'hyperkube-agent', path: places.program('0.1.0') }],
    },
  ])
  await mkdir(place(places.logs), { recursive: true })
  const klog =
    'E0101 00:00:01.000000 1 x.go:1] it fails\r\n  as told\r\nI0101 00:00:02.000000 1 x.go:2] ü\r\n'
  await writeFile(place(`${places.logs}\\kubelet.log`), klog)
  const told = await call(scene, { type: 'logs', names: ['kubelet'], lines: 2, follow: false })
  expect(told).toMatchObject([
    { type: 'line', component: 'kubelet', priority: 6, message: '  as told' },
    { type: 'line', priority: 6, message: 'I0101 00:00:02.000000 1 x.go:2] ü' },
    { type: 'done' },
  ])
  const files = await call(scene, { type: 'inspect' })
  expect(files.map((answer) => (answer.type === 'file' ? answer.file : answer.type))).toContain(
    'networks.json',
  )
})
