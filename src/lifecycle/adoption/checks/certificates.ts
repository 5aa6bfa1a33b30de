import { formatNames } from '../../../kit/text.ts'
import type { AdoptionSource } from '../../../identity/identity.ts'
import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { caPaths } from '../existing-keys.ts'
import { type AdoptedHost, listAdoptedControlPlanes } from '../observation.ts'
import type { AdoptionCheck } from './check.ts'

const renewCommands = {
  kubeadm: 'renew them on each control plane: kubeadm certs renew all',
  rke1: 'renew them: rke cert rotate',
} as const

/**
 * True for certificates that the tool does not use any more. RKE1 copies those of all etcd members to each of them and
 * never deletes them. Hosts may also have files of a cluster that they belonged to before.
 */
function isRemainder(path: string, { components }: AdoptedHost, from: AdoptionSource): boolean {
  if (from !== 'rke1') return false
  const isOfOneHost = /\/kube-(?:etcd|kubelet)-[^/]+\.pem$/.test(path)
  const isUsed = components.some(({ args }) => Object.values(args).includes(path))
  return !path.startsWith('/etc/kubernetes/ssl/') || (isOfOneHost && !isUsed)
}

export const checkExpiry: AdoptionCheck = ({ hosts, observed, from }) =>
  hosts.flatMap((host) => {
    const { address, certificates } = host
    const expired = certificates.filter(
      ({ path, notAfter }) => notAfter <= observed && !isRemainder(path, host, from),
    )
    if (expired.length === 0) return []
    const paths = expired.map(({ path, notAfter }) => `${path} (${notAfter.toISOString().slice(0, 10)})`)
    const isCaExpired = expired.some(({ isCa }) => isCa)
    return [
      prevents(
        'ADOPT_CERTIFICATE_EXPIRED',
        `certificates have expired: ${formatNames(paths)}`,
        isCaExpired ? 'replace the CA with the tool that manages the cluster' : renewCommands[from],
        address,
      ),
    ]
  })

/** Finds control planes without the keys of their CAs, and hosts with the CA of another cluster. */
export const checkCas: AdoptionCheck = (observation) => {
  const { hosts, from, stateCa } = observation
  const paths = caPaths[from]
  const keys =
    stateCa === undefined ? [...new Set(Object.values(paths).map(({ privateKey }) => privateKey))] : []
  const missing = listAdoptedControlPlanes(observation).flatMap((host) =>
    keys
      .filter((path) => !host.paths.includes(path))
      .map((path) =>
        prevents(
          'ADOPT_CA_KEY_MISSING',
          `${path} does not exist, so hyperkube could not sign certificates`,
          'copy the key of the CA to this path on every control plane',
          host.address,
        ),
      ),
  )
  const files = [...new Set(Object.values(paths).map(({ certificate }) => certificate))]
  const mismatch = hosts.some(({ certificates }) =>
    certificates.some(
      ({ path, fingerprint }) =>
        stateCa !== undefined && path === paths.kubernetes.certificate && fingerprint !== stateCa,
    ),
  )
  return [
    ...missing,
    ...(mismatch
      ? [
          prevents(
            'ADOPT_STATE_MISMATCH',
            'the state file has another CA than the hosts',
            'use the cluster.rkestate that the last rke up of this cluster wrote, or leave out --state',
          ),
        ]
      : []),
    ...files.flatMap((file) => compareCas(file, hosts)),
  ]
}

function compareCas(file: string, hosts: readonly AdoptedHost[]): AdoptionItem[] {
  const found = hosts.flatMap(({ address, certificates }) => {
    const own = certificates.filter(({ path }) => path === file)
    return own.length === 0 ? [] : [{ address, own }]
  })
  const bundle = found.find(({ own }) => own.length > 1)
  if (bundle !== undefined) {
    return [
      prevents(
        'ADOPT_CA_BUNDLE',
        `${file} has ${bundle.own.length} certificates, and hyperkube can keep only one`,
        'finish the replacement of the CA first, so that only one certificate is left',
        bundle.address,
      ),
    ]
  }
  const [first] = found
  return found
    .filter(({ own }) => own[0]?.fingerprint !== first?.own[0]?.fingerprint)
    .map(({ address }) =>
      prevents(
        'ADOPT_HOST_FOREIGN',
        `${file} differs from that of ${first?.address}: the host belongs to another cluster`,
        'leave the host out, or check which of both addresses is wrong',
        address,
      ),
    )
}
