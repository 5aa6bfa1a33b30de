import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Event } from '../../contract/event.ts'
import { type AgentResponse, requestFormat } from '../../contract/request.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { RunningProgram, Remote } from '../../ssh/remote.ts'
import { Session } from './session.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const never = new AbortController().signal

/**
 * Describes one connection to the agent. The ssh connection is lost, or the agent disappears, after the
 * number of messages in `messages`. Without `end` the connection stays open.
 */
interface LinkScript {
  readonly messages: number
  readonly end?: 'SSH_LOST' | 'AGENT_GONE'
  /** True if hyperkube is not installed on the host. */
  readonly uninstalled?: boolean
}

/**
 * A host whose connections follow the scripts in order. Connections after the last script stay open. Counts
 * logins and connections.
 */
function buildHost(...scripts: readonly LinkScript[]) {
  const counts = { logins: 0, links: 0 }
  const received: string[] = []
  const remote = (): Remote => {
    counts.logins++
    return {
      host: 'cp1',
      exec: async () => Promise.reject(new Error('no command may run')),
      upload: async () => Promise.reject(new Error('no upload may start')),
      async open() {
        const script = scripts[counts.links++] ?? { messages: Infinity }
        if (script.uninstalled === true)
          throw new HyperkubeError('AGENT_NOT_THERE', 'none there', { host: 'cp1' })
        return conversation(script, received)
      },
      dial: async () => Promise.reject(new Error('no connection may be dialled')),
      close: async () => undefined,
    }
  }
  const session = new Session('cp1', remote(), async () => remote(), never)
  return { session, counts, received }
}

function conversation({ messages, end }: LinkScript, received: string[]): RunningProgram {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const ended = Promise.withResolvers<{ code: number; stderr: string }>()
  ended.promise.catch(() => undefined)
  let left = messages
  const send = (message: AgentResponse | Event): void => {
    if (left > 0) stdout.write(`${JSON.stringify(message)}\n`)
    left--
    if (left > 0) return
    stdout.end()
    if (end === 'SSH_LOST') ended.reject(new HyperkubeError('SSH_LOST', 'gone', { host: 'cp1' }))
    else ended.resolve({ code: 0, stderr: '' })
  }
  createInterface({ input: stdin }).on('line', (line) => {
    const { body: request } = readVersioned(requestFormat, JSON.parse(line))
    if (request.type !== 'attach') return send(buildResponse(request.type, received))
    for (let sequence = request.from; sequence <= 4; sequence++) send(buildEvent(sequence))
  })
  return { stdin, stdout, ended: ended.promise, kill: () => undefined }
}

function buildResponse(type: string, received: string[]): AgentResponse {
  received.push(type)
  const response =
    type === 'hello'
      ? ({ type: 'hello', version: '0.1.0' } as const)
      : type === 'clock'
        ? ({ type: 'clock', time: 1 } as const)
        : ({ type: 'refused', code: 'CLAIM_HELD', message: 'ana has it' } as const)
  return { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', body: response }
}

function buildEvent(sequence: number): Event {
  const what: Event['body'] =
    sequence === 4 ? { type: 'run-ended', result: { outcome: 'done' } } : { type: 'log', lines: [] }
  const time = '2001-01-01T00:00:00.000Z'
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Event', run, sequence, time, body: what }
}

test('a request on a lost ssh connection is repeated on a new connection', async () => {
  const { session, counts } = buildHost({ messages: 1, end: 'SSH_LOST' })
  expect(await session.request({ type: 'clock' }, 'clock')).toEqual({ type: 'clock', time: 1 })
  expect(counts).toEqual({ logins: 2, links: 2 })
})

test('a restarted agent is reached again over the same ssh connection', async () => {
  const { session, counts } = buildHost(
    { messages: 1, end: 'AGENT_GONE' },
    // The agent has not started again yet.
    { messages: 0, end: 'AGENT_GONE' },
  )
  await session.request({ type: 'clock' }, 'clock')
  expect(counts.logins).toBe(1)
})

test('concurrent requests on a lost connection share one new connection', async () => {
  const { session, counts } = buildHost({ messages: 2, end: 'SSH_LOST' })
  await Promise.all([1, 2, 3].map(async () => session.request({ type: 'clock' }, 'clock')))
  expect(counts).toEqual({ logins: 2, links: 2 })
})

test('each event of a run is received once, although the connection is lost twice', async () => {
  const { session } = buildHost({ messages: 2, end: 'SSH_LOST' }, { messages: 3, end: 'AGENT_GONE' })
  const received: number[] = []
  await session.follow(run, ({ sequence }) => void received.push(sequence))
  expect(received).toEqual([1, 2, 3, 4])
})

test('a refused request is not retried', async () => {
  const { session, received } = buildHost({ messages: Infinity })
  await expect(
    session.request({ type: 'stop-listening', token: 'a'.repeat(32) }, 'stopped-listening'),
  ).rejects.toThrow('ana has it')
  expect(received).toEqual(['hello', 'stop-listening'])
})

test('a request fails if the agent closes the connection every time', async () => {
  const scripts = Array.from({ length: 20 }, (): LinkScript => ({ messages: 1, end: 'AGENT_GONE' }))
  const { session } = buildHost(...scripts)
  await expect(session.request({ type: 'clock' }, 'clock')).rejects.toMatchObject({ code: 'AGENT_GONE' })
})

test('pending requests fail when the session is closed', async () => {
  const { session } = buildHost({ messages: 0 })
  const pending = session.request({ type: 'clock' }, 'clock')
  await session.close()
  await expect(pending).rejects.toThrow('the session is over')
})

test('following a run fails at once if the agent was uninstalled meanwhile', async () => {
  const { session, counts } = buildHost({ messages: 2, end: 'SSH_LOST' }, { messages: 0, uninstalled: true })
  await expect(session.follow(run, () => undefined)).rejects.toMatchObject({ code: 'AGENT_NOT_THERE' })
  expect(counts.links).toBe(2)
  expect(session.remote).toBeDefined()
})
