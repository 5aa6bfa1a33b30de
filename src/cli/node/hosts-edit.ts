import { isNode, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml'

const path = ['spec', 'hosts'] as const

/** What a file says of a new host. */
export interface NewHost {
  readonly name: string
  readonly address: string
  readonly roles: readonly string[]
}

/** A cluster.yml with one host more, after the others. All else in it stays as somebody has written it. */
export function withHost(text: string, { name, address, roles }: NewHost): string {
  const document = parseDocument(text)
  const hosts = document.getIn(path)
  const last = isSeq(hosts) && hosts.flow !== true ? linesOf(text, hosts).at(-1) : undefined
  if (last === undefined) {
    document.addIn(path, document.createNode({ name, address, roles }))
    return document.toString({ lineWidth: 0 })
  }
  const lines = [
    `- name: ${word(name)}`,
    `  address: ${word(address)}`,
    `  roles: [${roles.map(word).join(', ')}]`,
  ]
  const added = lines.map((line) => `${last.indent}${line}\n`).join('')
  const ending = text.slice(0, last.end).endsWith('\n') ? '' : '\n'
  return `${text.slice(0, last.end)}${ending}${added}${text.slice(last.end)}`
}

/** Without one of them. Remarks before it stay: who wrote them knows what they are about. */
export function withoutHost(text: string, name: string): string {
  const document = parseDocument(text)
  const hosts = document.getIn(path)
  if (!isSeq(hosts)) return text
  const index = hosts.items.findIndex((_, at) => document.getIn([...path, at, 'name']) === name)
  if (index === -1) return text
  const lines = hosts.flow === true ? undefined : linesOf(text, hosts)[index]
  if (lines !== undefined) return text.slice(0, lines.start) + text.slice(lines.end)
  document.deleteIn([...path, index])
  return document.toString({ lineWidth: 0 })
}

function word(value: string): string {
  return stringify(value).trimEnd()
}

interface Lines {
  readonly indent: string
  readonly start: number
  readonly end: number
}

/** Where the lines of each item begin, and where its last one ends. */
function linesOf(text: string, { items }: YAMLSeq): Lines[] {
  return items.flatMap((item) => {
    const range = isNode(item) ? item.range : undefined
    if (range === undefined || range === null) return []
    const dash = text.lastIndexOf('-', range[0])
    const start = text.lastIndexOf('\n', dash) + 1
    const newline = text.slice(0, range[1]).endsWith('\n') ? range[1] - 1 : text.indexOf('\n', range[1])
    return [{ indent: text.slice(start, dash), start, end: newline === -1 ? text.length : newline + 1 }]
  })
}
