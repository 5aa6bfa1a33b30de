import { expect, test } from 'vitest'
import { buildComponent, buildPlan } from '../../diff/testing/fixtures.ts'
import type { ProbeResult } from './probes/probe-runner.ts'
import { manualClock, probeAt } from './testing/fake-agent.ts'
import { watchProbes } from './watch-probes.ts'

const kubelet = buildPlan(
  buildComponent({ name: 'kubelet', probes: [probeAt('healthz'), probeAt('lease', 'remote')] }),
)

function startWatch(results: Map<string, () => Promise<ProbeResult>>) {
  const clock = manualClock(Date.UTC(2027, 0, 1))
  let changes = 0
  const watch = watchProbes({
    runProbe: async ({ name }) =>
      (results.get(name) ?? (async (): Promise<ProbeResult> => ({ state: 'healthy' })))(),
    clock,
    random: () => 1,
    onChange: () => void changes++,
  })
  const states = (): unknown => watch.current.map(({ state }) => state)
  return { clock, watch, states, changes: () => changes }
}

const failed = async (): Promise<ProbeResult> => ({
  state: 'unhealthy',
  message: 'refused',
  code: 'HEALTH_NO_RESPONSE',
})
const { signal } = new AbortController()

test('a probe is unhealthy after enough failures in a row, and each change is reported', async () => {
  const results = new Map([['healthz', failed]])
  const { clock, watch, states, changes } = startWatch(results)
  watch.follow(kubelet, signal)
  expect(states()).toEqual(['unknown', 'unknown'])
  await clock.pass(3000)
  expect([states(), changes()]).toEqual([['degraded', 'healthy'], 2])
  await clock.pass(5000)
  expect([states(), changes()]).toEqual([['degraded', 'healthy'], 2])
  await clock.pass(5000)
  expect([states(), changes()]).toEqual([['unhealthy', 'healthy'], 3])
  expect(watch.current[0]).toMatchObject({
    since: '2027-01-01T00:00:13.000Z',
    message: 'refused',
    code: 'HEALTH_NO_RESPONSE',
  })
  results.clear()
  await clock.pass(5000)
  expect(states()).toEqual(['healthy', 'healthy'])
})

test('a confirmed failure needs no further failures, and the recovery is noticed soon', async () => {
  const results = new Map<string, () => Promise<ProbeResult>>()
  const { clock, watch, states } = startWatch(results)
  results.set('healthz', async () => ({ state: 'unhealthy', message: 'stopped', isConfirmed: true }))
  watch.follow(kubelet, signal)
  await clock.pass(3000)
  expect(states()).toEqual(['unhealthy', 'healthy'])
  results.clear()
  await clock.pass(2000)
  expect(states()).toEqual(['healthy', 'healthy'])
})

test('a failed probe runs again soon, and a healthy one at its interval', async () => {
  let runs = 0
  const slow = { ...probeAt('healthz'), intervalMs: 60_000, failureThreshold: 3 }
  const results = new Map<string, () => Promise<ProbeResult>>()
  const { clock, watch } = startWatch(results)
  results.set('healthz', async () => (++runs < 2 ? failed() : { state: 'healthy' }))
  watch.follow(buildPlan(buildComponent({ name: 'kubelet', probes: [slow] })), signal)
  await clock.pass(3000)
  await clock.pass(5000)
  expect(runs).toBe(2)
  await clock.pass(5000)
  expect(runs).toBe(2)
})

test('a probe that throws is unknown', async () => {
  const throwing = async (): Promise<ProbeResult> => Promise.reject(new Error('a mistake'))
  const { clock, watch } = startWatch(new Map([['healthz', throwing]]))
  watch.follow(kubelet, signal)
  await clock.pass(3000)
  expect(watch.current[0]).toMatchObject({ state: 'unknown', message: 'a mistake' })
})

test('another plan resets only changed probes, and no plan removes all probes', async () => {
  const { clock, watch, states } = startWatch(new Map())
  watch.follow(kubelet, signal)
  await clock.pass(3000)
  const other = { ...probeAt('lease', 'remote'), failureThreshold: 9 }
  watch.follow(buildPlan(buildComponent({ name: 'kubelet', probes: [probeAt('healthz'), other] })), signal)
  expect(states()).toEqual(['healthy', 'unknown'])
  watch.follow(undefined, signal)
  expect(states()).toEqual([])
})

test('at most eight probes run at once', async () => {
  let [now, maxRunning] = [0, 0]
  const names = Array.from({ length: 20 }, (_, index) => `probe-${index}`)
  const slow = async (): Promise<ProbeResult> => {
    maxRunning = Math.max(maxRunning, ++now)
    await new Promise((resolve) => setTimeout(resolve, 1))
    now--
    return { state: 'healthy' }
  }
  const { watch } = startWatch(new Map(names.map((name) => [name, slow])))
  watch.follow(
    buildPlan(buildComponent({ name: 'kubelet', probes: names.map((name) => probeAt(name)) })),
    signal,
  )
  expect(await watch.runAll(signal)).toHaveLength(20)
  expect(maxRunning).toBe(8)
})
