import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  const outages = local.map(({ outageMs }) => outageMs).toSorted((a, b) => a - b)
  const gaps = local.map(({ returnGapMs }) => returnGapMs)
  const rows = rounds.map((round, index) =>
    [
      index + 1,
      round.policy,
      `${round.fault} of ${round.failed}`,
      seconds(round.outageMs),
      round.responders.join(', '),
      seconds(round.returnGapMs),
      round.respondersAfter.join(', '),
    ].join(' | '),
  )
  return `# Failover of LoadBalancer services

Written by \`test/full/load-balancer.test.ts\` on ${now.toISOString().slice(0, 10)}: MetalLB 0.16.1 in layer 2 on ${shape} hosts of the lab, Kubernetes 1.37.1. A client on the machine
that runs the lab, outside of the cluster, requests the address of a Service every 100 ms, each time with a new connection. In each round the
host that serves the address fails. The suite then asks on the bridge of the lab who responds to ARP requests for the address, and starts the host again.

${outages.length} rounds with \`externalTrafficPolicy: Local\`, seed ${seed}: no response for ${seconds(median(outages))} s in the median, ${seconds(Math.max(...outages))} s in the worst round.
While the failed host returned and took its address back, the longest time between two responses was ${seconds(Math.max(...gaps))} s.

With \`Cluster\`, the default of Kubernetes, kube-proxy also sends connections to pods of the failed host, until the node is
NotReady. The outage of such a round ends when no request fails any more.

| round | policy | fault | outage (s) | responds to ARP then | longest gap at the return (s) | responds to ARP afterwards |
|---|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}
`
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1)
}

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2)
  const [low = 0, high = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (low + high) / 2
}
