import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import type { Disks } from './probe-deps.ts'

/** Checks the free space and the free inodes of a disk. */
export function createDiskSpaceProbe(disks: Disks): ProbeRunner<'disk-space'> {
  return async ({ directory, minFree }) => {
    const { free, freeFiles } = await disks.space(directory)
    if (free < minFree)
      return failedResult('DISK_FULL', `${formatPercent(free)} of the disk of ${directory} is free`)
    if (freeFiles >= minFree) return healthyResult
    return failedResult(
      'DISK_FULL',
      `there is room for ${formatPercent(freeFiles)} of the files that ${directory} can hold`,
    )
  }
}

/** Formats a percentage, rounded down so that a value below the limit never looks equal to the limit. */
function formatPercent(part: number): string {
  return `${(Math.floor(part * 1000) / 10).toFixed(1)} %`
}
