import { HyperkubeError } from '../kit/errors.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, Manifest } from '../kube/object.ts'
import { apply } from '../kube/write-objects.ts'
import type { Addon } from './addon.ts'
import { conflictError, conflictsIn } from './conflict.ts'
import { look } from './live-objects.ts'
import { podTrouble } from './pod-problem.ts'
import { unready } from './readiness.ts'
import { describeReference, groupOf, keyOf, type Reference, referenceOf } from './reference.ts'
import { isSecret, withoutValues } from './secret.ts'
import { waitsForPod } from './volume-claim.ts'
import { isDefinition, isNamespace } from './waves.ts'
import { type Lack, type Patience, waitUntilNothingLacks } from './wait-for-objects.ts'

export interface WaveOptions extends Patience {
  readonly addon: Addon
  /** Groups whose definitions the addon brings itself: servers may take a moment to serve them. */
  readonly defined: ReadonlySet<string>
}

/** Applies what is of one wave, and waits until all of it is ready. The answer is what is there then, by key. */
export async function applyWave(
  client: KubeClient,
  wave: readonly Manifest[],
  options: WaveOptions,
): Promise<ReadonlyMap<string, KubeObject>> {
  const there = new Map<string, KubeObject>()
  let pending = wave
  const lookOnce = async (): Promise<readonly Lack[]> => {
    const looked = await settleAll(
      pending.map(async (manifest) => {
        const lack = await lackOf(client, manifest, there, options)
        return lack === undefined ? [] : [{ manifest, lack }]
      }),
    )
    pending = looked.flat().map(({ manifest }) => manifest)
    return looked.flat().map(({ lack }) => lack)
  }
  const goal = {
    addon: options.addon.name,
    code: 'ADDON_NOT_READY',
    hint: 'mend that, then run the same command again: it goes on where this one ended',
  } as const
  await waitUntilNothingLacks(lookOnce, goal, options)
  return there
}

/** What is not there yet is applied; what is, is looked at. */
async function lackOf(
  client: KubeClient,
  manifest: Manifest,
  there: Map<string, KubeObject>,
  options: WaveOptions,
): Promise<Lack | undefined> {
  const { addon, signal } = options
  const reference = referenceOf(manifest)
  const [key, what] = [keyOf(reference), describeReference(reference)]
  try {
    const object = there.has(key)
      ? await look(client, reference, { signal })
      : await applied(client, manifest, options)
    // It is applied again when it was removed, or when the former one is gone at last.
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) there.delete(key)
    else there.set(key, object)
    if (object === undefined) return { what, reason: 'somebody has removed it' }
    const reason = unready(object, options.away)
    if (reason === undefined || (addon.wait === false && !isGround(reference))) return undefined
    if (await waitsForPod(client, object, { signal })) return undefined
    return { what, reason, explain: async () => podTrouble(client, object, { signal }) }
  } catch (error) {
    if (mayPass(error, reference, options)) return { what, reason: error.message }
    throw error
  }
}

async function applied(
  client: KubeClient,
  manifest: Manifest,
  { addon, signal }: WaveOptions,
): Promise<KubeObject> {
  try {
    return await apply(client, manifest, { force: addon.force ?? false, signal })
  } catch (error) {
    const conflicts = conflictsIn(error)
    if (conflicts !== undefined) throw conflictError(addon.name, referenceOf(manifest), conflicts)
    throw isSecret(manifest) ? withoutValues(error, referenceOf(manifest)) : error
  }
}

/** What the rest of an addon stands on, so that it is waited for in any case. */
function isGround(reference: Reference): boolean {
  return isDefinition(reference) || isNamespace(reference)
}

/** A server that is away, a webhook whose pods have just begun, a kind that one of the servers does not serve yet. */
function mayPass(
  error: unknown,
  { apiVersion }: Reference,
  { defined }: WaveOptions,
): error is HyperkubeError {
  if (!(error instanceof HyperkubeError)) return false
  if (error.code === 'KUBE_SERVER' || error.code === 'KUBE_UNREACHABLE' || error.code === 'KUBE_TOO_MANY')
    return true
  const isUnknown = error.code === 'KUBE_KIND_UNKNOWN' || error.code === 'KUBE_NOT_FOUND'
  return isUnknown && defined.has(groupOf(apiVersion))
}
