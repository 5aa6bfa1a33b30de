import { HyperkubeError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'

/** Milliseconds that reading a host may take. */
export const readTimeoutMs = 60_000

/** Reads a file of a host as root. The content may be a secret, so errors do not contain it. */
export async function readRemoteFile(remote: Remote, path: string, signal: AbortSignal): Promise<string> {
  const options = { signal, root: true, timeout: readTimeoutMs }
  const { code, stdout } = await remote.exec(['cat', '--', path], options)
  if (code === 0) return stdout
  throw new HyperkubeError('ADOPT_FILE_NOT_READ', `cannot read ${path}`, {
    host: remote.host,
    hint: `check the file: ssh ${remote.host} sudo ls -l ${path}`,
  })
}
