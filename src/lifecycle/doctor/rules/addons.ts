import { describeReference } from '../../../addons/reference.ts'
import { formatNames } from '../../../kit/text.ts'
import { type AddonReadiness, isAddonDown } from '../../../addons/addon-readiness.ts'
import { explainRefusedPods } from '../../cluster-objects/node.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { listProbes } from './probes.ts'

/** Finds addons that are not ready. An addon that still has ready pods is reported as a warning. */
export function findUnreadyAddons(observation: ClusterHealthObservation): Diagnosis[] {
  const refusals = listRefusals(observation)
  const networkAddon = findNetworkAddon(observation.endpoints)
  return (observation.addons ?? [])
    .filter(({ ready }) => !ready)
    .map((addon) =>
      addon.name === networkAddon
        ? diagnoseNetworkAddon(addon, refusals, hasHostWithoutNetwork(observation))
        : diagnoseAddon(addon, refusals),
    )
}

/** Returns the addon that installs the pod network, if there is one. */
export function findNetworkAddon(endpoints: ClusterHealthObservation['endpoints']): string | undefined {
  return endpoints.find(({ networkAddon }) => networkAddon !== undefined)?.networkAddon
}

/** True if an agent reports that no pod can start. Its node may still be ready for some seconds. */
function hasHostWithoutNetwork({ hosts }: ClusterHealthObservation): boolean {
  return hosts.some((host) =>
    listProbes(host).some(({ code, state }) => code === 'RUNTIME_NO_NETWORK' && state !== 'healthy'),
  )
}

/**
 * Describes a network addon that is not ready. Its pods also start on nodes that are not ready, so the nodes
 * are no cause. It is an error as soon as a node accepts or starts no pods.
 */
function diagnoseNetworkAddon(
  addon: AddonReadiness,
  refusals: readonly Refusal[],
  isNetworkMissing: boolean,
): Diagnosis {
  const refusing = refusals.filter(({ reasons }) => reasons.length > 0)
  return {
    code: 'ADDON_NOT_READY',
    severity: isAddonDown(addon) || isNetworkMissing || refusing.length > 0 ? 'error' : 'warning',
    what: `the addon of the pod network is not ready${formatCount(addon)}`,
    component: addon.name,
    evidence: [
      ...(addon.reason === undefined ? [] : [addon.reason]),
      ...refusing.map(({ node, reasons }) => `node ${node} accepts no new pods: ${reasons.join(', ')}`),
    ],
    command:
      addon.workload?.namespace === undefined
        ? buildCommand(addon)
        : `kubectl -n ${addon.workload.namespace} get pods -o wide, then describe the pod that is not ready`,
    needsOperator: true,
  }
}

function diagnoseAddon(addon: AddonReadiness, refusals: readonly Refusal[]): Diagnosis {
  return {
    code: 'ADDON_NOT_READY',
    severity: isAddonDown(addon) ? 'error' : 'warning',
    what: `the addon is not ready${formatCount(addon)}${formatCause(refusals)}`,
    component: addon.name,
    evidence: [
      ...(addon.reason === undefined ? [] : [addon.reason]),
      ...refusals.flatMap(({ node, reasons }) =>
        reasons.length === 0 ? [] : [`node ${node} accepts no new pods: ${reasons.join(', ')}`],
      ),
    ],
    command: buildCommand(addon),
    needsOperator: false,
  }
}

interface Refusal {
  readonly node: string
  /** Reasons why the node accepts no new pods; empty if the node accepts them. */
  readonly reasons: readonly string[]
}

/**
 * Lists the Linux nodes, each with the reasons why it accepts no new pods. Windows nodes are left out,
 * because addons do not run there.
 */
function listRefusals({ endpoints, nodes = [] }: ClusterHealthObservation): Refusal[] {
  const windowsNodes = new Set(endpoints.flatMap(({ os, node }) => (os === 'windows' ? [node] : [])))
  return nodes
    .filter(({ metadata }) => !windowsNodes.has(metadata.name))
    .map((node) => ({ node: node.metadata.name, reasons: explainRefusedPods(node) }))
}

function formatCause(refusals: readonly Refusal[]): string {
  if (refusals.length === 0 || refusals.some(({ reasons }) => reasons.length === 0)) return ''
  const reasons = [...new Set(refusals.flatMap((refusal) => refusal.reasons))]
  return `, because no node accepts new pods: ${formatNames(reasons)}`
}

function formatCount({ workload }: AddonReadiness): string {
  if (workload === undefined) return ''
  return `: ${describeReference(workload)} has ${workload.ready} of ${workload.desired} pods ready`
}

function buildCommand({ workload }: AddonReadiness): string {
  if (workload === undefined) return 'hyperkube addon list'
  const { kind, namespace, name: object } = workload
  return `kubectl ${namespace === undefined ? '' : `-n ${namespace} `}describe ${kind.toLowerCase()} ${object}`
}
