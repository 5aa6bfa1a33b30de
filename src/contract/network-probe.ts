import { z } from 'zod'

/** Network probes between hosts, to learn whether they can reach each other. */
const port = z.int().min(1).max(65_535)
const ip = z.union([z.ipv4(), z.ipv6()])

/**
 * Lets a listener and a probing host recognize each other, so that another server is not mistaken for one of
 * them.
 */
export const probeToken = z.string().regex(/^[0-9a-f]{32}$/)

/**
 * At most sixteen ports and half a minute: the owner of a port would miss it if it were occupied for longer.
 */
export const listenSpec = z.strictObject({
  address: ip,
  tcp: z.array(port).max(8),
  udp: z.array(port).max(8),
  token: probeToken,
  /** Milliseconds. */
  for: z.int().min(1).max(30_000),
})
export type ListenSpec = z.infer<typeof listenSpec>

/** The ports that were free and are open now. */
export const listening = z.strictObject({ tcp: z.array(port), udp: z.array(port) })
export type Listening = z.infer<typeof listening>

const tcpTarget = z.strictObject({
  protocol: z.literal('tcp'),
  address: ip,
  port,
  /** What the server must send first. Without a token, an accepted connection is enough. */
  token: probeToken.optional(),
})
export type TcpTarget = z.infer<typeof tcpTarget>

const udpTarget = z.strictObject({
  protocol: z.literal('udp'),
  address: ip,
  port,
  token: probeToken,
  /** Size of each datagram in bytes. The largest must arrive; the others show which size gets through. */
  sizes: z.array(z.int().min(64).max(65_507)).min(1).max(16),
})
export type UdpTarget = z.infer<typeof udpTarget>

export const networkProbeTarget = z.discriminatedUnion('protocol', [tcpTarget, udpTarget])
export type NetworkProbeTarget = z.infer<typeof networkProbeTarget>

export const networkProbeResult = z.strictObject({
  outcome: z.enum([
    'ok',
    /** Refused at once, possibly by a firewall. */
    'refused',
    'timeout',
    /** A router or the own host reported that there is no route. */
    'unreachable',
    /** Something responded that is not the expected host. */
    'unexpected-response',
    /** Smaller datagrams arrive. */
    'too-big',
  ]),
  milliseconds: z.number().min(0),
  /** Size of the largest datagram that arrived, in bytes. */
  size: z.int().optional(),
})
export type NetworkProbeResult = z.infer<typeof networkProbeResult>
export type NetworkProbeOutcome = NetworkProbeResult['outcome']

/** Limit per request; split larger sets. */
export const maxProbeTargets = 1000
