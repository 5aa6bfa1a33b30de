import { isMap, isNode, isScalar, type Pair, parse, parseDocument, type Range, type YAMLMap } from 'yaml'

type Path = readonly (string | number)[]

/** A text with a word at a path in it. Every other character stays: it is a person's file. */
export function putWord(text: string, path: Path, key: string, word: string): string {
  const document = parseDocument(text)
  const map = document.getIn(path)
  const pair = pairOf(map, key)
  const [from, to] = [rangeOf(pair?.key)?.[1], rangeOf(pair?.value)?.[1]]
  if (from !== undefined && to !== undefined) {
    const ending = text.slice(from, to).endsWith('\n') ? '\n' : ''
    return splice(text, from, to, `: ${word}${ending}`)
  }
  const last = isMap(map) && map.flow !== true ? lineOf(text, map) : undefined
  if (last === undefined) {
    document.setIn([...path, key], parse(word))
    return document.toString({ lineWidth: 0 })
  }
  return splice(text, last.end, last.end, `${last.indent}${key}: ${word}\n`)
}

/** Without a key that has a word for a value, and without its line. */
export function dropWord(text: string, path: Path, key: string): string {
  const document = parseDocument(text)
  const map = document.getIn(path)
  const pair = pairOf(map, key)
  const [from, to] = [rangeOf(pair?.key)?.[0], rangeOf(pair?.value)?.[2]]
  if (from === undefined || to === undefined) return text
  const start = text.lastIndexOf('\n', from) + 1
  const isAlone = text.slice(start, from).trim() === '' && isMap(map) && map.flow !== true
  if (isAlone) return splice(text, start, to, '')
  document.deleteIn([...path, key])
  return document.toString({ lineWidth: 0 })
}

function pairOf(map: unknown, key: string): Pair | undefined {
  if (!isMap(map)) return undefined
  return map.items.find((item) => isScalar(item.key) && item.key.value === key)
}

/** Where the lines of a map begin, and where its last one ends. */
function lineOf(text: string, map: YAMLMap): { readonly indent: string; readonly end: number } | undefined {
  const start = rangeOf(map.items[0]?.key)?.[0]
  const end = rangeOf(map.items.at(-1)?.value)?.[2]
  if (start === undefined || end === undefined || !text.slice(0, end).endsWith('\n')) return undefined
  return { indent: ' '.repeat(start - text.lastIndexOf('\n', start) - 1), end }
}

function rangeOf(node: unknown): Range | undefined {
  return isNode(node) ? (node.range ?? undefined) : undefined
}

function splice(text: string, from: number, to: number, by: string): string {
  return `${text.slice(0, from)}${by}${text.slice(to)}`
}
