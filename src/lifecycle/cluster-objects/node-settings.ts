import { z } from 'zod'
import type { NodePlan } from '../../contract/node-plan.ts'
import { createSemaphore } from '../../kit/concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { listObjects } from '../../kube/read-objects.ts'
import { patchObject } from '../../kube/write-objects.ts'
import {
  cordonOwnerAnnotation,
  explainNotReady,
  type Node,
  nodeKind,
  rolloutCordonReason,
  type Taint,
} from './node.ts'

type NodeSpec = NonNullable<NodePlan['node']>

/** Changes to labels, annotations, taints and the cordon of a node. */
export interface NodeSettings {
  readonly name: string
  /** A null value removes the label. */
  readonly labels: Readonly<Record<string, string | null>>
  /** A null value removes the annotation. */
  readonly annotations: Readonly<Record<string, string | null>>
  /** True if the node has the cordon of a rollout that was interrupted after its changes of the node. */
  readonly uncordon?: true
  /**
   * The complete new taint list; undefined if no taint changes. The patch requires that the node still has
   * this resourceVersion, because other programs change taints too.
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
 * cannot do this: it sets its own labels and taints only when it registers, and must not set role labels.
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
  const isCordonLeft = hasLeftoverCordon(node)
  if (obsolete.length + missing.length === 0 && areSame && isKnown && !isCordonLeft) return undefined
  return {
    name: spec.name,
    labels: Object.fromEntries([...obsolete.map((key) => [key, null] as const), ...missing]),
    annotations: {
      [nodeSettingsAnnotation]: JSON.stringify(after),
      ...(isCordonLeft ? { [cordonOwnerAnnotation]: null } : {}),
    },
    ...(isCordonLeft ? { uncordon: true } : {}),
    ...(areSame ? {} : { taints: { all: taints, resourceVersion } }),
  }
}

/**
 * True if a rollout has cordoned the node and was interrupted before it removed the cordon. A node that is not ready
 * keeps its cordon, because a failed rollback may have left it.
 */
function hasLeftoverCordon(node: Node): boolean {
  return (
    node.spec?.unschedulable === true &&
    node.metadata.annotations?.[cordonOwnerAnnotation] === rolloutCordonReason &&
    explainNotReady(node) === undefined
  )
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

/** Formats the key that identifies a taint. The value is left out, because it may change. */
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

/** Lists the settings of existing nodes that differ from the plans. */
export function listChangedSettings(plans: readonly NodePlan[], nodes: readonly Node[]): NodeSettings[] {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]))
  return plans.flatMap(({ node: desired }) => {
    const node = known.get(desired?.name ?? '')
    const settings =
      desired === undefined || node === undefined ? undefined : computeNodeSettings(desired, node)
    return settings ?? []
  })
}

const maxAttempts = 20
/**
 * Maximum number of concurrent requests. With more, requests that wait for a free connection could time out.
 */
const maxConcurrent = 16

/**
 * Sets labels and taints of nodes. Retries if taints have changed in between, because a node that becomes
 * ready loses some taints.
 */
export async function syncNodeLabels(api: KubeClient, plans: readonly NodePlan[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const changed = listChangedSettings(plans, (await listObjects(api, nodeKind)).items)
    const runLimited = createSemaphore(maxConcurrent)
    const results = await Promise.allSettled(
      changed.map(async (settings) => runLimited(async () => patchNodeSettings(api, settings))),
    )
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (reasons.length === 0) return
    const failure = reasons.find((reason) => !isKubeError(reason, 'KUBE_CONFLICT'))
    if (failure !== undefined || attempt === maxAttempts) throw failure ?? reasons[0]
  }
}

async function patchNodeSettings(
  api: KubeClient,
  { name, labels, annotations, uncordon: removesCordon, taints }: NodeSettings,
): Promise<void> {
  const resourceVersion = taints?.resourceVersion
  const spec = {
    ...(taints === undefined ? {} : { taints: taints.all }),
    ...(removesCordon === true ? { unschedulable: null } : {}),
  }
  const patch = { metadata: { labels, annotations, resourceVersion }, spec }
  await patchObject(api, nodeKind, { name }, patch)
}
