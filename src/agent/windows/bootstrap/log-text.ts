/** A line of a log, as far as it says of itself when it was written and how bad it is. */
export interface ReadLine {
  /** Milliseconds since 1970; none where it does not say. */
  readonly time?: number
  /** As syslog counts. */
  readonly priority: number
}

const severities: Readonly<Record<string, number>> = { I: 6, W: 4, E: 3, F: 2 }
const levels: Readonly<Record<string, number>> = {
  trace: 7,
  debug: 7,
  info: 6,
  warning: 4,
  warn: 4,
  error: 3,
  fatal: 2,
  panic: 2,
}

/**
 * Kubernetes' programs and flannel say it in one way, without a year; containerd in another; what is kept for
 * those that know nothing of services begins with a time of the host.
 */
export function readLogLine(line: string, now: Date): ReadLine {
  const klog = /^([IWEF])(\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})\.(\d{3})/.exec(line)
  if (klog !== null) {
    const [, severity = 'I', ...numbers] = klog
    const [month = 1, day = 1, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = numbers.map(Number)
    const at = (year: number): number =>
      new Date(year, month - 1, day, hours, minutes, seconds, milliseconds).getTime()
    // Nothing was written tomorrow: then it was last year.
    const time = at(now.getFullYear())
    const isAhead = time > now.getTime() + 86_400_000
    return { time: isAhead ? at(now.getFullYear() - 1) : time, priority: severities[severity] ?? 6 }
  }
  const own = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d) /.exec(line)
  if (own !== null) {
    const [year = 0, month = 1, day = 1, hours = 0, minutes = 0, seconds = 0] = own.slice(1).map(Number)
    return { time: new Date(year, month - 1, day, hours, minutes, seconds).getTime(), priority: 6 }
  }
  const [, said] =
    /^(?:time=")?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))/.exec(line) ?? []
  const [, level = 'info'] = /\blevel=([a-z]+)/.exec(line) ?? []
  const time = said === undefined ? Number.NaN : Date.parse(said)
  return { ...(Number.isNaN(time) ? {} : { time }), priority: levels[level] ?? 6 }
}
