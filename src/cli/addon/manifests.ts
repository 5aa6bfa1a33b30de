import { stringify } from 'yaml'
import { type Addon, labelled } from '../../addons/addon.ts'
import { referenceOf } from '../../addons/reference.ts'
import { isSecret } from '../../addons/secret.ts'
import { inWaves } from '../../addons/waves.ts'

type Manifest = Addon['manifests'][number]

/** A manifest as anybody may see it. */
export interface ShownManifest {
  readonly addon: string
  readonly manifest: Manifest
  /** What is missing in it. */
  readonly without?: string
}

/** The manifests of an addon as they are applied, in their order. */
export function shownManifests(addon: Addon): readonly ShownManifest[] {
  return inWaves(labelled(addon), referenceOf)
    .flat()
    .map((manifest) => ({ addon: addon.name, ...shown(manifest) }))
}

/** One document after the other. */
export function manifestsText(manifests: readonly ShownManifest[]): string {
  return manifests.map(documentText).join('---\n')
}

function documentText({ addon, manifest, without }: ShownManifest): string {
  const rest = without === undefined ? '' : `, without ${without}`
  // As kubectl reads it: there a bare `yes` or `on` is no text.
  const text = stringify(manifest, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 })
  return `# addon ${addon}${rest}\n${text}`
}

function shown(manifest: Manifest): Pick<ShownManifest, 'manifest' | 'without'> {
  if (isSecret(manifest)) return { manifest: withoutValues(manifest), without: 'its values' }
  const { caBundle }: { caBundle?: unknown } = Object(manifest['spec'])
  if (manifest.kind === 'APIService' && caBundle === '') {
    return { manifest, without: 'caBundle, which is the authority of the cluster' }
  }
  return { manifest }
}

/** A Secret with its keys alone. An annotation may hold all of it: kubectl keeps there what it has applied. */
function withoutValues(manifest: Manifest): Manifest {
  const { metadata, data, stringData, ...rest } = manifest
  const { annotations, ...named } = metadata
  return {
    ...rest,
    metadata: { ...named, ...emptied({ annotations }) },
    ...emptied({ data, stringData }),
  }
}

/** Of some maps the keys. */
function emptied(maps: Readonly<Record<string, unknown>>): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Object.entries(maps)
      .filter(([, map]) => map !== undefined)
      .map(([name, map]) => [name, Object.fromEntries(Object.keys(Object(map)).map((key) => [key, '']))]),
  )
}
