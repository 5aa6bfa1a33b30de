import { type ClusterRun, findClusterRun, type FleetRun } from '../../fleet/fleet-run.ts'
import { formatCount, joinNames, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { Paint } from '../command/command.ts'

/** Formats the waves of a run before it starts. */
export function formatWaves({ waves, parallel, maxFailed, pauseMs, clusters }: FleetRun): string {
  const width = String(waves.length).length
  const rows = waves.map(({ title, clusters: names }, index) => {
    const done = names.filter((name) => clusters[name]?.state === 'done').length
    const state = done === 0 ? '' : `, ${done} done already`
    return `  wave ${String(index + 1).padStart(width)} (${title}): ${joinNames(names)}${state}\n`
  })
  const pause = pauseMs === 0 ? '' : `, ${formatDuration(pauseMs)} between waves`
  return toPrintable(
    `${formatCount(Object.keys(clusters).length, 'cluster')} in ${formatCount(waves.length, 'wave')}; at most ${parallel} at a time${pause}; stops after ${formatCount(maxFailed + 1, 'failed cluster')}\n${rows.join('')}`,
  )
}

/** Formats the end of a run: how many clusters have which state, the failures and the next command. */
export function formatRunResult(run: FleetRun, resumeCommand: string, paint: Paint): string {
  const names = run.waves.flatMap(({ clusters }) => clusters)
  const count = (...states: readonly ClusterRun['state'][]): number =>
    names.filter((name) => states.includes(findClusterRun(run, name).state)).length
  const counts = [
    [count('done'), 'done'],
    [count('changed'), 'changed but not checked'],
    [count('failed'), 'failed'],
    [count('degraded'), 'degraded'],
    [count('pending', 'running'), 'not changed'],
  ].flatMap(([amount, text]) => (amount === 0 ? [] : [`${amount} ${text}`]))
  const failures = names.flatMap((name) => {
    const { failure } = findClusterRun(run, name)
    return failure === undefined ? [] : [`  ${name}: ${failure.code}: ${failure.message}\n`]
  })
  const next = run.state === 'done' ? '' : `  → hyperkube ${resumeCommand}\n`
  const colour = run.state === 'done' ? 'green' : 'red'
  return `${paint('bold', run.fleet)}: ${paint(colour, run.state)}: ${counts.join(', ')}\n${toPrintable(failures.join(''))}${next}`
}
