import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SquidRequest } from './squid.ts'

const file = join(import.meta.dirname, '../../docs/evidence/corporate-network.md')

export interface CorporateFigures {
  /** Duration of the `up` that created the cluster. */
  readonly seconds: number
  readonly counted: readonly {
    readonly host: string
    readonly proxied: number
    readonly bypassed: number
    /** Packets of pods to targets outside the cluster. */
    readonly pods: number
    /** Dropped packets of the host that are neither TCP nor UDP. */
    readonly other: number
    /** Targets of dropped packets of the host. */
    readonly targets: string
  }[]
  /** Connections of the operator's machine to the server that squid did not open. */
  readonly operatorBypassed: number
  readonly requests: readonly SquidRequest[]
  /** Address of the operator's machine in the lab. */
  readonly lab: string
}

/** Writes the report about a cluster behind a proxy with a login. */
export async function writeCorporateEvidence(figures: CorporateFigures): Promise<void> {
  const { seconds, counted, operatorBypassed, requests, lab } = figures
  const clients = [...new Set(requests.map(({ client }) => client))].toSorted()
  const rows = clients.map((client) => {
    const own = requests.filter((request) => request.client === client)
    const count = (status: number): number => own.filter((request) => request.status === status).length
    return `| ${client === lab ? 'operator' : 'a host'} | ${count(200)} | ${count(407)} |`
  })
  await writeFile(
    file,
    `# A cluster behind a proxy with a login

Written by \`test/full/corporate-network.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes 1.37.1 with addons on 1+1 hosts of the lab. The only way out is
Debian's squid, which demands a login. Behind it is one server with a certificate of a private CA. It serves files, and images to
clients with another login. Rules of nftables count and drop every packet of a host that goes neither to squid nor to the cluster.
On the operator's machine they reject every connection to the server that squid did not open. The suite first shows that both rules catch a direct request.

\`up\` took ${seconds.toFixed(0)} s. Before it, one \`up\` with a wrong password of the proxy and one with a wrong password of the registry failed with
\`PROXY_LOGIN_REFUSED\` and \`REGISTRY_LOGIN_REFUSED\`. Afterwards \`plan\` had nothing to do. Both passwords were only in files with mode 0600 of root.

| | connections to the proxy | TCP and UDP past it | other protocols (address . protocol) | of pods, out of the cluster |
|---|---|---|---|---|
${counted.map(({ host, proxied, bypassed, other, targets, pods }) => `| ${host} | ${proxied} | ${bypassed} | ${other} ${targets === '' ? '' : `(${targets})`} | ${pods} |`).join('\n')}
| operator | see below | ${operatorBypassed} | | |

Pods do not get the proxy. Their packets out of the cluster were dropped too.

Requests in the log of squid, all for that one server when allowed (200). 407 is the refused password.

| client | allowed | refused (407) |
|---|---|---|
${rows.join('\n')}
`,
  )
}
