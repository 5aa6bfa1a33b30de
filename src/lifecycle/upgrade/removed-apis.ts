import { numbersOf } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'
import type { KubeClient } from '../../kube/client.ts'

/** An API that somebody has asked for since the server began, and that will be no more. */
export interface DeprecatedApi {
  /** As in apiVersion: policy/v1beta1. */
  readonly version: string
  readonly resource: string
  /** From this release on it is gone: 1.38. */
  readonly removed: string
}

const line = /^apiserver_requested_deprecated_apis\{(?<labels>[^}]*)\} 1$/gm

/** Of what an API server measures of itself. */
export function deprecatedApis(metrics: string): DeprecatedApi[] {
  return [...metrics.matchAll(line)].flatMap(({ groups }) => {
    const labels = new Map(
      [...(groups?.['labels'] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        value,
      ]),
    )
    const [group = '', version = '', resource = ''] = ['group', 'version', 'resource'].map((key) =>
      labels.get(key),
    )
    const removed = labels.get('removed_release') ?? ''
    if (removed === '') return []
    return [{ version: group === '' ? version : `${group}/${version}`, resource, removed }]
  })
}

/** What would be asked for in vain after a change to this version. */
export function removedFindings(wished: string, apis: readonly DeprecatedApi[]): Finding[] {
  const [, minor] = numbersOf(wished)
  const gone = apis.filter(({ removed }) => numbersOf(removed)[1] <= minor)
  const names = new Set(gone.map(({ version, resource }) => `${resource} of ${version}`))
  return [...names].toSorted().map((name) => ({
    code: 'UPGRADE_API_REMOVED',
    severity: 'error',
    message: `somebody has asked for ${name}, which ${wished} has no more`,
    hint: 'find who asks (the audit log says it), and let them use a newer version; if nobody needs it: --ignore UPGRADE_API_REMOVED',
  }))
}

/** Asks each server: each knows only of who has asked it. */
export async function lookForRemoved(
  api: KubeClient,
  servers: readonly string[],
  wished: string,
): Promise<Finding[]> {
  const seen = await Promise.all(
    servers.map(async (server) =>
      api.text({ method: 'GET', path: '/metrics', server, once: true, timeout: 15_000 }).then(
        deprecatedApis,
        // One that does not answer is told of elsewhere.
        () => [],
      ),
    ),
  )
  return removedFindings(wished, seen.flat())
}
