import type { Finding } from '../contract/finding.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { AddonInput } from './addon-input.ts'
import { checkAddons } from './check-addons.ts'
import { coredns } from './coredns/coredns.ts'
import type { AddonDefinition } from './addon-definition.ts'
import { localPath } from './local-path/local-path.ts'
import { metricsServer } from './metrics-server/metrics-server.ts'
import { readUserAddons } from './user/user-addons.ts'
import { applyPatches } from './manifest-patches.ts'
import { traefik } from './traefik/traefik.ts'
import type { DesiredAddon } from './desired-addon.ts'

export type { AddonInput, MetricsCertificate } from './addon-input.ts'
export type { DesiredAddon } from './desired-addon.ts'

/** Built-in addons in the order of applying. CoreDNS comes first, because the others use DNS. */
const definitions: readonly AddonDefinition[] = [coredns, metricsServer, traefik, localPath]

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
  const userAddons = readUserAddons(input.cluster.spec.addons, input.sources)
  const addons = [...builtIns.map(({ addon }) => addon), ...userAddons.addons]
  const findings = [
    ...builtIns.flatMap((one) => one.findings),
    ...userAddons.findings,
    ...checkAddons(addons),
  ]
  return { addons, findings }
}

/** Images of the built-in addons that are enabled. */
export function listAddonImages(
  cluster: Cluster,
  images: Readonly<Record<string, string>>,
): readonly string[] {
  return listEnabled(cluster).flatMap((definition) => definition.images.flatMap((name) => images[name] ?? []))
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
