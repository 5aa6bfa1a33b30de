import { z } from 'zod'
import { type Format, readVersioned } from '../contract/versioned.ts'
import minor32 from './minors/1.32.json' with { type: 'json' }
import minor33 from './minors/1.33.json' with { type: 'json' }
import minor34 from './minors/1.34.json' with { type: 'json' }
import minor35 from './minors/1.35.json' with { type: 'json' }
import minor36 from './minors/1.36.json' with { type: 'json' }
import minor37 from './minors/1.37.json' with { type: 'json' }
import { toMinor } from './version.ts'
import { imageReferenceSchema, versionSchema } from './schemas.ts'

const components = z.strictObject({
  etcd: versionSchema,
  containerd: versionSchema,
  runc: versionSchema,
  cniPlugins: versionSchema,
  flannel: versionSchema,
  /** kube-router enforces NetworkPolicy. Catalogs of older releases do not name a version. */
  kubeRouter: versionSchema.default('2.10.0'),
  crictl: versionSchema,
  /** shawl runs ordinary programs as Windows services. */
  shawl: versionSchema,
})

/** Images of MetalLB. Catalogs of older releases do not name them. */
const metallbImages = {
  'metallb-controller': 'quay.io/metallb/controller:v0.16.1',
  'metallb-speaker': 'quay.io/metallb/speaker:v0.16.1',
}

/** A Kubernetes minor version and the components that belong to it. */
export const kubernetesMinorSchema = z
  .strictObject({
    apiVersion: z.literal('hyperkube.dev/v1'),
    kind: z.literal('KubernetesMinor'),
    minor: z.string().regex(/^\d+\.\d+$/, 'must be a minor version such as 1.37'),
    /** The patch version that the lab builds. docs/evidence/minors.md records what ran on it. */
    defaultPatch: versionSchema,
    /** Component versions for every patch version of the minor, without a leading v. */
    components,
    /** Image references with a tag, by the name that hyperkube uses. */
    images: z
      .record(z.string(), imageReferenceSchema)
      .transform((images): Record<string, string> => ({ ...metallbImages, ...images })),
    /**
     * Flags that hyperkube sets and whose names differ between minors. For each program: flag names without
     * dashes, and their values.
     */
    flags: z.strictObject({ etcd: z.record(z.string(), z.string()) }),
    /** apiVersion of configuration files, by kind. Only for kinds whose apiVersion differs between minors. */
    apiVersions: z.strictObject({ AuthenticationConfiguration: z.string().min(1) }),
  })
  .refine(
    ({ minor, defaultPatch }) => toMinor(defaultPatch) === minor,
    'the default patch must belong to the minor',
  )

export type KubernetesMinor = z.infer<typeof kubernetesMinorSchema>

export const kubernetesMinorFormat: Format<KubernetesMinor> = {
  kind: 'KubernetesMinor',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: kubernetesMinorSchema },
  older: [],
}

/** Minors that are part of this release of hyperkube, newest first. */
export const shippedMinors: readonly KubernetesMinor[] = [
  minor37,
  minor36,
  minor35,
  minor34,
  minor33,
  minor32,
].map((shipped) => readVersioned(kubernetesMinorFormat, shipped))
