import { z } from 'zod'
import type { Format } from './versioned.ts'

/**
 * Facts about a host as its agent observed them. Plans are made from facts only: a missing feature changes
 * settings, and a serious lack is a finding.
 */
const address = z.strictObject({
  interface: z.string(),
  address: z.union([z.ipv4(), z.ipv6()]),
  prefix: z.int().min(0).max(128),
  /** MTU of the interface, where it could be read. */
  mtu: z.int().min(1).optional(),
})

const common = {
  hostname: z.string(),
  /** Identifies the machine, not its name: two hosts with the same id were cloned. */
  machineId: z.string(),
  arch: z.enum(['amd64', 'arm64']),
  cpus: z.int().min(1),
  memoryBytes: z.int().min(0),
  addresses: z.array(address),
  defaultInterface: z.string().optional(),
  /** Seconds since 1970 when the facts were collected, for comparing clocks. */
  clock: z.number(),
  disks: z.array(z.strictObject({ path: z.string(), totalBytes: z.int(), availableBytes: z.int() })),
  /** TCP ports in use, with the listening process. */
  listeners: z.array(z.strictObject({ port: z.int(), process: z.string().optional() })),
}

const linux = z.strictObject({
  os: z.literal('linux'),
  ...common,
  distribution: z.strictObject({ id: z.string(), version: z.string(), name: z.string() }),
  /** True if the host is a container: its kernel and some settings then belong to another machine. */
  container: z.boolean(),
  kernel: z.strictObject({
    release: z.string(),
    /** True if kernel modules can be loaded. */
    modules: z.boolean(),
    overlay: z.boolean(),
    vxlan: z.boolean(),
    bridge: z.boolean(),
    bridgeNetfilter: z.boolean(),
    nftables: z.boolean(),
    iptables: z.boolean(),
  }),
  cgroup: z.strictObject({
    version: z.union([z.literal(1), z.literal(2)]),
    controllers: z.array(z.string()),
  }),
  /** Programs that components call and that are present: nft, iptables, conntrack, mount. */
  programs: z.array(z.string()),
  /** Services with one of our names that hyperkube did not create. */
  foreignServices: z.array(z.string()),
  /** Capabilities that root lacks, as in some containers. */
  missingCapabilities: z.array(z.string()),
  swap: z.boolean(),
  /** Process 1, which starts services. */
  init: z.strictObject({ name: z.string(), version: z.string() }),
  resolver: z.strictObject({
    /** Resolver file for pods: not the stub of systemd-resolved, because CoreDNS would query itself. */
    file: z.string(),
    servers: z.array(z.string()),
    systemdResolved: z.boolean(),
  }),
  /** Other software that manages packet filters. */
  firewalls: z.array(z.enum(['firewalld', 'ufw', 'docker'])),
  networkManager: z.boolean(),
  selinux: z.enum(['disabled', 'permissive', 'enforcing']),
})

const adapter = z.strictObject({
  name: z.string(),
  up: z.boolean(),
  /** True for the host side of a switch: `vEthernet (NAME)`. */
  virtual: z.boolean(),
})

const hnsNetwork = z.strictObject({
  name: z.string(),
  /** In lower case: overlay, l2bridge, nat. */
  type: z.string(),
  managementAddress: z.string().optional(),
  /** The underlying adapter. */
  adapter: z.string().optional(),
  subnets: z.array(z.string()),
})

export const windowsFacts = z.strictObject({
  os: z.literal('windows'),
  ...common,
  build: z.int(),
  revision: z.int(),
  edition: z.string(),
  /** Server, Server Core, or Client. */
  installation: z.string(),
  containersFeature: z.boolean(),
  hyperVFeature: z.boolean(),
  rebootPending: z.boolean(),
  /** All adapters; their addresses are in `addresses`, by the same names. */
  adapters: z.array(adapter),
  /** All HNS networks, whatever created them; empty while HNS does not run. */
  networks: z.array(hnsNetwork),
  /** Destinations from cloud-metadata.ts that have a route. */
  metadataRoutes: z.array(z.cidrv4()),
  /** Services from windows-services.ts that hyperkube did not create. */
  foreignServices: z.array(z.string()),
})

const facts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Facts'),
  host: z.string(),
  system: z.discriminatedUnion('os', [linux, windowsFacts]),
})
export type Facts = z.infer<typeof facts>

export const factsFormat: Format<Facts> = {
  kind: 'Facts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: facts },
  older: [],
}
