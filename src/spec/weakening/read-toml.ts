import type { SettingValue } from './setting.ts'

type Table = { [key: string]: SettingValue }

/** Matches one part of a key: bare, in double quotes or in single quotes. */
const keyPart = /\s*(?:([A-Za-z0-9_-]+)|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')\s*/y
const blank = /(?:\s|#[^\n]*)*/y
const scalar = /"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\s,\]}#"']+)/y

class TomlError extends Error {}

/**
 * Reads TOML as far as settings need it: tables, keys, text, booleans, numbers and lists. Dates stay text.
 * Returns undefined for anything else.
 */
export function readToml(text: string): Table | undefined {
  try {
    return new Reader(text).readDocument()
  } catch (error) {
    if (error instanceof TomlError) return undefined
    throw error
  }
}

class Reader {
  readonly #text: string
  #offset = 0

  constructor(text: string) {
    this.#text = text
  }

  readDocument(): Table {
    const root: Table = Object.create(null)
    let table = root
    this.#match(blank)
    while (this.#offset < this.#text.length) {
      if (this.#take('[[')) table = this.#readHeader(root, ']]')
      else if (this.#take('[')) table = this.#readHeader(root, ']')
      else this.#readPair(table)
      this.#match(blank)
    }
    return root
  }

  #readHeader(root: Table, end: string): Table {
    const table = openTable(root, this.#readKey())
    this.#expect(end)
    return table
  }

  #readPair(table: Table): void {
    const key = this.#readKey()
    this.#expect('=')
    const last = key.pop() ?? ''
    openTable(table, key)[last] = this.#readValue()
  }

  #readKey(): string[] {
    const parts: string[] = []
    do {
      const [, bare, quoted, literal] = this.#match(keyPart) ?? this.#fail()
      parts.push(bare ?? literal ?? unescapeText(quoted ?? ''))
    } while (this.#take('.'))
    return parts
  }

  #readValue(): SettingValue {
    this.#match(blank)
    if (this.#take('[')) return this.#readList()
    if (this.#take('{')) return this.#readInlineTable()
    const [, multiline, multilineLiteral, quoted, literal, plain] = this.#match(scalar) ?? this.#fail()
    if (plain !== undefined) return readPlain(plain)
    return literal ?? multilineLiteral ?? unescapeText(quoted ?? multiline ?? '')
  }

  #readList(): SettingValue {
    const list: SettingValue[] = []
    for (;;) {
      this.#match(blank)
      if (this.#take(']')) return list
      list.push(this.#readValue())
      this.#match(blank)
      if (this.#take(',')) continue
      this.#expect(']')
      return list
    }
  }

  #readInlineTable(): SettingValue {
    const table: Table = Object.create(null)
    for (;;) {
      this.#match(blank)
      if (this.#take('}')) return table
      this.#readPair(table)
      this.#match(blank)
      if (this.#take(',')) continue
      this.#expect('}')
      return table
    }
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#offset
    const match = pattern.exec(this.#text)
    if (match === null) return undefined
    this.#offset = pattern.lastIndex
    return match
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#offset)) return false
    this.#offset += word.length
    return true
  }

  #expect(word: string): void {
    if (!this.#take(word)) this.#fail()
  }

  #fail(): never {
    throw new TomlError(`not TOML at offset ${this.#offset}`)
  }
}

/** Returns the table at a key and creates it if it is missing. */
function openTable(table: Table, key: readonly string[]): Table {
  return key.reduce((parent, part) => {
    const child = parent[part]
    if (typeof child === 'object' && child !== null && !Array.isArray(child)) return child
    const created: Table = Object.create(null)
    parent[part] = created
    return created
  }, table)
}

function readPlain(word: string): SettingValue {
  if (word === 'true' || word === 'false') return word === 'true'
  const number = Number(word.replaceAll('_', ''))
  return Number.isNaN(number) ? word : number
}

function unescapeText(text: string): string {
  try {
    const value: unknown = JSON.parse(`"${text.replaceAll('\n', String.raw`\n`)}"`)
    return String(value)
  } catch {
    return text
  }
}
