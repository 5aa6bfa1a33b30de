import { z } from 'zod'
import type { Format } from '../../contract/versioned.ts'

const manifest = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('SupportBundle'),
  cluster: z.string(),
  created: z.iso.datetime(),
  /** The release that made it. */
  hyperkube: z.string(),
  /** All that were asked; with a reason where one did not answer. */
  hosts: z.array(z.strictObject({ host: z.string(), reason: z.string().optional() })),
  files: z.array(
    z.strictObject({ path: z.string(), size: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
  /** What should be in it and is not, and why. */
  leftOut: z.array(z.strictObject({ what: z.string(), reason: z.string() })),
  /** What is never in it, for whoever is to give it away. */
  never: z.array(z.string()),
})
/** What is in a bundle for support. */
export type SupportManifest = z.infer<typeof manifest>

export const supportFormat: Format<SupportManifest> = {
  kind: 'SupportBundle',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifest },
  older: [],
}

export const never: readonly string[] = [
  'Secrets and ConfigMaps: they are not asked for',
  'kubeconfigs, private keys, cluster.identity and its key: they are not read',
  'commands, environments and volumes of pods',
  'what is in files of your own that are kept on hosts',
  'secrets of the identity, private keys, tokens and passwords that a scan found in texts: [removed] stands there',
]
