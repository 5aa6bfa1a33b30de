import type { Finding } from '../../contract/finding.ts'
import type { OwnAddon } from '../../spec/user-addon.ts'
import type { WishedAddon } from '../desired-addon.ts'
import { manifestsIn, manifestsOf } from './parse-manifests.ts'
import { withNamespaces } from './default-namespaces.ts'
import { sourcesOf } from './manifest-sources.ts'

export interface OwnAddons {
  readonly addons: readonly WishedAddon[]
  readonly findings: readonly Finding[]
}

/** The user's own addons that are not switched off, in the order of cluster.yml. */
export function ownAddons(addons: readonly OwnAddon[], texts: ReadonlyMap<string, string>): OwnAddons {
  const read = addons.flatMap((addon, index) =>
    addon.enabled ? [readOwn(addon, texts, `spec.addons[${index}]`)] : [],
  )
  const all = read.flatMap(({ addon }) => addon.manifests)
  return {
    addons: read.map(({ addon }) => ({ ...addon, manifests: withNamespaces(addon.manifests, all) })),
    findings: read.flatMap(({ findings }) => findings),
  }
}

function readOwn(
  own: OwnAddon,
  texts: ReadonlyMap<string, string>,
  path: string,
): { readonly addon: WishedAddon; readonly findings: readonly Finding[] } {
  const { sources, findings } = sourcesOf(own, texts, path)
  const found = [
    ...sources.map(manifestsIn),
    ...(Array.isArray(own.inline) ? [manifestsOf(own.inline, `${path}.inline`)] : []),
  ]
  const { name, wait, timeout, force } = own
  return {
    addon: {
      name,
      manifests: found.flatMap(({ manifests }) => manifests),
      force,
      wait,
      timeout,
      about: 'your own',
    },
    findings: [...findings, ...found.flatMap((one) => one.findings)],
  }
}
