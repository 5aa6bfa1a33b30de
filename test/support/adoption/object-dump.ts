import { z } from 'zod'
import { ApiError, type KubeApi } from '../../../lab/cluster/kube-api.ts'
import { pollUntil } from '../../../src/kit/poll.ts'

const resourceList = z.object({
  resources: z.array(z.object({ name: z.string(), verbs: z.array(z.string()) })),
})
const groupList = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      preferredVersion: z.object({ groupVersion: z.string() }),
      versions: z.array(z.object({ groupVersion: z.string() })),
    }),
  ),
})
const objectList = z.object({
  items: z.array(
    z.looseObject({ metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }) }),
  ),
})

/** Resource whose objects the API server computes from probes of other programs. */
const computedResource = 'componentstatuses'

/** All objects of a cluster. */
export interface ObjectDump {
  /** Version in which the objects of each resource were read, by resource and group. */
  readonly versions: ReadonlyMap<string, string>
  /** Values by path of each object, by resource, group, namespace and name. */
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/**
 * Reads all objects of all resources. Left out are what every write or every controller changes: resourceVersion,
 * managedFields and status. `before` reads the same versions again, as far as the API still has them.
 */
export async function dumpObjects(api: KubeApi, before?: ObjectDump): Promise<ObjectDump> {
  const versions = new Map<string, string>()
  const objects = new Map<string, ReadonlyMap<string, string>>()
  const { groups } = groupList.parse(await api.get('/apis'))
  const core = { name: '', preferred: 'v1', served: ['v1'] }
  const all = [
    core,
    ...groups.map(({ name, preferredVersion, versions: served }) => ({
      name,
      preferred: preferredVersion.groupVersion,
      served: served.map(({ groupVersion }) => groupVersion),
    })),
  ]
  for (const { name: group, preferred, served } of all) {
    for (const groupVersion of [preferred, ...served.filter((version) => version !== preferred)]) {
      const root = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`
      const { resources } = resourceList.parse(await api.get(root))
      for (const { name, verbs } of resources) {
        const resource = group === '' ? name : `${name}.${group}`
        const wanted = before?.versions.get(resource)
        const isOther = wanted !== undefined && served.includes(wanted) && wanted !== groupVersion
        const isStored = !name.includes('/') && verbs.includes('list') && name !== computedResource
        if (!isStored || versions.has(resource) || isOther) continue
        versions.set(resource, groupVersion)
        for (const [key, value] of await listAll(api, `${root}/${name}`, resource)) objects.set(key, value)
      }
    }
  }
  return { versions, objects }
}

/** Paths that every write or every controller changes. */
const ignoredPaths = /^(?:status|metadata\.(?:resourceVersion|managedFields))(?:\.|$)/

async function listAll(
  api: KubeApi,
  path: string,
  resource: string,
): Promise<[string, ReadonlyMap<string, string>][]> {
  try {
    const { items } = objectList.parse(await getWhenReady(api, path))
    return items.map((object) => {
      const key = [resource, object.metadata.namespace ?? '', object.metadata.name].join(' ')
      return [key, new Map(flatten(object).filter(([valuePath]) => !ignoredPaths.test(valuePath)))]
    })
  } catch (error) {
    // Some resources have the verb `list` but no list, for example of metrics.
    if (error instanceof ApiError && [404, 405, 503].includes(error.status)) return []
    throw error
  }
}

/**
 * Reads a list. An API server that has just started responds with 429 until it has read the objects of a custom
 * resource, and clients are expected to wait.
 */
async function getWhenReady(api: KubeApi, path: string): Promise<unknown> {
  const read = async (): Promise<{ list: unknown } | { error: unknown } | undefined> => {
    try {
      return { list: await api.get(path) }
    } catch (error) {
      return error instanceof ApiError && error.status === 429 ? undefined : { error }
    }
  }
  const response = await pollUntil(`the API server to serve ${path}`, read, {
    timeoutMs: 60_000,
    intervalMs: 1_000,
  })
  if ('error' in response) throw response.error
  return response.list
}

function flatten(value: unknown, path = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, JSON.stringify(value)]]
  return Object.entries(value).flatMap(([key, inner]) => flatten(inner, path === '' ? key : `${path}.${key}`))
}

/** A difference between two dumps. `object` has the resource with its group, the namespace and the name. */
export interface ObjectDifference {
  readonly object: string
  /** Path of a changed value; empty if the whole object was added or removed. */
  readonly path: string
  readonly change: 'added' | 'removed' | 'changed'
}

export function compareDumps(before: ObjectDump, after: ObjectDump): readonly ObjectDifference[] {
  const removed = [...before.objects.keys()].filter((key) => !after.objects.has(key))
  const added = [...after.objects.keys()].filter((key) => !before.objects.has(key))
  const changed = [...before.objects].flatMap(([object, values]): ObjectDifference[] => {
    const current = after.objects.get(object)
    if (current === undefined) return []
    return [...new Set([...values.keys(), ...current.keys()])]
      .filter((path) => values.get(path) !== current.get(path))
      .map((path) => ({ object, path, change: 'changed' }))
  })
  return [
    ...removed.map((object) => ({ object, path: '', change: 'removed' }) as const),
    ...added.map((object) => ({ object, path: '', change: 'added' }) as const),
    ...changed,
  ]
}

/** A difference that is expected, and why. */
export interface ExpectedDifference {
  readonly reason: string
  readonly object: RegExp
  readonly path?: RegExp
  readonly changes?: readonly ObjectDifference['change'][]
}

export interface SortedDifferences {
  /** Number of objects with an expected difference, by its reason. */
  readonly expected: ReadonlyMap<string, number>
  /** Differences that no rule expects, as text. */
  readonly unexpected: readonly string[]
}

/** Sorts differences by the first rule that expects each of them. */
export function sortDifferences(
  differences: readonly ObjectDifference[],
  rules: readonly ExpectedDifference[],
): SortedDifferences {
  const objectsByReason = new Map<string, Set<string>>()
  const unexpected: string[] = []
  for (const { object, path, change } of differences) {
    const rule = rules.find(
      (one) =>
        one.object.test(object) && (one.path?.test(path) ?? true) && (one.changes?.includes(change) ?? true),
    )
    if (rule === undefined) unexpected.push(`${change}: ${object}${path === '' ? '' : `: ${path}`}`)
    else objectsByReason.set(rule.reason, (objectsByReason.get(rule.reason) ?? new Set()).add(object))
  }
  const expected = rules.flatMap(({ reason }) => {
    const count = objectsByReason.get(reason)?.size
    return count === undefined ? [] : [[reason, count] as const]
  })
  return { expected: new Map(expected), unexpected: unexpected.toSorted() }
}
