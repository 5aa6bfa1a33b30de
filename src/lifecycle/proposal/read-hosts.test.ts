import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest } from '../../contract/request.ts'
import { createIdentity } from '../../identity/identity.ts'
import { readRemovalOps } from './read-hosts.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'

test('hosts return the ops that remove everything of ours', async () => {
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
