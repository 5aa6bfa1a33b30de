import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { win32 } from 'node:path'
import type { Command } from '../../host/command.ts'
import { multiStringValue, readRegFile, regFile } from './reg-file.ts'

/** What Windows keeps of a service in its registry, where its manager reads it. */
export interface Settings {
  readonly commandLine: string
  readonly description: string
  readonly dependsOn: readonly string[]
  readonly environment: readonly string[]
  readonly startType: number
}

export interface SettingsBook {
  /** Nothing when there is no such service. */
  read(name: string, signal: AbortSignal): Promise<Settings | undefined>
  /** Variables are the one setting that the manager itself does not take. */
  setEnvironment(name: string, environment: readonly string[], signal: AbortSignal): Promise<void>
}

const services = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services`

/**
 * Through reg.exe, by files: what it prints is in the letters of a code page, and lacks all others, and variables of a proxy
 * may have a password in them, which has no place in a command line. Only administrators see into `directory`.
 */
export function registrySettings(systemRoot: string, directory: string, command: Command): SettingsBook {
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
        const key = `${services}\\${name}`
        const { code } = await command([reg, 'export', key, file, '/y'], { codes: [0, 1], signal })
        // It has one number for all that can go wrong; whether the service is there, its manager has said.
        if (code !== 0) return undefined
        return settingsIn(await readFile(file, 'utf16le'), key)
      }),
    setEnvironment: async (name, environment, signal) =>
      withFile(async (file) => {
        const values = { Environment: multiStringValue(environment) }
        await writeFile(file, regFile(`${services}\\${name}`, values), { encoding: 'utf16le', flag: 'wx' })
        await command([reg, 'import', file], { signal })
      }),
  }
}

export function settingsIn(text: string, key: string): Settings | undefined {
  const values = readRegFile(text).get(key.toLowerCase())
  if (values === undefined) return undefined
  const text1 = (name: string): string => {
    const value = values.get(name)
    return typeof value === 'string' ? value : ''
  }
  const list = (name: string): readonly string[] => {
    const value = values.get(name)
    return Array.isArray(value) ? value : []
  }
  const start = values.get('start')
  return {
    commandLine: text1('imagepath'),
    description: text1('description'),
    dependsOn: list('dependonservice'),
    environment: list('environment'),
    startType: typeof start === 'number' ? start : -1,
  }
}
