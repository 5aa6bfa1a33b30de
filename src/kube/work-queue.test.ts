import { expect, test } from 'vitest'
import { Metrics } from '../kit/metrics.ts'
import { FakeMonotonicClock } from '../kit/testing/fake-monotonic-clock.ts'
import { KubeError } from './kube-error.ts'
import { QueueMetrics } from './queue-metrics.ts'
import { WorkQueue } from './work-queue.ts'

const backoff = { initial: 100, max: 1000 }

test('a failure is retried with growing delays, not before Retry-After, and from the start after a success', async () => {
  const time = new FakeMonotonicClock()
  const queue = new WorkQueue('q', { time, backoff, random: () => 1 })
  const results = ['no', 'no', 'no', 'no', 'no', 'wait', 'yes', 'no', 'yes']
  const handled: number[] = []
  const failures: number[] = []
  const stop = new AbortController()
  const handle = async (): Promise<undefined> => {
    handled.push(time.now())
    const result = results.shift()
    if (result === 'no') throw new Error(result)
    if (result === 'wait') throw new KubeError('KUBE_TOO_MANY', 'later', { retryAfter: 5000 })
    return undefined
  }
  const running = queue.run({ handle, onFailure: (_key, _error, count) => failures.push(count) }, stop.signal)
  queue.add('a')
  await time.advance(20_000)
  queue.add('a')
  await time.advance(20_000)
  expect(handled).toEqual([0, 100, 300, 700, 1500, 2500, 8500, 20_000, 20_100])
  expect(failures).toEqual([1, 2, 3, 4, 5, 6, 1])
  stop.abort()
  await running
})

test('a stopped queue finishes the current key and starts no other key', async () => {
  const queue = new WorkQueue('q')
  const stop = new AbortController()
  const handled: string[] = []
  const gate = Promise.withResolvers<undefined>()
  for (const key of ['a', 'b', 'a']) queue.add(key)
  const handle = async (key: string): Promise<undefined> => {
    handled.push(key)
    return gate.promise
  }
  const running = queue.run({ handle }, stop.signal)
  await Promise.resolve()
  stop.abort()
  gate.resolve(undefined)
  await running
  expect(handled).toEqual(['a'])
})

test('a queue exports the workqueue metrics of client-go', async () => {
  const [metrics, time] = [new Metrics(), new FakeMonotonicClock()]
  const queue = new WorkQueue('nodes', { time, metrics: new QueueMetrics(metrics), backoff, random: () => 1 })
  for (const key of ['a', 'b', 'b']) queue.add(key)
  expect(metrics.text()).toContain('workqueue_depth{name="nodes"} 2\n')
  expect(metrics.text()).toContain('workqueue_adds_total{name="nodes"} 2\n')
  const stop = new AbortController()
  const ended = Promise.withResolvers<undefined>()
  const handle = async (key: string): Promise<undefined> => {
    if (key === 'a') throw new Error('no')
    return ended.promise
  }
  const running = queue.run({ handle }, stop.signal)
  await time.advance(2000)
  const text = metrics.text()
  expect(text).toContain('workqueue_retries_total{name="nodes"} 1\n')
  expect(text).toContain('workqueue_longest_running_processor_seconds{name="nodes"} 2\n')
  expect(text).toContain('workqueue_unfinished_work_seconds{name="nodes"} 2\n')
  expect(text).toContain('workqueue_queue_duration_seconds_count{name="nodes"} 2\n')
  expect(text).toContain('workqueue_work_duration_seconds_count{name="nodes"} 1\n')
  stop.abort()
  ended.resolve(undefined)
  await running
})

test('a key with thousands of delays is processed once, at the earliest time', async () => {
  const time = new FakeMonotonicClock()
  const queue = new WorkQueue('q', { time })
  const handled: string[] = []
  const stop = new AbortController()
  const handle = async (key: string): Promise<undefined> => void handled.push(`${key} ${time.now()}`)
  const running = queue.run({ handle }, stop.signal)
  queue.addAfter('b', 9000)
  for (let sooner = 0; sooner < 5000; sooner++) queue.addAfter('a', 10_000 - sooner)
  queue.addAfter('a', 6000)
  await time.advance(20_000)
  expect(handled).toEqual(['a 5001', 'b 9000'])
  stop.abort()
  await running
})

test('the cost of a queue is not quadratic in the number of keys', async () => {
  const time = new FakeMonotonicClock()
  const queue = new WorkQueue('q', { time })
  let count = 0
  const cost = async (keys: number): Promise<number> => {
    const stop = new AbortController()
    const all = Promise.withResolvers<void>()
    count = 0
    const began = performance.now()
    for (let key = 0; key < keys; key++) queue.add(String(key))
    const handle = async (): Promise<{ requeueAfter: number }> => {
      if (++count === keys) all.resolve()
      return { requeueAfter: 3_600_000 }
    }
    const running = queue.run({ handle }, stop.signal)
    await all.promise
    stop.abort()
    await running
    return performance.now() - began
  }
  await cost(2000)
  const [few, many] = [await cost(2000), await cost(100_000)]
  // The second queue has 50 times more keys. With quadratic cost, it would take 2,500 times longer.
  expect(many / few).toBeLessThan(500)
})
