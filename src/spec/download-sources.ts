import { z } from 'zod'
import { secretReference } from './scalars.ts'

export const registrySchema = z
  .strictObject({
    host: z.string().min(1).meta({
      description:
        'Registry name as in image names, such as docker.io, or the host of a mirror, with its port.',
    }),
    mirrors: z
      .array(z.url({ protocol: /^https?$/ }))
      .default([])
      .meta({
        description: 'Mirrors, which are tried first. Login and `ca` of a mirror are in its own entry.',
      }),
    username: z.string().optional(),
    password: secretReference.optional(),
    ca: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'File with the CA certificates (PEM) of the registry, beside cluster.yml.' }),
    skipVerify: z.boolean().default(false).meta({
      description: 'true: accept any certificate of the registry. hyperkube warns about it.',
    }),
  })
  .meta({ id: 'Registry', description: 'Mirrors, login and CA of a registry.' })
export type RegistrySpec = z.infer<typeof registrySchema>

export const artifactsSchema = z
  .union([
    z.strictObject({
      mirror: z.url({ protocol: /^https?$/ }),
      digests: z.enum(['release', 'mirror']).default('release').meta({
        description:
          'Digests that `hyperkube lock` accepts: those of the hyperkube release, or any that the mirrors have. `mirror` is for your own builds.',
      }),
      ca: z
        .string()
        .min(1)
        .optional()
        .meta({ description: 'File with the CA certificates (PEM) of the mirror, beside cluster.yml.' }),
    }),
    z.strictObject({ bundle: z.string().min(1) }),
    z.literal('upstream'),
  ])
  .meta({
    id: 'Artifacts',
    description:
      'Source of binaries: upstream, a mirror with the same layout, or an air-gap bundle. Beside `mirror`, `digests: mirror` accepts your own builds.',
  })

/** Returns the settings of the artifact mirror; undefined if files come from upstream or a bundle. */
export function readMirror(
  artifacts: z.infer<typeof artifactsSchema>,
): { readonly mirror: string; readonly ca?: string | undefined } | undefined {
  return artifacts !== 'upstream' && 'mirror' in artifacts ? artifacts : undefined
}
