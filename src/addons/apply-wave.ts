import { z } from 'zod'
import { settleAll } from '../kit/concurrency.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Kind, type KubeObject, kubeObject, type Manifest } from '../kube/object.ts'
import { findObject, listObjects } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { applyObject } from '../kube/write-objects.ts'
import type { Addon } from './addon.ts'
import { buildConflictError, findConflicts } from './conflict.ts'
import { findLiveObject } from './live-objects.ts'
import { explainTaints } from './node-taints.ts'
import { findUnreadyReason } from './readiness.ts'
import {
  describeReference,
  formatReferenceKey,
  hideSecretValues,
  isSecret,
  type ObjectReference,
  parseGroup,
  toReference,
} from './reference.ts'
import { type AddonWaitOptions, type PendingObject, waitUntilNonePending } from './wait-for-objects.ts'
import { isCrd, isNamespace } from './waves.ts'

export interface WaveOptions extends AddonWaitOptions {
  readonly addon: Addon
  /**
   * API groups whose CRDs are part of this addon or another desired one. After a CRD is created, the API
   * server may need some time until it serves the group.
   */
  readonly definedGroups: ReadonlySet<string>
}

/**
 * Applies the manifests of one wave, which is a set of objects that are applied together, and waits until all
 * are ready. Returns the live objects by reference key.
 */
export async function applyWave(
  client: KubeClient,
  wave: readonly Manifest[],
  options: WaveOptions,
): Promise<ReadonlyMap<string, KubeObject>> {
  const appliedObjects = new Map<string, KubeObject>()
  let pending = wave
  const checkPending = async (): Promise<readonly PendingObject[]> => {
    const results = await settleAll(
      pending.map(async (manifest) => {
        const pendingObject = await checkManifest(client, manifest, appliedObjects, options)
        return pendingObject === undefined ? [] : [{ manifest, pendingObject }]
      }),
    )
    pending = results.flat().map(({ manifest }) => manifest)
    return results.flat().map(({ pendingObject }) => pendingObject)
  }
  const goal = {
    addon: options.addon.name,
    code: 'ADDON_NOT_READY',
    hint: 'fix the cause, then run the same command again: it continues where this run ended',
  } as const
  await waitUntilNonePending(checkPending, goal, options)
  return appliedObjects
}

/**
 * Applies the manifest, or reads the object if this run has already applied it. Returns why the object is
 * still pending, or undefined if it is ready.
 */
async function checkManifest(
  client: KubeClient,
  manifest: Manifest,
  appliedObjects: Map<string, KubeObject>,
  options: WaveOptions,
): Promise<PendingObject | undefined> {
  const { addon, signal } = options
  const reference = toReference(manifest)
  const [key, name] = [formatReferenceKey(reference), describeReference(reference)]
  try {
    const object = appliedObjects.has(key)
      ? await findLiveObject(client, reference, { signal })
      : await applyOrExplain(client, manifest, options)
    // The object was removed, or is still being deleted. The next check applies the manifest again.
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) appliedObjects.delete(key)
    else appliedObjects.set(key, object)
    if (object === undefined) return { name, reason: 'it was deleted in the meantime' }
    const reason = findUnreadyReason(object, options.notReadyCount)
    if (reason === undefined || (addon.wait === false && !isPrerequisite(reference))) return undefined
    if (await isWaitingForConsumer(client, object, { signal })) return undefined
    return { name, reason, explain: async () => explainPodProblem(client, object, { signal }) }
  } catch (error) {
    if (isTransientError(error, reference, options)) return { name, reason: error.message }
    throw error
  }
}

async function applyOrExplain(
  client: KubeClient,
  manifest: Manifest,
  { addon, signal }: WaveOptions,
): Promise<KubeObject> {
  try {
    return await applyObject(client, manifest, { force: addon.force ?? false, signal })
  } catch (error) {
    const conflicts = findConflicts(error)
    if (conflicts !== undefined) throw buildConflictError(addon.name, toReference(manifest), conflicts)
    throw isSecret(manifest) ? hideSecretValues(error, toReference(manifest)) : error
  }
}

const claim = z.looseObject({
  kind: z.literal('PersistentVolumeClaim'),
  spec: z.looseObject({ storageClassName: z.string().default('') }),
})

const schema = kubeObject.extend({ volumeBindingMode: z.string().optional() })

type StorageClass = z.infer<typeof schema>

const storageClass: Kind<StorageClass> = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', schema }

/**
 * True for a PersistentVolumeClaim that gets its volume only when a pod uses it. Until then it counts as
 * ready.
 */
async function isWaitingForConsumer(
  client: KubeClient,
  object: KubeObject,
  options: KubeCallOptions = {},
): Promise<boolean> {
  const parsed = claim.safeParse(object)
  if (!parsed.success) return false
  const name = parsed.data.spec.storageClassName
  // An empty class means that an administrator creates the volume, perhaps much later. The run does not wait
  // for it.
  if (name === '') return true
  const found = await findObject(client, storageClass, { name }, options)
  return found?.volumeBindingMode === 'WaitForFirstConsumer'
}

/**
 * True for CRDs and namespaces. The run always waits for them, because other objects of the addon need them.
 */
function isPrerequisite(reference: ObjectReference): boolean {
  return isCrd(reference) || isNamespace(reference)
}

/**
 * True if the request may succeed later: the server is unreachable or overloaded, a webhook is not running
 * yet, or the CRD of an addon is not served yet.
 */
function isTransientError(
  error: unknown,
  { apiVersion }: ObjectReference,
  { definedGroups }: WaveOptions,
): error is HyperkubeError {
  if (!(error instanceof HyperkubeError)) return false
  if (error.code === 'KUBE_SERVER' || error.code === 'KUBE_UNREACHABLE' || error.code === 'KUBE_TOO_MANY')
    return true
  const isUnknown = error.code === 'KUBE_KIND_UNKNOWN' || error.code === 'KUBE_NOT_FOUND'
  return isUnknown && definedGroups.has(parseGroup(apiVersion))
}

const container = z.looseObject({
  state: z
    .looseObject({
      waiting: z.looseObject({ reason: z.string().optional(), message: z.string().optional() }).optional(),
    })
    .optional(),
})

const pod = kubeObject.extend({
  status: z
    .looseObject({
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() }))
        .default([]),
      initContainerStatuses: z.array(container).default([]),
      containerStatuses: z.array(container).default([]),
    })
    .optional(),
})

type Pod = z.infer<typeof pod>

const podKind: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', schema: pod }

const workload = z.looseObject({
  metadata: z.looseObject({ namespace: z.string() }),
  spec: z.looseObject({ selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }) }),
})

/** Reasons that are normal while a pod starts. They are reported only if there is no other reason. */
const normalReasons = new Set(['ContainerCreating', 'PodInitializing'])

/**
 * Explains why the pods of a workload do not run, using the first pod with a problem. Returns undefined for
 * objects without pods.
 */
async function explainPodProblem(
  client: KubeClient,
  object: KubeObject,
  options: KubeCallOptions = {},
): Promise<string | undefined> {
  const parsed = workload.safeParse(object)
  if (!parsed.success) return undefined
  const { metadata, spec } = parsed.data
  const labels = Object.entries(spec.selector.matchLabels).map(([key, value]) => `${key}=${value}`)
  if (labels.length === 0) return undefined
  const pods = await listObjects(client, podKind, {
    namespace: metadata.namespace,
    labels: labels.join(','),
    ...options,
  })
  const problems = pods.items.flatMap((one) => {
    const problem = findPodProblem(one)
    return problem === undefined ? [] : [{ name: one.metadata.name, ...problem }]
  })
  const worst = problems.find(({ reason }) => !normalReasons.has(reason)) ?? problems[0]
  if (worst === undefined) return pods.items.length === 0 ? 'it has no pods' : undefined
  const taints = worst.message.includes('untolerated taint')
    ? await explainTaints(client, options)
    : undefined
  const text = [worst.reason, worst.message].filter((part) => part !== '').join(': ')
  return `pod ${worst.name}: ${text}${taints === undefined ? '' : `; ${taints}`}`
}

function findPodProblem({ status }: Pod): { readonly reason: string; readonly message: string } | undefined {
  const scheduled = status?.conditions.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False') return { reason: 'not schedulable', message: scheduled.message ?? '' }
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const all = containers.flatMap(({ state }) => (state?.waiting === undefined ? [] : [state.waiting]))
  const waiting = all.find(({ reason = '' }) => !normalReasons.has(reason)) ?? all[0]
  return waiting === undefined ? undefined : { reason: waiting.reason ?? '', message: waiting.message ?? '' }
}
