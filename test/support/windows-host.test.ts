import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerLine } from '../../lab/windows/shell-server.ts'
import { runHost } from '../../lab/windows/run-host.ts'
import type { SimulatedWindows } from '../../lab/windows/simulator/simulated-windows.ts'
import { run } from '../../src/kit/command.ts'
import { installAgent, keepAgent, type OwnRelease } from '../../src/lifecycle/agent-install.ts'
import { Session } from '../../src/lifecycle/session.ts'
import { hostServices } from '../../src/lifecycle/status/services.ts'
import type { Remote } from '../../src/ssh/remote.ts'
import { type TestHost, testHost } from '../../src/ssh/windows/testing/fake-windows-host.ts'

/** The simulated host of the lab, by a real ssh within this process: all of the way but for sshd and the network. */
const { signal } = new AbortController()
const over = new AbortController()

let directory: string
let host: TestHost
let windows: SimulatedWindows
let remote: Remote
let setup: NonNullable<Parameters<typeof installAgent>[2]['setup']>
let fetched = 0
const mirror = createServer((_, response) => {
  fetched++
  readFile(join(directory, 'shawl')).then(
    (bytes) => response.end(bytes),
    () => response.destroy(),
  )
})

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'windows-host-'))
  await writeFile(join(directory, 'shawl.exe'), 'a wrapper')
  await run(['tar', '-czf', join(directory, 'shawl'), '-C', directory, 'shawl.exe'])
  const agentSocket = join(directory, 'agent.sock')
  host = await testHost(async (words, { stdin, stdout }) => {
    const requests = stdin.pipe(new PassThrough())
    await answerLine(windows, words.join(' '), {
      requests,
      say: (text) => void stdout.write(text),
      agentSocket,
    })
    return 0
  })
  const bounce = async (): Promise<void> => {
    host.cut()
    host.mend()
  }
  const wish = { name: 'win1', address: '10.0.0.7', gateway: '10.0.0.1' }
  windows = await runHost(wish, { root: host.root, agentSocket, bounce, signal: over.signal })
  mirror.listen(0, '127.0.0.1')
  await once(mirror, 'listening')
  setup = await setupFrom(mirror.address())
  remote = await host.connect()
})
afterAll(async () => {
  over.abort()
  mirror.close()
  await remote.close()
  await host[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

async function setupFrom(address: ReturnType<typeof mirror.address>): Promise<typeof setup> {
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
        artifacts: { mirror: `http://127.0.0.1:${address.port}` },
        windows: { baseDirectory: String.raw`C:\hyperkube`, cloud: 'none', metadataAddresses: [] },
      },
    },
    locked: new Map([['shawl windows/amd64', locked]]),
    system: kind,
  }
}

async function releaseOf(version: string): Promise<OwnRelease> {
  const file = join(directory, version)
  await writeFile(file, `hyperkube ${version}`)
  return { version, file, sha256: createHash('sha256').update(`hyperkube ${version}`).digest('hex') }
}

const quiet = { signal, onProgress: () => undefined }

async function install(version: string) {
  const carried = async (): Promise<Uint8Array> => readFile(join(directory, 'shawl'))
  return installAgent(remote, async () => releaseOf(version), { ...quiet, setup, carried })
}

function sessionOf(): Session {
  return new Session('win1', remote, async () => host.connect(), signal)
}

test('an operator brings an agent, speaks with it, and brings another one', async () => {
  expect(await install('0.1.0-aaaaaaaa')).toEqual({ version: '0.1.0-aaaaaaaa', onTrial: false })
  // All that it needs was brought to it.
  expect(fetched).toBe(0)
  const session = sessionOf()
  expect(await session.ask({ type: 'hello' }, 'hello')).toMatchObject({ version: '0.1.0-aaaaaaaa' })
  // It is there already, and is left alone.
  const lines = host.lines.length
  expect(await install('0.1.0-aaaaaaaa')).toEqual({ version: '0.1.0-aaaaaaaa', onTrial: false })
  expect(host.lines.slice(lines)).toEqual([expect.stringContaining('host-call')])
  expect(await install('0.2.0-bbbbbbbb')).toEqual({ version: '0.2.0-bbbbbbbb', onTrial: true })
  await keepAgent(remote, signal)
  const { version, services } = await hostServices(remote, ['hyperkube-agent', 'kubelet'], signal)
  expect([version, services]).toMatchObject([
    '0.2.0-bbbbbbbb',
    [
      { name: 'hyperkube-agent', state: 'active' },
      { name: 'kubelet', state: 'missing' },
    ],
  ])
  expect(await sessionOf().ask({ type: 'facts', host: 'win1' }, 'facts')).toMatchObject({
    facts: { host: 'win1', system: { os: 'windows' } },
  })
})
