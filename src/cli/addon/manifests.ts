import { stringify } from 'yaml'
import { type Addon, labelManifests } from '../../addons/addon.ts'
import { isSecret, toReference } from '../../addons/reference.ts'
import { groupIntoWaves } from '../../addons/waves.ts'

type Manifest = Addon['manifests'][number]

/** A manifest without secret values. */
export interface ShownManifest {
  readonly addon: string
  readonly manifest: Manifest
  /** Description of the values that were left out. */
  readonly omitted?: string
}

/** Lists the manifests of an addon in the order in which they are applied. */
export function listShownManifests(addon: Addon): readonly ShownManifest[] {
  return groupIntoWaves(labelManifests(addon), toReference)
    .flat()
    .map((manifest) => ({ addon: addon.name, ...redactManifest(manifest) }))
}

/** Formats manifests as YAML documents. */
export function formatManifests(manifests: readonly ShownManifest[]): string {
  return manifests.map(formatDocument).join('---\n')
}

function formatDocument({ addon, manifest, omitted }: ShownManifest): string {
  const omittedText = omitted === undefined ? '' : `, without ${omitted}`
  // kubectl reads YAML 1.1, in which an unquoted `yes` or `on` is a boolean. Version 1.1 makes the formatter
  // quote such strings.
  const text = stringify(manifest, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 })
  return `# addon ${addon}${omittedText}\n${text}`
}

function redactManifest(manifest: Manifest): Pick<ShownManifest, 'manifest' | 'omitted'> {
  if (isSecret(manifest)) return { manifest: clearSecretValues(manifest), omitted: 'its values' }
  const { caBundle }: { caBundle?: unknown } = Object(manifest['spec'])
  if (manifest.kind === 'APIService' && caBundle === '') {
    return { manifest, omitted: 'caBundle (the CA of the cluster)' }
  }
  return { manifest }
}

/**
 * Keeps only the keys of a Secret. Values of annotations are cleared too, because kubectl stores a copy of
 * the applied Secret in an annotation.
 */
function clearSecretValues(manifest: Manifest): Manifest {
  const { metadata, data, stringData, ...omittedText } = manifest
  const { annotations, ...named } = metadata
  return {
    ...omittedText,
    metadata: { ...named, ...clearValues({ annotations }) },
    ...clearValues({ data, stringData }),
  }
}

/** Replaces all values in the maps with empty strings. */
function clearValues(maps: Readonly<Record<string, unknown>>): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Object.entries(maps)
      .filter(([, map]) => map !== undefined)
      .map(([name, map]) => [name, Object.fromEntries(Object.keys(Object(map)).map((key) => [key, '']))]),
  )
}
