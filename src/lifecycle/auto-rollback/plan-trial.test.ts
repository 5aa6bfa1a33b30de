import { expect, test } from 'vitest'
import type { AgentRequest } from '../../contract/request.ts'
import { diff } from '../../diff/diff.ts'
import { presentAfter } from '../../diff/plan-resources.ts'
import { createIdentity } from '../../identity/identity.ts'
import { advanced } from '../../identity/replace-key.ts'
import { Secret } from '../../pki/secret.ts'
import { clusterOf, lockFor, planInput } from '../../plan/testing/fixtures.ts'
import { rollout } from '../../rollout/rollout.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import { nothing, planFrom, type Wish } from '../build-proposal.ts'
import { planTrial } from './plan-provisional.ts'

const now = new Date('2026-11-15T00:00:00Z')
const identity = await createIdentity('shop', now)

function wishOf(lines: readonly string[], more: Partial<Wish> = {}, kubernetes = '1.37.1'): Wish {
  const cluster = clusterOf(`apiVersion: hyperkube.dev/v1
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
    lock: lockFor(kubernetes),
    identity,
    attachments: new Map(),
    sources: new Map(),
    version: () => '0.1.0',
    ...more,
  }
}

/** What would be tried, were a cluster that is as one wish says brought to another. */
async function trying(wish: Wish, former: Wish = wishOf([])) {
  const plansOf = (of: Wish) => planFrom(of, planInput(of.cluster).facts, []).plans
  const [plans, before] = [plansOf(wish), new Map(plansOf(former).map((plan) => [plan.host, plan]))]
  const ops = new Map(
    plans.map((plan) => {
      const there = before.get(plan.host)
      return [plan.host, diff(plan, there === undefined ? [] : presentAfter(there))]
    }),
  )
  const names = plans.map(({ host }) => host)
  const controlPlanes = names.filter((name) => name.startsWith('cp'))
  const { steps } = rollout({
    plans,
    ops,
    live: { etcd: controlPlanes, controlPlanes, nodes: names },
    unreachable: [],
    wished: new Map(),
    leaving: [],
    maxUnavailable: 1,
    kubeletBefore: new Map(),
  })
  const asked: AgentRequest['ask'][] = []
  const sessions = new Map(
    names.map((name) => {
      const plan = before.get(name)
      const answer = (ask: AgentRequest['ask']) =>
        ask.type === 'former-plan' && plan !== undefined
          ? ({ type: 'former-plan', plan } as const)
          : undefined
      return [name, scriptedSession(name, { run: async function* () {}, asked, answer })] as const
    }),
  )
  const proposal = { ...nothing, plans, ops, steps }
  const { trial, findings } = await planTrial({ time: 1, slot: 1 }, wish, proposal, sessions, new Map())
  await Promise.all([...sessions.values()].map(async (session) => session.close()))
  const restarts = [...trial.back].map(([host, own]) => {
    const services = own.filter(({ action }) => action === 'restart').map(({ name }) => name.split('.')[0])
    return `${host} ${services.join(' ')}`
  })
  return {
    codes: findings.map(({ code }) => code),
    restarts,
    groups: trial.groups.map((group) => group.join()),
  }
}

const everywhere = ['cp1', 'cp2', 'cp3', 'w1']

test.each([
  ['a setting of kubelets', 'components: { kubelet: { maxPods: 50 } }', everywhere, 'kubelet'],
  [
    'a flag of API servers',
    'components: { apiServer: { args: { event-ttl: 2h } } }',
    ['cp1', 'cp2', 'cp3'],
    'kube-apiserver',
  ],
  ['how much is audited', 'security: { audit: { maxAge: 5 } }', ['cp1', 'cp2', 'cp3'], 'kube-apiserver'],
  [
    'a setting of containerd',
    'components: { containerd: { config: "[debug]\\nlevel = \\"debug\\"" } }',
    everywhere,
    'containerd',
  ],
])('%s may be tried, and what going back restarts is known', async (_, line, hosts, service) => {
  const { codes, restarts, groups } = await trying(wishOf([line]))
  expect(codes).toEqual([])
  expect(restarts.toSorted()).toEqual(hosts.map((host) => `${host} ${service}`))
  expect(groups).toEqual(['cp3', 'cp2', 'cp1', 'w1'].filter((host) => hosts.includes(host)))
})

test('another name of the API may be tried: nothing restarts, there or back', async () => {
  const { codes, restarts } = await trying(wishOf(['api: { sans: [api.example.org] }']))
  expect(codes).toEqual([])
  expect(restarts).toEqual(['cp1 ', 'cp2 ', 'cp3 '])
})

test('another version may not', async () => {
  const { codes } = await trying(wishOf([]), wishOf([], {}, '1.36.4'))
  expect(codes).toContain('TRIAL_PROGRAMS')
})

test('another release of hyperkube itself may not', async () => {
  expect((await trying(wishOf([], { version: () => '0.2.0' }))).codes).toEqual(['TRIAL_PROGRAMS'])
})

test('a password of a registry may not, whether it comes, changes or goes', async () => {
  const registry = ['registries: [{ host: ghcr.io, username: me, password: { secret: puller } }]']
  const withPassword = (text: string): Wish =>
    wishOf(registry, { identity: { ...identity, secrets: { puller: new Secret('puller', text) } } })
  expect((await trying(withPassword('one'))).codes).toContain('TRIAL_SECRETS')
  expect((await trying(withPassword('two'), withPassword('one'))).codes).toContain('TRIAL_SECRETS')
  expect((await trying(wishOf([]), withPassword('one'))).codes).toContain('TRIAL_SECRETS')
})

test('keys that change hands may not, in whichever phase', async () => {
  for (const key of ['kubernetes', 'etcd', 'front-proxy', 'service-account', 'encryption'] as const) {
    let former = identity
    for (let phase = 0; phase < 3; phase++) {
      const next = await advanced(former, key, now)
      const { codes } = await trying(wishOf([], { identity: next }), wishOf([], { identity: former }))
      expect(codes, `${key} ${phase}`).toEqual(['TRIAL_SECRETS'])
      former = next
    }
  }
})
