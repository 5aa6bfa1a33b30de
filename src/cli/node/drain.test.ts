import { beforeAll, expect, test } from 'vitest'
import type { Event } from '../../contract/event.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { readCordon } from '../../lifecycle/drain/cordon.ts'
import {
  buildBudget,
  buildPod,
  createNodeApiServer,
  DrainedNode,
} from '../../lifecycle/drain/testing/drained-node.ts'
import { runWithProgress } from '../run/run-with-progress.ts'
import { createInMemoryContext, type InMemoryOptions } from '../testing/run-in-memory.ts'
import { drainNode, uncordonNode } from '../../actions/drain.ts'
import { createActionRun, exitCodeByStatus } from '../run/run-action.ts'
import { formatDrainResult } from './drain.ts'

let ca: TestCa
const openApi = createNodeApiServer(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

interface DrainResult {
  readonly code: number
  readonly stderr: string
  readonly events: readonly Event['body'][]
}

const readNodeCordon = ({ node }: DrainedNode) => node && readCordon(node)

const drainDefaults = { ignore: [], force: false, dryRun: false, deadline: 600_000 }

async function drain(
  api: DrainedNode,
  more: object,
  environment: InMemoryOptions = {},
): Promise<DrainResult> {
  const { context, collectResult } = createInMemoryContext({}, environment)
  const { client } = await openApi(api)
  const options = { file: 'cluster.yml', output: 'table', input: true, progress: 'plain', ...more } as const
  const events: Event['body'][] = []
  let time = Date.parse('2026-11-15T12:00:00Z')
  const ownContext = {
    ...context,
    now: () => new Date((time += 1000)),
    commandLogs: {
      open: () => ({
        path: undefined,
        problem: undefined,
        onEvent: ({ body }: Event) => void events.push(body),
        close: () => undefined,
      }),
      list: () => [],
      read: () => '',
    },
  }
  const settings = {
    command: 'node drain w1',
    cluster: 'shop',
    progress: 'plain',
    debug: false,
    detail: 'normal',
  } as const
  const drainOptions = { ...drainDefaults, ...more, api: client, node: 'w1' }
  const { code } = await runWithProgress(ownContext, settings, async (reporter) => {
    const run = createActionRun(ownContext, options, true, reporter)
    const { status, result } = await drainNode(ownContext, drainOptions, run)
    return { code: exitCodeByStatus[status], result }
  })
  return { code, stderr: collectResult(code).stderr, events }
}

const pods = () => [
  buildPod('web'),
  buildPod('cache', { spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } }),
  buildPod('log', { controller: 'DaemonSet' }),
]

test('the pods to move are shown, and moved after confirmation', async () => {
  const api = new DrainedNode(...pods())
  const { code, stderr } = await drain(api, {}, { replies: [true] })
  expect(code).toBe(0)
  expect(stderr).toContain(
    'w1 is cordoned; these pods are evicted:\n  shop/web (ReplicaSet web)\n  shop/cache (ReplicaSet web)\n1 pod not evicted: DaemonSet, static or ended\n',
  )
  expect(stderr).toContain('w1: warning NODE_PODS_LOCAL_DATA')
  expect(stderr).toContain('drain w1')
  expect(api.pods.map(({ metadata }) => metadata.name)).toEqual(['log'])
  expect(formatDrainResult('w1', 0)).toContain('hyperkube node uncordon w1')
})

test.each([
  ['the operator declines', {}, { replies: [false] }, 3],
  ['there is no terminal', {}, {}, 2],
  ['the operator interrupts', {}, { replies: [] }, 130],
])('drain changes nothing if %s', async (_, more, environment, expected) => {
  const api = new DrainedNode(...pods())
  const { code } = await drain(api, more, environment)
  expect(code).toBe(expected)
  expect([api.pods.length, readNodeCordon(api)]).toEqual([3, 'none'])
})

test('pods without a controller are evicted only with --force', async () => {
  const api = new DrainedNode(buildPod('by-hand', { controller: '' }))
  const refused = await drain(api, { yes: true })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('error NODE_PODS_UNMANAGED')
  expect(refused.stderr).toContain('then drain with --force')
  expect([api.pods.length, readNodeCordon(api)]).toEqual([1, 'none'])
  const forced = await drain(api, { yes: true, force: true })
  expect(forced.code).toBe(0)
  expect(forced.stderr).toContain('shop/by-hand (no controller: not created again)')
  expect(api.pods).toEqual([])
})

test('a budget that never allows the eviction is refused, or if ignored blocks until the deadline', async () => {
  const api = new DrainedNode(buildPod('web'))
  api.setBudgets(buildBudget('web', { minAvailable: 2 }, { desiredHealthy: 2 }))
  const refused = await drain(api, { yes: true })
  expect([refused.code, readNodeCordon(api)]).toEqual([1, 'none'])
  expect(refused.stderr).toContain(
    'error DRAIN_IMPOSSIBLE: PodDisruptionBudget shop/web never allows the eviction of shop/web',
  )
  const timedOut = await drain(api, { yes: true, ignore: ['DRAIN_IMPOSSIBLE'], deadline: 10_000 })
  expect([timedOut.code, readNodeCordon(api)]).toEqual([1, 'ours'])
  expect(timedOut.stderr).toMatch(
    /DRAIN_BLOCKED: w1 is not drained after 10\.0 s:\n {6}shop\/web, .*PodDisruptionBudget shop\/web/,
  )
  expect(timedOut.stderr).toContain('no host was changed')
  expect(timedOut.events).toContainEqual(expect.objectContaining({ type: 'waiting' }))
})

test('drain of an unknown node is an error', async () => {
  const api = new DrainedNode()
  api.removeNode()
  const { code, stderr } = await drain(api, { yes: true })
  expect([code, stderr]).toEqual([1, expect.stringContaining('NODE_UNKNOWN')])
})

test('uncordon refuses nodes that were cordoned by others, unless forced', async () => {
  const api = new DrainedNode(...pods())
  const { client } = await openApi(api)
  const { signal } = new AbortController()
  const options = { force: false, dryRun: false }
  expect(await uncordonNode(client, 'w1', options, signal)).toBe(false)
  await drain(api, { yes: true })
  expect(await uncordonNode(client, 'w1', { ...options, dryRun: true }, signal)).toBe(true)
  expect(readNodeCordon(api)).toBe('ours')
  expect(await uncordonNode(client, 'w1', options, signal)).toBe(true)
  expect(readNodeCordon(api)).toBe('none')
  api.changeNode({ spec: { unschedulable: true } })
  await drain(api, { yes: true })
  await expect(uncordonNode(client, 'w1', options, signal)).rejects.toMatchObject({
    code: 'NODE_CORDONED_BY_OTHERS',
  })
  expect(readNodeCordon(api)).toBe('others')
  expect(await uncordonNode(client, 'w1', { ...options, force: true }, signal)).toBe(true)
  expect(readNodeCordon(api)).toBe('none')
})
