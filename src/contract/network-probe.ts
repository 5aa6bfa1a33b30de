import { z } from 'zod'

/** What hosts do among each other to learn whether they can reach each other. */
const port = z.int().min(1).max(65_535)
const ip = z.union([z.ipv4(), z.ipv6()])

/** By which a listener and whoever looks for it know each other, so that nobody else is taken for one of them. */
export const token = z.string().regex(/^[0-9a-f]{32}$/)

/** Sixteen ports at most, and half a minute: a port that is held for longer would be missed by whom it belongs to. */
export const listenWish = z.strictObject({
  address: ip,
  tcp: z.array(port).max(8),
  udp: z.array(port).max(8),
  token,
  /** Milliseconds. */
  for: z.int().min(1).max(30_000),
})
export type ListenWish = z.infer<typeof listenWish>

/** The ports that were free, and are listened on now. */
export const listening = z.strictObject({ tcp: z.array(port), udp: z.array(port) })
export type Listening = z.infer<typeof listening>

const tcpTarget = z.strictObject({
  protocol: z.literal('tcp'),
  address: ip,
  port,
  /** What it must say first. Without it, that it accepts a connection is enough. */
  token: token.optional(),
})
export type TcpTarget = z.infer<typeof tcpTarget>

const udpTarget = z.strictObject({
  protocol: z.literal('udp'),
  address: ip,
  port,
  token,
  /** Bytes in a datagram, one datagram for each. The largest counts; the others show how much does get through. */
  sizes: z.array(z.int().min(64).max(65_507)).min(1).max(16),
})
export type UdpTarget = z.infer<typeof udpTarget>

export const probeTarget = z.discriminatedUnion('protocol', [tcpTarget, udpTarget])
export type ProbeTarget = z.infer<typeof probeTarget>

export const probeResult = z.strictObject({
  outcome: z.enum([
    'ok',
    /** Said no at once, by a packet that may also come from a firewall. */
    'refused',
    'timeout',
    /** Somebody on the way, or the own host, said that there is none. */
    'unreachable',
    /** It was reached, and is not who it should be. */
    'other-answer',
    /** Smaller datagrams arrive. */
    'too-big',
  ]),
  milliseconds: z.number().min(0),
  /** The largest datagram that arrived, in bytes. */
  size: z.int().optional(),
})
export type ProbeResult = z.infer<typeof probeResult>
export type ProbeOutcome = ProbeResult['outcome']

/** In one request; whoever has more asks again. */
export const mostTargets = 1000
