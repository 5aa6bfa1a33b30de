import { isIPv4 } from 'node:net'
import type { Path } from '../document.ts'
import { cidr, dnsLabel } from '../scalars.ts'
import { text } from './scalars.ts'

export interface HostFacts {
  readonly name: string
  readonly windows: boolean
  /** It says itself where the others find it. */
  readonly addressed: boolean
}

/** What rules must know of the rest of the file. */
export interface Facts {
  readonly root: unknown
  readonly hosts: readonly HostFacts[]
  readonly plugin: string
  /** Some host runs Windows, which decides how flannel must be set. */
  readonly windows: boolean
  /** The API server's, which is the one that counts. */
  readonly services: string
}

/** What RKE1 does where its file is silent, and a running cluster therefore has. */
export const rke1 = {
  name: 'local',
  plugin: 'canal',
  pods: '10.42.0.0/16',
  services: '10.43.0.0/16',
  vni: 1,
  port: 8472,
  podSecurity: 'privileged',
  sshKey: '~/.ssh/id_rsa',
} as const

export function factsOf(root: unknown): Facts {
  const nodes = valueAt(root, ['nodes'])
  const hosts = hostFacts(Array.isArray(nodes) ? nodes : [])
  const range = textAt(root, ['services', 'kube-api', 'service_cluster_ip_range'])
  return {
    root,
    hosts,
    plugin: textAt(root, ['network', 'plugin']) ?? rke1.plugin,
    windows: hosts.some(({ windows }) => windows),
    services: ipv4Networks(range ?? '')[0] ?? rke1.services,
  }
}

/** The value at a path, whatever the file holds on the way there. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? Reflect.get(value, part)
        : undefined,
    root,
  )
}

/** Text at a path, if there is any. */
export function textAt(root: unknown, path: Path): string | undefined {
  const found = text.safeParse(valueAt(root, path)).data
  return found === '' ? undefined : found
}

/** Of a list such as RKE1 wrote for two families, those that are IPv4. */
export function ipv4Networks(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => cidr.safeParse(part).success && isIPv4(part.split('/')[0] ?? ''))
}

/** A host is named as its node is where that is a label, and else by what it is for: cp1, etcd1, w1. */
function hostFacts(nodes: readonly unknown[]): HostFacts[] {
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
      name: own ?? freeName(prefixOf(node), taken, counts),
      windows: looksLikeWindows(node),
      addressed: textAt(node, ['internal_address']) !== undefined,
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

function prefixOf(node: unknown): string {
  const roles = valueAt(node, ['role'])
  if (!Array.isArray(roles)) return 'w'
  return roles.includes('controlplane') ? 'cp' : roles.includes('etcd') ? 'etcd' : 'w'
}

export const osLabels = ['kubernetes.io/os', 'beta.kubernetes.io/os'] as const

function looksLikeWindows(node: unknown): boolean {
  const pipe = /^(npipe:|[\\/]{2}\.[\\/]pipe)/i.test(textAt(node, ['docker_socket']) ?? '')
  return pipe || osLabels.some((label) => textAt(node, ['labels', label]) === 'windows')
}
