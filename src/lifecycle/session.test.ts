import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Event } from '../contract/event.ts'
import { type AgentResponse, requestFormat } from '../contract/request.ts'
import { readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Conversation, Remote } from '../ssh/remote.ts'
import { Session } from './session.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const never = new AbortController().signal

/** How a conversation ends after some messages of the agent: with the way, with the agent, or not at all. */
interface Talk {
  readonly messages: number
  readonly end?: 'SSH_LOST' | 'AGENT_GONE'
  /** Nothing of ours is there to talk to. */
  readonly missing?: boolean
}

/** A host whose conversations go as told, the last one for good. Says how often somebody logged in. */
function hostOf(...talks: readonly Talk[]) {
  const counts = { logins: 0, talks: 0 }
  const heard: string[] = []
  const remote = (): Remote => {
    counts.logins++
    return {
      host: 'cp1',
      exec: async () => Promise.reject(new Error('nothing is run on it')),
      upload: async () => Promise.reject(new Error('nothing is sent to it')),
      async open() {
        const talk = talks[counts.talks++] ?? { messages: Infinity }
        if (talk.missing === true) throw new HyperkubeError('AGENT_NOT_THERE', 'none there', { host: 'cp1' })
        return conversation(talk, heard)
      },
      dial: async () => Promise.reject(new Error('nothing is reached through it')),
      close: async () => undefined,
    }
  }
  const session = new Session('cp1', remote(), async () => remote(), never)
  return { session, counts, heard }
}

function conversation({ messages, end }: Talk, heard: string[]): Conversation {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const ended = Promise.withResolvers<{ code: number; stderr: string }>()
  ended.promise.catch(() => undefined)
  let left = messages
  const say = (message: AgentResponse | Event): void => {
    if (left > 0) stdout.write(`${JSON.stringify(message)}\n`)
    left--
    if (left > 0) return
    stdout.end()
    if (end === 'SSH_LOST') ended.reject(new HyperkubeError('SSH_LOST', 'gone', { host: 'cp1' }))
    else ended.resolve({ code: 0, stderr: '' })
  }
  createInterface({ input: stdin }).on('line', (line) => {
    const { ask } = readVersioned(requestFormat, JSON.parse(line))
    if (ask.type !== 'attach') return say(answerTo(ask.type, heard))
    for (let sequence = ask.from; sequence <= 4; sequence++) say(eventOf(sequence))
  })
  return { stdin, stdout, ended: ended.promise, kill: () => undefined }
}

function answerTo(type: string, heard: string[]): AgentResponse {
  heard.push(type)
  const answer =
    type === 'hello'
      ? ({ type: 'hello', version: '0.1.0' } as const)
      : type === 'clock'
        ? ({ type: 'clock', time: 1 } as const)
        : ({ type: 'refused', code: 'CLAIM_HELD', message: 'ana has it' } as const)
  return { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', answer }
}

function eventOf(sequence: number): Event {
  const what: Event['what'] =
    sequence === 4 ? { type: 'run-ended', result: { outcome: 'done' } } : { type: 'log', lines: [] }
  const time = '2001-01-01T00:00:00.000Z'
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Event', run, sequence, time, what }
}

test('what was asked when the way was lost is asked again, on another one', async () => {
  const { session, counts } = hostOf({ messages: 1, end: 'SSH_LOST' })
  expect(await session.ask({ type: 'clock' }, 'clock')).toEqual({ type: 'clock', time: 1 })
  expect(counts).toEqual({ logins: 2, talks: 2 })
})

test('an agent that was restarted is found by the same way', async () => {
  const { session, counts } = hostOf(
    { messages: 1, end: 'AGENT_GONE' },
    // It is not there yet.
    { messages: 0, end: 'AGENT_GONE' },
  )
  await session.ask({ type: 'clock' }, 'clock')
  expect(counts.logins).toBe(1)
})

test('of many who ask when the way is lost, one finds another', async () => {
  const { session, counts } = hostOf({ messages: 2, end: 'SSH_LOST' })
  await Promise.all([1, 2, 3].map(async () => session.ask({ type: 'clock' }, 'clock')))
  expect(counts).toEqual({ logins: 2, talks: 2 })
})

test('a run is heard once to its end, however often the way is lost', async () => {
  const { session } = hostOf({ messages: 2, end: 'SSH_LOST' }, { messages: 3, end: 'AGENT_GONE' })
  const heard: number[] = []
  await session.follow(run, ({ sequence }) => void heard.push(sequence))
  expect(heard).toEqual([1, 2, 3, 4])
})

test('who is refused does not ask again', async () => {
  const { session, heard } = hostOf({ messages: Infinity })
  await expect(session.ask({ type: 'hush', token: 'a'.repeat(32) }, 'hushed')).rejects.toThrow('ana has it')
  expect(heard).toEqual(['hello', 'hush'])
})

test('an agent that hangs up on every question is given up', async () => {
  const talks = Array.from({ length: 20 }, (): Talk => ({ messages: 1, end: 'AGENT_GONE' }))
  const { session } = hostOf(...talks)
  await expect(session.ask({ type: 'clock' }, 'clock')).rejects.toMatchObject({ code: 'AGENT_GONE' })
})

test('nobody waits for a host once the session is over', async () => {
  const { session } = hostOf({ messages: 0 })
  const asked = session.ask({ type: 'clock' }, 'clock')
  await session.close()
  await expect(asked).rejects.toThrow('the session is over')
})

test('an agent that has been taken off its host meanwhile is not waited for', async () => {
  const { session, counts } = hostOf({ messages: 2, end: 'SSH_LOST' }, { messages: 0, missing: true })
  await expect(session.follow(run, () => undefined)).rejects.toMatchObject({ code: 'AGENT_NOT_THERE' })
  expect(counts.talks).toBe(2)
  expect(session.remote).toBeDefined()
})
