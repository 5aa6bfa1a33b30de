import { z } from 'zod'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** What every call may be given. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for all attempts together. */
  readonly timeout?: number | undefined
}

export interface KubeRequest extends CallOptions {
  readonly method: Method
  readonly path: string
  readonly query?: Query
  /** Sent as JSON. */
  readonly body?: unknown
  readonly contentType?: string
  /** In which form the answer is wanted; JSON as it is kept when it is left out. */
  readonly accept?: string
  /** Of this server alone, which need not be one of the client's. */
  readonly server?: string
  /** Once, whatever comes of it. */
  readonly once?: boolean
}

/** Server-side apply. JSON is YAML. */
export const applyPatch = 'application/apply-patch+yaml'

/** RFC 7386. */
export const mergePatch = 'application/merge-patch+json'

/**
 * Whether it may be sent again when nobody knows what became of it. A PUT that names the version it replaces can only
 * take effect once.
 */
export function isIdempotent({ method, body, contentType }: KubeRequest): boolean {
  if (method === 'PUT') return versioned.safeParse(body).success
  if (method === 'PATCH') return contentType === applyPatch
  return method !== 'POST'
}

const versioned = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string().min(1) }) })

/** The path with its query, as it stands in the first line of a request. */
export function target({ path, query = {} }: Pick<KubeRequest, 'path' | 'query'>): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? path : `${path}?${given.toString()}`
}

/** What was asked, for messages. Without the query: tokens of paging are long, and say nothing. */
export function described({ method, path }: Pick<KubeRequest, 'method' | 'path'>): string {
  return `${method} ${path}`
}
