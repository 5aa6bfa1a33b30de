import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { HostHealth } from '../../../contract/health.ts'
import { pollUntil } from '../../../kit/poll.ts'
import {
  createMalformedRequests,
  malformedSeed,
  sendMalformedRequests,
} from '../../../kit/testing/malformed-requests.ts'
import { HealCounters } from './heal-reporter.ts'
import { formatAgentMetrics } from './metrics.ts'
import { readProcessStats, serveMetrics } from './serve-metrics.ts'

const since = '2026-11-15T12:00:00.000Z'
const health: HostHealth = {
  at: since,
  healPolicy: 'default',
  budget: { used: 3, max: 10, windowMs: 600_000 },
  components: [
    {
      component: 'kubelet',
      state: 'healing',
      since,
      service: { name: 'kubelet.service', active: 'active', sub: 'running', restarts: 2, enabled: true },
      drift: [],
    },
  ],
  probes: [
    { component: 'kubelet', probe: 'healthz', scope: 'local', state: 'unhealthy', since },
    { component: 'kubelet', probe: 'process', scope: 'local', state: 'degraded', since },
    { component: 'kubelet', probe: 'lease', scope: 'remote', state: 'unknown', since },
  ],
  actions: [],
}

test('metrics have the Prometheus format, each with its help text', () => {
  const counters = new HealCounters()
  const restarted = { component: 'kubelet', action: 'restart', outcome: 'done' } as const
  counters.countAction(restarted)
  counters.countAction(restarted)
  counters.countFailure({ component: 'kubelet', probe: 'a "b"' })
  const process = { cpuSeconds: 1.5, residentBytes: 4096, startedAt: 17, openFiles: 20 }
  expect(formatAgentMetrics({ version: '1.0.0', health, counters, process })).toMatchInlineSnapshot(`
    "# HELP hyperkube_agent_info Version of the agent.
    # TYPE hyperkube_agent_info gauge
    hyperkube_agent_info{version="1.0.0"} 1
    # HELP hyperkube_agent_heal_actions_total Healing actions on components, including refused ones.
    # TYPE hyperkube_agent_heal_actions_total counter
    hyperkube_agent_heal_actions_total{component="kubelet",action="restart",outcome="done"} 2
    # HELP hyperkube_agent_probe_failures_total Probe failures.
    # TYPE hyperkube_agent_probe_failures_total counter
    hyperkube_agent_probe_failures_total{component="kubelet",probe="a \\"b\\""} 1
    # HELP hyperkube_agent_component_state 1 for the current state of a component, 0 for its other states.
    # TYPE hyperkube_agent_component_state gauge
    hyperkube_agent_component_state{component="kubelet",state="healthy"} 0
    hyperkube_agent_component_state{component="kubelet",state="unhealthy"} 0
    hyperkube_agent_component_state{component="kubelet",state="healing"} 1
    hyperkube_agent_component_state{component="kubelet",state="blocked"} 0
    hyperkube_agent_component_state{component="kubelet",state="exhausted"} 0
    # HELP hyperkube_agent_component_drift Drifted resources of a component that only an operator can repair.
    # TYPE hyperkube_agent_component_drift gauge
    hyperkube_agent_component_drift{component="kubelet"} 0
    # HELP hyperkube_agent_service_restarts Automatic restarts of a service by the supervisor.
    # TYPE hyperkube_agent_service_restarts gauge
    hyperkube_agent_service_restarts{component="kubelet"} 2
    # HELP hyperkube_agent_probe_state 1 if a probe succeeds, 0 after enough failures in a row. Absent while the state is unknown.
    # TYPE hyperkube_agent_probe_state gauge
    hyperkube_agent_probe_state{component="kubelet",probe="healthz",scope="local"} 0
    hyperkube_agent_probe_state{component="kubelet",probe="process",scope="local"} 1
    # HELP hyperkube_agent_heal_budget_spent Disruptive healing actions in the rate limit window.
    # TYPE hyperkube_agent_heal_budget_spent gauge
    hyperkube_agent_heal_budget_spent 3
    # HELP hyperkube_agent_heal_budget_max Limit of disruptive healing actions in the window.
    # TYPE hyperkube_agent_heal_budget_max gauge
    hyperkube_agent_heal_budget_max 10
    # HELP hyperkube_agent_heal_paused 1 if healing is paused.
    # TYPE hyperkube_agent_heal_paused gauge
    hyperkube_agent_heal_paused 0
    # HELP hyperkube_agent_last_observation_timestamp_seconds Time of the last observation of the host.
    # TYPE hyperkube_agent_last_observation_timestamp_seconds gauge
    hyperkube_agent_last_observation_timestamp_seconds 1794744000
    # HELP process_cpu_seconds_total CPU time of the agent.
    # TYPE process_cpu_seconds_total counter
    process_cpu_seconds_total 1.5
    # HELP process_resident_memory_bytes Resident memory of the agent.
    # TYPE process_resident_memory_bytes gauge
    process_resident_memory_bytes 4096
    # HELP process_start_time_seconds Start time of the agent.
    # TYPE process_start_time_seconds gauge
    process_start_time_seconds 17
    # HELP process_open_fds Open file descriptors of the agent.
    # TYPE process_open_fds gauge
    process_open_fds 20
    "
  `)
})

test('health metrics are left out before the first observation', () => {
  const process = { cpuSeconds: 1.5, residentBytes: 4096, startedAt: 17, openFiles: undefined }
  const text = formatAgentMetrics({ version: '1', health: undefined, counters: new HealCounters(), process })
  expect(text).toContain('hyperkube_agent_info{version="1"} 1')
  expect(text).not.toContain('heal')
  expect(text).not.toContain('process_open_fds')
})

test('process metrics are read from the running process', async () => {
  const { cpuSeconds, residentBytes, startedAt, openFiles } = await readProcessStats()
  expect(cpuSeconds).toBeGreaterThan(0)
  expect(residentBytes).toBeGreaterThan(1e6)
  expect(startedAt).toBeLessThanOrEqual(Date.now() / 1000)
  expect(openFiles).toBeGreaterThan(2)
})

function readPort(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens nowhere')
  return address.port
}

const stop = new AbortController()
let taken: Server | undefined
afterEach(() => {
  taken?.close()
})

test('metrics are served on loopback as soon as the port is free', async () => {
  taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const port = readPort(taken)
  const logged: string[] = []
  const server = serveMetrics({
    text: async () => 'figures\n',
    log: (line) => void logged.push(line),
    signal: stop.signal,
    address: { host: '127.0.0.1', port },
    retryMs: 10,
  })
  await pollUntil('the error to be logged', async () => logged.length > 0, { timeoutMs: 5000, intervalMs: 5 })
  taken.close()
  await pollUntil('the server to listen', async () => server.listening, { timeoutMs: 5000, intervalMs: 5 })
  expect(logged).toHaveLength(1)
  const url = `http://127.0.0.1:${port}`
  const metrics = await fetch(`${url}/metrics`)
  expect([metrics.headers.get('content-type'), await metrics.text()]).toEqual([
    'text/plain; version=0.0.4',
    'figures\n',
  ])
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await fetch(`${url}/else`)).status).toBe(404)
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
  stop.abort()
  await pollUntil('the server to close', async () => !server.listening, { timeoutMs: 5000, intervalMs: 5 })
})

test('an error while metrics are collected results in status 500', async () => {
  const over = new AbortController()
  const server = serveMetrics({
    text: async () => Promise.reject(new Error('no')),
    log: () => undefined,
    signal: over.signal,
    address: { host: '127.0.0.1', port: 0 },
  })
  await once(server, 'listening')
  const port = readPort(server)
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(500)
  over.abort()
})

test(`10,000 malformed requests leave the server healthy (seed ${malformedSeed})`, async () => {
  const over = new AbortController()
  const server = serveMetrics({
    text: async () => 'figures\n',
    log: () => undefined,
    signal: over.signal,
    address: { host: '127.0.0.1', port: 0 },
  })
  await once(server, 'listening')
  const port = readPort(server)
  await sendMalformedRequests(port, createMalformedRequests(10_000))
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  over.abort()
}, 60_000)
