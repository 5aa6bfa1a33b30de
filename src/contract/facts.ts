import { z } from 'zod'
import type { Format } from './versioned.ts'

/** An IP address of the host, with the interface that has it. */
const address = z.strictObject({
  interface: z.string(),
  address: z.union([z.ipv4(), z.ipv6()]),
  prefix: z.int().min(0).max(128),
  /** MTU of the interface; absent if it could not be read. */
  mtu: z.int().min(1).optional(),
})

/** Returns the device of an interface name in `addresses`: a second address of eth0 may have the label eth0:1. */
export function toDevice(label: string): string {
  return label.split(':')[0] ?? label
}

const common = {
  hostname: z.string(),
  /** Id of the operating system installation. Two hosts with the same id are clones. */
  machineId: z.string(),
  arch: z.enum(['amd64', 'arm64']),
  cpus: z.int().min(1),
  memoryBytes: z.int().min(0),
  addresses: z.array(address),
  defaultInterface: z.string().optional(),
  /** Host clock in seconds since 1970 when the facts were collected, for comparing it with other clocks. */
  clock: z.number(),
  disks: z.array(z.strictObject({ path: z.string(), totalBytes: z.int(), availableBytes: z.int() })),
  /** TCP ports in use, with the listening process. */
  listeners: z.array(z.strictObject({ port: z.int(), process: z.string().optional() })),
}

const linux = z.strictObject({
  os: z.literal('linux'),
  ...common,
  distribution: z.strictObject({ id: z.string(), version: z.string(), name: z.string() }),
  /**
   * True if the host is a container. A container shares the kernel and some settings with the machine that
   * runs it.
   */
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
  /** Absent if the host has no IPv6. */
  ipv6: z
    .strictObject({
      /** Interface of the IPv6 default route. */
      defaultInterface: z.string().optional(),
      /** Interfaces on which the kernel itself accepts router advertisements. */
      routerAdvertisements: z.array(z.string()),
      /** The same as `foreignFilterTable` below, for ip6tables. */
      foreignFilterTable: z.boolean().optional(),
    })
    .optional(),
  /** Programs that components call and that are installed, for example nft, iptables, conntrack, mount. */
  programs: z.array(z.string()),
  /** True if iptables refuses to read the rules of its table `filter`, because nft wrote them. */
  foreignFilterTable: z.boolean().optional(),
  /**
   * Services that have the name of a hyperkube service but were not created by hyperkube, and an active
   * keepalived.service of the distribution.
   */
  foreignServices: z.array(z.string()),
  /** Linux capabilities that root does not have, for example in some containers. */
  missingCapabilities: z.array(z.string()),
  swap: z.boolean(),
  /** Name and version of the init system (process 1). */
  init: z.strictObject({ name: z.string(), version: z.string() }),
  resolver: z.strictObject({
    /**
     * resolv.conf file for pods. The stub file of systemd-resolved is not used: it names a loopback address,
     * at which CoreDNS in its pod would query itself.
     */
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
  /** True if the adapter connects the host to a virtual switch. Windows names it `vEthernet (NAME)`. */
  virtual: z.boolean(),
})

const hnsNetwork = z.strictObject({
  name: z.string(),
  /** Network type in lower case: overlay, l2bridge, nat. */
  type: z.string(),
  managementAddress: z.string().optional(),
  /** Name of the adapter that the network uses. */
  adapter: z.string().optional(),
  subnets: z.array(z.string()),
})

const windowsFacts = z.strictObject({
  os: z.literal('windows'),
  ...common,
  build: z.int(),
  revision: z.int(),
  edition: z.string(),
  /** Installation type of Windows: Server, Server Core, or Client. */
  installation: z.string(),
  containersFeature: z.boolean(),
  hyperVFeature: z.boolean(),
  rebootPending: z.boolean(),
  /** All network adapters. `addresses` lists their IP addresses under the same names. */
  adapters: z.array(adapter),
  /** All HNS networks, including those of other software. Empty if HNS is not running. */
  networks: z.array(hnsNetwork),
  /** Destinations of cloud metadata services that have a route on this host. */
  metadataRoutes: z.array(z.cidrv4()),
  /**
   * Services with a name from `watchedWindowsServices` that exist on the host and were not created by
   * hyperkube.
   */
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

/**
 * Facts of a Windows host that are read without PowerShell. They are enough for diagnosis, but not for making
 * a plan.
 */
const basicFacts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('BasicFacts'),
  host: z.string(),
  system: windowsFacts.pick({
    os: true,
    hostname: true,
    arch: true,
    cpus: true,
    memoryBytes: true,
    addresses: true,
    clock: true,
    disks: true,
    build: true,
    foreignServices: true,
  }),
})
export type BasicFacts = z.infer<typeof basicFacts>

export const basicFactsFormat: Format<BasicFacts> = {
  kind: 'BasicFacts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: basicFacts },
  older: [],
}
