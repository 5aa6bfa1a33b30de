import type { Node } from './node.ts'

/** Explains why some of the wanted nodes are not ready; undefined if all of them are ready. */
export function explainNotReadyNodes(nodes: readonly Node[], wanted: readonly string[]): string | undefined {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]))
  const [first, ...others] = wanted.flatMap((name) => {
    const reason = explainNotReady(known.get(name))
    return reason === undefined ? [] : [`${name}: ${reason}`]
  })
  return others.length === 0 ? first : `${first}; and ${others.length} more`
}

export function explainNotReady(node: Node | undefined): string | undefined {
  if (node === undefined) return 'it has not registered'
  const ready = node.status?.conditions.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' ? undefined : (ready?.message ?? 'it has not said how it is')
}
