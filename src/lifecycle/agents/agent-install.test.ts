import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import type { HostSpec } from '../../spec/host.ts'
import type { ExecResult, Remote } from '../../ssh/remote.ts'
import type { AgentRelease } from './agent-release.ts'
import { installAgent } from './agent-install.ts'
import { buildSwitchCommand, confirmAgentCommand, inspectAgentCommand } from './agent-switch.ts'
import { connectAgents } from './connected-agents.ts'
import { type AgentScript, scriptedSession } from '../testing/scripted-agent.ts'

const { signal } = new AbortController()
const quiet = { signal, onProgress: () => undefined }

function release(version: string): AgentRelease {
  return {
    version,
    file: '/dist/hyperkube',
    sha256: 'a'.repeat(64),
    compress: async () => '/cache/hyperkube.gz',
  }
}

function result(code: number, stdout = '', stderr = ''): ExecResult {
  return { code, stdout, stderr, bytes: Buffer.from(stdout) }
}

const nothing: AgentScript = async function* () {}

/**
 * A host where the agent of release `found` is installed; undefined means no agent. `done` records the
 * commands and uploads.
 */
function hostWith(
  found: string | undefined,
  active: string,
  done: string[],
  changed = result(0),
  gzip = '',
): Remote {
  const { remote } = scriptedSession('cp1', { run: nothing, requests: [] })
  if (remote === undefined) throw new Error('there is no remote')
  const directory = found === undefined ? '' : `/opt/hyperkube/hyperkube-${found}`
  const [, , change] = buildSwitchCommand('', '', 0)
  return {
    ...remote,
    async exec(argv) {
      if (argv === inspectAgentCommand) return result(0, `x86_64\n${directory}\n${active}\n\n${gzip}\n`)
      if (argv === confirmAgentCommand) done.push('kept')
      else if (argv[2] === change) done.push(['changed', ...argv.slice(4)].join(' '))
      else done.push(argv.join(' '))
      return argv[2] === change ? changed : result(0)
    },
    upload: async (source, target, { isCompressed }) =>
      void done.push(`sent ${target}${isCompressed === true ? ` from ${JSON.stringify(source)}` : ''}`),
  }
}

async function install(own: string, found: string | undefined, active = 'active') {
  const done: string[] = []
  const { version } = await installAgent(hostWith(found, active, done), async () => release(own), quiet)
  return { version, done }
}

test('a host that runs no command counts as unreachable after a limit', async () => {
  const host: Remote = {
    ...hostWith(undefined, 'active', []),
    exec: async (_, { timeout }) =>
      timeout === undefined
        ? new Promise(() => undefined)
        : Promise.reject(new HyperkubeError('TIMED_OUT', 'sh -c … did not end')),
  }
  await expect(installAgent(host, async () => release('0.2.0-aaaaaaaa'), quiet)).rejects.toMatchObject({
    code: 'TIMED_OUT',
    host: 'cp1',
    message: 'the host accepts ssh logins, but runs no command within 1 min 00 s',
  })
})

test('a host with the same agent release is not changed', async () => {
  expect(await install('0.2.0-aaaaaaaa', '0.2.0-aaaaaaaa')).toEqual({ version: '0.2.0-aaaaaaaa', done: [] })
})

test('another agent release is installed beside the previous one, which stays for a rollback', async () => {
  const [previous, own] = [
    '/opt/hyperkube/hyperkube-0.1.0-aaaaaaaa',
    '/opt/hyperkube/hyperkube-0.2.0-bbbbbbbb',
  ]
  const put = [`mkdir -p ${own}`, `sent ${own}/hyperkube`]
  expect(await install('0.2.0-bbbbbbbb', '0.1.0-aaaaaaaa')).toEqual({
    version: '0.2.0-bbbbbbbb',
    done: [...put, `changed ${own} ${previous} 90`],
  })
  expect((await install('0.2.0-bbbbbbbb', undefined)).done).toEqual([...put, `changed ${own}  90`])
})

test('the release is uploaded compressed to a host with gzip', async () => {
  const done: string[] = []
  const host = hostWith(undefined, 'inactive', done, result(0), '/usr/bin/gzip')
  await installAgent(host, async () => release('0.2.0-bbbbbbbb'), quiet)
  expect(done[1]).toBe(
    'sent /opt/hyperkube/hyperkube-0.2.0-bbbbbbbb/hyperkube from {"path":"/cache/hyperkube.gz"}',
  )
})

test('an agent of the next minor stays and is started if it is not active; a newer minor is refused', async () => {
  expect(await install('0.1.0-aaaaaaaa', '0.2.0-bbbbbbbb')).toEqual({ version: '0.2.0-bbbbbbbb', done: [] })
  expect(await install('0.1.0-aaaaaaaa', '0.2.0-bbbbbbbb', 'failed')).toEqual({
    version: '0.2.0-bbbbbbbb',
    done: ['systemctl restart hyperkube-agent.service'],
  })
  await expect(install('0.1.0-aaaaaaaa', '0.3.0-bbbbbbbb')).rejects.toMatchObject({
    code: 'AGENT_TOO_NEW',
    host: 'cp1',
    hint: 'on this machine use hyperkube 0.3.0, or a release of the minor version before it',
  })
})

test('an agent that does not start is reported with its last output', async () => {
  const broken = hostWith(undefined, 'inactive', [], result(1, '', 'no such luck\n'))
  await expect(installAgent(broken, async () => release('0.2.0-aaaaaaaa'), quiet)).rejects.toMatchObject({
    code: 'AGENT_NOT_STARTED',
    message: 'the agent did not start: no such luck',
  })
})

/** Connects to a host whose agent reports version 0.1.0. */
async function connectHost(own: string, previous?: string) {
  const done: string[] = []
  const host: HostSpec = {
    name: 'cp1',
    address: 'cp1',
    os: 'linux',
    local: false,
    roles: ['worker'],
    labels: {},
    files: [],
  }
  const connected = await connectAgents([host], {
    connect: async () => hostWith(previous, 'inactive', done),
    release: async () => release(own),
    emit: () => undefined,
    signal,
  })
  return { connected, kept: done.includes('kept') }
}

test('only a response of the newly installed agent confirms the installation', async () => {
  const { connected, kept } = await connectHost('0.1.0', '0.0.9')
  expect([kept, connected.agents.get('cp1')]).toEqual([true, '0.1.0'])
  expect((await connectHost('0.1.0')).kept).toBe(false)
  const previous = await connectHost('0.2.0', '0.1.0')
  expect(previous.kept).toBe(false)
  expect(previous.connected.unreachable.get('cp1')).toMatchObject({ code: 'AGENT_ROLLED_BACK', host: 'cp1' })
})
