import { posix } from 'node:path'
import type { Finding } from '../../contract/finding.ts'
import type { UserAddon } from '../../spec/addons.ts'

/** A YAML text that contains manifests. */
export interface ManifestSource {
  /** Path or URL of the source, or `inline`. */
  readonly name: string
  readonly text: string
  /** Position of the source in cluster.yml. */
  readonly path: string
  /** True if the text is part of cluster.yml. */
  readonly inline: boolean
}

export interface ManifestSources {
  readonly sources: readonly ManifestSource[]
  readonly findings: readonly Finding[]
}

const manifestFilePattern = /\.(?:ya?ml|json)$/

/** Finds the manifest texts of an addon, in the order of applying. */
export function findManifestSources(
  addon: UserAddon,
  texts: ReadonlyMap<string, string>,
  path: string,
): ManifestSources {
  const named = [
    ...addon.files.map((name, index) => ({
      name,
      path: `${path}.files[${index}]`,
      found: resolveFiles(name, texts),
    })),
    ...addon.urls.map(({ url }, index) => ({
      name: url,
      path: `${path}.urls[${index}]`,
      found: texts.has(url) ? [url] : [],
    })),
  ]
  const sources = named.flatMap(({ path: at, found }) =>
    found.map((name) => ({ name, text: texts.get(name) ?? '', path: at, inline: false })),
  )
  const inline =
    typeof addon.inline === 'string'
      ? [{ name: 'inline', text: addon.inline, path: `${path}.inline`, inline: true }]
      : []
  return {
    sources: [...sources, ...inline],
    findings: named
      .filter(({ found }) => found.length === 0)
      .map(({ name, path: at }) => buildMissingFinding(addon.name, name, at)),
  }
}

function resolveFiles(name: string, texts: ReadonlyMap<string, string>): string[] {
  if (texts.has(name)) return [name]
  const directory = posix.join(name, '.').replace(/\/$/, '')
  return [...texts.keys()]
    .filter((file) => manifestFilePattern.test(file) && posix.dirname(file) === directory)
    .toSorted()
}

function buildMissingFinding(addon: string, name: string, path: string): Finding {
  return {
    code: 'ADDON_SOURCE_MISSING',
    severity: 'error',
    message: `addon ${addon}: ${name} is neither a file nor a directory with manifests`,
    hint: 'paths are relative to cluster.yml; in a directory hyperkube reads *.yml, *.yaml and *.json',
    path,
  }
}
