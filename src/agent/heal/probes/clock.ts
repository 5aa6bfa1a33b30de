import { truncateList } from '../../../kit/text.ts'
import { formatDuration } from '../../../kit/time-format.ts'
import type { CachedFiles } from './files.ts'
import type { ProbeHttpClient } from './http.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { failedResult, healthyResult, type ProbeRunner, unknownResult } from './probe-runner.ts'

interface ClockOffset {
  readonly server: string
  /**
   * Minimum number of milliseconds by which the host's clock is ahead (negative: behind); 0 if it may be
   * right.
   */
  readonly ahead: number
}

/** Resolution of the Date header in milliseconds. */
const resolutionMs = 1000

/**
 * Compares the host's clock with the Date headers of other servers. The probe passes if at least half of the
 * servers agree with the host's clock.
 */
export function createClockProbe(
  web: ProbeHttpClient,
  files: CachedFiles,
  clock: ProbeDeps['clock'],
): ProbeRunner<'clock'> {
  const compare = async (server: string, ca: string, signal: AbortSignal): Promise<ClockOffset[]> => {
    const before = clock.now().getTime()
    const serverTime = Date.parse((await web.getDate(server, ca, signal)) ?? '')
    return Number.isNaN(serverTime)
      ? []
      : [{ server, ahead: computeOffset(serverTime, before, clock.now().getTime()) }]
  }
  return async ({ servers, caFile, maxMs }, signal) => {
    const ca = await files.readRequired(caFile)
    const results = await Promise.all(
      servers.map(async (server) => compare(server, ca, signal).catch((): ClockOffset[] => [])),
    )
    const offsets = results.flat()
    if (offsets.length === 0) return unknownResult('no server responded to the clock check')
    const outOfRange = offsets.filter(({ ahead }) => Math.abs(ahead) > maxMs)
    if (outOfRange.length * 2 <= offsets.length) return healthyResult
    return failedResult(
      'CLOCK_OFF',
      `the clock of this host is ${truncateList(outOfRange.map(formatOffset), 3)}`,
    )
  }
}

/**
 * Computes the minimum clock offset. The server responded between `before` and `after` and rounded its time
 * down to the second.
 */
function computeOffset(serverTime: number, before: number, after: number): number {
  if (before > serverTime + resolutionMs) return before - serverTime - resolutionMs
  return after < serverTime ? after - serverTime : 0
}

function formatOffset({ server, ahead }: ClockOffset): string {
  const { host } = new URL(server)
  return `${formatDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} ${host}`
}
