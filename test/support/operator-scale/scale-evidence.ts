import { renderTable } from '../../../scripts/markdown-table.ts'
import type { MeteredRun } from './metered-process.ts'

/** Names of the measured commands, in their order. */
export const scaleCommands = ['first up', 'up without changes', 'up with a changed kubelet', 'plan'] as const
export type ScaleCommand = (typeof scaleCommands)[number]
import { formatMebibytes, formatNumber } from '../evidence-units.ts'

export type ScaleFigures = Pick<MeteredRun, 'cpuSeconds' | 'seconds' | 'peakBytes'>

export interface OperatorScaleStep {
  readonly hosts: number
  readonly figures: ReadonlyMap<ScaleCommand, ScaleFigures>
}

export interface OperatorScaleEvidence {
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly node: string
  readonly machine: string
  /** Measurements at ascending numbers of hosts. */
  readonly steps: readonly OperatorScaleStep[]
}

/** Largest allowed peak of the operator's memory, in bytes. */
export const maxPeakBytes = 2 * 2 ** 30

/** True if a cost grew at most 1.5 times as much as the cluster. */
export function isLinearGrowth(cost: number, size: number): boolean {
  return cost <= 1.5 * size
}

/** Computes how much a cost of a command grew from the first step to the last. */
export function computeScaleGrowth(
  { steps }: Pick<OperatorScaleEvidence, 'steps'>,
  command: ScaleCommand,
  cost: (figures: ScaleFigures) => number,
): number {
  const [first, last] = [steps[0]?.figures.get(command), steps.at(-1)?.figures.get(command)]
  return first === undefined || last === undefined ? Number.NaN : cost(last) / cost(first)
}

/** Renders the results for docs/evidence. */
export function formatOperatorScale(evidence: OperatorScaleEvidence): string {
  const { date, hyperkube, node, machine, steps } = evidence
  const commands = scaleCommands.map((command) => `## ${command}\n\n${formatCommand(steps, command)}`)
  return `# One operator, thousands of hosts

Written by \`npm run e2e:full -- test/full/operator-scale.test.ts\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Node.js ${node},
on a machine with ${machine}. The shipped executable runs in a process of its own; only that process is
measured.

Hosts are simulated behind a real ssh server in another process. Each host answers the agent protocol with recorded
facts. Its ops are those of the real diff between the plan and what earlier runs applied, and each op is reported
with its events. The API server and etcd are simulated too. Three hosts are control planes, all others are workers. Agents are
installed already. The simulator shares the machine, so *time* is an upper bound.

*CPU* is the processor time of all threads of the operator. *Peak* is the maximum of its resident memory.

${commands.join('\n\n')}

${formatGrowth(evidence)}`
}

function formatCommand(steps: readonly OperatorScaleStep[], command: ScaleCommand): string {
  const rows = steps.flatMap(({ hosts, figures }) => {
    const one = figures.get(command)
    if (one === undefined) return []
    const perHost = `${((1000 * one.cpuSeconds) / hosts).toFixed(1)} ms`
    return [
      [
        ...[formatNumber(hosts), `${one.cpuSeconds.toFixed(1)} s`, perHost],
        ...[formatMebibytes(one.peakBytes), `${one.seconds.toFixed(0)} s`],
      ],
    ]
  })
  return renderTable(['hosts', 'CPU', 'CPU per host', 'peak', 'time'], rows)
}

function formatGrowth(evidence: OperatorScaleEvidence): string {
  const [first, last] = [evidence.steps[0], evidence.steps.at(-1)]
  if (first === undefined || last === undefined || first === last) return ''
  const size = last.hosts / first.hosts
  const format = (growth: number): string =>
    `× ${growth.toFixed(1)}, ${isLinearGrowth(growth, size) ? 'linear' : 'not linear'}`
  const rows = scaleCommands.map((command) => [
    command,
    format(computeScaleGrowth(evidence, command, ({ cpuSeconds }) => cpuSeconds)),
    format(computeScaleGrowth(evidence, command, ({ peakBytes }) => peakBytes)),
  ])
  return `## Growth

From ${formatNumber(first.hosts)} hosts to ${formatNumber(last.hosts)}, × ${size.toFixed(1)}. A cost is linear if it grew at most half again as much.

${renderTable(['command', 'CPU', 'peak'], rows)}
`
}
