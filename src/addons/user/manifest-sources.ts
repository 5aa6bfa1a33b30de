import { posix } from 'node:path'
import type { Finding } from '../../contract/finding.ts'
import type { OwnAddon } from '../../spec/user-addon.ts'

/** A text that holds manifests. */
export interface Source {
  /** As the user calls it. */
  readonly name: string
  readonly text: string
  /** Where cluster.yml names it, or holds it. */
  readonly path: string
  /** Whether it stands in cluster.yml itself. */
  readonly inline: boolean
}

export interface Sources {
  readonly sources: readonly Source[]
  readonly findings: readonly Finding[]
}

const isManifest = /\.(?:ya?ml|json)$/

/** The texts of an addon, in the order in which they are applied. */
export function sourcesOf(addon: OwnAddon, texts: ReadonlyMap<string, string>, path: string): Sources {
  const named = [
    ...addon.files.map((name, index) => ({
      name,
      path: `${path}.files[${index}]`,
      found: fileOrDirectory(name, texts),
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
      .map(({ name, path: at }) => missing(addon.name, name, at)),
  }
}

function fileOrDirectory(name: string, texts: ReadonlyMap<string, string>): string[] {
  if (texts.has(name)) return [name]
  const directory = posix.join(name, '.').replace(/\/$/, '')
  return [...texts.keys()]
    .filter((file) => isManifest.test(file) && posix.dirname(file) === directory)
    .toSorted()
}

function missing(addon: string, name: string, path: string): Finding {
  return {
    code: 'ADDON_SOURCE_MISSING',
    severity: 'error',
    message: `addon ${addon}: there is no file ${name}, and no directory of that name with manifests`,
    hint: 'names are relative to cluster.yml; in a directory *.yml, *.yaml and *.json are read',
    path,
  }
}
