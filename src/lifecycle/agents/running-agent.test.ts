import { type Duplex, duplexPair } from 'node:stream'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import type { AgentResponse } from '../../contract/request.ts'
import type { HostSpec } from '../../spec/host.ts'
import type { ExecResult, Remote } from '../../ssh/remote.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import type { AgentRelease } from './agent-release.ts'
import { connectAgents } from './connected-agents.ts'
import { findRunningAgent } from './running-agent.ts'

const { signal } = new AbortController()
const hello = { type: 'hello', version: '0.1.0-aaaaaaaa' } as const
const confirmed = { ...hello, installation: { arch: 'arm64', provisional: false } } as const

const release = async (arch: string): Promise<AgentRelease> => ({
  version: arch === 'arm64' ? '0.1.0-aaaaaaaa' : '0.1.0-bbbbbbbb',
  file: '/dist/hyperkube',
  sha256: 'a'.repeat(64),
  compress: async () => '/cache/hyperkube.gz',
})

/**
 * The socket of an agent that sends this response to every request; undefined means that it never responds.
 */
function serveAgent(body: AgentResponse['body'] | undefined): Duplex {
  const [client, agent] = duplexPair()
  createInterface({ input: agent }).on('line', () => {
    const response = { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', body }
    if (body !== undefined) agent.write(`${JSON.stringify(response)}\n`)
  })
  return client
}

function buildRemote(overrides: Partial<Remote>): Remote {
  const { remote } = scriptedSession('cp1', { run: successfulRun, requests: [] })
  if (remote === undefined) throw new Error('there is no remote')
  return { ...remote, ...overrides }
}

async function find(
  body: AgentResponse['body'] | undefined,
  timeoutMs?: number,
): Promise<string | undefined> {
  const remote = buildRemote({ dialSocket: async () => serveAgent(body) })
  return (await findRunningAgent(remote, release, signal, timeoutMs))?.hello.version
}

test('a confirmed agent of this release is found', async () => {
  expect(await find(confirmed)).toBe('0.1.0-aaaaaaaa')
})

test('a socket that the host does not open in time is left to the installation', async () => {
  const remote = buildRemote({
    dialSocket: async (_, options) =>
      new Promise((_resolve, reject) => {
        options.signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
  })
  expect(await findRunningAgent(remote, release, signal, 5)).toBeUndefined()
})

test.each([
  ['of another build', { ...confirmed, installation: { arch: 'amd64', provisional: false } }],
  ['of another version', { ...confirmed, version: '0.2.0-aaaaaaaa' }],
  [
    'whose installation is not confirmed',
    { ...confirmed, installation: { arch: 'arm64', provisional: true } },
  ],
  ['of an older release, which does not report its installation', hello],
  ['that refuses the request', { type: 'refused', code: 'CONTRACT_INVALID', message: 'unknown' }],
] as const)('an agent %s is not reused', async (_, body) => {
  expect(await find(body)).toBeUndefined()
})

test('an agent that does not respond is not reused', async () => {
  expect(await find(undefined, 20)).toBeUndefined()
})

test('without access to the agent socket no running agent is found', async () => {
  expect(await findRunningAgent(buildRemote({}), release, signal)).toBeUndefined()
})

const host: HostSpec = {
  ...{ name: 'cp1', address: '10.0.0.1', os: 'linux', local: false },
  ...{ roles: ['worker'], labels: {}, files: [] },
}

test('a host with a running agent is connected without starting a program on it', async () => {
  const remote = buildRemote({
    exec: async (): Promise<ExecResult> => Promise.reject(new Error('no program may run')),
    open: async () => Promise.reject(new Error('no program may run')),
    dialSocket: async () => serveAgent(confirmed),
  })
  const { agents, sessions, unreachable } = await connectAgents([host], {
    ...{ connect: async () => remote, release, emit: () => undefined, signal },
  })
  expect([[...agents], [...unreachable]]).toEqual([[['cp1', '0.1.0-aaaaaaaa']], []])
  expect(await sessions.get('cp1')?.request({ type: 'hello' }, 'hello')).toMatchObject(confirmed)
})

test('a read-only connection installs no agent over one of another release', async () => {
  const remote = buildRemote({
    exec: async (): Promise<ExecResult> => Promise.reject(new Error('no program may run')),
    open: async () => Promise.reject(new Error('no program may run')),
    dialSocket: async () => serveAgent({ ...confirmed, version: '0.2.0-aaaaaaaa' }),
  })
  const { agents, unreachable } = await connectAgents([host], {
    ...{ connect: async () => remote, release, emit: () => undefined, signal, readOnly: true },
  })
  expect(agents.size).toBe(0)
  expect(unreachable.get('cp1')).toMatchObject({ code: 'AGENT_NOT_INSTALLED', host: 'cp1' })
})
