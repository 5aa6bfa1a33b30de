import { pinnedImages } from '../catalog/lock.ts'
import type { PlannedFile } from '../contract/component-plan.ts'
import { registryLoginName } from '../identity/secret-files.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { PlanContext } from './context.ts'
import { planSecretFile, planTextFile } from './files.ts'

export interface ContainerdPaths {
  readonly owner: string
  /** Returns the path of a file in the configuration directory of containerd. */
  readonly at: (...parts: readonly string[]) => string
  /** Address on which containerd listens. */
  readonly address: string
  /** Directories of CNI plugins. The directory of hyperkube's plugins comes first. */
  readonly pluginDirectories: readonly string[]
  /** Directory of CNI configuration files. */
  readonly networkDirectory: string
}

/** Additional TOML for one operating system. */
export interface PlatformToml {
  /** Settings that stand before the first table. */
  readonly settings?: readonly string[]
  readonly tables?: readonly string[]
}

export function renderContainerdConfig(
  context: PlanContext,
  paths: ContainerdPaths,
  platform: PlatformToml,
): string {
  const { at, address, pluginDirectories, networkDirectory } = paths
  const { registries, components } = context.cluster.spec
  const imports = [
    ...(registries.some(({ password }) => password !== undefined) ? [at('login-*.toml')] : []),
    ...(components.containerd.config === '' ? [] : [at('extra.toml')]),
  ]
  return [
    'version = 3',
    ...(imports.length === 0 ? [] : [`imports = ${JSON.stringify(imports)}`]),
    ...(platform.settings ?? []),
    '',
    '[grpc]',
    `  address = ${JSON.stringify(address)}`,
    '',
    // The name has no digest, because containerd compares it literally with image names. The digest is
    // verified when the image is pulled.
    "[plugins.'io.containerd.cri.v1.images'.pinned_images]",
    `  sandbox = ${JSON.stringify(context.release.images['pause'])}`,
    '',
    "[plugins.'io.containerd.cri.v1.images'.registry]",
    `  config_path = ${JSON.stringify(at('certs.d'))}`,
    '',
    "[plugins.'io.containerd.cri.v1.runtime'.cni]",
    `  bin_dirs = ${JSON.stringify(pluginDirectories)}`,
    `  conf_dir = ${JSON.stringify(networkDirectory)}`,
    '',
    ...(platform.tables ?? []),
  ].join('\n')
}

/** Plans the files that containerd reads in addition to its main configuration. */
export function planContainerdFiles(
  { cluster, identity }: PlanContext,
  { owner, at }: ContainerdPaths,
): PlannedFile[] {
  const { registries, components } = cluster.spec
  const extra = components.containerd.config
  return [
    ...(extra === '' ? [] : [planTextFile(at('extra.toml'), extra, { owner })]),
    // containerd reads these files on every pull, so a change needs no restart.
    ...renderRegistryHosts(cluster).map(([host, text]) =>
      planTextFile(at('certs.d', toRegistryDirectory(host), 'hosts.toml'), text, { owner, restart: false }),
    ),
    ...registries
      .filter(({ password }) => password !== undefined)
      .map(({ host }) => {
        const file = `login-${host.replaceAll(/[^A-Za-z0-9.-]/g, '_')}.toml`
        return planSecretFile(at(file), registryLoginName(host), identity, { owner })
      }),
  ]
}

/**
 * Returns the directory name of a registry. The colon before a port is replaced, because Windows does not
 * allow it in file names.
 */
function toRegistryDirectory(host: string): string {
  return host.replace(/:(\d+)$/, '_$1_')
}

/** Builds one hosts.toml per registry that has mirrors. */
function renderRegistryHosts({ spec }: Cluster): (readonly [host: string, text: string])[] {
  return spec.registries
    .filter(({ mirrors }) => mirrors.length > 0)
    .map(({ host, mirrors }) => [host, renderHostsToml(mirrors)] as const)
}

function renderHostsToml(mirrors: readonly string[]): string {
  return mirrors
    .map((mirror) => `[host.${JSON.stringify(mirror)}]\n  capabilities = ["pull", "resolve"]\n`)
    .join('\n')
}

/** Builds the environment variables of the HTTP proxy. */
export function buildProxyVariables({ spec }: Cluster): Record<string, string> {
  const { proxy } = spec
  return {
    ...(proxy?.http === undefined ? {} : { HTTP_PROXY: proxy.http }),
    ...(proxy?.https === undefined ? {} : { HTTPS_PROXY: proxy.https }),
    ...(proxy?.no === undefined ? {} : { NO_PROXY: proxy.no.join(',') }),
  }
}

/** Lists the pinned images that every pod sandbox needs. */
export function listSandboxImages({ lock, release }: PlanContext): string[] {
  const { pause } = pinnedImages(lock, release)
  return pause === undefined ? [] : [pause]
}
