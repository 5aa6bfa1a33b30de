import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findMedian, formatSeconds } from './evidence-units.ts'

const file = join(import.meta.dirname, '../../docs/evidence/virtual-ip.md')

export interface VirtualIpRound {
  readonly fault: string
  readonly holder: string
  readonly next: string
  readonly outageMs: number
  /** Largest number of hosts that had the address at the same time. */
  readonly holders: number
}

export interface VirtualIpEvidence {
  readonly seed: number
  readonly rounds: readonly VirtualIpRound[]
}

/** Writes the report about moves of the virtual IP. */
export async function writeVirtualIpEvidence({ seed, rounds }: VirtualIpEvidence): Promise<void> {
  const byFault = [...Map.groupBy(rounds, ({ fault }) => fault)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const rows = byFault.map(([fault, some]) => {
    const outages = some.map(({ outageMs }) => outageMs)
    const holders = Math.max(...some.map((round) => round.holders))
    return `| ${fault} | ${some.length} | ${seconds(findMedian(outages))} | ${seconds(Math.max(...outages))} | ${holders} |`
  })
  const each = rounds.map(
    ({ fault, holder, next, outageMs, holders }, index) =>
      `| ${index + 1} | ${fault} | ${holder} | ${next} | ${seconds(outageMs)} | ${holders} |`,
  )
  await writeFile(
    file,
    `# Virtual IP of the API

Written by \`test/full/virtual-ip.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes 1.37.1 on three control planes of the lab, keepalived 2.2.7 of Debian 12,
${rounds.length} rounds, seed ${seed}. Each round injects a fault into the control plane that has the address.

A client on the bridge of the lab sends a request to \`/readyz\` at the address every 100 ms, each with a new connection and a verified
certificate. The outage is the longest time between two successful requests, 0.1 s without a fault. The holders are read from the
interfaces of all hosts every 150 ms; more than one at a time would be split ownership. The cut-off host stays reachable for the
client. After each round the ARP entry of the client must name the new holder.

| fault of the holder | rounds | median outage | worst outage | holders at the same time |
|---|---|---|---|---|
${rows.join('\n')}

| round | fault | holder before | holder after | outage | holders at the same time |
|---|---|---|---|---|---|
${each.join('\n')}
`,
  )
}

function seconds(milliseconds: number): string {
  return `${formatSeconds(milliseconds)} s`
}
