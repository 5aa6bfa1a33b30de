import { describe, hasCode } from '../../../kit/errors.ts'
import { type Ask, failed, well } from './probe-runner.ts'
import type { Disks } from './probe-deps.ts'

/** One write that takes long happens to every disk: slow is what is slow so many times in a row. */
const most = 3

/**
 * Whether what is written is on the disk in time. One write at a time: a disk that hangs keeps each of them, and with it
 * one of the few threads by which this program reaches any file.
 */
export function askDiskLatency(disks: Disks): Ask<'disk-latency'> {
  const underWay = new Set<string>()
  return async ({ directory, within }, signal) => {
    if (underWay.has(directory)) return failed('DISK_SLOW', `a write in ${directory} has not ended yet`)
    underWay.add(directory)
    try {
      const times: number[] = []
      while (times.length < most && !signal.aborted) {
        const took = await disks.write(directory)
        if (took <= within) return well
        times.push(Math.round(took))
      }
      const told = `${times.slice(0, -1).join(', ')} and ${times.at(-1)} ms`
      return failed('DISK_SLOW', `writes in ${directory} took ${told}, and may take ${within}`)
    } catch (error) {
      const full = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
      return failed(full ? 'DISK_FULL' : 'DISK_SLOW', describe(error))
    } finally {
      underWay.delete(directory)
    }
  }
}
