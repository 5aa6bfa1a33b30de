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
  /** Of a service that its manager knows. */
  read(name: string, signal: AbortSignal): Promise<Settings>
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
        await command([reg, 'export', key, file, '/y'], { signal })
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

export function settingsIn(text: string, key: string): Settings {
  const values = readRegFile(text).get(key.toLowerCase())
  if (values === undefined) throw new Error(`the registry has no ${key}`)
  const textOf = (name: string): string => {
    const value = values.get(name)
    return typeof value === 'string' ? value : ''
  }
  const list = (name: string): readonly string[] => {
    const value = values.get(name)
    return Array.isArray(value) ? value : []
  }
  const start = values.get('start')
  return {
    commandLine: textOf('imagepath'),
    description: textOf('description'),
    dependsOn: list('dependonservice'),
    environment: list('environment'),
    startType: typeof start === 'number' ? start : -1,
  }
}
