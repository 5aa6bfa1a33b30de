import { multiString, readMultiString } from './ndr.ts'

/** A value of the registry, of the types that a service has: a text, a number or a list of texts. */
export type RegValue = string | number | readonly string[]

const title = 'Windows Registry Editor Version 5.00'

/**
 * One entry each: a key, or a value. A text may go over several lines; bytes do so with a backslash at the end. Values of
 * other types are passed over.
 */
const entry =
  /^\[(?<key>[^\]\r\n]+)\]|^"(?<name>(?:[^"\\]|\\.)*)"=(?:"(?<text>(?:[^"\\]|\\.)*)"|dword:(?<number>[0-9a-f]{8})|hex\((?<type>[0-9a-f]+)\):(?<bytes>(?:[0-9a-f]{2}|[,\s\\])*))/gims

/** What `reg export` writes, by keys and names in small letters: Windows makes no difference between them and others. */
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
    const value = valueOf(groups)
    if (value !== undefined) values.set(plain(name).toLowerCase(), value)
  }
  return keys
}

/** REG_EXPAND_SZ, in which programs of services mostly are, and REG_MULTI_SZ; both as bytes. */
const types = { expand: '2', multi: '7' }

function valueOf(groups: Readonly<Record<string, string | undefined>>): RegValue | undefined {
  const { text, number, type, bytes = '' } = groups
  if (text !== undefined) return plain(text)
  if (number !== undefined) return Number.parseInt(number, 16)
  const content = Buffer.from(bytes.replaceAll(/[^0-9a-f]/gi, ''), 'hex')
  if (type === types.multi) return readMultiString(content)
  if (type === types.expand) return content.toString('utf16le').replace(/\0+$/, '')
  return undefined
}

function plain(text: string): string {
  return text.replaceAll(/\\(["\\])/g, '$1')
}

export function multiStringValue(values: readonly string[]): string {
  const bytes = [...multiString(values)].map((byte) => byte.toString(16).padStart(2, '0'))
  return `hex(${types.multi}):${bytes.join(',')}`
}

/** What `reg import` reads: values of one key, as they are written there. */
export function regFile(key: string, values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `"${name}"=${value}`)
  return `\uFEFF${[title, '', `[${key}]`, ...lines, '', ''].join('\r\n')}`
}
