import { z } from 'zod'
import { type Format, readVersioned } from '../contract/versioned.ts'
import newest from './minors/1.37.json' with { type: 'json' }
import previous from './minors/1.36.json' with { type: 'json' }
import { toMinor } from './version.ts'
import { imageReferenceSchema, versionSchema } from './schemas.ts'

const components = z.strictObject({
  etcd: versionSchema,
  containerd: versionSchema,
  runc: versionSchema,
  cniPlugins: versionSchema,
  flannel: versionSchema,
  crictl: versionSchema,
  /** shawl runs ordinary programs as Windows services. */
  shawl: versionSchema,
})

/** A Kubernetes minor version and the components that belong to it. */
export const kubernetesMinorSchema = z
  .strictObject({
    apiVersion: z.literal('hyperkube.dev/v1'),
    kind: z.literal('KubernetesMinor'),
    minor: z.string().regex(/^\d+\.\d+$/, 'must be a minor version such as 1.37'),
    /** The patch version that the test suites of hyperkube run. */
    tested: versionSchema,
    /** Component versions for every patch version of the minor, without a leading v. */
    components,
    /** Image references with a tag, by the name that hyperkube uses. */
    images: z.record(z.string(), imageReferenceSchema),
  })
  .refine(({ minor, tested }) => toMinor(tested) === minor, 'the tested version must belong to the minor')

export type KubernetesMinor = z.infer<typeof kubernetesMinorSchema>

export const kubernetesMinorFormat: Format<KubernetesMinor> = {
  kind: 'KubernetesMinor',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: kubernetesMinorSchema },
  older: [],
}

/** Minors that are part of this release of hyperkube, newest first. */
export const shippedMinors: readonly KubernetesMinor[] = [newest, previous].map((shipped) =>
  readVersioned(kubernetesMinorFormat, shipped),
)
