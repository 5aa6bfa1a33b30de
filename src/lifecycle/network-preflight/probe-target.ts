import { isIP } from 'node:net'
import type { Listening, NetworkProbeTarget } from '../../contract/network-probe.ts'
import type { RequiredConnection } from './required-connection.ts'

/** Ports that an agent has opened for probes. */
export interface OpenedPorts extends Listening {
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
  // The port is used by the pod network, where the kernel does not answer probes.
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
