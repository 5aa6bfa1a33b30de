import { win32 } from 'node:path'
import type { HostAnswer, HostAsk } from '../../../contract/host-call.ts'
import { readLogLine } from './log-text.ts'
import type { CallScene } from './host-call-context.ts'

type LogAsk = Extract<HostAsk, { type: 'logs' }>
type Line = Extract<HostAnswer['answer'], { type: 'line' }>

const every = 500

/** What components have said into their files, which are never large: each line with its time, then what comes. */
export async function* logs(scene: CallScene, ask: LogAsk): AsyncGenerator<HostAnswer['answer']> {
  const readers = ask.names.map((name) => new LogReader(scene, name))
  const [since, until] = [timeOf(ask.since, scene), timeOf(ask.until, scene)]
  const fits = ({ time }: Line): boolean =>
    (since === undefined || time >= since) && (until === undefined || time <= until)
  const before = (await Promise.all(readers.map(async (reader) => reader.next()))).flat().filter(fits)
  before.sort((a, b) => a.time - b.time)
  yield* ask.lines === undefined ? before : before.slice(Math.max(0, before.length - ask.lines))
  while (ask.follow && !scene.gone.aborted) {
    await scene.host.clock.pause(every, scene.gone).catch(() => undefined)
    for (const reader of readers) yield* (await reader.next()).filter(fits)
  }
  yield { type: 'done' }
}

/** In microseconds. */
function timeOf(when: LogAsk['since'], { host }: CallScene): number | undefined {
  if (when === undefined) return undefined
  return 1000 * (when.by === 'time' ? when.milliseconds : host.clock.now().getTime() - when.milliseconds)
}

/** One file, from where it was read to the last time. A file that has become shorter is a new one. */
class LogReader {
  readonly #scene: CallScene
  readonly #component: string
  #read = 0
  #rest = ''
  #last: number | undefined

  constructor(scene: CallScene, component: string) {
    this.#scene = scene
    this.#component = component
  }

  async next(): Promise<readonly Line[]> {
    const { host, places } = this.#scene
    const at = (name: string): string => win32.join(places.logs, name)
    // The wrapper of services has a name of its own for the file that it writes to now.
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

  /** One that does not say when it was written belongs to the one before it. */
  #line(message: string, modified: number): Line {
    const { time, priority } = readLogLine(message, this.#scene.host.clock.now())
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
