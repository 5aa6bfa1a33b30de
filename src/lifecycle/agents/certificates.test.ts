import { expect, test } from 'vitest'
import type { AgentRequest } from '../../contract/request.ts'
import { createIdentity } from '../../identity/identity.ts'
import { buildTestCluster, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { signHostCertificates } from './certificates.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'

const now = new Date('2026-11-15T00:00:00Z')
const claim = { holder: 'ana', generation: 1 }
const cluster = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
const { plans } = planCluster(buildPlanInput(cluster))

test.each([false, true])('all certificates of hosts are requested only with renew: %s', async (renew) => {
  const requests: AgentRequest['body'][] = []
  const run = async function* () {
    yield* []
  }
  const sessions = new Map([['cp1', scriptedSession('cp1', { run, requests })]])
  const signed = await signHostCertificates(
    await createIdentity('shop', now),
    plans,
    sessions,
    claim,
    now,
    renew,
  )
  expect(requests.filter(({ type }) => type !== 'hello')).toMatchObject([
    { type: 'certificate-requests', renew },
  ])
  expect(signed).toEqual(new Map([['cp1', {}]]))
})
