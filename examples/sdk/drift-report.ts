// Reports every night what differs between cluster.yml and the hosts, and what is unhealthy:
//
//   node drift-report.ts prod/cluster.yml /opt/hyperkube/hyperkube-linux-x64 > report.md
//
// Changes nothing. Exits with 3 if there is drift or a problem.
import { openCluster, type Doctor, type Plan } from 'hyperkube/client'

/** Renders a report in Markdown; undefined if there is nothing to report. */
export function renderDriftReport(
  cluster: string,
  { ops, findings }: Pick<Plan, 'ops' | 'findings'>,
  doctor: Pick<Doctor, 'findings'>,
): string | undefined {
  const drift = Object.entries(ops).flatMap(([host, hostOps]) =>
    hostOps.map(({ action, target, name }) => `- ${host}: ${action} ${target} ${name}`),
  )
  const problems = [
    ...findings.map(({ code, host, message }) => `- ${code} ${host ?? ''}: ${message}`),
    ...doctor.findings.map(
      ({ code, host, what, command }) => `- ${code} ${host ?? ''}: ${what} → \`${command}\``,
    ),
  ]
  if (drift.length + problems.length === 0) return undefined
  const sections = [
    `# ${cluster}`,
    ...(drift.length === 0 ? [] : [`## What \`hyperkube up\` would change\n\n${drift.join('\n')}`]),
    ...(problems.length === 0 ? [] : [`## Problems\n\n${problems.join('\n')}`]),
  ]
  return `${sections.join('\n\n')}\n`
}

export interface DriftOptions {
  readonly file: string
  readonly key?: string
  /** Executable of hyperkube, which is the agent of the hosts. */
  readonly executable: string
  readonly signal: AbortSignal
}

/** Compares the hosts with cluster.yml and renders the report. */
export async function reportDrift(options: DriftOptions): Promise<string | undefined> {
  const { cluster, plan, doctor } = await openCluster(options)
  return renderDriftReport(cluster.metadata.name, await plan(), await doctor())
}

if (import.meta.main) {
  const [file = 'cluster.yml', executable = 'hyperkube'] = process.argv.slice(2)
  const report = await reportDrift({ file, executable, signal: AbortSignal.timeout(10 * 60_000) })
  process.stdout.write(report ?? '')
  process.exitCode = report === undefined ? 0 : 3
}
