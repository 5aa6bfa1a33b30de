import { isIP } from 'node:net'
import type { Finding } from '../../contract/finding.ts'
import { hostKind } from '../../kube/host-resource.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { readInternalAddress } from '../../plan/topology.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import type { ClusterObjectChange } from '../cluster-objects/changes.ts'

/**
 * Reports hosts whose own facts give another address than the last plan. A host that is compromised could
 * otherwise get certificates for any address. The last planned address is in the Host object, which only
 * operators write. An address in cluster.yml is the choice of the operator and is not reported.
 */
export function checkChangedAddresses(
  { spec }: Cluster,
  plans: readonly NodePlan[],
  changes: readonly ClusterObjectChange[],
): Finding[] {
  const previousAddresses = readPreviousAddresses(changes)
  const indexes = new Map(spec.hosts.map(({ name }, index) => [name, index]))
  return plans.flatMap((plan) => {
    const { host: name, node } = plan
    const index = indexes.get(name) ?? -1
    const host = spec.hosts[index]
    const previous = previousAddresses.get(node?.name ?? '')
    if (host === undefined || previous === undefined) return []
    return listReportedAddresses(plan, host)
      .filter(({ address }) => !previous.includes(address))
      .map(({ address, field }) => ({
        code: 'HOST_ADDRESS_CHANGED',
        severity: 'error',
        message: `the host reports the address ${address}; its last plan has ${previous.join(', ')}`,
        hint: `if the new address is right, set it in cluster.yml: ${field}: ${address}`,
        host: name,
        path: `spec.hosts[${index}]`,
      }))
  })
}

/** Lists the addresses in the plan of a host that come from its facts, not from cluster.yml. */
function listReportedAddresses(
  { address, components }: NodePlan,
  host: HostSpec,
): readonly { readonly address: string; readonly field: string }[] {
  const certificates = components.find(({ name }) => name === 'kubelet')?.certificates ?? []
  const ipv6 = certificates.flatMap(({ names }) => names.ip).find((one) => isIP(one) === 6)
  return [
    ...(readInternalAddress(host) === undefined ? [{ address, field: 'internalAddress' }] : []),
    ...(ipv6 === undefined || ipv6 === address || host.internalAddressIPv6 !== undefined
      ? []
      : [{ address: ipv6, field: 'internalAddressIPv6' }]),
  ]
}

/** Reads the addresses of the last plans from Host objects that would change, by node name. */
function readPreviousAddresses(
  changes: readonly ClusterObjectChange[],
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    changes.flatMap((change) => {
      if (change.kind !== 'object' || change.manifest.kind !== hostKind.kind) return []
      const names = hostKind.schema.safeParse(change.previous).data?.spec.names
      const addresses = names?.ip.filter((address) => isIP(address) !== 0) ?? []
      return addresses.length === 0 ? [] : [[change.manifest.metadata.name, addresses] as const]
    }),
  )
}
