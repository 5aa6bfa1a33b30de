import { isIP } from 'node:net'
import type { Listening, ProbeTarget } from '../../contract/network-probe.ts'
import type { Need } from './required-connection.ts'

/** What a host has opened for the others to look for. */
export interface Opened extends Listening {
  readonly token: string
}

/**
 * Packets that are tried beside the one that counts, to say how much does get through: usual sizes of links and tunnels.
 * The last one is what every link must carry.
 */
const landmarks = [8900, 4000, 1500, 1480, 1460, 1450, 1420, 1400, 1350, 1280, 576]

/** How a need is looked at; undefined where it cannot be. */
export function targetOf({ from, to, port }: Need, opened: Opened | undefined): ProbeTarget | undefined {
  const { address } = to
  const own = opened?.[port.protocol].includes(port.port) === true ? opened : undefined
  if (port.protocol === 'tcp') {
    // Where the component itself listens, it is enough that it accepts a connection.
    const token = own === undefined ? {} : { token: own.token }
    return { protocol: 'tcp', address, port: port.port, ...token }
  }
  // The kernel has the port once there is a pod network, and answers nobody.
  if (own === undefined) return undefined
  const sizes = [from.packet, ...landmarks.filter((size) => size < from.packet)]
  return {
    protocol: 'udp',
    address,
    port: port.port,
    token: own.token,
    sizes: sizes.map((size) => Math.min(Math.max(size - headers(address), 64), 65_507)),
  }
}

/** Of a packet those bytes that are not the datagram's own: IP's and UDP's. */
export function headers(address: string): number {
  return isIP(address) === 6 ? 48 : 28
}
