import { z } from 'zod'
import { formatError } from '../../../src/kit/errors.ts'

/** How the connection of a pod to another one ended, or why that is not known. */
export type DialResult =
  | { readonly outcome: 'connected' | 'blocked' }
  | { readonly outcome: 'unknown'; readonly reason: string }

/** Response of agnhost. A connection that is blocked ends after 5 seconds, and is one of the errors. */
const dialResponse = z.object({
  responses: z.array(z.string()).default([]),
  errors: z.array(z.string()).default([]),
})

/** Asks agnhost in a pod to connect to another one. `request` sends a request to the pod through the API server. */
export async function dial(request: () => Promise<unknown>): Promise<DialResult> {
  try {
    const { responses, errors } = dialResponse.parse(await request())
    if (responses.length > 0) return { outcome: 'connected' }
    if (errors.length > 0) return { outcome: 'blocked' }
    return { outcome: 'unknown', reason: 'the pod reported nothing' }
  } catch (error) {
    // The request did not reach the pod, so it shows nothing about the connection between the pods.
    return { outcome: 'unknown', reason: formatError(error) }
  }
}

/**
 * Lists what is wrong with a NetworkPolicy, by a connection that it allows and one that it forbids. Without an engine
 * of policies, both connect.
 */
export function findPolicyProblems(
  allowed: DialResult,
  forbidden: DialResult,
  isEnforced: boolean,
): string[] {
  return [
    ...[allowed, forbidden].flatMap((result) =>
      result.outcome === 'unknown'
        ? [`a pod could not be asked about the NetworkPolicy: ${result.reason}`]
        : [],
    ),
    ...(allowed.outcome === 'blocked' ? ['the NetworkPolicy blocks what it allows'] : []),
    ...(forbidden.outcome === 'connected' && isEnforced ? ['the NetworkPolicy blocks nothing'] : []),
  ]
}
