import type { ComponentHealth, HostHealth } from '../../../contract/health.ts'
import type { HealCounters } from './heal-reporter.ts'

/** Resource usage of the agent process. */
export interface ProcessStats {
  readonly cpuSeconds: number
  readonly residentBytes: number
  /** Time in seconds since 1970. */
  readonly startedAt: number
  readonly openFiles: number | undefined
}

export interface MetricsInput {
  readonly version: string
  /** Undefined before the first healing round. */
  readonly health: HostHealth | undefined
  readonly counters: Pick<HealCounters, 'actions' | 'failures'>
  readonly process: ProcessStats
}

type Labels = Readonly<Record<string, string>>
type Row = readonly [labels: Labels, value: number]

const prefix = 'hyperkube_agent'
const states: readonly ComponentHealth['state'][] = [
  'healthy',
  'unhealthy',
  'healing',
  'blocked',
  'exhausted',
]

/** Formats the health and the heal actions of a host in the Prometheus text format. */
export function formatAgentMetrics({ version, health, counters, process }: MetricsInput): string {
  const families = [
    gauge(`${prefix}_info`, 'Version of the agent.', [[{ version }, 1]]),
    counter(
      `${prefix}_heal_actions_total`,
      'Healing actions on components, including refused ones.',
      counters.actions.map(({ labels, count }) => [{ ...labels }, count]),
    ),
    counter(
      `${prefix}_probe_failures_total`,
      'Probe failures.',
      counters.failures.map(({ labels, count }) => [{ ...labels }, count]),
    ),
    ...(health === undefined ? [] : healthFamilies(health)),
    counter('process_cpu_seconds_total', 'CPU time of the agent.', [[{}, process.cpuSeconds]]),
    gauge('process_resident_memory_bytes', 'Resident memory of the agent.', [[{}, process.residentBytes]]),
    gauge('process_start_time_seconds', 'Start time of the agent.', [[{}, process.startedAt]]),
    gauge(
      'process_open_fds',
      'Open file descriptors of the agent.',
      process.openFiles === undefined ? [] : [[{}, process.openFiles]],
    ),
  ]
  return `${families.flat().join('\n')}\n`
}

function healthFamilies({ components, probes, budget, paused, at }: HostHealth): string[][] {
  const knownProbes = probes.filter(({ state }) => state !== 'unknown')
  return [
    gauge(
      `${prefix}_component_state`,
      '1 for the current state of a component, 0 for its other states.',
      components.flatMap(({ component, state }) =>
        states.map((one): Row => [{ component, state: one }, Number(one === state)]),
      ),
    ),
    gauge(
      `${prefix}_component_drift`,
      'Drifted resources of a component that only an operator can repair.',
      components.map(({ component, drift }) => [{ component }, drift.length]),
    ),
    gauge(
      `${prefix}_service_restarts`,
      'Automatic restarts of a service by the supervisor.',
      components.flatMap(({ component, service }): Row[] =>
        service === undefined ? [] : [[{ component }, service.restarts]],
      ),
    ),
    gauge(
      `${prefix}_probe_state`,
      '1 if a probe succeeds, 0 after enough failures in a row. Absent while the state is unknown.',
      knownProbes.map(({ component, probe, scope, state }) => [
        { component, probe, scope },
        Number(state !== 'unhealthy'),
      ]),
    ),
    gauge(`${prefix}_heal_budget_spent`, 'Disruptive healing actions in the rate limit window.', [
      [{}, budget.used],
    ]),
    gauge(`${prefix}_heal_budget_max`, 'Limit of disruptive healing actions in the window.', [
      [{}, budget.max],
    ]),
    gauge(`${prefix}_heal_paused`, '1 if healing is paused.', [[{}, Number(paused !== undefined)]]),
    gauge(`${prefix}_last_observation_timestamp_seconds`, 'Time of the last observation of the host.', [
      [{}, Date.parse(at) / 1000],
    ]),
  ]
}

function gauge(name: string, help: string, rows: readonly Row[]): string[] {
  return family(name, 'gauge', help, rows)
}

function counter(name: string, help: string, rows: readonly Row[]): string[] {
  return family(name, 'counter', help, rows)
}

/** Formats one metric family. A family without values is left out. */
function family(name: string, type: 'counter' | 'gauge', help: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  const lines = rows.map(([labels, value]) => `${name}${labelText(labels)} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
