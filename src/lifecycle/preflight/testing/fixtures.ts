import type { NetworkProbeResult } from '../../../contract/network-probe.ts'
import { buildCheckedInput } from '../../../plan/checks/testing/fixtures.ts'
import type { FactsVariation } from '../../../plan/testing/fixtures.ts'
import { listPeers, type Peer, type RequiredConnection } from '../required-connections.ts'
import type { ConnectionResult } from '../probe-connections.ts'

export interface PeersOptions {
  readonly controlPlanes?: number
  readonly workers?: number
  readonly etcd?: number
  /** Lines below `spec` in cluster.yml. */
  readonly spec?: readonly string[]
  /** Changed facts by host name. */
  readonly facts?: Readonly<Record<string, FactsVariation>>
}

/** For tests: hosts named cp1, w1, etcd1 and so on. */
export function buildPeers({
  controlPlanes = 1,
  workers = 0,
  etcd = 0,
  // The pod network is large enough for many nodes.
  spec = ['network: { pods: 10.128.0.0/10 }'],
  facts = {},
}: PeersOptions): readonly Peer[] {
  const lines = [
    ...buildHostLines('cp', controlPlanes, 'control-plane', 1),
    ...buildHostLines('etcd', etcd, 'etcd', 2),
    ...buildHostLines('w', workers, 'worker', 3),
  ]
  const input = buildCheckedInput({ hosts: lines, spec, facts })
  return listPeers(input.cluster, input.facts)
}

function buildHostLines(prefix: string, count: number, role: string, network: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const address = `10.${network}.${Math.floor(index / 250)}.${1 + (index % 250)}`
    return `- { name: ${prefix}${index + 1}, address: ${address}, roles: [${role}] }`
  })
}

export function listPeerNames(peers: readonly Peer[]): ReadonlySet<string> {
  return new Set(peers.map(({ host }) => host))
}

/** Formats a connection as "from → to:port/protocol". */
export function formatConnection({ from, to, port: { port, protocol } }: RequiredConnection): string {
  return `${from.host} → ${to.host}:${port}/${protocol}`
}

/** For tests: a connection with a probe result. */
export function buildResult(
  connection: RequiredConnection,
  result: Omit<NetworkProbeResult, 'milliseconds'>,
  listened = true,
): ConnectionResult {
  return { connection, result: { ...result, milliseconds: 1 }, listened }
}
