import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderTable } from '../../scripts/markdown-table.ts'

const file = join(import.meta.dirname, '../../docs/evidence/dual-stack.md')

export interface DualStackFigures {
  /** Which family is first. */
  readonly order: string
  readonly serviceAddresses: readonly string[]
  /** Seconds from the loss of the IPv6 rules of kube-router until policies are enforced again. */
  readonly policySeconds: number
  /** Seconds from the loss of the IPv6 routes between nodes until a host reaches pods of other nodes again. */
  readonly routeSeconds: number
}

/** Writes the report about dual-stack clusters. Called after the last test of each, so every line was tested. */
export async function writeDualStackEvidence({
  shape,
  results,
}: {
  readonly shape: string
  readonly results: readonly DualStackFigures[]
}): Promise<void> {
  const row = (what: string, result: (figures: DualStackFigures) => string): readonly string[] => [
    what,
    ...results.map((figures) => result(figures)),
  ]
  const rows = [
    row('nodes', ({ order }) => `each has two addresses and two pod networks, ${order}`),
    row(
      'pods of both nodes, to each other and to themselves',
      () => 'reached over IPv4 and IPv6, with a request of 8 kB too',
    ),
    row('MTU of the pod bridge and of both VXLAN interfaces', () => '1430, on an interface with 1500'),
    row(
      'Service with `PreferDualStack`',
      ({ serviceAddresses }) =>
        `${serviceAddresses.join(', ')}: reached from every pod and every host, at both addresses`,
    ),
    row('its node port', () => 'reached from every host, at both addresses of every host'),
    row(
      'NetworkPolicy, incoming and outgoing, same node and across nodes',
      () => 'blocks both families; both are open again afterwards',
    ),
    row('`plan` after `up`', () => 'nothing to do'),
    row(
      '`plan` without the IPv6 networks, or with the other order',
      () => 'refused with `PLAN_ADDRESS_FAMILIES`',
    ),
    row(
      '`ip6tables -F FORWARD` on a node',
      ({ policySeconds }) => `enforced again after ${policySeconds.toFixed(1)} s`,
    ),
    row(
      'IPv6 routes to other nodes removed',
      ({ routeSeconds }) => `a host reaches pods of other nodes again after ${routeSeconds.toFixed(1)} s`,
    ),
    row('`reset`', () => 'files, users, units, links, routes, tables, rules and settings as before'),
  ]
  await writeFile(
    file,
    `# Dual-stack clusters

Written by \`npx vitest run --project full test/full/dual-stack.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes 1.37.1
on ${shape} hosts of the lab, with flannel (VXLAN), kube-proxy (nftables) and kube-router. Each host has an IPv4 and an IPv6 address.

${renderTable(['what', ...results.map(({ order }) => order)], rows)}

Hosts reach etcd and API servers over IPv4 in both clusters. Other suites: [upstream's tests](dual-stack-upstream.md),
[upgrade, restore and replacement of nodes](dual-stack-lifecycle.md) with IPv4 first. Not shown: an uplink with router advertisements, \`host-gw\`.
`,
  )
}
