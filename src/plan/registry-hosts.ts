import { registryApiHost, toUrlHost } from '../contract/image-reference.ts'
import type { PlannedFile } from '../contract/component-plan.ts'
import type { RegistrySpec } from '../spec/download-sources.ts'
import type { PlanContext } from './context.ts'
import { planTextFile } from './files.ts'

interface HostsPaths {
  readonly owner: string
  /** Returns the path of a file in the configuration directory of containerd. */
  readonly at: (...parts: readonly string[]) => string
}

/** Plans hosts.toml and CA files of registries. containerd reads them on every pull, without a restart. */
export function planRegistryHosts(
  { cluster, attachments }: Pick<PlanContext, 'cluster' | 'attachments'>,
  { owner, at }: HostsPaths,
): PlannedFile[] {
  const { registries } = cluster.spec
  const options = { owner, restart: false }
  const locateCa = (host: string): string => at('certs.d', toRegistryDirectory(host), 'ca.pem')
  return registries.flatMap((registry) => {
    const { host, mirrors, ca, skipVerify } = registry
    const isSet = mirrors.length > 0 || ca !== undefined || skipVerify
    const directory = toRegistryDirectory(host)
    return [
      ...(ca === undefined ? [] : [planTextFile(locateCa(host), attachments.get(ca) ?? '', options)]),
      ...(isSet
        ? [
            planTextFile(
              at('certs.d', directory, 'hosts.toml'),
              renderHosts(registry, registries, locateCa),
              options,
            ),
          ]
        : []),
    ]
  })
}

/**
 * Returns the directory name of a registry. The colon before a port is replaced, because Windows does not
 * allow it in file names.
 */
function toRegistryDirectory(host: string): string {
  return host.replace(/:(\d+)$/, '_$1_')
}

function renderHosts(
  registry: RegistrySpec,
  registries: readonly RegistrySpec[],
  locateCa: (host: string) => string,
): string {
  const renderTrust = ({ host, ca, skipVerify }: RegistrySpec, indent: string): string =>
    [
      ...(ca === undefined ? [] : [`${indent}ca = ${JSON.stringify(locateCa(host))}\n`]),
      ...(skipVerify ? [`${indent}skip_verify = true\n`] : []),
    ].join('')
  const own = renderTrust(registry, '')
  const server = `server = ${JSON.stringify(`https://${registryApiHost(registry.host)}`)}\n`
  const mirrors = registry.mirrors.map((mirror) => {
    const entry = registries.find(({ host }) => toUrlHost(host) === new URL(mirror).host)
    const trust = entry === undefined ? '' : renderTrust(entry, '  ')
    return `[host.${JSON.stringify(mirror)}]\n  capabilities = ["pull", "resolve"]\n${trust}`
  })
  return [...(own === '' ? [] : [server + own]), ...mirrors].join('\n')
}
