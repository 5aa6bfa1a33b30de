import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { CommandLog, CommandLogStore } from '../command/command.ts'
import { formatError } from '../../kit/errors.ts'

const maxLogs = 50
const extension = '.ndjson'

/**
 * Creates a store for logs at hyperkube/runs/CLUSTER/TIME-COMMAND.ndjson in the state directory. Only the
 * operator can read the logs.
 */
export function createCommandLogStore(stateDirectory: () => string): CommandLogStore {
  const findDirectory = (cluster: string): string => join(stateDirectory(), 'hyperkube', 'runs', cluster)
  return {
    list(cluster) {
      const directory = findDirectory(cluster)
      return existsSync(directory) ? listLogs(directory).map((name) => name.slice(0, -extension.length)) : []
    },
    read: (cluster, name) => readFileSync(join(findDirectory(cluster), `${name}${extension}`), 'utf8'),
    open(cluster, command, now) {
      try {
        const directory = findDirectory(cluster)
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        // A command may have several words, and a file name must not contain spaces.
        const commandName = command.replaceAll(/[^\w.-]+/g, '-')
        const path = join(directory, `${now.toISOString().replaceAll(':', '-')}-${commandName}${extension}`)
        deleteOldLogs(directory)
        return openLog(path, openSync(path, 'ax', 0o600))
      } catch (error) {
        return {
          path: undefined,
          problem: formatError(error),
          onEvent: () => undefined,
          close: () => undefined,
        }
      }
    },
  }
}

/** Writes each event at once, so no event is lost when the process is killed. */
function openLog(path: string, file: number): CommandLog {
  let open = true
  const close = (): void => {
    if (open) closeSync(file)
    open = false
  }
  return {
    path,
    problem: undefined,
    onEvent(event) {
      if (!open) return
      try {
        writeSync(file, `${JSON.stringify(event)}\n`)
      } catch {
        // A failed write closes the log, because a log that ends early misleads less than a log with gaps. On
        // a full disk, later writes would fail too.
        close()
      }
    },
    close,
  }
}

/** Deletes the oldest logs before a new one is created. Names begin with the time, so they sort by age. */
function deleteOldLogs(directory: string): void {
  for (const name of listLogs(directory).slice(0, 1 - maxLogs)) rmSync(join(directory, name), { force: true })
}

function listLogs(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(extension))
    .toSorted()
}
