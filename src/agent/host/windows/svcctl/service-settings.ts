import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { win32 } from 'node:path'
import type { RunCommand } from '../../command.ts'
import { decodeMultiString, encodeMultiString } from './ndr.ts'

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

/** A registry value of the types that a service uses: a text, a number or a list of texts. */
type RegValue = string | number | readonly string[]

const title = 'Windows Registry Editor Version 5.00'

/**
 * Matches one key or one value of a .reg file. Text may span lines; byte lists continue after a backslash at
 * the end of a line. Values of other types are skipped.
 */
const entry =
  /^\[(?<key>[^\]\r\n]+)\]|^"(?<name>(?:[^"\\]|\\.)*)"=(?:"(?<text>(?:[^"\\]|\\.)*)"|dword:(?<number>[0-9a-f]{8})|hex\((?<type>[0-9a-f]+)\):(?<bytes>(?:[0-9a-f]{2}|[,\s\\])*))/gims

/**
 * Parses the output of `reg export`. Keys and names become lower case, because Windows ignores their case.
 */
export function readRegFile(text: string): ReadonlyMap<string, ReadonlyMap<string, RegValue>> {
  if (!text.replace(/^\uFEFF/, '').startsWith(title)) throw new Error('this is not a registry export')
  const keys = new Map<string, Map<string, RegValue>>()
  let values = new Map<string, RegValue>()
  for (const { groups = {} } of text.matchAll(entry)) {
    const { key, name = '' } = groups
    if (key !== undefined) {
      values = new Map()
      keys.set(key.toLowerCase(), values)
      continue
    }
    const value = parseValue(groups)
    if (value !== undefined) values.set(unescape(name).toLowerCase(), value)
  }
  return keys
}

/**
 * Registry value types that are exported as bytes: REG_EXPAND_SZ, the usual type of ImagePath, and
 * REG_MULTI_SZ.
 */
const types = { expand: '2', multi: '7' }

function parseValue(groups: Readonly<Record<string, string | undefined>>): RegValue | undefined {
  const { text, number, type, bytes = '' } = groups
  if (text !== undefined) return unescape(text)
  if (number !== undefined) return Number.parseInt(number, 16)
  const content = Buffer.from(bytes.replaceAll(/[^0-9a-f]/gi, ''), 'hex')
  if (type === types.multi) return decodeMultiString(content)
  if (type === types.expand) return content.toString('utf16le').replace(/\0+$/, '')
  return undefined
}

function unescape(text: string): string {
  return text.replaceAll(/\\(["\\])/g, '$1')
}

export function formatMultiString(values: readonly string[]): string {
  const bytes = [...encodeMultiString(values)].map((byte) => byte.toString(16).padStart(2, '0'))
  return `hex(${types.multi}):${bytes.join(',')}`
}

/** Formats the values of one key for `reg import`. The values must already be in .reg syntax. */
export function formatRegFile(key: string, values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `"${name}"=${value}`)
  return `\uFEFF${[title, '', `[${key}]`, ...lines, '', ''].join('\r\n')}`
}
