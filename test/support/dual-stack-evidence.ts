import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const file = join(import.meta.dirname, '../../docs/evidence/dual-stack.md')

export interface DualStackFigures {
  readonly shape: string
  serviceAddresses: readonly string[]
  /** Seconds from the loss of the IPv6 rules of kube-router until policies are enforced again. */
  policySeconds: number
  /** Seconds from the loss of the IPv6 routes between nodes until pods reach each other again. */
  routeSeconds: number
}

/** Writes the report about a dual-stack cluster. Called after the last test, so every line of it was tested. */
export async function writeDualStackEvidence({
  shape,
  serviceAddresses = [],
  policySeconds = Number.NaN,
  routeSeconds = Number.NaN,
}: Pick<DualStackFigures, 'shape'> & Partial<DualStackFigures>): Promise<void> {
  await writeFile(
    file,
    `# A dual-stack cluster

Written by \`npx vitest run --project full test/full/dual-stack.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes 1.37.1
on ${shape} hosts of the lab, with flannel (VXLAN), kube-proxy (nftables) and kube-router. Each host has an IPv4 and an IPv6 address.

| what | result |
|---|---|
| nodes | each has two addresses and two pod networks, IPv4 first |
| pods of both nodes, to each other and to themselves | reached over IPv4 and IPv6, with a request of 8 kB too |
| MTU of the pod bridge and of both VXLAN interfaces | 1430, on an interface with 1500 |
| Service with \`PreferDualStack\` (${serviceAddresses.join(', ')}) | reached from every pod and every host, at both addresses |
| its node port | reached from every host, at both addresses of every host |
| NetworkPolicy, incoming and outgoing, same node and across nodes | blocks both families; both are open again afterwards |
| \`plan\` after \`up\` | nothing to do |
| \`plan\` without the IPv6 networks | refused with \`PLAN_ADDRESS_FAMILIES\` |
| \`ip6tables -F FORWARD\` on a node | enforced again after ${policySeconds.toFixed(1)} s |
| IPv6 routes to other nodes removed | pods reach each other again after ${routeSeconds.toFixed(1)} s |
| \`reset\` | files, users, units, links, routes, tables, rules and settings as before |

[Upstream's dual-stack tests](dual-stack-upstream.md) ran in another suite. Not shown: upgrade, restore and replacement of a node, an uplink with router advertisements, \`host-gw\`.
`,
  )
}
