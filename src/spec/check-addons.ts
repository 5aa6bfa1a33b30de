import { builtInAddons } from './addons.ts'
import { overlap, rangeOf } from './cidr.ts'
import type { Cluster } from './cluster.ts'
import { problem, type Problem, type Rule } from './problem.ts'

export const addonRules: readonly Rule[] = [addonNames, addonFiles, dnsLoop, ingressPorts, storagePath]

function addonNames({ spec }: Cluster): Problem[] {
  const names = spec.addons.map(({ name }) => name)
  return names.flatMap((name, index) => {
    const path = ['spec', 'addons', index, 'name']
    if (builtInAddons.some((known) => known === name)) {
      return [problem('SPEC_ADDON_NAME', path, `${name} comes with hyperkube`, 'give yours another name')]
    }
    const first = names.indexOf(name)
    if (first === index) return []
    return [problem('SPEC_ADDON_NAME', path, `${name} is also the name of addons[${first}]`)]
  })
}

function addonFiles({ spec }: Cluster): Problem[] {
  return spec.addons.flatMap(({ files }, index) =>
    files.flatMap((file, place) => {
      if (!/^[a-z]+:\/\//i.test(file)) return []
      const path = ['spec', 'addons', index, 'files', place]
      const hint = 'urls: [{ url: …, sha256: … }]'
      return [problem('SPEC_WRONG_VALUE', path, 'is an address, not a file', hint)]
    }),
  )
}

/** CoreDNS ends itself when it finds that its questions come back to it. */
function dnsLoop({ spec }: Cluster): Problem[] {
  if (spec.dns === 'none') return []
  return (spec.dns.forward ?? []).flatMap((server, index) => {
    const range = rangeOf(server)
    const own = ['127.0.0.0/8', '::1/128', ...spec.network.services]
    if (!own.some((network) => overlap(rangeOf(network), range))) return []
    const path = ['spec', 'dns', 'forward', index]
    return [problem('SPEC_DNS_LOOP', path, `${server} is CoreDNS itself, or another service of the cluster`)]
  })
}

function ingressPorts({ spec }: Cluster): Problem[] {
  if (spec.ingress === 'none') return []
  const { httpPort, httpsPort } = spec.ingress
  const path = ['spec', 'ingress', 'httpsPort']
  const same = httpPort === httpsPort ? [problem('SPEC_INGRESS_PORT', path, 'is also httpPort')] : []
  const hint = 'give one of them another port, or say ingress: none'
  const taken = Object.entries({ httpPort, httpsPort })
    .filter(([, port]) => port === spec.api.port)
    .map(([name, port]) => {
      const message = `${port} is also the port of the API, on the same hosts`
      return problem('SPEC_INGRESS_PORT', ['spec', 'ingress', name], message, hint)
    })
  return [...same, ...taken]
}

/** What `reset` takes away as a whole, and what belongs to the system. */
const notForVolumes = [
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
  const over = notForVolumes.find((directory) => path === directory || path.startsWith(`${directory}/`))
  if (over === undefined) return []
  const message = `volumes in ${over} would be lost without a word`
  return [
    problem('SPEC_STORAGE_PATH', ['spec', 'storage', 'path'], message, 'take a directory for them alone'),
  ]
}
