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
    gauge(`${prefix}_info`, 'Which hyperkube it is.', [[{ version }, 1]]),
    counter(
      `${prefix}_heal_actions_total`,
      'What was done, or would not be done, to components.',
      counters.actions.map(({ labels, count }) => [{ ...labels }, count]),
    ),
    counter(
      `${prefix}_probe_failures_total`,
      'How often probes have failed.',
      counters.failures.map(({ labels, count }) => [{ ...labels }, count]),
    ),
    ...(health === undefined ? [] : healthFamilies(health)),
    counter('process_cpu_seconds_total', 'Time that the agent has computed.', [[{}, process.cpuSeconds]]),
    gauge('process_resident_memory_bytes', 'Memory of the agent.', [[{}, process.residentBytes]]),
    gauge('process_start_time_seconds', 'When the agent started.', [[{}, process.startedAt]]),
    gauge(
      'process_open_fds',
      'Files and connections that the agent has open.',
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
      'Whether a component is in a state.',
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
      'How often the supervisor has started a service again by itself.',
      components.flatMap(({ component, service }): Row[] =>
        service === undefined ? [] : [[{ component }, service.restarts]],
      ),
    ),
    gauge(
      `${prefix}_probe_state`,
      'Whether a probe succeeds: 0 once it has failed often enough in a row. Missing while it is unknown.',
      knownProbes.map(({ component, probe, scope, state }) => [
        { component, probe, scope },
        Number(state !== 'unhealthy'),
      ]),
    ),
    gauge(`${prefix}_heal_budget_spent`, 'Actions of late that disturb.', [[{}, budget.used]]),
    gauge(`${prefix}_heal_budget_max`, 'How many of them there may be.', [[{}, budget.max]]),
    gauge(`${prefix}_heal_paused`, 'Whether healing is paused.', [[{}, Number(paused !== undefined)]]),
    gauge(`${prefix}_last_observation_timestamp_seconds`, 'When the host was last observed.', [
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
