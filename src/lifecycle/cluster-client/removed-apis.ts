import { z } from 'zod'
import {
  findRemovedManifests,
  type KeptManifest,
  listKindsRemovedUntil,
} from '../../catalog/removed-kinds.ts'
import { parseVersion } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createUntypedKind, type KubeObject } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'

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

/**
 * Finds APIs in use that the desired version no longer serves, with the version that removes each of them.
 */
export function findRemovedApis(desiredVersion: string, apis: readonly DeprecatedApi[]): Finding[] {
  const [, minor] = parseVersion(desiredVersion)
  const removedApis = apis.filter(({ removedIn }) => parseVersion(removedIn)[1] <= minor)
  const names = new Map(
    removedApis.map(({ version, resource, removedIn }) => [`${resource} of ${version}`, removedIn]),
  )
  const sorted = [...names].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([name, removedIn]) => ({
    code: 'UPGRADE_API_REMOVED',
    severity: 'error',
    message: `clients use ${name}, which Kubernetes ${removedIn} no longer serves`,
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
        // An unreachable server is ignored here, because another check reports it.
        () => [],
      ),
    ),
  )
  return [
    ...findRemovedApis(desiredVersion, requestedApis.flat()),
    ...findRemovedManifests(desiredVersion, await listAppliedManifests(api, desiredVersion)),
  ]
}

const lastApplied = z.looseObject({ apiVersion: z.string(), kind: z.string() })

/**
 * Lists objects of kinds that lose an API version. Each result has the API version with which kubectl last
 * applied the object.
 */
async function listAppliedManifests(api: KubeClient, desiredVersion: string): Promise<KeptManifest[]> {
  const kinds = new Map(
    listKindsRemovedUntil(desiredVersion).map(({ apiVersion, kind, successor }) => [
      `${apiVersion.replace(/\/.*/, '')} ${kind}`,
      { kind, apiVersions: [...(successor === undefined ? [] : [successor]), apiVersion] },
    ]),
  )
  const manifests = [...kinds.values()].map(async ({ kind, apiVersions }) =>
    (await listServedObjects(api, kind, apiVersions)).flatMap(({ metadata: { name, annotations } }) => {
      const applied = lastApplied.safeParse(
        parseJson(annotations?.['kubectl.kubernetes.io/last-applied-configuration'] ?? ''),
      )
      return applied.success ? [{ ...applied.data, name }] : []
    }),
  )
  return (await Promise.all(manifests)).flat()
}

/**
 * Lists the objects of a kind in the first of these API versions that the server serves. Returns an empty
 * list if it serves none of them.
 */
async function listServedObjects(
  api: KubeClient,
  kind: string,
  [apiVersion, ...others]: readonly string[],
): Promise<readonly KubeObject[]> {
  if (apiVersion === undefined) return []
  return listObjects(api, createUntypedKind(apiVersion, kind), { timeout: 15_000 }).then(
    ({ items }) => items,
    async () => listServedObjects(api, kind, others),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
