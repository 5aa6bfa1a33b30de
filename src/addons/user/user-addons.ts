import type { Finding } from '../../contract/finding.ts'
import type { Manifest } from '../../kube/object.ts'
import type { UserAddon } from '../../spec/addons.ts'
import type { DesiredAddon } from '../addon.ts'
import { readChart, type RenderedChart } from '../chart/read-chart.ts'
import { addReleaseNamespaces } from '../chart/release-namespaces.ts'
import { addDefaultNamespace, createScopeLookup } from './default-namespace.ts'
import { findManifestSources } from './manifest-sources.ts'
import { type ManifestsResult, parseManifests, readInlineManifests } from './parse-manifests.ts'

export interface UserAddons {
  readonly addons: readonly DesiredAddon[]
  readonly findings: readonly Finding[]
}

/** Contents of user addons that were read before. */
export interface UserAddonContents {
  /** Contents of files and URLs, by the name in cluster.yml. */
  readonly sources: ReadonlyMap<string, string>
  /** Rendered charts, by the name of the addon. */
  readonly charts: ReadonlyMap<string, RenderedChart>
}

/** Reads the enabled user addons in the order of cluster.yml. */
export function readUserAddons(addons: readonly UserAddon[], contents: UserAddonContents): UserAddons {
  const read = addons.flatMap((addon, index) =>
    addon.enabled ? [{ addon, ...readManifests(addon, contents, `spec.addons[${index}]`) }] : [],
  )
  const isNamespaced = createScopeLookup(read.flatMap(({ manifests }) => manifests))
  const located = read.map(({ addon, manifests }) => {
    const namespace = addon.chart?.namespace ?? 'default'
    return { addon, manifests: addDefaultNamespace(manifests, namespace, isNamespaced) }
  })
  return {
    addons: addReleaseNamespaces(located).map(({ addon, manifests }) => toDesiredAddon(addon, manifests)),
    findings: read.flatMap(({ findings }) => findings),
  }
}

function readManifests(
  addon: UserAddon,
  { sources: texts, charts }: UserAddonContents,
  path: string,
): ManifestsResult {
  const { name, chart } = addon
  if (chart !== undefined) {
    const rendered = charts.get(name)
    // Without a finding, all objects of the addon would be removed from the cluster.
    if (rendered === undefined) return { manifests: [], findings: [buildNotRenderedFinding(name, path)] }
    return readChart(rendered, { addon: name, chart, path: `${path}.chart` })
  }
  const { sources, findings } = findManifestSources(addon, texts, path)
  const found = [
    ...sources.map(parseManifests),
    ...(Array.isArray(addon.inline) ? [readInlineManifests(addon.inline, `${path}.inline`)] : []),
  ]
  return {
    manifests: found.flatMap(({ manifests }) => manifests),
    findings: [...findings, ...found.flatMap((one) => one.findings)],
  }
}

function buildNotRenderedFinding(addon: string, path: string): Finding {
  const message = `addon ${addon}: its chart was not rendered`
  return { code: 'ADDON_SOURCE_MISSING', severity: 'error', message, path: `${path}.chart` }
}

function toDesiredAddon(
  { name, wait, timeout, force, chart }: UserAddon,
  manifests: readonly Manifest[],
): DesiredAddon {
  return {
    name,
    manifests,
    force,
    wait,
    timeoutMs: timeout,
    ...(chart === undefined
      ? { description: 'user addon' }
      : { description: 'Helm chart', version: chart.version }),
  }
}
