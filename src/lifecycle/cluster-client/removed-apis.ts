import { parseVersion } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'
import type { KubeClient } from '../../kube/client.ts'

/** A deprecated API that clients have used since the API server started. */
export interface DeprecatedApi {
  /** Value of apiVersion, for example policy/v1beta1. */
  readonly version: string
  readonly resource: string
  /** The first Kubernetes release without the API, for example 1.38. */
  readonly removedIn: string
}

const metricPattern = /^apiserver_requested_deprecated_apis\{(?<labels>[^}]*)\} 1$/gm

/** Parses the metrics of an API server and returns the deprecated APIs in use. */
export function parseDeprecatedApis(metrics: string): DeprecatedApi[] {
  return [...metrics.matchAll(metricPattern)].flatMap(({ groups }) => {
    const labels = new Map(
      [...(groups?.['labels'] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        value,
      ]),
    )
    const [group = '', version = '', resource = ''] = ['group', 'version', 'resource'].map((key) =>
      labels.get(key),
    )
    const removedIn = labels.get('removed_release') ?? ''
    if (removedIn === '') return []
    return [{ version: group === '' ? version : `${group}/${version}`, resource, removedIn }]
  })
}

/** Finds APIs in use that the desired version no longer serves. */
export function findRemovedApis(desiredVersion: string, apis: readonly DeprecatedApi[]): Finding[] {
  const [, minor] = parseVersion(desiredVersion)
  const removedApis = apis.filter(({ removedIn }) => parseVersion(removedIn)[1] <= minor)
  const names = new Set(removedApis.map(({ version, resource }) => `${resource} of ${version}`))
  return [...names].toSorted().map((name) => ({
    code: 'UPGRADE_API_REMOVED',
    severity: 'error',
    message: `clients use ${name}, which Kubernetes ${desiredVersion} no longer serves`,
    hint: 'find these clients in the audit log and migrate them to a newer API version; if no client needs this API: --ignore UPGRADE_API_REMOVED',
  }))
}

/** Checks the APIs in use. Every server is queried, because each one counts only its own requests. */
export async function checkRemovedApis(
  api: KubeClient,
  servers: readonly string[],
  desiredVersion: string,
): Promise<Finding[]> {
  const requestedApis = await Promise.all(
    servers.map(async (server) =>
      api.text({ method: 'GET', path: '/metrics', server, once: true, timeout: 15_000 }).then(
        parseDeprecatedApis,
        // Unreachable servers are reported by another check.
        () => [],
      ),
    ),
  )
  return findRemovedApis(desiredVersion, requestedApis.flat())
}
