import type { Finding } from '../../contract/finding.ts'
import type { UserAddon } from '../../spec/user-addon.ts'
import type { DesiredAddon } from '../desired-addon.ts'
import { parseManifests, readInlineManifests } from './parse-manifests.ts'
import { addDefaultNamespaces } from './default-namespaces.ts'
import { findManifestSources } from './manifest-sources.ts'

export interface UserAddons {
  readonly addons: readonly DesiredAddon[]
  readonly findings: readonly Finding[]
}

/** Reads the enabled user addons in the order of cluster.yml. */
export function readUserAddons(addons: readonly UserAddon[], texts: ReadonlyMap<string, string>): UserAddons {
  const read = addons.flatMap((addon, index) =>
    addon.enabled ? [readUserAddon(addon, texts, `spec.addons[${index}]`)] : [],
  )
  const all = read.flatMap(({ addon }) => addon.manifests)
  return {
    addons: read.map(({ addon }) => ({ ...addon, manifests: addDefaultNamespaces(addon.manifests, all) })),
    findings: read.flatMap(({ findings }) => findings),
  }
}

function readUserAddon(
  userAddon: UserAddon,
  texts: ReadonlyMap<string, string>,
  path: string,
): { readonly addon: DesiredAddon; readonly findings: readonly Finding[] } {
  const { sources, findings } = findManifestSources(userAddon, texts, path)
  const found = [
    ...sources.map(parseManifests),
    ...(Array.isArray(userAddon.inline) ? [readInlineManifests(userAddon.inline, `${path}.inline`)] : []),
  ]
  const { name, wait, timeout, force } = userAddon
  return {
    addon: {
      name,
      manifests: found.flatMap(({ manifests }) => manifests),
      force,
      wait,
      timeoutMs: timeout,
      description: 'your own',
    },
    findings: [...findings, ...found.flatMap((one) => one.findings)],
  }
}
