import { z } from 'zod'
import { parseImage } from '../contract/image-reference.ts'
import { type Format, readVersioned } from '../contract/versioned.ts'
import newest from './minors/1.37.json' with { type: 'json' }
import previous from './minors/1.36.json' with { type: 'json' }
import { toMinor } from './version.ts'

const version = z.string().regex(/^\d+\.\d+\.\d+$/, 'must be a full version such as 1.37.1')

const components = z.strictObject({
  etcd: version,
  containerd: version,
  runc: version,
  cniPlugins: version,
  flannel: version,
  crictl: version,
  /** shawl runs ordinary programs as Windows services. */
  shawl: version,
})

const document = z
  .strictObject({
    apiVersion: z.literal('hyperkube.dev/v1'),
    kind: z.literal('KubernetesMinor'),
    minor: z.string().regex(/^\d+\.\d+$/, 'must be a minor version such as 1.37'),
    /** The patch version that the test suites of hyperkube run. */
    tested: version,
    /** Component versions for every patch version of the minor, without a leading v. */
    components,
    /** Image references with a tag, by the name that hyperkube uses. */
    images: z.record(
      z.string(),
      z.string().refine((text) => parseImage(text) !== undefined, 'must be a full image name'),
    ),
  })
  .refine(({ minor, tested }) => toMinor(tested) === minor, 'the tested version must belong to the minor')

/** A Kubernetes minor version and the components that belong to it. */
export type KubernetesMinor = z.infer<typeof document>

export const kubernetesMinorFormat: Format<KubernetesMinor> = {
  kind: 'KubernetesMinor',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** Minors that are part of this release of hyperkube, newest first. */
export const shippedMinors: readonly KubernetesMinor[] = [newest, previous].map((shipped) =>
  readVersioned(kubernetesMinorFormat, shipped),
)
