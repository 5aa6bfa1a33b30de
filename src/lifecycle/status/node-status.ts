import { explainNotReady, listNodeProblems, type Node } from '../cluster-objects/node.ts'
import type { HealthResult } from '../observe/observe-cluster.ts'

/** Status of a node. A node is unhealthy if it is not ready, is under pressure, or has no network. */
export type NodeStatus = HealthResult & {
  readonly version?: string
  /** True if the condition Ready is true. Other conditions, such as disk pressure, do not count. */
  readonly ready?: boolean
  /**
   * Problems that node conditions report, for example `disk pressure`; undefined if there are no problems.
   */
  readonly conditions?: readonly string[]
  /** True if the node is cordoned, otherwise undefined. */
  readonly cordoned?: true
}

export function readNodeStatus(node: Node | undefined): NodeStatus {
  const version = node?.status?.nodeInfo?.kubeletVersion
  const notReady = explainNotReady(node)
  const problems = node === undefined ? [] : listNodeProblems(node)
  const reasons = [
    ...(notReady === undefined ? [] : [notReady]),
    ...problems.map(
      ({ text, message, taint }) =>
        `${text}${message === undefined ? '' : `, ${message}`}${taint === undefined ? '' : `, and it accepts no new pods (taint ${taint})`}`,
    ),
  ]
  return {
    ...(reasons.length === 0 ? { healthy: true } : { healthy: false, reason: reasons.join('; ') }),
    ...(version === undefined ? {} : { version }),
    ready: notReady === undefined,
    ...(problems.length === 0 ? {} : { conditions: problems.map(({ text }) => text) }),
    ...(node?.spec?.unschedulable === true ? { cordoned: true } : {}),
  }
}
