import { createHash } from 'node:crypto'
import type { Manifest } from '../kube/object.ts'
import { isSecret } from './reference.ts'

/** A set of objects that is applied, kept as desired, and removed as a whole. */
export interface Addon {
  /** Addon name. It must be a valid label value of lower-case letters, digits and dashes. */
  readonly name: string
  readonly manifests: readonly Manifest[]
  /** True to take over fields that other field managers own. */
  readonly force?: boolean
  /** False to wait only for CRDs and namespaces. Other objects only have to exist. */
  readonly wait?: boolean
}

/** An addon that a cluster must have. */
export interface DesiredAddon extends Addon {
  /** False to continue with the next addon before the workloads of this addon are ready. */
  readonly wait: boolean
  /** Maximum wait until the addon is ready, in milliseconds. */
  readonly timeoutMs: number
  readonly version?: string
  /** Short description of the addon, shown to operators. */
  readonly description: string
}

/** Label on every object of an addon. Its value is the name of the addon. */
export const addonLabel = 'hyperkube.dev/addon'

/** Adds the addon label to all manifests. */
export function labelManifests({ name, manifests }: Pick<Addon, 'name' | 'manifests'>): Manifest[] {
  return manifests.map((manifest) => ({
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...Object(manifest.metadata['labels']), [addonLabel]: name },
    },
  }))
}

/**
 * Computes the digest of all objects that an addon desires. Values of Secrets are left out: other users may
 * read the digest and could guess a short password from it.
 */
export function computeAddonDigest(addon: Addon): string {
  return createHash('sha256')
    .update(JSON.stringify(labelManifests(addon).map(orderIdentity).map(redactSecret)))
    .digest('hex')
}

/**
 * Puts the fields that identify the object first. Settings of controllers and documents of fleets are read in
 * this order, and their digest must be that of the operator who applies the addon.
 */
function orderIdentity({ apiVersion, kind, metadata, ...fields }: Manifest): Manifest {
  const { name, namespace, ...rest } = metadata
  const ordered = { name, ...(namespace === undefined ? {} : { namespace }), ...rest }
  return { apiVersion, kind, metadata: ordered, ...fields }
}

function redactSecret(manifest: Manifest): object {
  if (!isSecret(manifest)) return manifest
  const { data, stringData, ...rest } = manifest
  return { ...rest, keys: [listKeys(data), listKeys(stringData)] }
}

function listKeys(values: unknown): string[] {
  return Object.keys(Object(values))
}
