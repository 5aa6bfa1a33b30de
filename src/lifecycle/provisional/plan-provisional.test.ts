import { expect, test } from 'vitest'
import type { AgentRequest } from '../../contract/request.ts'
import { diffPlan } from '../../diff/diff.ts'
import { resourcesAfterApply } from '../../diff/plan-resources.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { createIdentity } from '../../identity/identity.ts'
import { advanceReplacement } from '../../identity/replace-key.ts'
import { Secret } from '../../pki/secret.ts'
import { parseTestCluster, buildTestLock, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { planRollout } from '../../rollout/rollout.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import { emptyProposal, planFromInputs } from '../proposal/proposal.ts'
import type { ClusterInputs } from '../inputs/cluster-inputs.ts'
import { planProvisionalChange } from './plan-provisional.ts'

const now = new Date('2026-11-15T00:00:00Z')
const identity = await createIdentity('shop', now)

function buildInputs(
  lines: readonly string[],
  more: Partial<ClusterInputs> = {},
  kubernetes = '1.37.1',
): ClusterInputs {
  const cluster = parseTestCluster(`apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: ${kubernetes}
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: cp2, address: 10.0.0.2, roles: [control-plane] }
    - { name: cp3, address: 10.0.0.3, roles: [control-plane] }
    - { name: w1, address: 10.0.0.4, roles: [worker] }
${lines.map((line) => `  ${line}\n`).join('')}`)
  return {
    cluster,
    catalog: shippedCatalog,
    lock: buildTestLock(kubernetes),
    identity,
    attachments: new Map(),
    sources: new Map(),
    charts: new Map(),
    version: () => '0.1.0',
    ...more,
  }
}

/** Plans a provisional change of a cluster from one set of inputs to another. */
async function planChange(inputs: ClusterInputs, previous: ClusterInputs = buildInputs([])) {
  const buildPlans = (clusterInputs: ClusterInputs) =>
    planFromInputs(clusterInputs, buildPlanInput(clusterInputs.cluster).facts, []).plans
  const [plans, previousPlans] = [
    buildPlans(inputs),
    new Map(buildPlans(previous).map((plan) => [plan.host, plan])),
  ]
  const ops = new Map(
    plans.map((plan) => {
      const previousPlan = previousPlans.get(plan.host)
      return [plan.host, diffPlan(plan, previousPlan === undefined ? [] : resourcesAfterApply(previousPlan))]
    }),
  )
  const names = plans.map(({ host }) => host)
  const controlPlanes = names.filter((name) => name.startsWith('cp'))
  const { steps } = planRollout({
    plans,
    ops,
    live: { etcd: controlPlanes, controlPlanes, nodes: names },
    unreachable: [],
    desiredRoles: new Map(),
    removedHosts: [],
    maxUnavailable: 1,
    currentKubelets: new Map(),
  })
  const requests: AgentRequest['body'][] = []
  const sessions = new Map(
    names.map((name) => {
      const plan = previousPlans.get(name)
      const respond = (request: AgentRequest['body']) =>
        request.type === 'previous-plan' && plan !== undefined
          ? ({ type: 'previous-plan', plan } as const)
          : undefined
      return [name, scriptedSession(name, { run: async function* () {}, requests, respond })] as const
    }),
  )
  const proposal = { ...emptyProposal, plans, ops, steps }
  const { provisional, findings } = await planProvisionalChange(
    { durationMs: 1, rollbackIntervalMs: 1 },
    inputs,
    proposal,
    sessions,
    new Map(),
  )
  await Promise.all([...sessions.values()].map(async (session) => session.close()))
  const restarts = [...provisional.rollbackOps].map(([host, hostOps]) => {
    const services = hostOps
      .filter(({ action }) => action === 'restart')
      .map(({ name }) => name.split('.')[0])
    return `${host} ${services.join(' ')}`
  })
  return {
    codes: findings.map(({ code }) => code),
    restarts,
    groups: provisional.rollbackGroups.map((group) => group.join()),
  }
}

const everywhere = ['cp1', 'cp2', 'cp3', 'w1']

test.each([
  ['a kubelet setting', 'components: { kubelet: { maxPods: 50 } }', everywhere, 'kubelet'],
  [
    'an API server flag',
    'components: { apiServer: { args: { event-ttl: 2h } } }',
    ['cp1', 'cp2', 'cp3'],
    'kube-apiserver',
  ],
  ['an audit setting', 'security: { audit: { maxAge: 5 } }', ['cp1', 'cp2', 'cp3'], 'kube-apiserver'],
  [
    'a containerd setting',
    'components: { containerd: { config: "[debug]\\nlevel = \\"debug\\"" } }',
    everywhere,
    'containerd',
  ],
])('%s may be provisional, and the restarts of a rollback are known', async (_, line, hosts, service) => {
  const { codes, restarts, groups } = await planChange(buildInputs([line]))
  expect(codes).toEqual([])
  expect(restarts.toSorted()).toEqual(hosts.map((host) => `${host} ${service}`))
  expect(groups).toEqual(['cp3', 'cp2', 'cp1', 'w1'].filter((host) => hosts.includes(host)))
})

test('an additional API name may be provisional, and its rollback restarts nothing', async () => {
  const { codes, restarts } = await planChange(buildInputs(['api: { sans: [api.example.org] }']))
  expect(codes).toEqual([])
  expect(restarts).toEqual(['cp1 ', 'cp2 ', 'cp3 '])
})

test('a change of the Kubernetes version may not be provisional', async () => {
  const { codes } = await planChange(buildInputs([]), buildInputs([], {}, '1.36.4'))
  expect(codes).toContain('PROVISIONAL_PROGRAMS')
})

test('a change of the hyperkube release may not be provisional', async () => {
  expect((await planChange(buildInputs([], { version: () => '0.2.0' }))).codes).toEqual([
    'PROVISIONAL_PROGRAMS',
  ])
})

test('adding, changing or removing a registry password may not be provisional', async () => {
  const registry = ['registries: [{ host: ghcr.io, username: me, password: { secret: puller } }]']
  const withPassword = (text: string): ClusterInputs =>
    buildInputs(registry, { identity: { ...identity, secrets: { puller: new Secret('puller', text) } } })
  expect((await planChange(withPassword('one'))).codes).toContain('PROVISIONAL_SECRETS')
  expect((await planChange(withPassword('two'), withPassword('one'))).codes).toContain('PROVISIONAL_SECRETS')
  expect((await planChange(buildInputs([]), withPassword('one'))).codes).toContain('PROVISIONAL_SECRETS')
})

test('no phase of a key rotation may be provisional', async () => {
  for (const key of ['kubernetes', 'etcd', 'front-proxy', 'service-account', 'encryption'] as const) {
    let previous = identity
    for (let phase = 0; phase < 3; phase++) {
      const next = await advanceReplacement(previous, key, now)
      const { codes } = await planChange(
        buildInputs([], { identity: next }),
        buildInputs([], { identity: previous }),
      )
      expect(codes, `${key} ${phase}`).toEqual(['PROVISIONAL_SECRETS'])
      previous = next
    }
  }
})
