import type { HostCallBody } from '../../contract/host-call.ts'
import type { Remote } from '../../ssh/remote.ts'
import { streamHostResponses } from '../../ssh/windows/call-host.ts'
import { findHostProgram } from '../host-program.ts'
import type { LogQuery, LogTime } from './log-query.ts'
import type { LogLine } from './log-line.ts'

type LogRequest = Extract<HostCallBody, { type: 'logs' }>

/** Reads the component logs of a Windows host through the hyperkube program on that host. */
export async function* readWindowsLog(
  remote: Remote,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  for await (const response of streamHostResponses(
    await findHostProgram(remote, signal),
    buildLogRequest(query),
    signal,
  )) {
    if (response.type !== 'line') return
    const { type: _, ...line } = response
    yield { host: remote.host, ...line }
  }
}

export function buildLogRequest({ components, since, until, lines, follow = false }: LogQuery): LogRequest {
  return {
    type: 'logs',
    names: components,
    ...(since === undefined ? {} : { since: toRequestTime(since) }),
    ...(until === undefined ? {} : { until: toRequestTime(until) }),
    ...(lines === undefined ? {} : { lines }),
    follow,
  }
}

function toRequestTime(when: LogTime): NonNullable<LogRequest['since']> {
  return 'ago' in when
    ? { by: 'ago', milliseconds: when.ago }
    : { by: 'time', milliseconds: when.at.getTime() }
}
