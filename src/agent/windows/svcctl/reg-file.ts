import { encodeMultiString, decodeMultiString } from './ndr.ts'

/** A registry value of the types that a service uses: a text, a number or a list of texts. */
export type RegValue = string | number | readonly string[]

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
  if (!text.replace(/^\uFEFF/, '').startsWith(title)) throw new Error('this is no file of the registry')
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
