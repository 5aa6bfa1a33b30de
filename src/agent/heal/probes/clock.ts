import { duration } from '../../../kit/duration.ts'
import { firstFew } from '../../../kit/truncate-list.ts'
import { type Ask, failed, unknown, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'
import type { FreshFiles } from './cached-files.ts'
import type { Web } from './http-client.ts'

interface Difference {
  readonly server: string
  /** Milliseconds by which our clock is ahead at least, or below 0 behind; 0 where it may be right. */
  readonly ahead: number
}

/** Servers say what time it is to the second. */
const resolution = 1000

/**
 * Whether the clock agrees with those of others, as they say in whatever they answer. Of two that differ one is wrong, and
 * most likely the one that differs from most: where half of them agree with us, it is for the others to say.
 */
export function askClock(web: Web, files: FreshFiles, clock: ProbeEdges['clock']): Ask<'clock'> {
  const compare = async (server: string, ca: string, signal: AbortSignal): Promise<Difference[]> => {
    const before = clock.now().getTime()
    const { date } = await web.get(server, { ca }, signal)
    const theirs = Date.parse(date ?? '')
    return Number.isNaN(theirs) ? [] : [{ server, ahead: aheadOf(theirs, before, clock.now().getTime()) }]
  }
  return async ({ servers, authority, within }, signal) => {
    const ca = await files.needed(authority)
    const answers = await Promise.all(
      servers.map(async (server) => compare(server, ca, signal).catch((): Difference[] => [])),
    )
    const heard = answers.flat()
    if (heard.length === 0) return unknown('none of the servers that know the time answers')
    const off = heard.filter(({ ahead }) => Math.abs(ahead) > within)
    if (off.length * 2 <= heard.length) return well
    return failed('CLOCK_OFF', `this clock is ${firstFew(off.map(words), 3)}`)
  }
}

/** They answered at some time between the two, and cut what was left of their second. */
function aheadOf(theirs: number, before: number, after: number): number {
  if (before > theirs + resolution) return before - theirs - resolution
  return after < theirs ? after - theirs : 0
}

function words({ server, ahead }: Difference): string {
  const { host } = new URL(server)
  return `${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} that of ${host}`
}
