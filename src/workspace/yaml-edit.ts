import { isMap, isNode, isScalar, type Pair, parse, parseDocument, type Range, type YAMLMap } from 'yaml'

type Path = readonly (string | number)[]

/** Sets a key in a YAML text. All other text of the operator's file is kept. */
export function setScalar(text: string, path: Path, key: string, scalar: string): string {
  const document = parseDocument(text)
  const map = document.getIn(path)
  const pair = findPair(map, key)
  const [from, to] = [getRange(pair?.key)?.[1], getRange(pair?.value)?.[1]]
  if (from !== undefined && to !== undefined) {
    const ending = text.slice(from, to).endsWith('\n') ? '\n' : ''
    return splice(text, from, to, `: ${scalar}${ending}`)
  }
  const last = isMap(map) && map.flow !== true ? findMapEnd(text, map) : undefined
  if (last === undefined) {
    document.setIn([...path, key], parse(scalar))
    return document.toString({ lineWidth: 0 })
  }
  return splice(text, last.end, last.end, `${last.indent}${key}: ${scalar}\n`)
}

/** Removes a key and its value. In a block map, all other text is kept. */
export function removeKey(text: string, path: Path, key: string): string {
  const document = parseDocument(text)
  const map = document.getIn(path)
  const pair = findPair(map, key)
  const [from, to] = [getRange(pair?.key)?.[0], getRange(pair?.value)?.[2]]
  if (from === undefined || to === undefined) return text
  const start = text.lastIndexOf('\n', from) + 1
  const isAlone = text.slice(start, from).trim() === '' && isMap(map) && map.flow !== true
  if (isAlone) return splice(text, start, to, '')
  document.deleteIn([...path, key])
  return document.toString({ lineWidth: 0 })
}

function findPair(map: unknown, key: string): Pair | undefined {
  if (!isMap(map)) return undefined
  return map.items.find((item) => isScalar(item.key) && item.key.value === key)
}

/** Finds the indentation of a block map and the offset after its last line. */
function findMapEnd(
  text: string,
  map: YAMLMap,
): { readonly indent: string; readonly end: number } | undefined {
  const start = getRange(map.items[0]?.key)?.[0]
  const end = getRange(map.items.at(-1)?.value)?.[2]
  if (start === undefined || end === undefined || !text.slice(0, end).endsWith('\n')) return undefined
  return { indent: ' '.repeat(start - text.lastIndexOf('\n', start) - 1), end }
}

function getRange(node: unknown): Range | undefined {
  return isNode(node) ? (node.range ?? undefined) : undefined
}

function splice(text: string, from: number, to: number, replacement: string): string {
  return `${text.slice(0, from)}${replacement}${text.slice(to)}`
}
