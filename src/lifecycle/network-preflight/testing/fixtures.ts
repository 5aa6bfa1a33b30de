import type { ProbeResult } from '../../../contract/network-probe.ts'
import { inputOf } from '../../../plan/checks/testing/fixtures.ts'
import type { Variation } from '../../../plan/testing/fixtures.ts'
import type { Need } from '../required-connection.ts'
import type { Observed } from '../probe-connections.ts'
import { type Peer, peersOf } from '../peer.ts'

export interface PeersCase {
  readonly controlPlanes?: number
  readonly workers?: number
  readonly etcd?: number
  /** Lines of `spec`. */
  readonly spec?: readonly string[]
  /** By the name of a host. */
  readonly facts?: Readonly<Record<string, Variation>>
}

/** For tests: hosts cp1, w1, etcd1 and so on, as many as wanted. */
export function somePeers({
  controlPlanes = 1,
  workers = 0,
  etcd = 0,
  // Room for many.
  spec = ['network: { pods: 10.128.0.0/10 }'],
  facts = {},
}: PeersCase): readonly Peer[] {
  const lines = [
    ...hosts('cp', controlPlanes, 'control-plane', 1),
    ...hosts('etcd', etcd, 'etcd', 2),
    ...hosts('w', workers, 'worker', 3),
  ]
  const input = inputOf({ hosts: lines, spec, facts })
  return peersOf(input.cluster, input.facts)
}

function hosts(prefix: string, count: number, role: string, network: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const address = `10.${network}.${Math.floor(index / 250)}.${1 + (index % 250)}`
    return `- { name: ${prefix}${index + 1}, address: ${address}, roles: [${role}] }`
  })
}

export function names(peers: readonly Peer[]): ReadonlySet<string> {
  return new Set(peers.map(({ host }) => host))
}

/** In short: who needs which port of whom. */
export function inShort({ from, to, port: { port, protocol } }: Need): string {
  return `${from.host} → ${to.host}:${port}/${protocol}`
}

/** A need with what became of it. */
export function seen(need: Need, result: Omit<ProbeResult, 'milliseconds'>, listened = true): Observed {
  return { need, result: { ...result, milliseconds: 1 }, listened }
}
