import type { z } from 'zod'
import { KubeError } from './kube-error.ts'

/** An answer as we understand it; `what` was asked. */
export function parseAnswer<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const places = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'all of it'}: ${message}`,
  )
  throw new KubeError('KUBE_ANSWER', `${what}: the answer is not what it should be: ${places.join('; ')}`)
}
