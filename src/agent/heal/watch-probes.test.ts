import { expect, test } from 'vitest'
import { componentOf, planOf } from '../../diff/testing/fixtures.ts'
import type { Seen } from './probe-result.ts'
import { handClock, probeAt } from './testing/fake-agent.ts'
import { watchProbes } from './watch-probes.ts'

const kubelet = planOf(
  componentOf({ name: 'kubelet', probes: [probeAt('healthz'), probeAt('lease', 'remote')] }),
)

function watchOf(answers: Map<string, () => Promise<Seen>>) {
  const clock = handClock(Date.UTC(2027, 0, 1))
  let changes = 0
  const watch = watchProbes({
    ask: async ({ name }) => (answers.get(name) ?? (async (): Promise<Seen> => ({ state: 'well' })))(),
    clock,
    random: () => 1,
    changed: () => void changes++,
  })
  const states = (): unknown => watch.now.map(({ state }) => state)
  return { clock, watch, states, changes: () => changes }
}

const failed = async (): Promise<Seen> => ({ state: 'failed', seen: 'refused', code: 'HEALTH_NO_ANSWER' })
const { signal } = new AbortController()

test('a probe fails when it has failed as often in a row as it counts, and each change is told', async () => {
  const answers = new Map([['healthz', failed]])
  const { clock, watch, states, changes } = watchOf(answers)
  watch.follow(kubelet, signal)
  expect(states()).toEqual(['unknown', 'unknown'])
  await clock.pass(3000)
  expect([states(), changes()]).toEqual([['shaky', 'well'], 2])
  await clock.pass(5000)
  expect([states(), changes()]).toEqual([['shaky', 'well'], 2])
  await clock.pass(5000)
  expect([states(), changes()]).toEqual([['failing', 'well'], 3])
  expect(watch.now[0]).toMatchObject({
    since: '2027-01-01T00:00:13.000Z',
    seen: 'refused',
    code: 'HEALTH_NO_ANSWER',
  })
  answers.clear()
  await clock.pass(5000)
  expect(states()).toEqual(['well', 'well'])
})

test('what has failed is asked again soon, and what is well in its own time', async () => {
  let asked = 0
  const slow = { ...probeAt('healthz'), every: 60_000, failures: 3 }
  const answers = new Map<string, () => Promise<Seen>>()
  const { clock, watch } = watchOf(answers)
  answers.set('healthz', async () => (++asked < 2 ? failed() : { state: 'well' }))
  watch.follow(planOf(componentOf({ name: 'kubelet', probes: [slow] })), signal)
  await clock.pass(3000)
  await clock.pass(5000)
  expect(asked).toBe(2)
  await clock.pass(5000)
  expect(asked).toBe(2)
})

test('nobody knows what a probe would have said that breaks', async () => {
  const broken = async (): Promise<Seen> => Promise.reject(new Error('a mistake'))
  const { clock, watch } = watchOf(new Map([['healthz', broken]]))
  watch.follow(kubelet, signal)
  await clock.pass(3000)
  expect(watch.now[0]).toMatchObject({ state: 'unknown', seen: 'a mistake' })
})

test('of another plan only those probes are new that are others', async () => {
  const { clock, watch, states } = watchOf(new Map())
  watch.follow(kubelet, signal)
  await clock.pass(3000)
  const other = { ...probeAt('lease', 'remote'), failures: 9 }
  watch.follow(planOf(componentOf({ name: 'kubelet', probes: [probeAt('healthz'), other] })), signal)
  expect(states()).toEqual(['well', 'unknown'])
  watch.follow(undefined, signal)
  expect(states()).toEqual([])
})

test('not all are asked at once', async () => {
  let [now, most] = [0, 0]
  const names = Array.from({ length: 20 }, (_, index) => `probe-${index}`)
  const slow = async (): Promise<Seen> => {
    most = Math.max(most, ++now)
    await new Promise((resolve) => setTimeout(resolve, 1))
    now--
    return { state: 'well' }
  }
  const { watch } = watchOf(new Map(names.map((name) => [name, slow])))
  watch.follow(planOf(componentOf({ name: 'kubelet', probes: names.map((name) => probeAt(name)) })), signal)
  expect(await watch.fresh(signal)).toHaveLength(20)
  expect(most).toBe(8)
})
