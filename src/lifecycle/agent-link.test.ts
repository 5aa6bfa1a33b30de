import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Event } from '../contract/event.ts'
import { AgentLink } from './agent-link.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const apiVersion = 'hyperkube.dev/v1'

/** A link to an agent that says these things, whatever it is asked. */
function linkTo(...said: readonly object[]): AgentLink {
  const stdout = new PassThrough()
  for (const one of said) stdout.write(`${JSON.stringify(one)}\n`)
  const conversation = {
    stdin: new PassThrough(),
    stdout,
    ended: new Promise<never>(() => undefined),
    kill: () => undefined,
  }
  return new AgentLink('cp1', conversation, 'look there')
}

test('an agent of the next minor is understood, though it says more than we know', async () => {
  const claim = { holder: 'ana', generation: 1, since: 'monday' }
  const hello = { type: 'hello', version: '0.2.0', claim, mood: 'good' }
  const link = linkTo({ apiVersion, kind: 'AgentResponse', answer: hello, sent: 'today' })
  expect(await link.ask({ type: 'hello' }, 'hello')).toEqual({
    type: 'hello',
    version: '0.2.0',
    claim: { holder: 'ana', generation: 1 },
  })
})

test('what it tells of, and we know nothing of, is passed over', async () => {
  const event = (sequence: number, what: object): object => ({
    apiVersion,
    kind: 'Event',
    run,
    sequence,
    time: '2001-01-01T00:00:00.000Z',
    what,
    weather: 'fine',
  })
  const heard: Event[] = []
  await linkTo(
    event(1, { type: 'run-started', command: 'apply', by: 'ana' }),
    event(2, { type: 'moon-rose', phase: 'full' }),
    event(3, { type: 'run-ended', result: { outcome: 'done', after: 12 } }),
  ).attach(run, 1, (one) => void heard.push(one))
  expect(heard.map(({ sequence, what }) => [sequence, what])).toEqual([
    [1, { type: 'run-started', command: 'apply' }],
    [3, { type: 'run-ended', result: { outcome: 'done' } }],
  ])
})

test('what is not an answer at all is refused', async () => {
  const answer = { type: 'hello', release: '0.2.0' }
  const link = linkTo({ apiVersion, kind: 'AgentResponse', answer })
  await expect(link.ask({ type: 'hello' }, 'hello')).rejects.toThrow('version')
})
