import { constants } from 'node:fs'
import { stat } from 'node:fs/promises'
import { hashOpenFile } from './file-hash.ts'
import type { ToLocalPath } from './local-path.ts'
import { withOpenFile } from './synced-files.ts'

/** The running hyperkube program. */
export interface RunningRelease {
  readonly version: string
  /** Its file, as a path of this process. */
  readonly executable: string
  /** Process id known to the service manager. */
  readonly pid: number
  /** The sha256 of the executable, in hex. */
  digest(): Promise<string>
  /** True if the path is the same file. */
  isAt(path: string): Promise<boolean>
}

/** /proc/self/exe is the running file, even if its path was replaced meanwhile. */
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
