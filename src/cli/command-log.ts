import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Event } from '../contract/event.ts'
import { describe } from '../kit/errors.ts'

/** All events of one run, as a file that stays. A run never fails for the sake of its log. */
export interface RunLog {
  /** Undefined where nothing could be written. */
  readonly path: string | undefined
  /** Why, then. */
  readonly problem: string | undefined
  readonly heard: (event: Event) => void
  readonly close: () => void
}

export interface RunLogs {
  open(cluster: string, command: string, now: Date): RunLog
}

/** How many runs of a cluster are kept. */
const kept = 50
const ending = '.ndjson'

/** Below the directory of this person's state: hyperkube/runs/CLUSTER/TIME-COMMAND.ndjson, for their eyes only. */
export function diskRunLogs(stateDirectory: () => string): RunLogs {
  return {
    open(cluster, command, now) {
      try {
        const directory = join(stateDirectory(), 'hyperkube', 'runs', cluster)
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        // Some are several words, of which a person has typed the last.
        const words = command.replaceAll(/[^\w.-]+/g, '-')
        const path = join(directory, `${now.toISOString().replaceAll(':', '-')}-${words}${ending}`)
        forgetOld(directory)
        return openLog(path, openSync(path, 'ax', 0o600))
      } catch (error) {
        return { path: undefined, problem: describe(error), heard: () => undefined, close: () => undefined }
      }
    },
  }
}

/** Each event is written at once: whoever ends us finds in the file all that we knew. */
function openLog(path: string, file: number): RunLog {
  let open = true
  const close = (): void => {
    if (open) closeSync(file)
    open = false
  }
  return {
    path,
    problem: undefined,
    heard(event) {
      if (!open) return
      try {
        writeSync(file, `${JSON.stringify(event)}\n`)
      } catch {
        // A disk that is full now takes no later event either, and half a log misleads less than one with holes.
        close()
      }
    },
    close,
  }
}

/** Makes room for one more. Names begin with the time, so that their order is that of the runs. */
function forgetOld(directory: string): void {
  const logs = readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .toSorted()
  for (const name of logs.slice(0, 1 - kept)) rmSync(join(directory, name), { force: true })
}
