import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderTable } from '../../scripts/markdown-table.ts'
import { findMedian, formatSeconds } from './evidence-units.ts'
import type { FailoverRound } from './load-balancer.ts'

const file = join(import.meta.dirname, '../../docs/evidence/load-balancer.md')

export interface LoadBalancerEvidence {
  readonly shape: string
  readonly seed: number
  readonly rounds: readonly FailoverRound[]
}

/** Writes the report about the failover of LoadBalancer services. */
export async function writeLoadBalancerEvidence(evidence: LoadBalancerEvidence): Promise<void> {
  await writeFile(file, formatLoadBalancerEvidence(evidence, new Date()))
}

function formatLoadBalancerEvidence({ shape, seed, rounds }: LoadBalancerEvidence, now: Date): string {
  const local = rounds.filter(({ policy }) => policy === 'Local')
  const gaps = local.map(({ returnGapMs }) => returnGapMs)
  const byFault = [...Map.groupBy(local, ({ fault }) => fault)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const summary = byFault.map(([fault, some]) => {
    const outages = some.map(({ outageMs }) => outageMs)
    return [
      fault,
      String(some.length),
      formatSeconds(findMedian(outages)),
      formatSeconds(Math.max(...outages)),
      String(Math.max(...some.map(({ responders }) => responders.length))),
      String(Math.max(...some.map(({ respondersAfter }) => respondersAfter.length))),
    ]
  })
  const rows = rounds.map((round, index) => [
    String(index + 1),
    round.policy,
    `${round.fault} of ${round.failed}`,
    formatSeconds(round.outageMs),
    round.responders.join(', '),
    formatSeconds(round.returnGapMs),
    round.respondersAfter.join(', '),
  ])
  return `# Failover of LoadBalancer services

Written by \`test/full/load-balancer.test.ts\` on ${now.toISOString().slice(0, 10)}: MetalLB 0.16.1 in layer 2 on ${shape} hosts of the lab, Kubernetes 1.37.1. A client on the machine
that runs the lab, outside of the cluster, requests the address of a Service every 100 ms, each time with a new connection. In each round the
host that serves the address fails. The suite then asks on the bridge of the lab who responds to ARP requests for the address, and ends the fault.

${local.length} rounds with \`externalTrafficPolicy: Local\`, seed ${seed}. The outage is the time from the fault until requests succeed for good.
While the failed host returned and took its address back, the longest time between two responses was ${formatSeconds(Math.max(...gaps))} s.

${renderTable(['fault', 'rounds', 'median outage (s)', 'worst outage (s)', 'hosts that respond to ARP then, at most', 'afterwards'], summary)}

"Cut off" drops all packets between the host and the other hosts, but not those of the client. MetalLB then serves the address from
two hosts: neither speaker knows that the other one still runs. Clients reach a pod on either of them. It ends when the hosts reach each other again.

With \`Cluster\`, the default of Kubernetes, kube-proxy also sends connections to pods of the failed host, until the node is
NotReady. The outage of such a round ends when no request fails any more.

${renderTable(['round', 'policy', 'fault', 'outage (s)', 'respond to ARP then', 'longest gap at the return (s)', 'respond to ARP afterwards'], rows)}
`
}
