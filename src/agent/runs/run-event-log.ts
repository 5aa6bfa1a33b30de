import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Event, eventFormat } from '../../contract/event.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { hasCode } from '../../kit/errors.ts'

/**
 * Far more than anybody will ask about: what the agent does by itself is among them, and a night of healing must not push
 * out the run that an operator comes back for. The journal keeps what was done for longer.
 */
const kept = 100

/** The events of runs on disk, so that whoever lost the connection can read on, even after the agent has restarted. */
export class RunLog {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async append(event: Event): Promise<void> {
    await appendFile(this.#file(event.run), `${JSON.stringify(event)}\n`, { mode: 0o600 })
  }

  /** Nothing when there is no such run. */
  async read(run: string): Promise<readonly Event[] | undefined> {
    try {
      const text = await readFile(this.#file(run), 'utf8')
      // The last line may be unfinished, if the agent died over it.
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => readVersioned(eventFormat, JSON.parse(line)))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Makes room, before a new run is told of. */
  async prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    const names = await readdir(this.#directory)
    const dated = await Promise.all(
      names.map(async (name) => ({ name, time: (await stat(join(this.#directory, name))).mtimeMs })),
    )
    const old = dated.toSorted((a, b) => b.time - a.time).slice(kept)
    await Promise.all(old.map(async ({ name }) => rm(join(this.#directory, name), { force: true })))
  }

  #file(run: string): string {
    return join(this.#directory, `${run}.ndjson`)
  }
}
