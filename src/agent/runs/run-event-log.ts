import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Event, eventFormat } from '../../contract/event.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { hasCode } from '../../kit/errors.ts'

/**
 * Number of runs whose events are kept. The agent's own runs count too and must not displace the last run of
 * an operator, so the number is high. The journal keeps entries longer.
 */
const maxRuns = 100

/**
 * Stores the events of runs on disk, so that a disconnected client can continue reading, even after a restart
 * of the agent.
 */
export class RunEventLog {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async append(event: Event): Promise<void> {
    await appendFile(this.#path(event.run), `${JSON.stringify(event)}\n`, { mode: 0o600 })
  }

  /** Returns the events of a run; undefined if the run is unknown. */
  async read(run: string): Promise<readonly Event[] | undefined> {
    try {
      const text = await readFile(this.#path(run), 'utf8')
      return text
        .split('\n')
        .flatMap(parseLine)
        .map((event) => readVersioned(eventFormat, event))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Creates the directory and deletes the oldest runs. Called before a new run is logged. */
  async prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    const names = await readdir(this.#directory)
    const withTimes = await Promise.all(
      names.map(async (name) => ({ name, time: (await stat(join(this.#directory, name))).mtimeMs })),
    )
    const old = withTimes.toSorted((a, b) => b.time - a.time).slice(maxRuns)
    await Promise.all(old.map(async ({ name }) => rm(join(this.#directory, name), { force: true })))
  }

  #path(run: string): string {
    return join(this.#directory, `${run}.ndjson`)
  }
}

/**
 * Parses a line. A line is incomplete if the agent was killed during the write or the disk was full. Such a
 * line is skipped, and so is the event that was appended to it later.
 */
function parseLine(line: string): unknown[] {
  try {
    return [JSON.parse(line)]
  } catch {
    return []
  }
}
