import { expect, test } from 'vitest'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import type { HostTrial } from '../../contract/provisional-change.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { scriptedSession } from '../../lifecycle/testing/scripted-agent.ts'
import { inMemory } from '../testing/run-in-memory.ts'
import { upTest } from '../up/testing/up-harness.ts'
import { endTrialOf } from './end-change.ts'

const { wish } = await upTest()
const trial = {
  id: '22222222-2222-4222-8222-222222222222',
  plan: 'c'.repeat(64),
  deadline: '2026-11-15T12:10:00.000Z',
  slot: 0,
}
const on: HostTrial = { ...trial, state: 'on-trial' }
const back: HostTrial = { ...trial, state: 'went-back', at: '2026-11-15T12:12:03.000Z' }

interface Scene {
  readonly action: 'keep' | 'back'
  readonly trials: Readonly<Record<string, HostTrial>>
  readonly missing?: readonly string[]
  readonly answer?: (ask: AgentRequest['ask']) => AgentResponse['answer'] | undefined
}

async function end({ action, trials, missing = [], answer = () => undefined }: Scene) {
  const asked: AgentRequest['ask'][] = []
  const said: string[] = []
  const names = ['cp1', 'w1', 'w2'].filter((name) => !missing.includes(name))
  const noScript = async function* (): AsyncGenerator<never> {}
  const gone = (host: string): HyperkubeError => new HyperkubeError('SSH_UNREACHABLE', 'away', { host })
  const { code, result, hosts } = await endTrialOf({
    action,
    context: inMemory({}).context,
    wish,
    crew: {
      sessions: new Map(names.map((name) => [name, scriptedSession(name, { run: noScript, asked, answer })])),
      agents: new Map(),
      missing: new Map(missing.map((host) => [host, gone(host)])),
      restores: new Map(),
      trials: new Map(Object.entries(trials)),
      close: async () => undefined,
    },
    run: { tell: () => undefined, say: (text) => void said.push(text) },
    forceUnlock: false,
    begin: () => undefined,
  })
  const types = asked.map(({ type }) => type)
  return { code, outcome: result.outcome, hosts, asked, types, said: said.join('') }
}

test('every host that has something on trial is told under the claim, and no other', async () => {
  const kept = await end({ action: 'keep', trials: { cp1: on, w1: on, w2: back } })
  expect(kept).toMatchObject({ code: 0, outcome: 'done', hosts: ['cp1', 'w1'] })
  expect(kept.types.filter((type) => type === 'keep-trial')).toHaveLength(2)
  expect(kept.types.indexOf('claim')).toBeLessThan(kept.types.indexOf('keep-trial'))
  expect(kept.types.at(-1)).toBe('release')
  const moved = await end({
    action: 'back',
    trials: { w1: on },
    answer: (ask) => (ask.type === 'clock' ? { type: 'clock', time: 0 } : undefined),
  })
  expect(moved.asked.find(({ type }) => type === 'move-trial')).toMatchObject({
    id: trial.id,
    deadline: '1970-01-01T00:00:00.000Z',
  })
})

test('one that went back in between is named, and one that is away may do so', async () => {
  const late = await end({
    action: 'keep',
    trials: { cp1: on },
    answer: (ask) => (ask.type === 'keep-trial' ? { type: 'trial', trial: back } : undefined),
  })
  expect(late).toMatchObject({ code: 3, hosts: [], said: expect.stringContaining('cp1 went back before') })
  expect(await end({ action: 'keep', trials: { cp1: on }, missing: ['w2'] })).toMatchObject({ code: 3 })
})

test('to keep what is gone is an error, and otherwise nothing on trial is well', async () => {
  expect(await end({ action: 'keep', trials: { w1: back } })).toMatchObject({ code: 1, outcome: 'failed' })
  for (const action of ['keep', 'back'] as const) {
    const { code, types } = await end({ action, trials: {} })
    expect({ code, types }).toEqual({ code: 0, types: [] })
  }
})
