import { z } from 'zod'

const milliseconds = z.int().min(1)
/**
 * Path of a kubeconfig on the host. It belongs to the probed component, so the probe has the same permissions
 * as the component.
 */
const kubeconfig = z.string()

/**
 * What a probe checks. Certificates and other files are given as paths on the host, so that each run reads
 * the current files.
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
  /** The container runtime reports that it is ready. With `network`, its pod network must be ready too. */
  z.strictObject({ kind: z.literal('cri'), endpoint: z.string(), network: z.boolean().optional() }),
  /** A network interface exists and is up. */
  z.strictObject({ kind: z.literal('interface'), name: z.string() }),
  /**
   * The pod network works on this host. The interface has the address from the subnet file, the file matches
   * the node's subnet, and there are routes to all other nodes. With `ipv6Interface` the same is true for
   * IPv6.
   */
  z.strictObject({
    kind: z.literal('overlay'),
    interface: z.string(),
    ipv6Interface: z.string().optional(),
    subnetFile: z.string(),
    node: z.string(),
    kubeconfig,
  }),
  /** The packet filter has rules for every service with endpoints. With `ipv6`, IPv6 addresses count too. */
  z.strictObject({
    kind: z.literal('service-rules'),
    mode: z.enum(['nftables', 'iptables']),
    kubeconfig,
    ipv6: z.boolean().optional(),
  }),
  /** Packets of all pods of the node pass the rules of kube-router. With `ipv6`, IPv6 packets do too. */
  z.strictObject({
    kind: z.literal('policy-rules'),
    node: z.string(),
    kubeconfig,
    ipv6: z.boolean().optional(),
  }),
  /** kube-router has the permissions to read policies and pods. */
  z.strictObject({ kind: z.literal('policy-access'), kubeconfig }),
  /** A temporary network namespace can be attached to the pod network and detached again. */
  z.strictObject({ kind: z.literal('sandbox'), configuration: z.string(), plugins: z.string() }),
  /** An HNS network with this name and type exists. */
  z.strictObject({ kind: z.literal('hns-network'), name: z.string(), type: z.enum(['overlay', 'l2bridge']) }),
  /** The file exists and is not empty. With `maxAgeMs`, it was written at most that long ago. */
  z.strictObject({ kind: z.literal('file'), path: z.string(), maxAgeMs: milliseconds.optional() }),
  /** The node's lease was renewed at most `maxMs` ago. */
  z.strictObject({ kind: z.literal('node-lease'), node: z.string(), kubeconfig, maxMs: milliseconds }),
  /**
   * The kubelet ports of the `count` nodes after this node are reachable. Nodes are ordered by name. The
   * probes of all nodes together check every node.
   */
  z.strictObject({ kind: z.literal('peer-nodes'), node: z.string(), kubeconfig, count: z.int().min(1) }),
  /** A write to the directory reaches the disk within `maxMs`. */
  z.strictObject({ kind: z.literal('disk-latency'), directory: z.string(), maxMs: milliseconds }),
  /** At least the share `minFree` (0 to 1) of the file system is free. */
  z.strictObject({ kind: z.literal('disk-space'), directory: z.string(), minFree: z.number().min(0).max(1) }),
  /** The certificate is valid, and more than the share `minRemaining` (0 to 1) of its lifetime is left. */
  z.strictObject({
    kind: z.literal('certificate'),
    file: z.string(),
    minRemaining: z.number().min(0).max(1),
  }),
  /**
   * The host's clock differs from the clocks of most of these servers by at most `maxMs`. The servers' time
   * is read from Date headers.
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
 * A probe of one component. A local probe checks the component itself, and only local failures may cause a
 * restart. A remote probe checks the environment of the component and is only reported.
 */
export const probeSchema = z.strictObject({
  name: z.string().min(1),
  scope: z.enum(['local', 'remote']),
  check,
  intervalMs: milliseconds,
  timeoutMs: milliseconds,
  /** Number of consecutive failures after which the probe is unhealthy. */
  failureThreshold: z.int().min(1),
})
export type Probe = z.infer<typeof probeSchema>
