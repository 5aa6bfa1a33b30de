import { expect, test } from 'vitest'
import type { Op } from '../contract/op.ts'
import type { AgentRequest } from '../contract/request.ts'
import { createIdentity } from '../identity/identity.ts'
import { clearingOps } from './removal-ops.ts'
import { scriptedSession } from './testing/scripted-agent.ts'

test('hosts are asked what goes when nothing of ours is wished any more', async () => {
  const identity = await createIdentity('shop', new Date('2026-11-15T00:00:00Z'))
  const asked: AgentRequest['ask'][] = []
  const head = { component: 'kubelet', stage: 'node', action: 'stop', target: 'service' } as const
  const stop: Op = { ...head, name: 'kubelet.service', because: [] }
  const session = scriptedSession('w1', { run: async function* () {}, ops: [stop], asked })
  const ops = await clearingOps(identity, new Map([['w1', session]]))
  await session.close()
  expect([...ops]).toEqual([['w1', [stop]]])
  expect(asked.at(-1)).toMatchObject({
    type: 'diff',
    plan: { host: 'w1', cluster: { name: 'shop', id: identity.id }, components: [] },
  })
})
