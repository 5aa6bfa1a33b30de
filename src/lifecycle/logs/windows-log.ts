import type { HostAsk } from '../../contract/host-call.ts'
import type { Remote } from '../../ssh/remote.ts'
import { hearHost } from '../../ssh/windows/call-host.ts'
import { calleeOn } from '../host-program.ts'
import type { LogWish, When } from './host-log.ts'
import type { LogLine } from './log-line.ts'

type LogAsk = Extract<HostAsk, { type: 'logs' }>

/** What the files of components say on a Windows host, read by our own program there. */
export async function* windowsLog(
  remote: Remote,
  wish: LogWish,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  for await (const answer of hearHost(await calleeOn(remote, signal), logAsk(wish), signal)) {
    if (answer.type !== 'line') return
    const { type: _, ...line } = answer
    yield { host: remote.host, ...line }
  }
}

export function logAsk({ components, since, until, lines, follow = false }: LogWish): LogAsk {
  return {
    type: 'logs',
    names: components,
    ...(since === undefined ? {} : { since: timeOf(since) }),
    ...(until === undefined ? {} : { until: timeOf(until) }),
    ...(lines === undefined ? {} : { lines }),
    follow,
  }
}

function timeOf(when: When): NonNullable<LogAsk['since']> {
  return 'ago' in when
    ? { by: 'ago', milliseconds: when.ago }
    : { by: 'time', milliseconds: when.at.getTime() }
}
