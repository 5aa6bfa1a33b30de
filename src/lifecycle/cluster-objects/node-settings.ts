import { z } from 'zod'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Node, Taint } from './node.ts'

type NodeSpec = NonNullable<NodePlan['node']>

/** Changes to labels, annotations and taints of a node. */
export interface NodeSettings {
  readonly name: string
  /** A null value removes the label. */
  readonly labels: Readonly<Record<string, string | null>>
  readonly annotations: Readonly<Record<string, string>>
  /**
   * The complete new taint list, if taints change. Other programs set taints too, so the patch requires the
   * resourceVersion of the list that it was computed from.
   */
  readonly taints?: { readonly all: readonly Taint[]; readonly resourceVersion: string | undefined }
}

/**
 * Annotation with the labels and taints that hyperkube has set. Only these are removed when they are no
 * longer in the plan.
 */
export const nodeSettingsAnnotation = 'hyperkube.dev/node-settings'
const appliedSettingsSchema = z.object({ labels: z.array(z.string()), taints: z.array(z.string()) })
type AppliedSettings = z.infer<typeof appliedSettingsSchema>

/**
 * Computes the labels and taints to add to or remove from a node; undefined if nothing changes. A kubelet
 * sets its own labels and taints only when it registers, and must not set role labels.
 */
export function computeNodeSettings(spec: NodeSpec, node: Node): NodeSettings | undefined {
  const { labels = {}, annotations = {}, resourceVersion } = node.metadata
  const before = parseAppliedSettings(annotations[nodeSettingsAnnotation])
  const after: AppliedSettings = {
    labels: Object.keys(spec.labels).toSorted(),
    taints: spec.taints.map(formatTaintKey).toSorted(),
  }
  const obsolete = before.labels.filter((key) => !(key in spec.labels) && key in labels)
  const missing = Object.entries(spec.labels).filter(([key, value]) => labels[key] !== value)
  const currentTaints = node.spec?.taints ?? []
  const taints = taintsAfter(currentTaints, spec.taints, new Set(before.taints))
  const areSame = JSON.stringify(taints) === JSON.stringify(currentTaints)
  const isKnown = annotations[nodeSettingsAnnotation] === JSON.stringify(after)
  if (obsolete.length + missing.length === 0 && areSame && isKnown) return undefined
  return {
    name: spec.name,
    labels: Object.fromEntries([...obsolete.map((key) => [key, null] as const), ...missing]),
    annotations: { [nodeSettingsAnnotation]: JSON.stringify(after) },
    ...(areSame ? {} : { taints: { all: taints, resourceVersion } }),
  }
}

/** Computes the new taint list. Taints that other programs have set stay in place. */
function taintsAfter(
  currentTaints: readonly Taint[],
  desired: NodeSpec['taints'],
  ownTaints: ReadonlySet<string>,
): Taint[] {
  const values = new Map(desired.map((taint) => [formatTaintKey(taint), taint.value]))
  const kept = currentTaints
    .filter((taint) => values.has(formatTaintKey(taint)) || !ownTaints.has(formatTaintKey(taint)))
    .map((taint) => {
      const value = values.get(formatTaintKey(taint))
      return value === undefined || value === taint.value ? taint : { ...taint, value }
    })
  const present = new Set(currentTaints.map(formatTaintKey))
  return [...kept, ...desired.filter((taint) => !present.has(formatTaintKey(taint)))]
}

/** Formats the identity of a taint. The value is not part of it, because it may change. */
function formatTaintKey({ key, effect }: Pick<Taint, 'key' | 'effect'>): string {
  return `${key}:${effect}`
}

/** Parses the annotation. If it is missing or invalid, no label or taint counts as set by hyperkube. */
function parseAppliedSettings(text: string | undefined): AppliedSettings {
  try {
    return appliedSettingsSchema.parse(JSON.parse(text ?? ''))
  } catch {
    return { labels: [], taints: [] }
  }
}
