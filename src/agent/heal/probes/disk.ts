import { formatError, hasCode } from '../../../kit/errors.ts'
import type { Disks } from './probe-deps.ts'
import { failedResult, healthyResult, type ProbeRunner } from './probe-runner.ts'

/** Checks the free space and the free inodes of a disk. */
export function createDiskSpaceProbe(disks: Disks): ProbeRunner<'disk-space'> {
  return async ({ directory, minFree }) => {
    const { free, freeFiles } = await disks.space(directory)
    if (free < minFree)
      return failedResult(
        'DISK_FULL',
        `only ${formatPercent(free)} of the disk space of ${directory} is free`,
      )
    if (freeFiles >= minFree) return healthyResult
    return failedResult(
      'DISK_FULL',
      `only ${formatPercent(freeFiles)} of the inodes of ${directory} are free`,
    )
  }
}

/** Formats a percentage, rounded down so that a value below the limit never looks equal to the limit. */
function formatPercent(part: number): string {
  return `${(Math.floor(part * 1000) / 10).toFixed(1)} %`
}

/** A disk counts as slow if this many writes in a row are slow. Single slow writes are normal. */
const maxWrites = 3

/**
 * Checks whether writes reach the disk in time. Only one write per directory runs at a time, because writes
 * to a hanging disk would block all threads of the file system pool.
 */
export function createDiskLatencyProbe(disks: Disks): ProbeRunner<'disk-latency'> {
  const underWay = new Set<string>()
  return async ({ directory, maxMs }, signal) => {
    if (underWay.has(directory))
      return failedResult('DISK_SLOW', `a test write in ${directory} has not finished`)
    underWay.add(directory)
    try {
      const times: number[] = []
      while (times.length < maxWrites && !signal.aborted) {
        const took = await disks.write(directory)
        if (took <= maxMs) return healthyResult
        times.push(Math.round(took))
      }
      const durations = `${times.slice(0, -1).join(', ')} and ${times.at(-1)} ms`
      return failedResult(
        'DISK_SLOW',
        `test writes in ${directory} took ${durations}; the limit is ${maxMs} ms`,
      )
    } catch (error) {
      const full = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
      return failedResult(full ? 'DISK_FULL' : 'DISK_SLOW', formatError(error))
    } finally {
      underWay.delete(directory)
    }
  }
}
