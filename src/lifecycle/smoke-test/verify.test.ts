import { expect, test } from 'vitest'
import type { ProbeOutcome } from '../../contract/network-probe.ts'
import { hostPlan } from '../../rollout/testing/fixtures.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import type { TrialPod, TrialPods } from './smoke-test-pods.ts'
import { verify } from './smoke-test.ts'

const plans = ['cp1', 'w1', 'w2'].map((host) => hostPlan(host, ['worker']))

interface Scene {
  /** How the pod of a node is, once it was put there. */
  readonly pod?: (node: string) => TrialPod
  readonly outcome?: (host: string, address: string) => ProbeOutcome
}

const address = (node: string): string => `10.244.0.${plans.findIndex(({ host }) => host === node) + 1}`

async function run({ pod, outcome = (_, to) => (to === '10.96.0.1' ? 'ok' : 'refused') }: Scene) {
  const [there, told]: [Set<string>, string[]] = [new Set(), []]
  let isClean = false
  const pods: TrialPods = {
    put: async (node) => void there.add(node),
    look: async () =>
      new Map([...there].map((node) => [node, pod?.(node) ?? { ready: true, address: address(node) }])),
    remove: async () => void (isClean = true),
  }
  const probed = new Map<string, string[]>()
  const session = (host: string) =>
    scriptedSession(host, {
      asked: [],
      async *run() {
        yield { type: 'run-ended', result: { outcome: 'done' } }
      },
      answer(ask) {
        if (ask.type !== 'probe') return undefined
        probed.set(
          host,
          ask.targets.map((target) => target.address),
        )
        const results = ask.targets.map((target) => ({
          outcome: outcome(host, target.address),
          milliseconds: 1,
        }))
        return { type: 'probed', results }
      },
    })
  const error: unknown = await verify({
    plans,
    sessions: new Map(plans.map(({ host }) => [host, session(host)])),
    pods,
    service: { address: '10.96.0.1', port: 443 },
    tell: (what) => void (what.type === 'waiting' && told.push(what.for)),
    now: () => new Date(),
    signal: new AbortController().signal,
    within: 50,
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { error, told, probed, isClean }
}

test('every node gets a pod, reaches its own, those of others, and the service; then the pods go', async () => {
  const { error, probed, isClean } = await run({})
  expect(error).toBeUndefined()
  expect(probed.get('w1')).toEqual(['10.244.0.2', '10.244.0.3', '10.244.0.1', '10.96.0.1'])
  expect(isClean).toBe(true)
})

test('why a pod does not run is said', async () => {
  const { error, told, isClean } = await run({
    pod: (node) =>
      node === 'w2'
        ? { ready: false, reason: 'ErrImagePull: no such host' }
        : { ready: true, address: address(node) },
  })
  expect(error).toMatchObject({
    code: 'VERIFY_FAILED',
    message: 'a pod on every node: w2: ErrImagePull: no such host',
  })
  expect(told).toContain('a pod on every node: w2: ErrImagePull: no such host')
  expect(isClean).toBe(true)
})

test('where packets are lost is said from whom to whom; a service that refuses is no service', async () => {
  const lost = await run({ outcome: (host, to) => (host === 'w1' && to === '10.244.0.3' ? 'timeout' : 'ok') })
  expect(lost.error).toMatchObject({ message: expect.stringContaining('w1 → the pod on w2: timeout') })
  const refused = await run({ outcome: () => 'refused' })
  expect(refused.error).toMatchObject({
    message: expect.stringContaining('cp1 → the service of the API: refused'),
  })
})
