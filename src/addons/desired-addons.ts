import type { Finding } from '../contract/finding.ts'
import type { ManagerSettings } from '../contract/manager-settings.ts'
import type { Manifest } from '../kube/object.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { AddonDefinition, AddonInput } from './built-in/addon-definition.ts'
import type { DesiredAddon } from './addon.ts'
import { checkAddons } from './check-addons.ts'
import { coredns } from './built-in/coredns.ts'
import { localPath } from './built-in/local-path.ts'
import { applyPatches } from './manifest.ts'
import { metallb } from './built-in/metallb.ts'
import { metricsServer } from './built-in/metrics-server.ts'
import { isSecret } from './reference.ts'
import { traefik } from './built-in/traefik.ts'
import { readUserAddons } from './user/user-addons.ts'

export type { AddonInput } from './built-in/addon-definition.ts'
export type { DesiredAddon } from './addon.ts'

/** Built-in addons in the order of applying. CoreDNS comes first, because the others use DNS. */
const definitions: readonly AddonDefinition[] = [coredns, metricsServer, traefik, localPath, metallb]

/** Names of built-in addons whose objects depend on the hosts. */
export const hostDependentAddons: ReadonlySet<string> = new Set([coredns.name, metricsServer.name])

/** Maximum wait until a built-in addon is ready, in milliseconds. Its images may have to be downloaded. */
const readyTimeoutMs = 300_000

/** Lists all addons of a cluster in the order of applying, and the findings about them. */
export function listDesiredAddons(input: AddonInput): {
  readonly addons: readonly DesiredAddon[]
  readonly findings: readonly Finding[]
} {
  const builtIns = listEnabled(input.cluster).map((definition) => buildBuiltIn(definition, input))
  const userAddons = readUserAddons(input.cluster.spec.addons, input)
  const addons = [...builtIns.map(({ addon }) => addon), ...userAddons.addons]
  const findings = [
    ...builtIns.flatMap((one) => one.findings),
    ...userAddons.findings,
    ...checkAddons(addons),
  ]
  return { addons, findings }
}

/** Lists the images of the built-in addons that are enabled. */
export function listAddonImages(
  cluster: Cluster,
  images: Readonly<Record<string, string>>,
): readonly string[] {
  return listEnabled(cluster).flatMap((definition) => definition.images.flatMap((name) => images[name] ?? []))
}

type HostIndependentAddons = NonNullable<ManagerSettings['addons']>
type HostIndependentInput = Pick<AddonInput, 'cluster' | 'images' | 'sources' | 'charts'>

/**
 * Lists the addons that depend only on cluster.yml and its files, not on hosts, and contain no Secret. For
 * these addons, controllers need no new settings when a worker joins or is removed.
 */
export function listHostIndependentAddons(input: HostIndependentInput): HostIndependentAddons {
  const { addons } = listDesiredAddons({ ...input, metricsCertificate: undefined, resolvers: [] })
  return addons
    .filter(({ name, manifests }) => !hostDependentAddons.has(name) && !manifests.some(isSecret))
    .map(({ name, manifests, force }) => ({
      name,
      manifests: [...manifests],
      ...(force === true ? { force } : {}),
    }))
}

/**
 * Lists the addons of a user that listHostIndependentAddons leaves out. Their manifests contain only the names
 * of the objects.
 */
export function listAddonsWithSecrets(input: HostIndependentInput): HostIndependentAddons {
  const { addons } = listDesiredAddons({ ...input, metricsCertificate: undefined, resolvers: [] })
  return addons
    .filter(({ name, manifests }) => !hostDependentAddons.has(name) && manifests.some(isSecret))
    .map(({ name, manifests }) => ({ name, manifests: manifests.map(pickIdentity) }))
}

function pickIdentity({ apiVersion, kind, metadata: { name, namespace } }: Manifest): Manifest {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } }
}

function listEnabled({ spec }: Cluster): readonly AddonDefinition[] {
  return definitions.filter(({ setting }) => spec[setting] !== 'none')
}

function buildBuiltIn(
  { name, description, setting, images, buildManifests }: AddonDefinition,
  input: AddonInput,
): { readonly addon: DesiredAddon; readonly findings: readonly Finding[] } {
  const settings = input.cluster.spec[setting]
  const patches = settings === 'none' ? [] : settings.patches
  const { manifests, findings } = applyPatches(buildManifests(input), patches, `spec.${setting}.patches`)
  const version = parseImageVersion(input.images[images[0]] ?? '')
  const addon = { name, description, manifests, wait: true, timeoutMs: readyTimeoutMs }
  return { addon: version === undefined ? addon : { ...addon, version }, findings }
}

/** Returns the tag of an image reference, with or without a digest. */
function parseImageVersion(image: string): string | undefined {
  const [tagged = ''] = image.split('@')
  return /:([^:/]+)$/.exec(tagged)?.[1]
}
