import { z } from 'zod'

const milliseconds = z.int().min(1)
/**
 * A kubeconfig on the host that belongs to the probed component: the probe sees what that component may see.
 */
const kubeconfig = z.string()

/**
 * How to probe. Files are named by their path on the host, so that a renewed certificate is simply read
 * again.
 */
const check = z.discriminatedUnion('kind', [
  /** The supervisor reports that the service runs. */
  z.strictObject({ kind: z.literal('service') }),
  z.strictObject({
    kind: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }),
    caFile: z.string().optional(),
    /** Client certificate, if the server requires one. */
    credentials: z.strictObject({ certificate: z.string(), privateKey: z.string() }).optional(),
  }),
  /** The server reports SERVING through the gRPC health service. */
  z.strictObject({ kind: z.literal('grpc'), endpoint: z.string() }),
  /** The container runtime reports that it is ready; with `network` also that pods get a network. */
  z.strictObject({ kind: z.literal('cri'), endpoint: z.string(), network: z.boolean().optional() }),
  /** A network interface exists and is up. */
  z.strictObject({ kind: z.literal('interface'), name: z.string() }),
  /**
   * The pod network seen from this host: the interface has the address in the subnet file, that file matches
   * the node's subnet, and every other node has a route.
   */
  z.strictObject({
    kind: z.literal('overlay'),
    interface: z.string(),
    subnetFile: z.string(),
    node: z.string(),
    kubeconfig,
  }),
  /** The packet filter has rules for every service with endpoints. */
  z.strictObject({ kind: z.literal('service-rules'), mode: z.enum(['nftables', 'iptables']), kubeconfig }),
  /** A temporary network namespace can be attached to the pod network and detached again. */
  z.strictObject({ kind: z.literal('sandbox'), configuration: z.string(), plugins: z.string() }),
  /** An HNS network with this name and type exists. */
  z.strictObject({ kind: z.literal('hns-network'), name: z.string(), type: z.enum(['overlay', 'l2bridge']) }),
  z.strictObject({ kind: z.literal('file'), path: z.string() }),
  /** The node renewed its lease within this time. */
  z.strictObject({ kind: z.literal('node-lease'), node: z.string(), kubeconfig, maxMs: milliseconds }),
  /**
   * Some nodes that follow this one by name respond at their kubelet port: together all nodes cover each
   * other.
   */
  z.strictObject({ kind: z.literal('peer-nodes'), node: z.string(), kubeconfig, count: z.int().min(1) }),
  /** A write reaches the disk within this time. */
  z.strictObject({ kind: z.literal('disk-latency'), directory: z.string(), maxMs: milliseconds }),
  /** At least this share of the file system is free, from 0 to 1. */
  z.strictObject({ kind: z.literal('disk-space'), directory: z.string(), minFree: z.number().min(0).max(1) }),
  /** The certificate is valid, and more than this share of its lifetime is left, from 0 to 1. */
  z.strictObject({
    kind: z.literal('certificate'),
    file: z.string(),
    minRemaining: z.number().min(0).max(1),
  }),
  /**
   * The clock differs by at most this from the majority of these servers, according to their Date headers.
   */
  z.strictObject({
    kind: z.literal('clock'),
    servers: z.array(z.url({ protocol: /^https$/ })),
    caFile: z.string(),
    maxMs: milliseconds,
  }),
])
export type ProbeCheck = z.infer<typeof check>

/**
 * A probe of one component. A local probe checks the component itself, and only a failing local probe may
 * cause a restart. A remote probe checks the environment of the component and is only reported.
 */
export const probeSchema = z.strictObject({
  name: z.string().min(1),
  scope: z.enum(['local', 'remote']),
  check,
  intervalMs: milliseconds,
  timeoutMs: milliseconds,
  /** Number of consecutive failures until the probe counts as failed. */
  failureThreshold: z.int().min(1),
})
export type Probe = z.infer<typeof probeSchema>
