import { expect, test } from 'vitest'
import type { NetworkProbeOutcome } from '../../contract/network-probe.ts'
import { buildHostPlan } from '../../rollout/testing/fixtures.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import type { SmokeTestPod, SmokeTestPods } from './smoke-test-pods.ts'
import { runSmokeTest } from './smoke-test.ts'

const plans = ['cp1', 'w1', 'w2'].map((host) => buildHostPlan(host, ['worker']))

interface RunSetup {
  /** Returns the state of the pod of a node after its creation. */
  readonly pod?: (node: string) => SmokeTestPod
  readonly outcome?: (host: string, address: string) => NetworkProbeOutcome
}

const address = (node: string): string => `10.244.0.${plans.findIndex(({ host }) => host === node) + 1}`

async function run({ pod, outcome = (_, to) => (to === '10.96.0.1' ? 'ok' : 'refused') }: RunSetup) {
  const [created, reported]: [Set<string>, string[]] = [new Set(), []]
  let isClean = false
  const pods: SmokeTestPods = {
    create: async (node) => void created.add(node),
    list: async () =>
      new Map([...created].map((node) => [node, pod?.(node) ?? { ready: true, addresses: [address(node)] }])),
    remove: async () => void (isClean = true),
  }
  const probed = new Map<string, string[]>()
  const session = (host: string) =>
    scriptedSession(host, {
      requests: [],
      async *run() {
        yield { type: 'run-ended', result: { outcome: 'done' } }
      },
      respond(request) {
        if (request.type !== 'probe') return undefined
        probed.set(
          host,
          request.targets.map((target) => target.address),
        )
        const results = request.targets.map((target) => ({
          outcome: outcome(host, target.address),
          milliseconds: 1,
        }))
        return { type: 'probed', results }
      },
    })
  const error: unknown = await runSmokeTest({
    plans,
    sessions: new Map(plans.map(({ host }) => [host, session(host)])),
    pods,
    service: { address: '10.96.0.1', port: 443 },
    emit: (event) => void (event.type === 'waiting' && reported.push(event.for)),
    now: () => new Date(),
    signal: new AbortController().signal,
    timeoutMs: 50,
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { error, reported, probed, isClean }
}

test('every node gets a pod, reaches it, pods of peers and the service; then the pods are removed', async () => {
  const { error, probed, isClean } = await run({})
  expect(error).toBeUndefined()
  expect(probed.get('w1')).toEqual(['10.244.0.2', '10.244.0.3', '10.244.0.1', '10.96.0.1'])
  expect(isClean).toBe(true)
})

test('the reason of a pod that does not run is reported', async () => {
  const { error, reported, isClean } = await run({
    pod: (node) =>
      node === 'w2'
        ? { ready: false, reason: 'ErrImagePull: no such host' }
        : { ready: true, addresses: [address(node)] },
  })
  expect(error).toMatchObject({
    code: 'SMOKE_TEST_FAILED',
    message: 'a pod on every node: w2: ErrImagePull: no such host',
  })
  expect(reported).toContain('a pod on every node: w2: ErrImagePull: no such host')
  expect(isClean).toBe(true)
})

test('lost packets are reported with source and target; a service that refuses counts as unreachable', async () => {
  const lost = await run({ outcome: (host, to) => (host === 'w1' && to === '10.244.0.3' ? 'timeout' : 'ok') })
  expect(lost.error).toMatchObject({
    message: expect.stringContaining('w1 → the pod on w2 at 10.244.0.3: timeout'),
  })
  const refused = await run({ outcome: () => 'refused' })
  expect(refused.error).toMatchObject({
    message: expect.stringContaining('cp1 → the service of the API at 10.96.0.1: refused'),
  })
})

test('in a dual-stack cluster pods must be reachable at both addresses', async () => {
  const pod = (node: string): SmokeTestPod => ({
    ready: true,
    addresses: [address(node), `fd00::${address(node).at(-1)}`],
  })
  const { error, probed } = await run({ pod })
  expect(error).toBeUndefined()
  expect(probed.get('w1')).toEqual([
    ...['10.244.0.2', 'fd00::2'],
    ...['10.244.0.3', 'fd00::3'],
    ...['10.244.0.1', 'fd00::1'],
    '10.96.0.1',
  ])
  const lost = await run({
    pod,
    outcome: (_, to) => (to === 'fd00::3' ? 'timeout' : to === '10.96.0.1' ? 'ok' : 'refused'),
  })
  expect(lost.error).toMatchObject({ message: expect.stringContaining('the pod on w2 at fd00::3: timeout') })
})
