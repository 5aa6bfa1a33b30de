import { isIP } from 'node:net'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { truncateList } from '../../kit/text.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Node } from '../cluster-objects/node.ts'

/**
 * Refuses a change between single-stack and dual-stack. Kubernetes never changes the pod networks of a node,
 * so nodes of both kinds could not reach each other.
 */
export function checkAddressFamilies({ spec }: Cluster, nodes: readonly Node[]): Finding[] {
  const own = new Set(spec.hosts.map(({ name, nodeName }) => nodeName ?? name))
  const found = nodes
    .filter(({ metadata }) => own.has(metadata.name))
    .map((node) => ({ name: node.metadata.name, networks: node.spec?.podCIDRs ?? [] }))
  return findChange(spec.network.pods, found)
}

/** Makes the same check with previous plans instead of nodes. */
export function checkPlannedFamilies({ spec }: Cluster, previous: Iterable<NodePlan>): Finding[] {
  const found = [...previous].map((plan) => ({ name: plan.host, networks: readPodNetworks(plan) }))
  return findChange(spec.network.pods, found)
}

/** Reads the pod networks from the plan of a control plane. Plans of other hosts do not contain them. */
function readPodNetworks({ components }: NodePlan): readonly string[] {
  const service = components.find(({ name }) => name === 'kube-controller-manager')?.service
  const unit = service?.supervisor === 'systemd' ? service.unit : ''
  return /--cluster-cidr=([\da-fA-F.:/,]+)/.exec(unit)?.[1]?.split(',') ?? []
}

interface CurrentNetworks {
  readonly name: string
  /** Empty if they are not known. */
  readonly networks: readonly string[]
}

function findChange(desired: readonly string[], current: readonly CurrentNetworks[]): Finding[] {
  const different = current.filter(
    ({ networks }) => networks.length > 0 && formatFamilies(networks) !== formatFamilies(desired),
  )
  const [first] = different
  if (first === undefined) return []
  const names = truncateList(
    different.map(({ name }) => name),
    3,
  )
  return [
    {
      code: 'PLAN_ADDRESS_FAMILIES',
      severity: 'error',
      message: `the pod networks of ${names} have ${formatFamilies(first.networks)}, but spec.network.pods has ${formatFamilies(desired)}`,
      hint: 'set spec.network.pods and spec.network.services as before, or create a new cluster',
      path: 'spec.network.pods',
    },
  ]
}

function formatFamilies(networks: readonly string[]): string {
  return networks.map((network) => `IPv${isIP(network.split('/')[0] ?? '')}`).join(' and ')
}
