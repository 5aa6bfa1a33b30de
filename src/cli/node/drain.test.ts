import { beforeAll, expect, test } from 'vitest'
import type { Event } from '../../contract/event.ts'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import { cordonOf } from '../../lifecycle/drain/cordon.ts'
import { budgetNamed, nodeBench, podNamed, TestNodeApi } from '../../lifecycle/drain/testing/fake-node-api.ts'
import { inMemory, type World } from '../testing/run-in-memory.ts'
import { reportedRun } from '../run-with-progress.ts'
import { emptyNode } from './drain.ts'
import { drainedText } from './drain-text.ts'
import { letBack } from './uncordon.ts'

let authority: TestAuthority
const open = nodeBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

interface Drained {
  readonly code: number
  readonly stderr: string
  readonly events: readonly Event['what'][]
}

const cordonOn = ({ node }: TestNodeApi) => node && cordonOf(node)

async function drain(api: TestNodeApi, more: object, world: World = {}): Promise<Drained> {
  const { context, ended } = inMemory({}, world)
  const { client } = await open(api)
  const options = { file: 'cluster.yml', output: 'table', input: true, progress: 'plain', ...more } as const
  const events: Event['what'][] = []
  let time = Date.parse('2026-11-15T12:00:00Z')
  const own = {
    ...context,
    now: () => new Date((time += 1000)),
    runLogs: {
      open: () => ({
        path: undefined,
        problem: undefined,
        heard: ({ what }: Event) => void events.push(what),
        close: () => undefined,
      }),
    },
  }
  const settings = { command: 'node drain w1', cluster: 'shop', progress: 'plain', debug: false } as const
  const { code } = await reportedRun(own, settings, async (run) =>
    emptyNode({ context: own, options, api: client, node: 'w1', run }),
  )
  return { code, stderr: ended(code).stderr, events }
}

const pods = () => [
  podNamed('web'),
  podNamed('cache', { spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } }),
  podNamed('log', { controller: 'DaemonSet' }),
]

test('what would be moved is shown, and done when somebody agrees', async () => {
  const api = new TestNodeApi(...pods())
  const { code, stderr } = await drain(api, {}, { answers: [true] })
  expect(code).toBe(0)
  expect(stderr).toContain(
    'w1 takes no new pods, and these are moved away\n  shop/web (ReplicaSet web)\n  shop/cache (ReplicaSet web)\n1 pod of the node itself, or ended already: left alone\n',
  )
  expect(stderr).toContain('w1: warning NODE_PODS_LOCAL_DATA')
  expect(stderr).toContain('move pods away from w1')
  expect(api.pods.map(({ metadata }) => metadata.name)).toEqual(['log'])
  expect(drainedText('w1', 0)).toContain('hyperkube node uncordon w1')
})

test.each([
  ['somebody says no', {}, { answers: [false] }, 3],
  ['there is nobody to ask', {}, {}, 2],
  ['somebody has had enough', {}, { answers: [] }, 130],
])('nothing is done when %s', async (_, more, world, expected) => {
  const api = new TestNodeApi(...pods())
  const { code } = await drain(api, more, world)
  expect(code).toBe(expected)
  expect([api.pods.length, cordonOn(api)]).toEqual([3, 'none'])
})

test('pods that nobody makes anew go only with --force', async () => {
  const api = new TestNodeApi(podNamed('by-hand', { controller: '' }))
  const refused = await drain(api, { yes: true })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('error NODE_PODS_UNMANAGED')
  expect([api.pods.length, cordonOn(api)]).toEqual([1, 'none'])
  const forced = await drain(api, { yes: true, force: true })
  expect(forced.code).toBe(0)
  expect(forced.stderr).toContain('shop/by-hand (gone for good)')
  expect(api.pods).toEqual([])
})

test('a budget that can never be met is refused at once, or waited for until the deadline', async () => {
  const api = new TestNodeApi(podNamed('web'))
  api.budgets = [budgetNamed('web', { minAvailable: 2 }, { desiredHealthy: 2 })]
  const refused = await drain(api, { yes: true })
  expect([refused.code, cordonOn(api)]).toEqual([1, 'none'])
  expect(refused.stderr).toContain('error DRAIN_NEVER: budget shop/web never lets shop/web go')
  const waited = await drain(api, { yes: true, ignore: ['DRAIN_NEVER'], deadline: 10_000 })
  expect([waited.code, cordonOn(api)]).toEqual([1, 'ours'])
  expect(waited.stderr).toMatch(
    /DRAIN_BLOCKED: w1 is not empty after 10\.0 s:\n {6}shop\/web, .*budget shop\/web/,
  )
  expect(waited.stderr).toContain('no host was changed')
  expect(waited.events).toContainEqual(expect.objectContaining({ type: 'waiting' }))
})

test('a node that is not there is told', async () => {
  const api = new TestNodeApi()
  api.node = undefined
  const { code, stderr } = await drain(api, { yes: true })
  expect([code, stderr]).toEqual([1, expect.stringContaining('NODE_UNKNOWN')])
})

test('uncordon leaves what others have cordoned, unless somebody insists', async () => {
  const api = new TestNodeApi(...pods())
  const { client } = await open(api)
  const { signal } = new AbortController()
  expect(await letBack(client, 'w1', false, signal)).toBe(false)
  await drain(api, { yes: true })
  expect(await letBack(client, 'w1', false, signal)).toBe(true)
  expect(cordonOn(api)).toBe('none')
  if (api.node !== undefined) api.node.spec = { taints: [], unschedulable: true }
  await drain(api, { yes: true })
  await expect(letBack(client, 'w1', false, signal)).rejects.toMatchObject({
    code: 'NODE_CORDONED_BY_OTHERS',
  })
  expect(cordonOn(api)).toBe('others')
  expect(await letBack(client, 'w1', true, signal)).toBe(true)
  expect(cordonOn(api)).toBe('none')
})
