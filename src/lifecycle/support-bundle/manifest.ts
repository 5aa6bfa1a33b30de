import { z } from 'zod'
import type { Format } from '../../contract/versioned.ts'

const manifestSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('SupportBundle'),
  cluster: z.string(),
  created: z.iso.datetime(),
  /** The hyperkube version that created the bundle. */
  hyperkube: z.string(),
  /** All hosts. `reason` is set if a host was not reached. */
  hosts: z.array(z.strictObject({ host: z.string(), reason: z.string().optional() })),
  files: z.array(
    z.strictObject({ path: z.string(), size: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
  /** Missing entries, with the reason. */
  omitted: z.array(z.strictObject({ item: z.string(), reason: z.string() })),
  /** Kinds of data that a bundle never contains, so that people know what they share. */
  excluded: z.array(z.string()),
})
/** Manifest of a support bundle. */
export type SupportManifest = z.infer<typeof manifestSchema>

export const supportManifestFormat: Format<SupportManifest> = {
  kind: 'SupportBundle',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifestSchema },
  older: [],
}

export const excludedContents: readonly string[] = [
  'Secrets and ConfigMaps: they are not requested',
  'kubeconfigs, private keys, cluster.identity and its key: they are not read',
  'commands, environments and volumes of pods',
  'contents of your own files on hosts',
  'secrets of the identity, and private keys, tokens and passwords found in texts: replaced by [removed]',
]
