import { isNode, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml'

const hostsPath = ['spec', 'hosts'] as const

/** A host to add to cluster.yml. */
export interface NewHost {
  readonly name: string
  readonly address: string
  readonly roles: readonly string[]
}

/**
 * Adds a host at the end of the host list in cluster.yml. The rest of a block-style file stays exactly as it
 * was written.
 */
export function insertHost(text: string, { name, address, roles }: NewHost): string {
  const document = parseDocument(text)
  const hosts = document.getIn(hostsPath)
  const lastItem = isSeq(hosts) && hosts.flow !== true ? locateItems(text, hosts).at(-1) : undefined
  if (lastItem === undefined) {
    document.addIn(hostsPath, document.createNode({ name, address, roles }))
    return document.toString({ lineWidth: 0 })
  }
  const lines = [
    `- name: ${formatScalar(name)}`,
    `  address: ${formatScalar(address)}`,
    `  roles: [${roles.map(formatScalar).join(', ')}]`,
  ]
  const added = lines.map((line) => `${lastItem.indent}${line}\n`).join('')
  const ending = text.slice(0, lastItem.end).endsWith('\n') ? '' : '\n'
  return `${text.slice(0, lastItem.end)}${ending}${added}${text.slice(lastItem.end)}`
}

/**
 * Removes a host from cluster.yml. YAML comments above the host stay, because they may belong to something
 * else.
 */
export function deleteHost(text: string, name: string): string {
  const document = parseDocument(text)
  const hosts = document.getIn(hostsPath)
  if (!isSeq(hosts)) return text
  const index = hosts.items.findIndex(
    (_, position) => document.getIn([...hostsPath, position, 'name']) === name,
  )
  if (index === -1) return text
  const lines = hosts.flow === true ? undefined : locateItems(text, hosts)[index]
  if (lines !== undefined) return text.slice(0, lines.start) + text.slice(lines.end)
  document.deleteIn([...hostsPath, index])
  return document.toString({ lineWidth: 0 })
}

function formatScalar(value: string): string {
  return stringify(value).trimEnd()
}

interface ItemLines {
  readonly indent: string
  readonly start: number
  readonly end: number
}

/** Finds the indentation of each list item, and where its lines start and end. */
function locateItems(text: string, { items }: YAMLSeq): ItemLines[] {
  return items.flatMap((item) => {
    const range = isNode(item) ? item.range : undefined
    if (range === undefined || range === null) return []
    const dash = text.lastIndexOf('-', range[0])
    const start = text.lastIndexOf('\n', dash) + 1
    const newline = text.slice(0, range[1]).endsWith('\n') ? range[1] - 1 : text.indexOf('\n', range[1])
    return [{ indent: text.slice(start, dash), start, end: newline === -1 ? text.length : newline + 1 }]
  })
}
