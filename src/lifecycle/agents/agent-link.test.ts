import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Event } from '../../contract/event.ts'
import type { Remote } from '../../ssh/remote.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { AgentLink } from './agent-link.ts'
import { requestOnce } from './request-once.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const apiVersion = 'hyperkube.dev/v1'

/** A link to an agent that sends these messages for any request. */
function linkTo(...messages: readonly object[]): AgentLink {
  const stdout = new PassThrough()
  for (const message of messages) stdout.write(`${JSON.stringify(message)}\n`)
  const conversation = {
    stdin: new PassThrough(),
    stdout,
    ended: new Promise<never>(() => undefined),
    kill: () => undefined,
  }
  return new AgentLink('cp1', conversation, 'check it')
}

test('unknown fields in a response of a newer agent are ignored', async () => {
  const claim = { holder: 'ana', generation: 1, since: 'monday' }
  const hello = { type: 'hello', version: '0.2.0', claim, added: 'field' }
  const link = linkTo({ apiVersion, kind: 'AgentResponse', body: hello, sent: 'today' })
  expect(await link.request({ type: 'hello' }, 'hello')).toEqual({
    type: 'hello',
    version: '0.2.0',
    claim: { holder: 'ana', generation: 1 },
  })
})

test('unknown event types are skipped', async () => {
  const event = (sequence: number, body: object): object => ({
    apiVersion,
    kind: 'Event',
    run,
    sequence,
    time: '2001-01-01T00:00:00.000Z',
    body,
    added: 'field',
  })
  const received: Event[] = []
  await linkTo(
    event(1, { type: 'run-started', command: 'apply', by: 'ana' }),
    event(2, { type: 'added-type', phase: 'full' }),
    event(3, { type: 'run-ended', result: { outcome: 'done', after: 12 } }),
  ).attach(run, 1, (message) => void received.push(message))
  expect(received.map(({ sequence, body }) => [sequence, body])).toEqual([
    [1, { type: 'run-started', command: 'apply' }],
    [3, { type: 'run-ended', result: { outcome: 'done' } }],
  ])
})

test('an invalid response is refused', async () => {
  const invalid = { type: 'hello', release: '0.2.0' }
  const link = linkTo({ apiVersion, kind: 'AgentResponse', body: invalid })
  await expect(link.request({ type: 'hello' }, 'hello')).rejects.toThrow('version')
})

const { signal } = new AbortController()

function buildRemote(open?: Remote['open']): Remote {
  const { remote } = scriptedSession('cp1', {
    run: successfulRun,
    requests: [],
    ...(open === undefined ? {} : { remote: { open } }),
  })
  if (remote === undefined) throw new Error('there is no remote')
  return remote
}

test('requestOnce returns the response', async () => {
  expect(await requestOnce(buildRemote(), { type: 'hello' }, 'hello', signal)).toMatchObject({
    version: '0.1.0',
  })
})

test('requestOnce throws the error of an agent that refuses the request', async () => {
  await expect(requestOnce(buildRemote(), { type: 'health' }, 'health', signal)).rejects.toMatchObject({
    code: 'TEST',
  })
})

test('requestOnce times out and kills the connection to an agent that hangs', async () => {
  let isKilled = false
  const remote = buildRemote(async () => ({
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    ended: new Promise(() => undefined),
    kill: () => (isKilled = true),
  }))
  await expect(requestOnce(remote, { type: 'hello' }, 'hello', signal, 20)).rejects.toMatchObject({
    code: 'TIMED_OUT',
    host: 'cp1',
  })
  expect(isKilled).toBe(true)
})

test.each([
  ['a shell', 127, 'sh: /opt/hyperkube/current/hyperkube: not found'],
  ['sudo', 1, 'sudo: /opt/hyperkube/current/hyperkube: command not found\n'],
])('a host without hyperkube is recognized by the result of %s', async (_, code, stderr) => {
  const stdout = new PassThrough()
  stdout.end()
  const ended = Promise.resolve({ code, stderr })
  const link = new AgentLink(
    'cp1',
    { stdin: new PassThrough(), stdout, ended, kill: () => undefined },
    'check it',
  )
  await expect(link.request({ type: 'hello' }, 'hello')).rejects.toMatchObject({ code: 'AGENT_NOT_THERE' })
})
