import { z } from 'zod'

/** What all objects have in common, as far as we look at it. */
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

/** An object as the API has it. Times are text: JSON knows no others. */
export const kubeObject = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata })
export type KubeObject = z.infer<typeof kubeObject>

/** An object as somebody wishes it. */
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

/** What objects of a kind look like. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly schema: z.ZodType<T>
}

/** A kind of which no more is known than of all. */
export function kindOf(apiVersion: string, kind: string): Kind {
  return { apiVersion, kind, schema: kubeObject }
}

/** Which object of its kind. */
export interface Place {
  readonly name: string
  /** None for those that belong to the whole cluster. */
  readonly namespace?: string | undefined
}
