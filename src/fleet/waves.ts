import type { FleetRollout, WaveSize } from '../spec/fleet.ts'
import { type ClusterLabels, matchesLabels } from '../spec/inherit.ts'

/** Clusters that are changed before the next health gate. */
export interface FleetWave {
  readonly title: string
  readonly clusters: readonly string[]
}

export interface WaveMember {
  readonly name: string
  readonly labels: ClusterLabels
}

/**
 * Divides clusters into waves: the canaries, then up to each number or percentage, then the rest. Every
 * cluster is in exactly one wave, and no wave is empty.
 */
export function planWaves(
  clusters: readonly WaveMember[],
  { canary, waves }: Pick<FleetRollout, 'canary' | 'waves'>,
): readonly FleetWave[] {
  const isCanary = ({ labels }: WaveMember): boolean => canary !== undefined && matchesLabels(canary, labels)
  const canaries = clusters.filter(isCanary)
  const ordered = [...canaries, ...clusters.filter((cluster) => !isCanary(cluster))]
  const ends = [canaries.length, ...waves.map((size) => countClusters(size, ordered.length)), ordered.length]
  const planned: FleetWave[] = []
  let start = 0
  for (const end of ends) {
    if (end <= start) continue
    const names = ordered.slice(start, end).map(({ name }) => name)
    const isCanaryWave = start === 0 && end < ordered.length
    planned.push({ title: isCanaryWave ? 'canary' : formatShare(end, ordered.length), clusters: names })
    start = Math.min(end, ordered.length)
  }
  return planned
}

/** Converts the size of a wave to a number of clusters, rounded up. */
function countClusters(size: WaveSize, total: number): number {
  const count = typeof size === 'number' ? size : Math.ceil((total * Number.parseInt(size, 10)) / 100)
  return Math.min(count, total)
}

function formatShare(end: number, total: number): string {
  return `up to ${Math.round((100 * end) / total)}% of ${total}`
}
