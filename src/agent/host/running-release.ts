import { constants } from 'node:fs'
import { stat } from 'node:fs/promises'
import { hashFrom } from './file-hash.ts'
import type { Place } from './local-path.ts'
import { opened } from './synced-files.ts'

/** The hyperkube that runs. */
export interface Release {
  readonly version: string
  /** The file that it is, wherever this program finds it. */
  readonly executable: string
  /** Of the process that its supervisor knows. */
  readonly pid: number
  /** The sha256 of that file, in hex. */
  digest(): Promise<string>
  /** Whether it is the very file that has this name. */
  isAt(path: string): Promise<boolean>
}

/** By its process it is the very file that runs, whatever has come into its place meanwhile. */
export function runningRelease(
  version: string,
  place: Place,
  executable = '/proc/self/exe',
  pid = process.pid,
): Release {
  return {
    version,
    executable,
    pid,
    async digest() {
      return opened(executable, constants.O_RDONLY, async (file) => (await hashFrom(file)).digest('hex'))
    },
    async isAt(path) {
      const [own, other] = await Promise.all([stat(executable), stat(place(path))])
      return own.dev === other.dev && own.ino === other.ino
    },
  }
}
