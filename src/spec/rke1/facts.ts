import { isIPv4 } from 'node:net'
import { z } from 'zod'
import type { Path } from '../document.ts'
import { cidr, dnsLabel } from '../scalars.ts'

export interface Rke1HostFacts {
  readonly name: string
  readonly windows: boolean
  /** True if the node has an internal_address. */
  readonly hasInternalAddress: boolean
}

/** Data from the whole RKE1 file that rules for single keys need. */
export interface Rke1Facts {
  readonly root: unknown
  readonly hosts: readonly Rke1HostFacts[]
  readonly plugin: string
  /** True if any host runs Windows, which limits the settings of flannel. */
  readonly windows: boolean
  /** Service network of the API server. Other components must use the same network. */
  readonly services: string
}

/** Default values of RKE1. A running cluster has these values if its file does not set them. */
export const rke1Defaults = {
  name: 'local',
  plugin: 'canal',
  pods: '10.42.0.0/16',
  services: '10.43.0.0/16',
  vni: 1,
  port: 8472,
  podSecurity: 'privileged',
  sshKey: '~/.ssh/id_rsa',
} as const

export function readRke1Facts(root: unknown): Rke1Facts {
  const nodes = valueAt(root, ['nodes'])
  const hosts = hostFacts(Array.isArray(nodes) ? nodes : [])
  const range = textAt(root, ['services', 'kube-api', 'service_cluster_ip_range'])
  return {
    root,
    hosts,
    plugin: textAt(root, ['network', 'plugin']) ?? rke1Defaults.plugin,
    windows: hosts.some(({ windows }) => windows),
    services: ipv4Networks(range ?? '')[0] ?? rke1Defaults.services,
  }
}

/** Returns the value at a path, or undefined if the path does not exist. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? Reflect.get(value, part)
        : undefined,
    root,
  )
}

/** Returns the text at a path, or undefined if the text is missing or empty. */
export function textAt(root: unknown, path: Path): string | undefined {
  const found = looseText.safeParse(valueAt(root, path)).data
  return found === '' ? undefined : found
}

/** Returns the IPv4 networks in a comma-separated list. RKE1 uses such lists for dual-stack. */
export function ipv4Networks(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => cidr.safeParse(part).success && isIPv4(part.split('/')[0] ?? ''))
}

/**
 * Reads the hosts and gives each a name: its hostname_override if that is a DNS label, or else a name by
 * role, such as cp1, etcd1, w1.
 */
function hostFacts(nodes: readonly unknown[]): Rke1HostFacts[] {
  const labels = nodes.map((node) => {
    const parsed = dnsLabel.safeParse(textAt(node, ['hostname_override'])?.toLowerCase())
    return parsed.success ? parsed.data : undefined
  })
  const taken = new Set(labels)
  const counts = new Map<string, number>()
  return nodes.map((node, index) => {
    const label = labels[index]
    const own = label !== undefined && labels.indexOf(label) === index ? label : undefined
    return {
      name: own ?? freeName(namePrefix(node), taken, counts),
      windows: isWindowsNode(node),
      hasInternalAddress: textAt(node, ['internal_address']) !== undefined,
    }
  })
}

function freeName(
  prefix: string,
  taken: ReadonlySet<string | undefined>,
  counts: Map<string, number>,
): string {
  const count = (counts.get(prefix) ?? 0) + 1
  counts.set(prefix, count)
  const name = `${prefix}${count}`
  return taken.has(name) ? freeName(prefix, taken, counts) : name
}

function namePrefix(node: unknown): string {
  const roles = valueAt(node, ['role'])
  if (!Array.isArray(roles)) return 'w'
  return roles.includes('controlplane') ? 'cp' : roles.includes('etcd') ? 'etcd' : 'w'
}

export const osLabels = ['kubernetes.io/os', 'beta.kubernetes.io/os'] as const

function isWindowsNode(node: unknown): boolean {
  const pipe = /^(npipe:|[\\/]{2}\.[\\/]pipe)/i.test(textAt(node, ['docker_socket']) ?? '')
  return pipe || osLabels.some((label) => textAt(node, ['labels', label]) === 'windows')
}

/** Schema of a text. RKE1 also accepted numbers and booleans as text. */
export const looseText = z
  .union([z.string(), z.number(), z.boolean()], 'must be text')
  .transform((value) => String(value))

export const looseNumber = looseText.transform((value) =>
  /^-?\d+$/.test(value) ? Number(value) : Number.NaN,
)

export const looseBoolean = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
  .transform((value) => value === true || value === 'true')
