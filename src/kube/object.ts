import { z } from 'zod'
import { KubeError } from './kube-error.ts'

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

/**
 * True if an object already matches a manifest. Fields that the manifest omits may have any value; lists must
 * have the same length and matching items.
 */
export function satisfies(actual: unknown, desired: unknown): boolean {
  if (desired === undefined) return true
  if (Array.isArray(desired)) {
    return (
      Array.isArray(actual) &&
      actual.length === desired.length &&
      desired.every((item, index) => satisfies(actual[index], item))
    )
  }
  if (typeof desired !== 'object' || desired === null) return actual === desired
  if (typeof actual !== 'object' || actual === null) return false
  const actualFields = new Map<string, unknown>(Object.entries(actual))
  return Object.entries(desired).every(([key, value]) => satisfies(actualFields.get(key), value))
}

/** Validates a response with a schema. `what` names the request in error messages. */
export function parseKubeResponse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the object'}: ${message}`,
  )
  throw new KubeError('KUBE_INVALID_RESPONSE', `${what}: unexpected response: ${problems.join('; ')}`)
}
