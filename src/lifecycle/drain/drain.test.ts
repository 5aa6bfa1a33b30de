import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import type { TestServer } from '../../kit/testing/https-test-server.ts'
import { cordonMark, cordonOf } from './cordon.ts'
import { drain, type DrainOptions } from './drain.ts'
import { budgetNamed, nodeBench, podNamed, TestNodeApi } from './testing/fake-node-api.ts'

let authority: TestAuthority
const open = nodeBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

interface Drained {
  readonly error: unknown
  readonly told: readonly string[]
  readonly server: TestServer
}

/** Time passes with every look at the clock, so that nobody has to wait for it. */
async function drained(api: TestNodeApi, options: Partial<DrainOptions> = {}): Promise<Drained> {
  const { client, server } = await open(api)
  const told: string[] = []
  let time = Date.parse('2026-11-15T12:00:00Z')
  const error: unknown = await drain(client, 'w1', {
    deadline: 60_000,
    force: false,
    waiting: (reason) => void told.push(reason),
    now: () => new Date((time += 100)),
    signal: new AbortController().signal,
    every: 1,
    ...options,
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { error, told, server }
}

const left = ({ pods }: TestNodeApi): string[] => pods.map(({ metadata }) => metadata.name)
const evictions = ({ asked }: TestServer) => asked.filter(({ path }) => path.endsWith('/eviction'))

test('pods are evicted by their uid after the node is cordoned; those that belong to it stay', async () => {
  const api = new TestNodeApi(
    podNamed('web'),
    podNamed('log', { controller: 'DaemonSet' }),
    podNamed('done', { phase: 'Succeeded' }),
  )
  const { error, server } = await drained(api, { why: 'me@here: upgrade' })
  expect(error).toBeUndefined()
  expect(left(api)).toEqual(['log', 'done'])
  expect(api.node && cordonOf(api.node)).toBe('ours')
  expect(api.node?.metadata.annotations).toEqual({ [cordonMark]: 'me@here: upgrade' })
  expect(evictions(server).map(({ body }) => body)).toEqual([
    {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace: 'shop', name: 'web' },
      deleteOptions: { preconditions: { uid: 'uid-of-web' } },
    },
  ])
  const order = server.asked.map(({ method }) => method)
  expect(order.indexOf('PATCH')).toBeLessThan(order.indexOf('POST'))
})

test('five are asked for at once, and not more', async () => {
  const api = new TestNodeApi(...Array.from({ length: 12 }, (_, index) => podNamed(`web-${index}`)))
  let held: (() => void)[] = []
  let most = 0
  const letGo = (): void => {
    most = Math.max(most, held.length)
    for (const end of held) end()
    held = []
  }
  api.intercept = ({ path }) => {
    if (!path.endsWith('/eviction')) return undefined
    return {
      by(response) {
        held.push(() => {
          api.end(/pods\/([^/]+)/.exec(path)?.[1] ?? '')
          response.end('{}')
        })
        // With a moment for one too many.
        if (held.length === Math.min(5, api.pods.length)) setTimeout(letGo, 20)
      },
    }
  }
  expect((await drained(api)).error).toBeUndefined()
  expect([left(api), most]).toEqual([[], 5])
})

test('a budget is asked again, less and less often, until it lets the pod go', async () => {
  const api = new TestNodeApi(podNamed('web-1'), podNamed('web-2'))
  api.budgets = [budgetNamed('web', { minAvailable: 1 }, { disruptionsAllowed: 1 })]
  let refusals = 0
  api.intercept = ({ path }) => {
    // The one that was made elsewhere in the place of the first is ready after a while.
    if (path.endsWith('/eviction') && api.pods.length === 1 && ++refusals === 5) {
      api.budgets = [budgetNamed('web', { minAvailable: 1 }, { disruptionsAllowed: 1 })]
    }
    return undefined
  }
  const { error, told, server } = await drained(api)
  expect(error).toBeUndefined()
  expect(left(api)).toEqual([])
  expect(evictions(server).length).toBeLessThan(8)
  expect(server.asked.filter(({ path }) => path === '/api/v1/pods').length).toBeGreaterThan(20)
  expect(told.join('\n')).toMatch(
    /^w1 to be empty: shop\/web-2, asked to go for .* now: budget shop\/web does not let it go yet: allowed disruptions 0, healthy 2 of 2, needed 1$/m,
  )
})

test('at the deadline all that blocks is named, and the node stays cordoned', async () => {
  const api = new TestNodeApi(
    podNamed('web'),
    podNamed('slow', { labels: {} }),
    podNamed('free', { labels: {} }),
  )
  api.budgets = [budgetNamed('web', { minAvailable: 2 }, { desiredHealthy: 2 })]
  api.slow.add('slow')
  const { error, told } = await drained(api, { deadline: 10_000 })
  expect(error).toMatchObject({
    code: 'DRAIN_BLOCKED',
    message: expect.stringMatching(
      /^w1 is not empty after 10\.0 s:\n  shop\/web, asked to go for \d.* s now: budget shop\/web never lets it go: 2 pods must be healthy at any time, and there are 2 \(minAvailable: 2\); allowed disruptions 0, healthy 2 of 2, needed 2\n  shop\/slow is ending, for \d.* s now$/,
    ),
    hint: expect.stringContaining('hyperkube node uncordon w1'),
  })
  expect(left(api)).toEqual(['web', 'slow'])
  expect(api.node && cordonOf(api.node)).toBe('ours')
  // That it will never be is said at once.
  expect(told[0]).toContain('budget shop/web never lets it go')
})

test('a pod that takes its time is waited for', async () => {
  const api = new TestNodeApi(podNamed('web'))
  api.slow.add('web')
  let looks = 0
  api.intercept = ({ path }) => {
    if (path === '/api/v1/pods' && ++looks === 20) api.end('web')
    return undefined
  }
  const { error, told, server } = await drained(api)
  expect(error).toBeUndefined()
  expect(evictions(server)).toHaveLength(1)
  expect(told[0]).toContain('shop/web is ending')
})

test('what heeds no cordon and comes back is another pod, and left alone', async () => {
  const everywhere = { tolerations: [{ operator: 'Exists' }] }
  const api = new TestNodeApi(podNamed('web-0', { spec: everywhere }), podNamed('late'))
  api.gone = ({ metadata: { name } }) => {
    if (name === 'web-0') api.pods.push(podNamed('web-0', { uid: 'another', spec: everywhere }))
    // A scheduler may not have heard yet.
    else if (name === 'late') api.pods.push(podNamed('later'))
  }
  const { error, server } = await drained(api)
  expect(error).toBeUndefined()
  expect(api.pods.map(({ metadata }) => metadata.uid)).toEqual(['another'])
  expect(evictions(server)).toHaveLength(3)
})

test('pods that nobody makes anew need a word, before anything is done', async () => {
  const api = new TestNodeApi(podNamed('web'), podNamed('by-hand', { controller: '' }))
  const { error } = await drained(api)
  expect(error).toMatchObject({
    code: 'NODE_PODS_UNMANAGED',
    message: expect.stringContaining('shop/by-hand'),
  })
  expect(left(api)).toEqual(['web', 'by-hand'])
  expect(api.node && cordonOf(api.node)).toBe('none')
  expect((await drained(api, { force: true })).error).toBeUndefined()
  expect(left(api)).toEqual([])
})

test('of a host that is lost only the objects are removed, and nobody is asked', async () => {
  const api = new TestNodeApi(
    podNamed('web'),
    podNamed('by-hand', { controller: '' }),
    podNamed('ending', { deletionTimestamp: '2026-11-15T11:00:00Z' }),
    podNamed('log', { controller: 'DaemonSet' }),
  )
  api.budgets = [budgetNamed('web', { maxUnavailable: 0 })]
  api.node = undefined
  const { error, server } = await drained(api, { lost: true })
  expect(error).toBeUndefined()
  expect(left(api)).toEqual(['log'])
  expect(evictions(server)).toEqual([])
  const removed = server.asked.filter(({ method }) => method === 'DELETE')
  expect(removed.map(({ body }) => body)).toContainEqual(
    expect.objectContaining({ gracePeriodSeconds: 0, preconditions: { uid: 'uid-of-web' } }),
  )
})

test('on a node that is not ready nothing ends, and that is said', async () => {
  const api = new TestNodeApi(podNamed('web'))
  api.slow.add('web')
  if (api.node?.status !== undefined) {
    api.node.status.conditions = [{ type: 'Ready', status: 'Unknown', message: 'it is silent' }]
  }
  const { error, told } = await drained(api, { deadline: 5000 })
  expect(told[0]).toContain('w1 is not ready, and nothing ends on it: it is silent')
  expect(error).toMatchObject({ code: 'DRAIN_BLOCKED', hint: expect.stringContaining('bring w1 back') })
})

test('an API that is away for a moment is waited for', async () => {
  const api = new TestNodeApi(podNamed('web'))
  let [looks, questions] = [0, 0]
  api.intercept = ({ path }) => {
    if (path === '/api/v1/pods' && ++looks === 3) return { status: 500, text: 'etcd' }
    return path.endsWith('/eviction') && ++questions === 1 ? { cut: 'before' } : undefined
  }
  expect((await drained(api)).error).toBeUndefined()
  expect([left(api), questions]).toEqual([[], 2])
})

test('an interruption ends it', async () => {
  const api = new TestNodeApi(podNamed('web'))
  api.slow.add('web')
  const interruption = new AbortController()
  const { error } = await drained(api, {
    signal: interruption.signal,
    waiting: () => interruption.abort(new Error('enough')),
    every: 60_000,
  })
  expect(error).toMatchObject({ message: 'enough' })
})
