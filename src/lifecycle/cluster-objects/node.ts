import { z } from 'zod'
import { isBlockingTaint, nodeTaintPrefix } from '../../addons/node-taints.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'

const taintSchema = z.looseObject({ key: z.string(), value: z.string().default(''), effect: z.string() })
export type Taint = z.infer<typeof taintSchema>

const schema = kubeObject.extend({
  spec: z
    .looseObject({
      taints: z.array(taintSchema).default([]),
      podCIDRs: z.array(z.string()).optional(),
      /** True if the node is cordoned. */
      unschedulable: z.boolean().optional(),
    })
    .optional(),
  status: z
    .looseObject({
      conditions: z
        .array(
          z.looseObject({
            type: z.string(),
            status: z.string(),
            message: z.string().optional(),
            lastTransitionTime: z.string().optional(),
          }),
        )
        .default([]),
      nodeInfo: z
        .looseObject({ kubeletVersion: z.string(), containerRuntimeVersion: z.string().optional() })
        .optional(),
      addresses: z.array(z.looseObject({ type: z.string(), address: z.string() })).optional(),
    })
    .optional(),
})
export type Node = z.infer<typeof schema>

export const nodeKind: Kind<Node> = { apiVersion: 'v1', kind: 'Node', schema }

/**
 * Annotation with the operator who cordoned a node and the reason. If a cordoned node lacks it, hyperkube did
 * not set the cordon.
 */
export const cordonOwnerAnnotation = 'hyperkube.dev/cordoned'

/** Reason of a cordon that a rollout sets, and that it removes at its end. */
export const rolloutCordonReason = 'hyperkube moves its pods away'

/**
 * Explains why some of the wanted nodes are not ready; undefined if all of them are ready. With `runtime`, their
 * kubelets must also report this container runtime.
 */
export function explainNotReadyNodes(
  nodes: readonly Node[],
  wanted: readonly string[],
  runtime?: string,
): string | undefined {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]))
  const [first, ...others] = wanted.flatMap((name) => {
    const node = known.get(name)
    const reason = explainNotReady(node) ?? explainOtherRuntime(node, runtime)
    return reason === undefined ? [] : [`${name}: ${reason}`]
  })
  return others.length === 0 ? first : `${first}; and ${others.length} more`
}

/** The version of a runtime begins with its name: `docker://20.10.24`. */
function explainOtherRuntime(node: Node | undefined, runtime: string | undefined): string | undefined {
  const version = node?.status?.nodeInfo?.containerRuntimeVersion ?? ''
  if (runtime === undefined || version.startsWith(`${runtime}:`)) return undefined
  return `its kubelet has not yet reported the runtime ${runtime}`
}

export function explainNotReady(node: Node | undefined): string | undefined {
  if (node === undefined) return 'the node is not registered'
  const ready = node.status?.conditions.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' ? undefined : (ready?.message ?? 'the node has no Ready condition')
}

/** True if the kubelet of a node no longer reports, so the state of its pods is unknown. */
export function isSilent(node: Node): boolean {
  return node.status?.conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown') ?? false
}

/** A condition, other than Ready, that makes a node unhealthy. */
export interface NodeProblem {
  /** Type of the node condition, for example `DiskPressure`. */
  readonly condition: string
  /** Name for messages, for example `disk pressure`. */
  readonly text: string
  readonly message?: string
  readonly since?: string
  /** The taint that keeps new pods away; undefined if the node does not have it. */
  readonly taint?: string
}

/** Node conditions that must not be true, with the taints that Kubernetes derives from them. */
const problemConditions = [
  { condition: 'DiskPressure', taintKey: `${nodeTaintPrefix}disk-pressure`, text: 'disk pressure' },
  { condition: 'MemoryPressure', taintKey: `${nodeTaintPrefix}memory-pressure`, text: 'memory pressure' },
  { condition: 'PIDPressure', taintKey: `${nodeTaintPrefix}pid-pressure`, text: 'PID pressure' },
  { condition: 'NetworkUnavailable', taintKey: `${nodeTaintPrefix}network-unavailable`, text: 'no network' },
] as const

/** Lists the problem conditions of a node that are true, or whose taint is still set. */
export function listNodeProblems(node: Node): NodeProblem[] {
  const taints = listBlockingTaints(node)
  return problemConditions.flatMap(({ condition, taintKey, text }): NodeProblem[] => {
    const observed = node.status?.conditions.find(({ type }) => type === condition)
    const isTrue = observed?.status === 'True'
    const taint = taints.find((one) => one.startsWith(`${taintKey}:`))
    if (!isTrue && taint === undefined) return []
    const { message, lastTransitionTime: since } = isTrue ? observed : {}
    return [
      {
        condition,
        text,
        ...(message === undefined ? {} : { message }),
        ...(since === undefined ? {} : { since }),
        ...(taint === undefined ? {} : { taint }),
      },
    ]
  })
}

/** Lists the taints of Kubernetes itself that keep new pods away from a node. */
export function listBlockingTaints({ spec }: Node): string[] {
  return (spec?.taints ?? []).filter(isBlockingTaint).map(({ key, effect }) => `${key}:${effect}`)
}

/**
 * Lists the reasons why a node accepts no new pods, for example `disk pressure`; empty if it accepts them.
 */
export function explainRefusedPods(node: Node): string[] {
  const isReady = explainNotReady(node) === undefined
  const problems = listNodeProblems(node).filter(({ taint }) => taint !== undefined)
  const isCordoned = node.spec?.unschedulable === true
  const named = new Set(problems.map(({ taint }) => taint))
  const others = listBlockingTaints(node).filter((taint) => !named.has(taint) && !isCommonTaint(taint))
  return [
    ...(isReady ? [] : ['not ready']),
    ...problems.map(({ text }) => text),
    ...(isCordoned ? ['cordoned'] : []),
    ...others.map((taint) => `taint ${taint}`),
  ]
}

/**
 * True for the taints of a node that is not ready, unreachable or cordoned. These reasons are reported by
 * name instead of by taint.
 */
function isCommonTaint(taint: string): boolean {
  return ['not-ready', 'unreachable', 'unschedulable'].some((name) =>
    taint.startsWith(`${nodeTaintPrefix}${name}:`),
  )
}
