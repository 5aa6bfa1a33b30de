import { z } from 'zod'

export type KubeMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type KubeQuery = Readonly<Record<string, string | number | boolean | undefined>>

/** Options of every API call. */
export interface KubeCallOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for all attempts together. */
  readonly timeout?: number | undefined
}

export interface KubeRequest extends KubeCallOptions {
  readonly method: KubeMethod
  readonly path: string
  readonly query?: KubeQuery
  /** Request body, sent as JSON. */
  readonly body?: unknown
  readonly contentType?: string
  /** Accept header; application/json if undefined. */
  readonly accept?: string
  /** Sends the request only to this server, which may be unknown to the client. */
  readonly server?: string
  /** True to try each server only once. */
  readonly once?: boolean
  /** True to allow retries of a request that `isIdempotent` would otherwise reject, such as a merge patch. */
  readonly idempotent?: boolean | undefined
}

/** Content type of server-side apply. The body may be JSON, because JSON is valid YAML. */
export const applyPatchType = 'application/apply-patch+yaml'

/** Content type of a JSON merge patch (RFC 7386). */
export const mergePatchType = 'application/merge-patch+json'

/**
 * True if the request may be sent again when its result is unknown. A PUT with a resourceVersion is safe,
 * because it can take effect only once.
 */
export function isIdempotent({ method, body, contentType, idempotent = false }: KubeRequest): boolean {
  if (idempotent) return true
  if (method === 'PUT') return versioned.safeParse(body).success
  if (method === 'PATCH') return contentType === applyPatchType
  return method !== 'POST'
}

const versioned = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string().min(1) }) })

/** Builds the path and query of the request. */
export function buildRequestTarget({ path, query = {} }: Pick<KubeRequest, 'path' | 'query'>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value))
  return params.size === 0 ? path : `${path}?${params.toString()}`
}

/** Describes the request for messages. Omits the query, because continue tokens are long and meaningless. */
export function describeRequest({ method, path }: Pick<KubeRequest, 'method' | 'path'>): string {
  return `${method} ${path}`
}
