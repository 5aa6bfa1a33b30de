import { z } from 'zod'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Node, Taint } from './node.ts'

type NodeWish = NonNullable<NodePlan['node']>

/** What is to be changed about a node, as a patch of it. */
export interface NodeSettings {
  readonly name: string
  /** Null takes one away. */
  readonly labels: Readonly<Record<string, string | null>>
  readonly annotations: Readonly<Record<string, string>>
  /** All of them, where that is another list than there is; of the node as it was looked at: others set taints too. */
  readonly taints?: { readonly all: readonly Taint[]; readonly resourceVersion: string | undefined }
}

/** What we have set: only that is taken away again when it leaves the plan. */
export const remembered = 'hyperkube.dev/node-settings'
const memory = z.object({ labels: z.array(z.string()), taints: z.array(z.string()) })
type Memory = z.infer<typeof memory>

/**
 * Labels and taints that a node has not yet, or has no longer to have. A kubelet sets its own only when it registers, and
 * may not set those that say what a node is.
 */
export function nodeSettings(wish: NodeWish, node: Node): NodeSettings | undefined {
  const { labels = {}, annotations = {}, resourceVersion } = node.metadata
  const before = memoryOf(annotations[remembered])
  const after: Memory = {
    labels: Object.keys(wish.labels).toSorted(),
    taints: wish.taints.map(nameOf).toSorted(),
  }
  const gone = before.labels.filter((key) => !(key in wish.labels) && key in labels)
  const missing = Object.entries(wish.labels).filter(([key, value]) => labels[key] !== value)
  const has = node.spec?.taints ?? []
  const taints = taintsAfter(has, wish.taints, new Set(before.taints))
  const areSame = JSON.stringify(taints) === JSON.stringify(has)
  const isKnown = annotations[remembered] === JSON.stringify(after)
  if (gone.length + missing.length === 0 && areSame && isKnown) return undefined
  return {
    name: wish.name,
    labels: Object.fromEntries([...gone.map((key) => [key, null] as const), ...missing]),
    annotations: { [remembered]: JSON.stringify(after) },
    ...(areSame ? {} : { taints: { all: taints, resourceVersion } }),
  }
}

/** Those of others stay where they are. */
function taintsAfter(has: readonly Taint[], wished: NodeWish['taints'], ours: ReadonlySet<string>): Taint[] {
  const values = new Map(wished.map((taint) => [nameOf(taint), taint.value]))
  const kept = has
    .filter((taint) => values.has(nameOf(taint)) || !ours.has(nameOf(taint)))
    .map((taint) => {
      const value = values.get(nameOf(taint))
      return value === undefined || value === taint.value ? taint : { ...taint, value }
    })
  const there = new Set(has.map(nameOf))
  return [...kept, ...wished.filter((taint) => !there.has(nameOf(taint)))]
}

/** What makes a taint another one; its value may change. */
function nameOf({ key, effect }: Pick<Taint, 'key' | 'effect'>): string {
  return `${key}:${effect}`
}

/** Somebody may have written something else there: then nothing is known to be ours. */
function memoryOf(text: string | undefined): Memory {
  try {
    return memory.parse(JSON.parse(text ?? ''))
  } catch {
    return { labels: [], taints: [] }
  }
}
