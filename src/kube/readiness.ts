import { z } from 'zod'
import { firstFew } from '../kit/truncate-list.ts'
import type { KubeClient } from './client.ts'
import { KubeError } from './kube-error.ts'
import { parseAnswer } from './parse-response.ts'
import type { CallOptions, KubeRequest } from './request.ts'

export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false
      /** The checks that fail, as the server calls them: etcd, poststarthook/rbac/bootstrap-roles. None when it is silent. */
      readonly failing: readonly string[]
      readonly reason: string
    }

/** Whether one server, and no other in its place, is ready for requests. Never fails, but for an abort. */
export async function ready(
  client: KubeClient,
  server: string,
  { signal, timeout = 10_000 }: CallOptions = {},
): Promise<Readiness> {
  try {
    // In words at once: asked a second time, it may already be another answer.
    const query = { verbose: '' }
    await client.text({ method: 'GET', path: '/readyz', query, server, once: true, signal, timeout })
    return { ready: true }
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    const failing = failingChecks(error.said)
    return {
      ready: false,
      failing,
      reason: failing.length > 0 ? `fails ${firstFew(failing, mostNamed)}` : error.message,
    }
  }
}

/** A server that has just begun fails a dozen of them. */
const mostNamed = 2

/** Of lines such as `[-]etcd failed: reason withheld`. */
export function failingChecks(text: string): string[] {
  return [...text.matchAll(/\[-\](\S+) /g)].map(([, name = '']) => name)
}

const versionAnswer = z.looseObject({
  gitVersion: z.string().regex(/^v\d/),
  major: z.string(),
  minor: z.string(),
})
export type Version = z.infer<typeof versionAnswer>

/** Of the server that answers: v1.37.1. */
export async function version(
  client: KubeClient,
  options: CallOptions & Pick<KubeRequest, 'server' | 'once'> = {},
): Promise<Version> {
  const path = '/version'
  return parseAnswer(versionAnswer, await client.request({ method: 'GET', path, ...options }), path)
}
