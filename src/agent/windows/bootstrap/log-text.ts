/** Time and severity of a log line, as far as the line states them. */
export interface ParsedLogLine {
  /** Milliseconds since 1970; undefined if the line has no time. */
  readonly time?: number
  /** Syslog priority. */
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
 * Kubernetes and flannel write klog lines, which have no year. containerd writes logfmt. The service wrapper
 * starts lines with the local time.
 */
export function parseLogLine(line: string, now: Date): ParsedLogLine {
  const klog = /^([IWEF])(\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})\.(\d{3})/.exec(line)
  if (klog !== null) {
    const [, severity = 'I', ...numbers] = klog
    const [month = 1, day = 1, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = numbers.map(Number)
    const at = (year: number): number =>
      new Date(year, month - 1, day, hours, minutes, seconds, milliseconds).getTime()
    // A time more than a day ahead belongs to last year.
    const time = at(now.getFullYear())
    const isAhead = time > now.getTime() + 86_400_000
    return { time: isAhead ? at(now.getFullYear() - 1) : time, priority: severities[severity] ?? 6 }
  }
  const wrapper = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d) /.exec(line)
  if (wrapper !== null) {
    const [year = 0, month = 1, day = 1, hours = 0, minutes = 0, seconds = 0] = wrapper.slice(1).map(Number)
    return { time: new Date(year, month - 1, day, hours, minutes, seconds).getTime(), priority: 6 }
  }
  const [, timestamp] =
    /^(?:time=")?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))/.exec(line) ?? []
  const [, level = 'info'] = /\blevel=([a-z]+)/.exec(line) ?? []
  const time = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
  return { ...(Number.isNaN(time) ? {} : { time }), priority: levels[level] ?? 6 }
}
