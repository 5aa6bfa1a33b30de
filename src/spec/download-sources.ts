import { z } from 'zod'
import type { Cluster } from './cluster.ts'
import { type Problem, warningProblem } from './problem.ts'
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

/** Warns about registries whose certificates are not verified. */
export function checkSkippedVerification({ spec }: Cluster): Problem[] {
  return spec.registries.flatMap(({ host, skipVerify }, index) =>
    skipVerify
      ? [
          warningProblem(
            'SPEC_SKIP_VERIFY',
            ['spec', 'registries', index, 'skipVerify'],
            `the certificate of ${host} is not verified: an attacker on the network can replace images and read the password`,
            'remove skipVerify and set the file of its CA: ca: registry-ca.pem',
          ),
        ]
      : [],
  )
}

/** A file with CA certificates that cluster.yml names, and its path in cluster.yml. */
export interface CaFile {
  readonly file: string
  readonly path: string
}

/** Lists the CA files for downloads and images. */
export function listCaFiles({ spec }: Cluster): readonly CaFile[] {
  const { registries, artifacts, proxy } = spec
  const named: readonly (readonly [path: string, file: string | undefined])[] = [
    ...registries.map(({ ca }, index) => [`spec.registries[${index}].ca`, ca] as const),
    ['spec.artifacts.ca', readMirror(artifacts)?.ca],
    ['spec.proxy.ca', proxy?.ca],
  ]
  return named.flatMap(([path, file]) => (file === undefined ? [] : [{ file, path }]))
}

/** Returns the settings of the artifact mirror; undefined if files come from upstream or a bundle. */
export function readMirror(
  artifacts: Cluster['spec']['artifacts'],
): { readonly mirror: string; readonly ca?: string | undefined } | undefined {
  return artifacts !== 'upstream' && 'mirror' in artifacts ? artifacts : undefined
}

/** Describes a CA file that cannot be used. */
export function describeInvalidCa(file: string): { readonly message: string; readonly hint: string } {
  return {
    message: `${file} must contain CA certificates in PEM format and no private key`,
    hint: `show its contents: openssl x509 -noout -subject -in ${file}`,
  }
}
