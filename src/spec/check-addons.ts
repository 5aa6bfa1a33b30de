import { builtInAddons } from './addons.ts'
import { rangesOverlap, toRange } from './cidr.ts'
import type { Cluster } from './cluster.ts'
import { problem, type Problem, type ClusterRule } from './problem.ts'

export const addonRules: readonly ClusterRule[] = [
  addonNames,
  addonFiles,
  networkAddon,
  dnsLoop,
  ingressPorts,
  storagePath,
]

function addonNames({ spec }: Cluster): Problem[] {
  const names = spec.addons.map(({ name }) => name)
  return names.flatMap((name, index) => {
    const path = ['spec', 'addons', index, 'name']
    if (builtInAddons.some((known) => known === name)) {
      return [problem('SPEC_ADDON_NAME', path, `${name} is an addon of hyperkube`, 'use another name')]
    }
    const first = names.indexOf(name)
    if (first === index) return []
    return [problem('SPEC_ADDON_NAME', path, `${name} is also the name of addons[${first}]`)]
  })
}

function addonFiles({ spec }: Cluster): Problem[] {
  return spec.addons.flatMap(({ files }, index) =>
    files.flatMap((file, fileIndex) => {
      if (!/^[a-z]+:\/\//i.test(file)) return []
      const path = ['spec', 'addons', index, 'files', fileIndex]
      const hint = 'urls: [{ url: …, sha256: … }]'
      return [problem('SPEC_WRONG_VALUE', path, 'is an address, not a file', hint)]
    }),
  )
}

/** Reports a network addon that does not exist, or beside flannel. */
function networkAddon({ spec }: Cluster): Problem[] {
  const { addon, plugin } = spec.network
  if (addon === undefined) return []
  const path = ['spec', 'network', 'addon']
  if (plugin !== 'none') {
    return [problem('SPEC_NETWORK_ADDON', path, `${plugin} is the pod network`, 'network.plugin: none')]
  }
  if (spec.addons.some(({ name, enabled }) => name === addon && enabled)) return []
  return [problem('SPEC_NETWORK_ADDON', path, `spec.addons has no enabled addon ${addon}`)]
}

/**
 * Reports DNS servers on loopback or in the service network. CoreDNS would forward queries to itself, and it
 * exits when it detects such a loop.
 */
function dnsLoop({ spec }: Cluster): Problem[] {
  if (spec.dns === 'none') return []
  return (spec.dns.forward ?? []).flatMap((server, index) => {
    const range = toRange(server)
    const clusterNetworks = ['127.0.0.0/8', '::1/128', ...spec.network.services]
    if (!clusterNetworks.some((network) => rangesOverlap(toRange(network), range))) return []
    const path = ['spec', 'dns', 'forward', index]
    return [
      problem(
        'SPEC_DNS_LOOP',
        path,
        `${server} is an address of CoreDNS itself or of another Service of the cluster`,
      ),
    ]
  })
}

function ingressPorts({ spec }: Cluster): Problem[] {
  if (spec.ingress === 'none') return []
  const { httpPort, httpsPort } = spec.ingress
  const path = ['spec', 'ingress', 'httpsPort']
  const same = httpPort === httpsPort ? [problem('SPEC_INGRESS_PORT', path, 'is also httpPort')] : []
  const hint = 'set another port, or ingress: none'
  const taken = Object.entries({ httpPort, httpsPort })
    .filter(([, port]) => port === spec.api.port)
    .map(([name, port]) => {
      const message = `${port} is also the API port on the same hosts`
      return problem('SPEC_INGRESS_PORT', ['spec', 'ingress', name], message, hint)
    })
  return [...same, ...taken]
}

/** Directories that must not hold volumes: `reset` deletes them, or they belong to the operating system. */
const reservedDirectories = [
  '/etc/hyperkube',
  '/opt/hyperkube',
  '/var/lib/hyperkube',
  '/var/log/hyperkube',
  '/var/lib/kubelet',
  '/dev',
  '/proc',
  '/run',
  '/sys',
]

function storagePath({ spec }: Cluster): Problem[] {
  if (spec.storage === 'none') return []
  const { path } = spec.storage
  const reserved = reservedDirectories.find(
    (directory) => path === directory || path.startsWith(`${directory}/`),
  )
  if (reserved === undefined) return []
  const message = `${reserved} is reserved: volumes there would be lost`
  return [
    problem('SPEC_STORAGE_PATH', ['spec', 'storage', 'path'], message, 'use a directory only for volumes'),
  ]
}
