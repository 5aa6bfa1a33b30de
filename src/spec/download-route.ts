import { listSharedApiNames } from './api.ts'
import type { Cluster } from './cluster.ts'
import { readMirror } from './download-sources.ts'

/** Entries for targets that no cluster reaches through a proxy: loopback addresses. */
const loopback = ['localhost', '127.0.0.0/8', '::1']

/**
 * Lists the targets that are reached without the proxy. `addresses` are those of hosts. Entries of
 * cluster.yml come last.
 */
export function listProxyBypass({ spec }: Cluster, addresses: readonly string[]): readonly string[] {
  const { pods, services, domain } = spec.network
  return [
    ...new Set([
      ...loopback,
      ...pods,
      ...services,
      '.svc',
      `.${domain}`,
      ...listSharedApiNames(spec.api),
      ...addresses,
      ...(spec.proxy?.no ?? []).map(removeBrackets),
    ]),
  ]
}

/** Removes the brackets of an IPv6 address without a port. Go, and so containerd, would take it for a name. */
function removeBrackets(entry: string): string {
  return entry.replace(/^\[([^\]]*)\]$/, '$1')
}

/** A file with CA certificates that cluster.yml names, and its path in cluster.yml. */
export interface CaFile {
  readonly file: string
  readonly path: string
}

/** Lists the CA files for downloads and images. */
export function listCaFiles({ spec }: Cluster): readonly CaFile[] {
  const { registries, artifacts, proxy } = spec
  const named: readonly (readonly [path: string, file: string | undefined])[] = [
    ...registries.map(({ ca }, index) => [`spec.registries[${index}].ca`, ca] as const),
    ['spec.artifacts.ca', readMirror(artifacts)?.ca],
    ['spec.proxy.ca', proxy?.ca],
  ]
  return named.flatMap(([path, file]) => (file === undefined ? [] : [{ file, path }]))
}

/** Describes a CA file that cannot be used. */
export function describeInvalidCa(file: string): { readonly message: string; readonly hint: string } {
  return {
    message: `${file} must contain CA certificates in PEM format and no private key`,
    hint: `show its contents: openssl x509 -noout -subject -in ${file}`,
  }
}
