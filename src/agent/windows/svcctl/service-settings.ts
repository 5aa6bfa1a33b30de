import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { win32 } from 'node:path'
import type { RunCommand } from '../../host/command.ts'
import { formatMultiString, readRegFile, formatRegFile } from './reg-file.ts'

/** Settings of a service, as stored in the registry. */
export interface ScmServiceSettings {
  readonly commandLine: string
  readonly description: string
  readonly dependsOn: readonly string[]
  readonly environment: readonly string[]
  readonly startType: number
}

export interface ServiceSettingsStore {
  /** Reads the settings of a service that is known to exist. */
  read(name: string, signal: AbortSignal): Promise<ScmServiceSettings>
  /**
   * Writes the environment variables to the registry, because the Service Control Manager does not accept
   * them over RPC.
   */
  setEnvironment(name: string, environment: readonly string[], signal: AbortSignal): Promise<void>
}

const servicesKey = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services`

/**
 * Reads and writes settings through files with reg.exe. Its printed output would lose characters outside the
 * code page, and its command line would expose passwords in proxy variables. Only administrators may read
 * `directory`.
 */
export function registrySettings(
  systemRoot: string,
  directory: string,
  command: RunCommand,
): ServiceSettingsStore {
  const reg = win32.join(systemRoot, 'System32', 'reg.exe')
  const withFile = async <T>(use: (file: string) => Promise<T>): Promise<T> => {
    const file = win32.join(directory, `hyperkube-${randomUUID()}.reg`)
    try {
      return await use(file)
    } finally {
      await rm(file, { force: true })
    }
  }
  return {
    read: async (name, signal) =>
      withFile(async (file) => {
        const key = `${servicesKey}\\${name}`
        await command([reg, 'export', key, file, '/y'], { signal })
        return parseServiceSettings(await readFile(file, 'utf16le'), key)
      }),
    setEnvironment: async (name, environment, signal) =>
      withFile(async (file) => {
        const values = { Environment: formatMultiString(environment) }
        await writeFile(file, formatRegFile(`${servicesKey}\\${name}`, values), {
          encoding: 'utf16le',
          flag: 'wx',
        })
        await command([reg, 'import', file], { signal })
      }),
  }
}

export function parseServiceSettings(text: string, key: string): ScmServiceSettings {
  const values = readRegFile(text).get(key.toLowerCase())
  if (values === undefined) throw new Error(`the registry has no ${key}`)
  const readText = (name: string): string => {
    const value = values.get(name)
    return typeof value === 'string' ? value : ''
  }
  const list = (name: string): readonly string[] => {
    const value = values.get(name)
    return Array.isArray(value) ? value : []
  }
  const start = values.get('start')
  return {
    commandLine: readText('imagepath'),
    description: readText('description'),
    dependsOn: list('dependonservice'),
    environment: list('environment'),
    startType: typeof start === 'number' ? start : -1,
  }
}
