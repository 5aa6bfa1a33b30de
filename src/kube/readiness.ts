import { z } from 'zod'
import { truncateList } from '../kit/text.ts'
import type { KubeClient } from './client.ts'
import { KubeError } from './kube-error.ts'
import { parseKubeResponse } from './object.ts'
import type { KubeCallOptions, KubeRequest } from './request.ts'

export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false
      /**
       * Names of the failing checks, for example etcd or poststarthook/rbac/bootstrap-roles. Empty if the
       * server did not respond.
       */
      readonly failing: readonly string[]
      readonly reason: string
    }

/**
 * Checks whether the given server is ready. Other servers of the client are not used. Throws only when
 * aborted.
 */
export async function checkReadiness(
  client: KubeClient,
  server: string,
  { signal, timeout = 10_000 }: KubeCallOptions = {},
): Promise<Readiness> {
  try {
    // The first request is already verbose, because a second request could have another result.
    const query = { verbose: '' }
    await client.text({ method: 'GET', path: '/readyz', query, server, once: true, signal, timeout })
    return { ready: true }
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    const failing = parseFailingChecks(error.apiMessage)
    return {
      ready: false,
      failing,
      reason: failing.length > 0 ? `fails ${truncateList(failing, maxNamed)}` : error.message,
    }
  }
}

/**
 * Maximum number of failing checks that a message names. A server that has just started fails about a dozen
 * checks, which would make the message too long.
 */
const maxNamed = 2

/** Reads the check names from lines such as `[-]etcd failed: reason withheld`. */
export function parseFailingChecks(text: string): string[] {
  return [...text.matchAll(/\[-\](\S+) /g)].map(([, name = '']) => name)
}

const versionResponse = z.looseObject({
  gitVersion: z.string().regex(/^v\d/),
  major: z.string(),
  minor: z.string(),
  /** Minor whose APIs the server serves. Servers before 1.34 may not report it. */
  emulationMajor: z.string().optional(),
  emulationMinor: z.string().optional(),
})
export type ServerVersion = z.infer<typeof versionResponse>

/** Reads the version of an API server, for example v1.37.1. */
export async function getServerVersion(
  client: KubeClient,
  options: KubeCallOptions & Pick<KubeRequest, 'server' | 'once'> = {},
): Promise<ServerVersion> {
  const path = '/version'
  return parseKubeResponse(versionResponse, await client.request({ method: 'GET', path, ...options }), path)
}

/**
 * Returns the version of an API server, or the minor that it emulates. A server that emulates a minor stores
 * only what that minor can read, so a return to that minor is no downgrade.
 */
export function toServedVersion({
  gitVersion,
  minor,
  emulationMajor,
  emulationMinor,
}: ServerVersion): string {
  return emulationMinor === undefined || emulationMinor === minor
    ? gitVersion.replace(/^v/, '')
    : `${emulationMajor}.${emulationMinor}`
}
