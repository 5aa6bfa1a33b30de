import { win32 } from 'node:path'
import type { HostCallBody, HostCallResponse } from '../../contract/host-call.ts'
import type { HostCallContext } from './host-call-context.ts'

/** Time and severity of a log line. */
interface ParsedLogLine {
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
 * Parses a log line. Kubernetes and flannel write klog lines, which have no year; containerd writes logfmt;
 * service wrappers put the local time at the start of a line.
 */
function parseLogLine(line: string, now: Date): ParsedLogLine {
  const klog = /^([IWEF])(\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})\.(\d{3})/.exec(line)
  if (klog !== null) {
    const [, severity = 'I', ...numbers] = klog
    const [month = 1, day = 1, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = numbers.map(Number)
    const at = (year: number): number =>
      new Date(year, month - 1, day, hours, minutes, seconds, milliseconds).getTime()
    // klog lines have no year. A time more than one day in the future therefore belongs to the previous year.
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

type LogRequest = Extract<HostCallBody, { type: 'logs' }>
type Line = Extract<HostCallResponse['body'], { type: 'line' }>

const pollIntervalMs = 500

/**
 * Yields the existing log lines of components in order of time, then new lines. Log files are read as a
 * whole, because rotation keeps them small.
 */
export async function* readComponentLogs(
  context: HostCallContext,
  request: LogRequest,
): AsyncGenerator<HostCallResponse['body']> {
  const readers = request.names.map((name) => new LogReader(context, name))
  const [since, until] = [toMicroseconds(request.since, context), toMicroseconds(request.until, context)]
  const isInRange = ({ time }: Line): boolean =>
    (since === undefined || time >= since) && (until === undefined || time <= until)
  const existing = (await Promise.all(readers.map(async (reader) => reader.next()))).flat().filter(isInRange)
  existing.sort((a, b) => a.time - b.time)
  yield* request.lines === undefined ? existing : existing.slice(Math.max(0, existing.length - request.lines))
  while (request.follow && !context.callerGone.aborted) {
    await context.host.clock.pause(pollIntervalMs, context.callerGone).catch(() => undefined)
    for (const reader of readers) yield* (await reader.next()).filter(isInRange)
  }
  yield { type: 'done' }
}

/** Converts an absolute or relative time to microseconds since 1970. */
function toMicroseconds(when: LogRequest['since'], { host }: HostCallContext): number | undefined {
  if (when === undefined) return undefined
  return 1000 * (when.by === 'time' ? when.milliseconds : host.clock.now().getTime() - when.milliseconds)
}

/**
 * Reads new lines of one log file. If the file is shorter than before, it was replaced and is read from its
 * start.
 */
class LogReader {
  readonly #context: HostCallContext
  readonly #component: string
  #read = 0
  #rest = ''
  #last: number | undefined

  constructor(context: HostCallContext, component: string) {
    this.#context = context
    this.#component = component
  }

  async next(): Promise<readonly Line[]> {
    const { host, paths } = this.#context
    const at = (name: string): string => win32.join(paths.logs, name)
    // Service wrappers use another name for the current log file.
    const [plain, current] = [at(`${this.#component}.log`), at(`${this.#component}_rCURRENT.log`)]
    const path = (await host.files.stat(current)) === undefined ? plain : current
    const facts = await host.files.stat(path)
    if (facts === undefined || facts.size === this.#read) return []
    const bytes = (await host.files.read(path)) ?? Buffer.alloc(0)
    if (bytes.length < this.#read) [this.#read, this.#rest] = [0, '']
    const texts = `${this.#rest}${bytes.subarray(this.#read).toString('utf8')}`.split('\n')
    this.#read = bytes.length
    this.#rest = texts.pop() ?? ''
    const modified = Number(BigInt(facts.modified) / 1_000_000n)
    return texts.map((text) => this.#line(text.replace(/\r$/, ''), modified))
  }

  /** Builds a log entry. A line without a time gets the time of the previous line. */
  #line(message: string, modified: number): Line {
    const { time, priority } = parseLogLine(message, this.#context.host.clock.now())
    this.#last = time ?? this.#last ?? modified
    return {
      type: 'line',
      component: this.#component,
      time: Math.round(this.#last * 1000),
      priority,
      message,
    }
  }
}
