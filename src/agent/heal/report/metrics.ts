import type { ComponentHealth, HostHealth } from '../../../contract/health.ts'
import type { Counters } from './heal-counters.ts'

/** What the system says of the agent's process. */
export interface ProcessFigures {
  readonly cpuSeconds: number
  readonly residentBytes: number
  /** Seconds since 1970. */
  readonly startedAt: number
  readonly openFiles: number | undefined
}

export interface MetricsInput {
  readonly version: string
  /** None while nobody has looked yet. */
  readonly health: HostHealth | undefined
  readonly counters: Pick<Counters, 'actions' | 'failures'>
  readonly process: ProcessFigures
}

type Labels = Readonly<Record<string, string>>
type Row = readonly [labels: Labels, value: number]

const prefix = 'hyperkube_agent'
const states: readonly ComponentHealth['state'][] = ['well', 'unwell', 'healing', 'held', 'given-up']

/** How the host is and what was done to it, as Prometheus reads it. */
export function metricsText({ version, health, counters, process }: MetricsInput): string {
  const families = [
    gauge(`${prefix}_info`, 'Which hyperkube it is.', [[{ version }, 1]]),
    counter(
      `${prefix}_heal_actions_total`,
      'What was done, or would not be done, to components.',
      counters.actions.map(({ of, count }) => [{ ...of }, count]),
    ),
    counter(
      `${prefix}_probe_failures_total`,
      'How often probes have failed.',
      counters.failures.map(({ of, count }) => [{ ...of }, count]),
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
  const asked = probes.filter(({ state }) => state !== 'unknown')
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
      'Things of a component that only an operator can put back.',
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
      'Whether a probe is well: 0 once it has failed as often as counts. Missing while nobody can be asked.',
      asked.map(({ component, probe, scope, state }) => [
        { component, probe, scope },
        Number(state !== 'failing'),
      ]),
    ),
    gauge(`${prefix}_heal_budget_spent`, 'Actions of late that disturb.', [[{}, budget.spent]]),
    gauge(`${prefix}_heal_budget_most`, 'How many of them there may be.', [[{}, budget.most]]),
    gauge(`${prefix}_heal_paused`, 'Whether healing is paused.', [[{}, Number(paused !== undefined)]]),
    gauge(`${prefix}_looked_at_seconds`, 'When the host was looked at last.', [[{}, Date.parse(at) / 1000]]),
  ]
}

function gauge(name: string, help: string, rows: readonly Row[]): string[] {
  return family(name, 'gauge', help, rows)
}

function counter(name: string, help: string, rows: readonly Row[]): string[] {
  return family(name, 'counter', help, rows)
}

/** One of which there is nothing to tell is left out. */
function family(name: string, type: 'counter' | 'gauge', help: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  const lines = rows.map(([labels, value]) => `${name}${labelText(labels)} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
