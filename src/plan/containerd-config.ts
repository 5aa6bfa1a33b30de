import type { PlannedFile } from '../contract/component-plan.ts'
import { registryLoginName } from '../identity/secret-files.ts'
import { containerdHosts } from './containerd-hosts.ts'
import { secretFile, textFile } from './files.ts'
import type { Scene } from './context.ts'

export interface ContainerdPlaces {
  readonly owner: string
  /** The path of a file in containerd's own directory. */
  readonly at: (...parts: readonly string[]) => string
  /** Where it listens. */
  readonly address: string
  /** Where the programs of networks are, ours first. */
  readonly plugins: readonly string[]
  /** Where networks say how pods are joined to them. */
  readonly networks: string
}

/** Pieces of TOML that only one system needs. */
export interface OwnToml {
  /** Settings that stand before the first table. */
  readonly settings?: readonly string[]
  readonly tables?: readonly string[]
}

export function containerdConfig(scene: Scene, places: ContainerdPlaces, own: OwnToml): string {
  const { at, address, plugins, networks } = places
  const { registries, components } = scene.cluster.spec
  const imports = [
    ...(registries.some(({ password }) => password !== undefined) ? [at('login-*.toml')] : []),
    ...(components.containerd.config === '' ? [] : [at('extra.toml')]),
  ]
  return [
    'version = 3',
    ...(imports.length === 0 ? [] : [`imports = ${JSON.stringify(imports)}`]),
    ...(own.settings ?? []),
    '',
    '[grpc]',
    `  address = ${JSON.stringify(address)}`,
    '',
    // By its plain name, which is held against the names of images as it stands; that it is the right one is seen to.
    "[plugins.'io.containerd.cri.v1.images'.pinned_images]",
    `  sandbox = ${JSON.stringify(scene.release.images['pause'])}`,
    '',
    "[plugins.'io.containerd.cri.v1.images'.registry]",
    `  config_path = ${JSON.stringify(at('certs.d'))}`,
    '',
    "[plugins.'io.containerd.cri.v1.runtime'.cni]",
    `  bin_dirs = ${JSON.stringify(plugins)}`,
    `  conf_dir = ${JSON.stringify(networks)}`,
    '',
    ...(own.tables ?? []),
  ].join('\n')
}

/** What containerd reads beside its configuration. */
export function containerdFiles(
  { cluster, identity }: Scene,
  { owner, at }: ContainerdPlaces,
): PlannedFile[] {
  const { registries, components } = cluster.spec
  const extra = components.containerd.config
  return [
    ...(extra === '' ? [] : [textFile(at('extra.toml'), extra, { owner })]),
    // It looks into these whenever it pulls.
    ...containerdHosts(cluster).map(([host, text]) =>
      textFile(at('certs.d', directoryOf(host), 'hosts.toml'), text, { owner, restart: false }),
    ),
    ...registries
      .filter(({ password }) => password !== undefined)
      .map(({ host }) => {
        const file = `login-${host.replaceAll(/[^A-Za-z0-9.-]/g, '_')}.toml`
        return secretFile(at(file), registryLoginName(host), identity, { owner })
      }),
  ]
}

/** As containerd looks for a registry with a port: Windows has no colons in names of files. */
function directoryOf(host: string): string {
  return host.replace(/:(\d+)$/, '_$1_')
}
