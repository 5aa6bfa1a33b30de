import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Event, eventFormat } from '../../contract/event.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { hasCode } from '../../kit/errors.ts'

/**
 * Runs of the agent itself count as well, and a night of healing must not push out the run that an operator
 * comes back for. The journal keeps a record for longer.
 */
const maxRuns = 100

/**
 * Events of runs on disk, so that a disconnected client can continue reading, even after a restart of the
 * agent.
 */
export class RunEventLog {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async append(event: Event): Promise<void> {
    await appendFile(this.#path(event.run), `${JSON.stringify(event)}\n`, { mode: 0o600 })
  }

  /** Undefined if there is no such run. */
  async read(run: string): Promise<readonly Event[] | undefined> {
    try {
      const text = await readFile(this.#path(run), 'utf8')
      // The last line may be incomplete if the agent died while writing it.
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => readVersioned(eventFormat, JSON.parse(line)))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Creates the directory and deletes the oldest runs, before a new run is logged. */
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
