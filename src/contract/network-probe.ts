import { z } from 'zod'

const port = z.int().min(1).max(65_535)
const ip = z.union([z.ipv4(), z.ipv6()])

/**
 * Random token that both sides of a probe know. It proves that the response comes from hyperkube and not from
 * another server on this port.
 */
export const probeToken = z.string().regex(/^[0-9a-f]{32}$/)

/**
 * Ports that this host opens so that other hosts can probe them. The number of ports and the duration are
 * limited, because the programs that normally use these ports cannot listen during the probes.
 */
export const listenSpec = z.strictObject({
  address: ip,
  tcp: z.array(port).max(8),
  udp: z.array(port).max(8),
  token: probeToken,
  /** Milliseconds for which the ports stay open. */
  for: z.int().min(1).max(30_000),
})
export type ListenSpec = z.infer<typeof listenSpec>

/** The requested ports that were free and are now open. */
export const listening = z.strictObject({ tcp: z.array(port), udp: z.array(port) })
export type Listening = z.infer<typeof listening>

const tcpTarget = z.strictObject({
  protocol: z.literal('tcp'),
  address: ip,
  port,
  /** Token that the server must send first. Without a token, an accepted connection is a success. */
  token: probeToken.optional(),
})
export type TcpTarget = z.infer<typeof tcpTarget>

const udpTarget = z.strictObject({
  protocol: z.literal('udp'),
  address: ip,
  port,
  token: probeToken,
  /**
   * Sizes of the datagrams to send, in bytes. The probe succeeds if the largest datagram arrives; smaller
   * datagrams show which size still works.
   */
  sizes: z.array(z.int().min(64).max(65_507)).min(1).max(16),
})
export type UdpTarget = z.infer<typeof udpTarget>

export const networkProbeTarget = z.discriminatedUnion('protocol', [tcpTarget, udpTarget])
export type NetworkProbeTarget = z.infer<typeof networkProbeTarget>

export const networkProbeResult = z.strictObject({
  outcome: z.enum([
    'ok',
    /** The connection was refused at once, possibly by a firewall. */
    'refused',
    'timeout',
    /** A router or the probing host reported that there is no route. */
    'unreachable',
    /** A server responded without the expected token. */
    'unexpected-response',
    /** The largest datagram did not arrive, but a smaller one did. */
    'too-big',
  ]),
  milliseconds: z.number().min(0),
  /** Size of the largest datagram that arrived, in bytes. */
  size: z.int().optional(),
})
export type NetworkProbeResult = z.infer<typeof networkProbeResult>
export type NetworkProbeOutcome = NetworkProbeResult['outcome']

/** Maximum number of targets in one request. Callers must split longer lists. */
export const maxProbeTargets = 1000
