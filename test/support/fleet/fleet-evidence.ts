import { renderTable } from '../../../scripts/markdown-table.ts'
import { formatMebibytes } from '../evidence-units.ts'
import type { MeteredRun } from '../operator-scale/metered-process.ts'

type FleetFigures = Pick<MeteredRun, 'cpuSeconds' | 'seconds' | 'peakBytes'>

export interface FleetEvidence {
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly node: string
  readonly machine: string
  readonly clusters: number
  readonly figures: Readonly<Record<'status' | 'stopped' | 'resumed' | 'plan', FleetFigures>>
}

const titles = [
  ['status', '`fleet status`, all clusters healthy'],
  ['stopped', '`fleet up`, with a planted failure in wave 2'],
  ['resumed', '`fleet up --resume`, after a kill in wave 3'],
  ['plan', '`fleet plan`, no changes'],
] as const

/** Renders the results for docs/evidence. */
export function formatFleetEvidence({
  date,
  hyperkube,
  node,
  machine,
  clusters,
  figures,
}: FleetEvidence): string {
  const rows = titles.map(([key, title]) => {
    const { cpuSeconds, seconds, peakBytes } = figures[key]
    return [title, `${seconds.toFixed(1)} s`, `${cpuSeconds.toFixed(1)} s`, formatMebibytes(peakBytes)]
  })
  return `# A fleet of ${clusters} clusters

Written by \`FLEET_CLUSTERS=${clusters} npm run e2e:full -- test/full/fleet.test.ts\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Node.js ${node},
on a machine with ${machine}. The shipped executable runs in a process of its own; only that process is measured.

All ${clusters} clusters are simulated, each with one host, behind a real ssh server in one other process. Hosts answer the agent protocol
with recorded facts, and their ops come from the real diff. API servers and etcd are simulated too. The clusters inherit settings from
fleet.yml. The simulator shares the machine, so *time* is an upper bound.

${renderTable(['command', 'time', 'CPU', 'peak memory'], rows)}

- \`fleet status\` must take less than ten seconds. This limit was ${figures.status.seconds < 10 ? 'met' : 'not met'} in this run.
- The rollout has four waves: 1, 10%, 50% and 100%, at most five clusters at a time. The host of one cluster of wave 2 refused its plan. The
  rollout stopped there: no cluster of waves 3 and 4 was changed.
- After the fix the run was resumed, and killed with SIGKILL when a third of wave 3 was changed. The next resume changed only the
  clusters that were not changed before.
`
}
