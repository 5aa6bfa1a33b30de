import { describe, hasCode } from '../../../kit/errors.ts'
import type { Seen } from '../seen.ts'
import { type Ask, failed, well } from './ask.ts'
import type { Disks } from './edges.ts'

/**
 * Whether what is written is on the disk in time. One write at a time: a disk that hangs keeps each of them, and with it
 * one of the few threads by which this program reaches any file.
 */
export function askDiskLatency(disks: Disks): Ask<'disk-latency'> {
  const underWay = new Set<string>()
  return async ({ directory, within }) => {
    if (underWay.has(directory)) return failed('DISK_SLOW', `a write in ${directory} has not ended yet`)
    underWay.add(directory)
    try {
      return verdict(directory, await disks.write(directory), within)
    } catch (error) {
      const full = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
      return failed(full ? 'DISK_FULL' : 'DISK_SLOW', describe(error))
    } finally {
      underWay.delete(directory)
    }
  }
}

function verdict(directory: string, took: number, within: number): Seen {
  if (took <= within) return well
  return failed('DISK_SLOW', `a write in ${directory} took ${Math.round(took)} ms, and may take ${within}`)
}
