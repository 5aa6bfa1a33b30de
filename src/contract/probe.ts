import { z } from 'zod'

const milliseconds = z.int().min(1)
/** A kubeconfig on the host, of the component that is asked about: what it may see is what is compared. */
const kubeconfig = z.string()

/** How to find out. Files are named by their path on the host, so that a renewed certificate is simply read again. */
const check = z.discriminatedUnion('kind', [
  /** The supervisor says that it runs. */
  z.strictObject({ kind: z.literal('service') }),
  z.strictObject({
    kind: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }),
    authority: z.string().optional(),
    /** Of the client, where the server wants to know who asks. */
    credentials: z.strictObject({ certificate: z.string(), privateKey: z.string() }).optional(),
  }),
  /** The server says by gRPC's own health service that it serves. */
  z.strictObject({ kind: z.literal('grpc'), endpoint: z.string() }),
  /** The container runtime says that it is ready, and where `network` is asked for, that pods get one. */
  z.strictObject({ kind: z.literal('cri'), endpoint: z.string(), network: z.boolean().optional() }),
  /** A network interface is there and up. */
  z.strictObject({ kind: z.literal('interface'), name: z.string() }),
  /**
   * The network of pods, from here: the interface has the address that the subnet file tells of, that file says what the
   * node was given, and there is a route for every other node.
   */
  z.strictObject({
    kind: z.literal('overlay'),
    interface: z.string(),
    subnetFile: z.string(),
    node: z.string(),
    kubeconfig,
  }),
  /** The packet filter knows every service of the API that has somebody behind it. */
  z.strictObject({ kind: z.literal('service-rules'), mode: z.enum(['nftables', 'iptables']), kubeconfig }),
  /** A namespace of its own can be joined to the network of pods, and leave it again. */
  z.strictObject({ kind: z.literal('sandbox'), configuration: z.string(), plugins: z.string() }),
  /** A Windows host network of this name and type is there. */
  z.strictObject({ kind: z.literal('hns-network'), name: z.string(), type: z.enum(['overlay', 'l2bridge']) }),
  z.strictObject({ kind: z.literal('file'), path: z.string() }),
  /** The node has told the API of itself not longer ago than this. */
  z.strictObject({ kind: z.literal('node-lease'), node: z.string(), kubeconfig, within: milliseconds }),
  /** Some nodes that come after this one by name answer at their kubelets' port: together they ask about all of them. */
  z.strictObject({ kind: z.literal('neighbours'), node: z.string(), kubeconfig, count: z.int().min(1) }),
  /** What is written there is on the disk within this time. */
  z.strictObject({ kind: z.literal('disk-latency'), directory: z.string(), within: milliseconds }),
  /** That much of the file system is free, from 0 to 1. */
  z.strictObject({ kind: z.literal('disk-space'), directory: z.string(), free: z.number().min(0).max(1) }),
  /** A certificate is valid, and more than this part of its life is left, from 0 to 1. */
  z.strictObject({ kind: z.literal('certificate'), file: z.string(), left: z.number().min(0).max(1) }),
  /** The clock is not further than this from those of most of these servers, as they say in their answers. */
  z.strictObject({
    kind: z.literal('clock'),
    servers: z.array(z.url({ protocol: /^https$/ })),
    authority: z.string(),
    within: milliseconds,
  }),
])
export type ProbeCheck = z.infer<typeof check>

/**
 * A question about one component. A local one asks whether the component itself is well, and only a local one that
 * fails may lead to a restart; a remote one asks about the world and is reported.
 */
export const probe = z.strictObject({
  name: z.string().min(1),
  scope: z.enum(['local', 'remote']),
  check,
  every: milliseconds,
  timeout: milliseconds,
  /** How many failures in a row count as one. */
  failures: z.int().min(1),
})
export type Probe = z.infer<typeof probe>
