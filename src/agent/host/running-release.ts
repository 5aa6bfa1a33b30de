import { constants } from 'node:fs'
import { stat } from 'node:fs/promises'
import { hashOpenFile, type ToLocalPath, withOpenFile } from './local-files.ts'

/** The running hyperkube program. */
export interface RunningRelease {
  readonly version: string
  /** Path at which this process can read its own program file. */
  readonly executable: string
  /** Process id of the agent as the service manager reports it. */
  readonly pid: number
  /** Returns the SHA-256 of the executable, in hex. */
  digest(): Promise<string>
  /** True if the file at this path is the running executable. */
  isAt(path: string): Promise<boolean>
}

/**
 * Describes the running program. /proc/self/exe is its file, even if the file at its path was replaced
 * meanwhile.
 */
export function createRunningRelease(
  version: string,
  toLocalPath: ToLocalPath,
  executable = '/proc/self/exe',
  pid = process.pid,
): RunningRelease {
  return {
    version,
    executable,
    pid,
    async digest() {
      return withOpenFile(executable, constants.O_RDONLY, async (file) =>
        (await hashOpenFile(file)).digest('hex'),
      )
    },
    async isAt(path) {
      const [running, other] = await Promise.all([stat(executable), stat(toLocalPath(path))])
      return running.dev === other.dev && running.ino === other.ino
    },
  }
}
