import type { z } from 'zod'
import { KubeError } from './kube-error.ts'

/** Validates a response with a schema. `what` names the request in error messages. */
export function parseKubeResponse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'all of it'}: ${message}`,
  )
  throw new KubeError(
    'KUBE_INVALID_RESPONSE',
    `${what}: the answer is not what it should be: ${problems.join('; ')}`,
  )
}
