import { readFile } from 'node:fs/promises'
import { proxyMemoryFormat, type ProxyMemory } from '../contract/proxy-configuration.ts'
import { readVersioned } from '../contract/versioned.ts'
import { describe, hasCode } from '../kit/errors.ts'
import { replaceFile } from '../kit/atomic-file.ts'

/** The servers that were known when we last ran. A memory that is lost or damaged is only worth a line. */
export async function remember(file: string, log: (line: string) => void): Promise<readonly string[]> {
  try {
    return readVersioned(proxyMemoryFormat, JSON.parse(await readFile(file, 'utf8'))).servers
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) log(`${file} is of no use: ${describe(error)}`)
    return []
  }
}

export async function keepInMind(
  file: string,
  servers: readonly string[],
  log: (line: string) => void,
): Promise<void> {
  const memory: ProxyMemory = { apiVersion: 'hyperkube.dev/v1', kind: 'ApiserverProxyMemory', servers }
  await replaceFile(file, `${JSON.stringify(memory, undefined, 2)}\n`, 0o600).catch((error: unknown) =>
    log(`${file} could not be written: ${describe(error)}`),
  )
}
