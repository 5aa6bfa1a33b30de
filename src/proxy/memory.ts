import { readFile } from 'node:fs/promises'
import { proxyStateFormat, type ProxyState } from '../contract/proxy-configuration.ts'
import { readVersioned } from '../contract/versioned.ts'
import { formatError, hasCode } from '../kit/errors.ts'
import { replaceFile } from '../kit/atomic-file.ts'

/** Reads the servers known in the last run. A missing or damaged file is only logged. */
export async function readKnownServers(
  file: string,
  log: (line: string) => void,
): Promise<readonly string[]> {
  try {
    return readVersioned(proxyStateFormat, JSON.parse(await readFile(file, 'utf8'))).servers
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) log(`${file} is of no use: ${formatError(error)}`)
    return []
  }
}

export async function writeKnownServers(
  file: string,
  servers: readonly string[],
  log: (line: string) => void,
): Promise<void> {
  const state: ProxyState = { apiVersion: 'hyperkube.dev/v1', kind: 'ApiserverProxyState', servers }
  await replaceFile(file, `${JSON.stringify(state, undefined, 2)}\n`, 0o600).catch((error: unknown) =>
    log(`${file} could not be written: ${formatError(error)}`),
  )
}
