/**
 * These tests use the simulated Windows host over a real ssh connection inside this process, without sshd or
 * network.
 */

import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runShellLine } from '../../lab/windows/shell-server.ts'
import { runHost } from '../../lab/windows/run-host.ts'
import type { SimulatedWindows } from '../../lab/windows/simulator/simulated-windows.ts'
import { runProgram } from '../../src/kit/command.ts'
import { installAgent, confirmAgent } from '../../src/lifecycle/agents/agent-install.ts'
import type { AgentRelease } from '../../src/lifecycle/agents/agent-release.ts'
import { Session } from '../../src/lifecycle/agents/session.ts'
import { readHostServices } from '../../src/lifecycle/observe/services.ts'
import type { Remote } from '../../src/ssh/remote.ts'
import {
  type FakeWindowsHost,
  startFakeWindowsHost,
} from '../../src/ssh/windows/testing/fake-windows-host.ts'

const { signal } = new AbortController()
const stop = new AbortController()

let directory: string
let host: FakeWindowsHost
let windows: SimulatedWindows
let remote: Remote
let setup: NonNullable<Parameters<typeof installAgent>[2]['setup']>
let fetchCount = 0
const mirror = createServer((_, response) => {
  fetchCount++
  readFile(join(directory, 'shawl')).then(
    (bytes) => response.end(bytes),
    () => response.destroy(),
  )
})

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'windows-host-'))
  await writeFile(join(directory, 'shawl.exe'), 'a wrapper')
  await runProgram(['tar', '-czf', join(directory, 'shawl'), '-C', directory, 'shawl.exe'])
  const agentSocket = join(directory, 'agent.sock')
  host = await startFakeWindowsHost(async (words, { stdin, stdout }) => {
    const requests = stdin.pipe(new PassThrough())
    await runShellLine(windows, words.join(' '), {
      requests,
      write: (text) => void stdout.write(text),
      agentSocket,
    })
    return 0
  })
  const bounce = async (): Promise<void> => {
    host.cut()
    host.restore()
  }
  const hostSpec = { name: 'win1', address: '10.0.0.7', gateway: '10.0.0.1' }
  windows = await runHost(hostSpec, {
    root: host.root,
    agentSocket,
    interruptNetwork: bounce,
    signal: stop.signal,
  })
  mirror.listen(0, '127.0.0.1')
  await once(mirror, 'listening')
  setup = await buildSetup(mirror.address())
  remote = await host.connect()
})
afterAll(async () => {
  stop.abort()
  mirror.close()
  await remote.close()
  await host[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

async function buildSetup(address: ReturnType<typeof mirror.address>): Promise<typeof setup> {
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  const sha256 = createHash('sha256')
    .update(await readFile(join(directory, 'shawl')))
    .digest('hex')
  const url = 'https://upstream.example/shawl'
  const kind = { os: 'windows', arch: 'amd64' } as const
  const locked = {
    component: 'shawl',
    version: '1.9.0',
    ...kind,
    url,
    sha256,
    trust: 'first-download',
  } as const
  return {
    cluster: {
      spec: {
        artifacts: { mirror: `http://127.0.0.1:${address.port}`, digests: 'mirror' },
        windows: { baseDirectory: String.raw`C:\hyperkube`, cloud: 'none', metadataAddresses: [] },
      },
    },
    locked: new Map([['shawl windows/amd64', locked]]),
    system: kind,
  }
}

async function createRelease(version: string): Promise<AgentRelease> {
  const file = join(directory, version)
  await writeFile(file, `hyperkube ${version}`)
  const sha256 = createHash('sha256').update(`hyperkube ${version}`).digest('hex')
  // Windows hosts get the file uncompressed.
  return { version, file, sha256, compress: async () => file }
}

const quiet = { signal, onProgress: () => undefined }

async function install(version: string) {
  const readBundledFile = async (): Promise<Uint8Array> => readFile(join(directory, 'shawl'))
  return installAgent(remote, async () => createRelease(version), { ...quiet, setup, readBundledFile })
}

function openSession(): Session {
  return new Session('win1', remote, async () => host.connect(), signal)
}

test('an operator installs an agent, sends requests to it, and installs another release', async () => {
  expect(await install('0.1.0-aaaaaaaa')).toEqual({ version: '0.1.0-aaaaaaaa', provisional: false })
  // The operator uploaded everything, so nothing was downloaded.
  expect(fetchCount).toBe(0)
  const session = openSession()
  expect(await session.request({ type: 'hello' }, 'hello')).toMatchObject({ version: '0.1.0-aaaaaaaa' })
  // A second installation of the same version changes nothing.
  const lines = host.lines.length
  expect(await install('0.1.0-aaaaaaaa')).toEqual({ version: '0.1.0-aaaaaaaa', provisional: false })
  expect(host.lines.slice(lines)).toEqual([expect.stringContaining('host-call')])
  expect(await install('0.2.0-bbbbbbbb')).toEqual({ version: '0.2.0-bbbbbbbb', provisional: true })
  await confirmAgent(remote, signal)
  const { version, services } = await readHostServices(remote, ['hyperkube-agent', 'kubelet'], signal)
  expect([version, services]).toMatchObject([
    '0.2.0-bbbbbbbb',
    [
      { name: 'hyperkube-agent', state: 'active' },
      { name: 'kubelet', state: 'missing' },
    ],
  ])
  expect(await openSession().request({ type: 'facts', host: 'win1' }, 'facts')).toMatchObject({
    facts: { host: 'win1', system: { os: 'windows' } },
  })
})
