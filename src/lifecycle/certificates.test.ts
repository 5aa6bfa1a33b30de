import { expect, test } from 'vitest'
import type { AgentRequest } from '../contract/request.ts'
import { createIdentity } from '../identity/identity.ts'
import { clusterWith, planInput } from '../plan/testing/fixtures.ts'
import { planCluster } from '../plan/plan.ts'
import { certify } from './certificates.ts'
import { scriptedSession } from './testing/scripted-agent.ts'

const now = new Date('2026-11-15T00:00:00Z')
const claim = { holder: 'ana', generation: 1 }
const cluster = clusterWith('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
const { plans } = planCluster(planInput(cluster))

test.each([false, true])(
  'hosts are asked for all of their certificates only when told so: %s',
  async (renew) => {
    const asked: AgentRequest['ask'][] = []
    const run = async function* () {
      yield* []
    }
    const sessions = new Map([['cp1', scriptedSession('cp1', { run, asked })]])
    const signed = await certify(await createIdentity('shop', now), plans, sessions, claim, now, renew)
    expect(asked.filter(({ type }) => type !== 'hello')).toMatchObject([
      { type: 'certificate-requests', renew },
    ])
    expect(signed).toEqual(new Map([['cp1', {}]]))
  },
)
