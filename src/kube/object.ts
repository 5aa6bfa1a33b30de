import { z } from 'zod'

/** Metadata fields that hyperkube reads. */
export const metadata = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.int().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  deletionTimestamp: z.string().optional(),
})

/** An object as the API returns it. */
export const kubeObject = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata })
export type KubeObject = z.infer<typeof kubeObject>

/** A desired object, as sent to the API. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string | undefined
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

/** An API kind and the schema of its objects. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly schema: z.ZodType<T>
}

/** Creates a kind whose objects are checked only for apiVersion, kind and metadata. */
export function createUntypedKind(apiVersion: string, kind: string): Kind {
  return { apiVersion, kind, schema: kubeObject }
}

/** Identifies an object among the objects of its kind. */
export interface NamespacedName {
  readonly name: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string | undefined
}
