import type { Finding } from '../contract/finding.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { AddonInput } from './addon-input.ts'
import { checkAddons } from './check-addons.ts'
import { coredns } from './coredns/coredns.ts'
import type { AddonDefinition } from './addon-definition.ts'
import { localPath } from './local-path/local-path.ts'
import { metricsServer } from './metrics-server/metrics-server.ts'
import { ownAddons } from './user/user-addons.ts'
import { patched } from './manifest-patches.ts'
import { traefik } from './traefik/traefik.ts'
import type { WishedAddon } from './desired-addon.ts'

export type { AddonInput, MetricsCertificate } from './addon-input.ts'
export type { WishedAddon } from './desired-addon.ts'

/** In the order in which they are put there: names first, as all others use them. */
const definitions: readonly AddonDefinition[] = [coredns, metricsServer, traefik, localPath]

/** Names of those that are others with other hosts. */
export const hostDependent: ReadonlySet<string> = new Set([coredns.name, metricsServer.name])

/** How long to wait for one of ours, in milliseconds: its image may have to come from far away. */
const patience = 300_000

/** All addons that a cluster shall have, in the order in which they are put there, and all that is wrong with them. */
export function wishedAddons(input: AddonInput): {
  readonly addons: readonly WishedAddon[]
  readonly findings: readonly Finding[]
} {
  const ours = enabled(input.cluster).map((definition) => builtIn(definition, input))
  const own = ownAddons(input.cluster.spec.addons, input.sources)
  const addons = [...ours.map(({ addon }) => addon), ...own.addons]
  const findings = [...ours.flatMap((one) => one.findings), ...own.findings, ...checkAddons(addons)]
  return { addons, findings }
}

/** Images of the addons that come with hyperkube and are not switched off. */
export function addonImages(cluster: Cluster, images: Readonly<Record<string, string>>): readonly string[] {
  return enabled(cluster).flatMap((definition) => definition.images.flatMap((name) => images[name] ?? []))
}

function enabled({ spec }: Cluster): readonly AddonDefinition[] {
  return definitions.filter(({ setting }) => spec[setting] !== 'none')
}

function builtIn(
  { name, about, setting, images, manifests: of }: AddonDefinition,
  input: AddonInput,
): { readonly addon: WishedAddon; readonly findings: readonly Finding[] } {
  const settings = input.cluster.spec[setting]
  const patches = settings === 'none' ? [] : settings.patches
  const { manifests, findings } = patched(of(input), patches, `spec.${setting}.patches`)
  const version = versionIn(input.images[images[0]] ?? '')
  const addon = { name, about, manifests, wait: true, timeout: patience }
  return { addon: version === undefined ? addon : { ...addon, version }, findings }
}

/** The tag of an image, whether or not it is also pinned by a digest. */
function versionIn(image: string): string | undefined {
  const [tagged = ''] = image.split('@')
  return /:([^:/]+)$/.exec(tagged)?.[1]
}
