import { type Ask, failed, well } from './probe-runner.ts'
import type { Disks } from './probe-deps.ts'

/** Whether there is room, for bytes and for files. */
export function askDiskSpace(disks: Disks): Ask<'disk-space'> {
  return async ({ directory, free: least }) => {
    const { free, freeFiles } = await disks.space(directory)
    if (free < least) return failed('DISK_FULL', `${percent(free)} of the disk of ${directory} is free`)
    if (freeFiles >= least) return well
    return failed(
      'DISK_FULL',
      `there is room for ${percent(freeFiles)} of the files that ${directory} can hold`,
    )
  }
}

/** Rounded down: nothing but 0 is to look like it is enough. */
function percent(part: number): string {
  return `${(Math.floor(part * 1000) / 10).toFixed(1)} %`
}
