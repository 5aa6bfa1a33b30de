import { pinnedImages } from '../catalog/lock.ts'
import type { PlannedFile } from '../contract/component-plan.ts'
import { proxyEnvironmentName, registryLoginName, renderProxyEnvironment } from '../identity/secret-files.ts'
import type { PlanContext } from './context.ts'
import { listHostBypass } from './download-route.ts'
import { planSecretFile, planTextFile } from './files.ts'
import { planRegistryHosts } from './registry-hosts.ts'

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
export function planContainerdFiles(context: PlanContext, { owner, at }: ContainerdPaths): PlannedFile[] {
  const { cluster, identity } = context
  const { registries, components } = cluster.spec
  const extra = components.containerd.config
  return [
    ...(extra === '' ? [] : [planTextFile(at('extra.toml'), extra, { owner })]),
    ...planRegistryHosts(context, { owner, at }),
    ...registries
      .filter(({ password }) => password !== undefined)
      .map(({ host }) => {
        const file = `login-${host.replaceAll(/[^A-Za-z0-9.-]/g, '_')}.toml`
        return planSecretFile(at(file), registryLoginName(host), identity, { owner })
      }),
  ]
}

/** Environment variables of containerd that are no secrets, and the file with the addresses of the proxy. */
export interface ProxyEnvironment {
  readonly variables: Readonly<Record<string, string>>
  readonly files: readonly PlannedFile[]
}

/**
 * Plans the environment of containerd for the HTTP proxy. The addresses of the proxy are in a file, because
 * they may contain a password and every user can read a unit.
 */
export function planProxyEnvironment(
  context: PlanContext,
  { owner, at }: Pick<ContainerdPaths, 'owner' | 'at'>,
): ProxyEnvironment {
  const { proxy } = context.cluster.spec
  if (proxy === undefined) return { variables: {}, files: [] }
  const path = at(proxyEnvironmentFile)
  const { ca } = proxy
  return {
    variables: { NO_PROXY: listHostBypass(context).join(',') },
    files: [
      proxy.password === undefined
        ? planTextFile(
            path,
            renderProxyEnvironment({ http: toOrigin(proxy.http), https: toOrigin(proxy.https) }),
            {
              owner,
            },
          )
        : planSecretFile(path, proxyEnvironmentName, context.identity, { owner }),
      ...(ca === undefined
        ? []
        : [planTextFile(at(proxyCaDirectory, 'proxy.pem'), context.attachments.get(ca) ?? '', { owner })]),
    ],
  }
}

/** Returns a URL without its path, which has no meaning for a proxy. */
function toOrigin(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).origin
}

/** Name of the file with the addresses of the proxy, in the directory of containerd. */
export const proxyEnvironmentFile = 'proxy.env'

/** Directory with the CA of a proxy that decrypts TLS, in the directory of containerd. */
export const proxyCaDirectory = 'proxy-ca'

/** Lists the pinned images that every pod sandbox needs. */
export function listSandboxImages({ lock, release }: PlanContext): string[] {
  const { pause } = pinnedImages(lock, release)
  return pause === undefined ? [] : [pause]
}
