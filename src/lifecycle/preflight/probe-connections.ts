import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import {
  type Listening,
  maxProbeTargets,
  type NetworkProbeResult,
  type NetworkProbeTarget,
} from '../../contract/network-probe.ts'
import { settleAll } from '../../kit/concurrency.ts'
import type { Session } from '../agents/session.ts'
import type { Peer, RequiredConnection } from './required-connections.ts'

export type ProbeAgents = ReadonlyMap<string, Pick<Session, 'request'>>

/** A required connection with its probe result. */
export interface ConnectionResult {
  readonly connection: RequiredConnection
  readonly result: NetworkProbeResult
  /**
   * True if the agent of the target host listened on the port. Otherwise the component that needs the port
   * uses it already, or the port is closed.
   */
  readonly listened: boolean
}

/** Milliseconds for which agents listen. Longer than one batch of probes takes, including timeouts. */
const listenMs = 30_000

/**
 * Makes new hosts listen and all hosts probe. Each batch ends before the listeners time out. Connections that
 * cannot be probed are left out.
 */
export async function probeConnections(
  agents: ProbeAgents,
  connections: readonly RequiredConnection[],
  newHosts: ReadonlySet<string>,
): Promise<readonly ConnectionResult[]> {
  const results: ConnectionResult[] = []
  for (const batch of splitIntoRounds(connections))
    results.push(...(await probeBatch(agents, batch, newHosts)))
  return results
}

/** Splits connections into batches, because one request to a host allows only `maxTargets` probes. */
export function splitIntoRounds(
  connections: readonly RequiredConnection[],
  maxTargets = maxProbeTargets,
): readonly (readonly RequiredConnection[])[] {
  const targetCounts = new Map<Peer, number>()
  const batches: RequiredConnection[][] = []
  for (const connection of connections) {
    const count = targetCounts.get(connection.from) ?? 0
    targetCounts.set(connection.from, count + 1)
    const batch = (batches[Math.floor(count / maxTargets)] ??= [])
    batch.push(connection)
  }
  return batches
}

async function probeBatch(
  agents: ProbeAgents,
  connections: readonly RequiredConnection[],
  newHosts: ReadonlySet<string>,
): Promise<readonly ConnectionResult[]> {
  const opened = await listen(
    agents,
    connections.filter(({ to }) => newHosts.has(to.host)),
  )
  try {
    const probes = Map.groupBy(connections, ({ from }) => from.host)
    const nested = await settleAll(
      [...probes].map(async ([host, own]) => probeFrom(agents.get(host), own, opened)),
    )
    return nested.flat()
  } finally {
    // Errors are ignored, because a host that does not receive this request closes its ports after
    // `listenMs`.
    await Promise.allSettled(
      [...opened].map(async ([host, { token }]) =>
        agents.get(host)?.request({ type: 'stop-listening', token }, 'stopped-listening'),
      ),
    )
  }
}

/**
 * Makes the target hosts listen. Returns the opened ports by host. Only new hosts may listen, because on
 * other hosts a component may be about to use the port.
 */
async function listen(
  agents: ProbeAgents,
  connections: readonly RequiredConnection[],
): Promise<ReadonlyMap<string, OpenedPorts>> {
  const connectionsByPeer = Map.groupBy(connections, ({ to }) => to)
  const opened = await settleAll(
    [...connectionsByPeer].flatMap(([{ host, address, ports }]) => {
      const agent = agents.get(host)
      if (agent === undefined) return []
      const listPorts = (transport: 'tcp' | 'udp'): number[] =>
        ports.filter(({ protocol }) => protocol === transport).map(({ port }) => port)
      const token = randomBytes(16).toString('hex')
      const spec = { address, tcp: listPorts('tcp'), udp: listPorts('udp'), token, for: listenMs }
      return [
        (async () => {
          const { tcp, udp } = await agent.request({ type: 'listen', ...spec }, 'listening')
          return [host, { token, tcp, udp }] as const
        })(),
      ]
    }),
  )
  return new Map(opened)
}

async function probeFrom(
  agent: Pick<Session, 'request'> | undefined,
  connections: readonly RequiredConnection[],
  opened: ReadonlyMap<string, OpenedPorts>,
): Promise<readonly ConnectionResult[]> {
  const probes = connections.flatMap((connection) => {
    const own = opened.get(connection.to.host)
    const target = buildProbeTarget(connection, own)
    return target === undefined ? [] : [{ need: connection, target }]
  })
  if (agent === undefined || probes.length === 0) return []
  const targets = probes.map(({ target }) => target)
  const { results } = await agent.request({ type: 'probe', targets }, 'probed')
  return probes.flatMap(({ need: connection, target }, index) => {
    const result = results[index]
    return result === undefined ? [] : [{ connection, result, listened: target.token !== undefined }]
  })
}

/** Ports that an agent has opened for probes. */
interface OpenedPorts extends Listening {
  readonly token: string
}

/**
 * Smaller packet sizes to try, to find the largest one that arrives. They are common MTUs of links and
 * tunnels; every link supports the smallest.
 */
const fallbackSizes = [8900, 4000, 1500, 1480, 1460, 1450, 1420, 1400, 1350, 1280, 576]

/** Builds the probe of a connection; undefined if the connection cannot be probed. */
export function buildProbeTarget(
  { from, to, port }: RequiredConnection,
  opened: OpenedPorts | undefined,
): NetworkProbeTarget | undefined {
  const { address } = to
  const listening = opened?.[port.protocol].includes(port.port) === true ? opened : undefined
  if (port.protocol === 'tcp') {
    // The probe sends a token only if the agent listens. If the component itself listens, an accepted
    // connection is enough.
    const token = listening === undefined ? {} : { token: listening.token }
    return { protocol: 'tcp', address, port: port.port, ...token }
  }
  // If no agent listens, the pod network may already use this UDP port. The kernel then receives the packets
  // and does not answer probes.
  if (listening === undefined) return undefined
  const sizes = [from.packetBytes, ...fallbackSizes.filter((size) => size < from.packetBytes)]
  return {
    protocol: 'udp',
    address,
    port: port.port,
    token: listening.token,
    sizes: sizes.map((size) => Math.min(Math.max(size - countHeaderBytes(address), 64), 65_507)),
  }
}

/** Returns the size of the IP and UDP headers of a packet, in bytes. */
export function countHeaderBytes(address: string): number {
  return isIP(address) === 6 ? 48 : 28
}
