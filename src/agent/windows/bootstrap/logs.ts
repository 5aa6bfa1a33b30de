import { win32 } from 'node:path'
import type { HostCallResponse, HostCallBody } from '../../../contract/host-call.ts'
import { parseLogLine } from './log-text.ts'
import type { HostCallContext } from './host-call-context.ts'

type LogRequest = Extract<HostCallBody, { type: 'logs' }>
type Line = Extract<HostCallResponse['body'], { type: 'line' }>

const pollIntervalMs = 500

/**
 * Reads the log files of components, which are never large: existing lines in order of time, then new ones.
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

/** In microseconds. */
function toMicroseconds(when: LogRequest['since'], { host }: HostCallContext): number | undefined {
  if (when === undefined) return undefined
  return 1000 * (when.by === 'time' ? when.milliseconds : host.clock.now().getTime() - when.milliseconds)
}

/** Reads one file from the last position. A file that has become shorter is a new one. */
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
    // The service wrapper uses another name for its current file.
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

  /** A line without a time gets the time of the line before it. */
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
