import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest } from '../../contract/request.ts'
import { buildEmptyPlan } from '../../diff/plan-resources.ts'
import { createIdentity } from '../../identity/identity.ts'
import { readDiffs, readRemovalOps } from './read-hosts.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'

test('removal ops are the diff against an empty plan', async () => {
  const identity = await createIdentity('shop', new Date('2026-11-15T00:00:00Z'))
  const requests: AgentRequest['body'][] = []
  const head = { component: 'kubelet', stage: 'node', action: 'stop', target: 'service' } as const
  const stop: Op = { ...head, name: 'kubelet.service', because: [] }
  const session = scriptedSession('w1', { run: async function* () {}, ops: [stop], requests })
  const ops = await readRemovalOps(identity, new Map([['w1', session]]))
  await session.close()
  expect([...ops]).toEqual([['w1', [stop]]])
  expect(requests.at(-1)).toMatchObject({
    type: 'diff',
    plan: { host: 'w1', cluster: { name: 'shop', id: identity.id }, components: [] },
  })
})

test('nothing is to be removed from a host whose agent has removed itself since the connection', async () => {
  const identity = await createIdentity('shop', new Date('2026-11-15T00:00:00Z'))
  const session = scriptedSession('w1', {
    run: async function* () {},
    requests: [],
    respond: ({ type }) =>
      type === 'diff' ? { type: 'refused', code: 'AGENT_NOT_THERE', message: 'none there' } : undefined,
  })
  const ops = await readRemovalOps(identity, new Map([['w1', session]]))
  await session.close()
  expect([...ops]).toEqual([['w1', []]])
})

test('equal ops of 300 hosts share one array, and at most 64 diffs run at the same time', async () => {
  const head = { component: 'kubelet', stage: 'node', action: 'create', target: 'file' } as const
  const names = Array.from({ length: 300 }, (_, index) => `w${index}`)
  let [open, most] = [0, 0]
  // Counts the sessions in use: each session sends `hello` first and its diff request last.
  const requests = {
    push: ({ type }: AgentRequest['body']) => (most = Math.max(most, (open += type === 'hello' ? 1 : -1))),
  }
  const sessions = new Map(
    names.map((name) => {
      const op: Op = { ...head, name: name === 'w7' ? '/etc/other' : '/etc/same', because: [] }
      return [name, scriptedSession(name, { run: async function* () {}, ops: [op], requests })] as const
    }),
  )
  const plans = names.map((name) =>
    buildEmptyPlan({ name: 'shop', id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11' }, name),
  )
  const diffs = await readDiffs(plans, sessions, { fileContents: false, renew: false })
  await Promise.all([...sessions.values()].map(async (session) => session.close()))
  expect(diffs.size).toBe(300)
  expect(new Set([...diffs.values()].map(({ ops }) => ops)).size).toBe(2)
  expect(diffs.get('w7')?.ops).toMatchObject([{ name: '/etc/other' }])
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(64)
})
