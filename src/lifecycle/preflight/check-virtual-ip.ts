import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NetworkProbeTarget } from '../../contract/network-probe.ts'
import type { Op } from '../../contract/op.ts'
import { keepalivedComponent } from '../../plan/linux/hyperkube-keepalived.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { ProbeAgents } from './probe-connections.ts'

export interface VirtualIpInput {
  readonly cluster: Cluster
  readonly facts: ReadonlyMap<string, Facts>
  readonly ops: ReadonlyMap<string, readonly Op[]>
}

/** Outcomes that only a machine with the address can cause. */
const responses: ReadonlySet<string> = new Set(['ok', 'refused', 'unexpected-response'])

/**
 * Checks that no other machine responds at a new virtual IP. If a control plane is unreachable, nothing is
 * checked, because that host may have the address.
 */
export async function checkVirtualIpInUse(
  agents: ProbeAgents,
  { cluster, facts, ops }: VirtualIpInput,
): Promise<readonly Finding[]> {
  const { virtualIP: address, port } = cluster.spec.api
  const controlPlanes = cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
  const host = controlPlanes[0]?.name ?? ''
  const agent = agents.get(host)
  if (address === undefined || agent === undefined) return []
  if (!controlPlanes.every(({ name }) => facts.has(name) && getsNewAddress(ops.get(name) ?? []))) return []
  const hasAddress = ({ system }: Facts): boolean => system.addresses.some((one) => one.address === address)
  if ([...facts.values()].some(hasAddress)) return []
  const target: NetworkProbeTarget = { protocol: 'tcp', address, port }
  const { results } = await agent.request({ type: 'probe', targets: [target] }, 'probed')
  if (!results.some(({ outcome }) => responses.has(outcome))) return []
  return [
    {
      code: 'VIRTUAL_IP_IN_USE',
      severity: 'error',
      message: `another machine responds at the virtual IP ${address}, seen from ${host}`,
      hint: `on ${host}: ip neigh show ${address}, then find the machine with that MAC address, or use another address`,
      component: keepalivedComponent,
      path: 'spec.api.virtualIP',
    },
  ]
}

/**
 * True if keepalived of a control plane is new, or the certificate of its API server gets other names. A
 * change of the control planes alone leaves the address with its holder, which may be a host to remove.
 */
function getsNewAddress(ops: readonly Op[]): boolean {
  const own = ops.filter(({ component }) => component === keepalivedComponent)
  const isInstalled = own.some(({ target, action }) => target === 'service' && action === 'create')
  const isChanged = own.some(({ action }) => action !== 'remove' && action !== 'stop')
  const hasNewNames = ops.some(
    ({ component, target }) => component === 'kube-apiserver' && target === 'certificate',
  )
  return isInstalled || (isChanged && hasNewNames)
}
