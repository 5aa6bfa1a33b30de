import { z } from 'zod'
import type { Format } from './versioned.ts'

/**
 * What a host is and has, as its agent saw it. Plans are made from facts, never from guesses: what a host lacks shapes
 * its settings, and what it lacks too much of is a finding.
 */
const address = z.strictObject({
  interface: z.string(),
  address: z.union([z.ipv4(), z.ipv6()]),
  prefix: z.int().min(0).max(128),
  /** How large a packet the interface takes, where that could be seen. */
  mtu: z.int().min(1).optional(),
})

const common = {
  hostname: z.string(),
  /** Of the machine, not of its name: two hosts with the same were cloned. */
  machineId: z.string(),
  arch: z.enum(['amd64', 'arm64']),
  cpus: z.int().min(1),
  memoryBytes: z.int().min(0),
  addresses: z.array(address),
  defaultInterface: z.string().optional(),
  /** Seconds since 1970 when the facts were taken: clocks are compared with it. */
  clock: z.number(),
  disks: z.array(z.strictObject({ path: z.string(), totalBytes: z.int(), availableBytes: z.int() })),
  /** TCP ports that something listens on, and who. */
  listeners: z.array(z.strictObject({ port: z.int(), process: z.string().optional() })),
}

const linux = z.strictObject({
  os: z.literal('linux'),
  ...common,
  distribution: z.strictObject({ id: z.string(), version: z.string(), name: z.string() }),
  /** Whether the host is a container: its kernel, and some of its settings, then belong to another machine. */
  container: z.boolean(),
  kernel: z.strictObject({
    release: z.string(),
    /** Whether modules can be loaded at all. */
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
  /** Those that are there of the programs which components call: nft, iptables, conntrack, mount. */
  programs: z.array(z.string()),
  /** Services that bear the name of one of ours and are not of our making. */
  foreignServices: z.array(z.string()),
  /** Capabilities that root has not, as in some containers. */
  missingCapabilities: z.array(z.string()),
  swap: z.boolean(),
  /** The first process, which starts services. */
  init: z.strictObject({ name: z.string(), version: z.string() }),
  resolver: z.strictObject({
    /** The file that pods shall use: not the stub of systemd-resolved, or CoreDNS would ask itself. */
    file: z.string(),
    servers: z.array(z.string()),
    systemdResolved: z.boolean(),
  }),
  /** Whoever else manages packets: firewalld, ufw, docker. */
  firewalls: z.array(z.enum(['firewalld', 'ufw', 'docker'])),
  networkManager: z.boolean(),
  selinux: z.enum(['disabled', 'permissive', 'enforcing']),
})

const adapter = z.strictObject({
  name: z.string(),
  up: z.boolean(),
  /** As the host's own side of a switch is: `vEthernet (NAME)`. */
  virtual: z.boolean(),
})

const hnsNetwork = z.strictObject({
  name: z.string(),
  /** In small letters: overlay, l2bridge, nat. */
  type: z.string(),
  managementAddress: z.string().optional(),
  /** The adapter below it. */
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
  /** All of them; their addresses are in `addresses`, by the same names. */
  adapters: z.array(adapter),
  /** Networks of HNS, whoever has made them; none while HNS does not run. */
  networks: z.array(hnsNetwork),
  /** Those of the clouds' metadata (cloud-metadata.ts) that there is a route to. */
  metadataRoutes: z.array(z.cidrv4()),
  /** Services that are looked for (windows-services.ts) and are not of our making. */
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
