import type { Finding } from '../contract/finding.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { kindOf, type KubeObject } from '../kube/object.ts'
import { remove } from '../kube/write-objects.ts'
import type { Entry } from './inventory.ts'
import { judge } from './prune-decisions.ts'
import { look } from './live-objects.ts'
import { type Elsewhere, findingOf, type Verdict } from './decide-prune.ts'
import { describeReference, type Reference, referenceOf } from './reference.ts'
import { inWaves } from './waves.ts'
import { type Lack, type Patience, waitUntilNothingLacks } from './wait-for-objects.ts'

export interface Swept {
  readonly removed: readonly Reference[]
  /** What cannot go yet, and must not be forgotten. */
  readonly held: readonly Entry[]
  readonly findings: readonly Finding[]
}

/**
 * Removes what an addon no longer wishes, the last wave first; each wave is gone before the next one is looked at: a
 * workload may have to tidy up after custom resources of its own.
 */
export async function sweep(
  client: KubeClient,
  entries: readonly Entry[],
  elsewhere: Elsewhere,
  patience: Patience,
): Promise<Swept> {
  const verdicts: Verdict[] = []
  for (const wave of inWaves(entries, (entry) => entry).toReversed()) {
    const own = await judge(client, wave, elsewhere, verdicts, { signal: patience.signal })
    verdicts.push(...own)
    const going = own.flatMap((verdict) => (verdict.act === 'remove' ? [verdict.object] : []))
    await removeAll(client, going, elsewhere.addon, patience)
  }
  return {
    removed: verdicts.flatMap(({ act, entry }) => (act === 'remove' ? [entry] : [])),
    held: verdicts.flatMap(({ act, entry }) => (act === 'hold' ? [entry] : [])),
    findings: verdicts.flatMap((verdict) => findingOf(verdict, elsewhere.addon)),
  }
}

async function removeAll(
  client: KubeClient,
  objects: readonly KubeObject[],
  addon: string,
  patience: Patience,
): Promise<void> {
  const { signal } = patience
  await settleAll(objects.map(async (object) => removeOne(client, object, signal)))
  let pending = objects
  const lookOnce = async (): Promise<readonly Lack[]> => {
    const looked = await settleAll(
      pending.map(async (object) => {
        const now = await look(client, referenceOf(object), { signal })
        // Another one of its name is not ours.
        if (now === undefined || now.metadata.uid !== object.metadata.uid) return []
        if (now.metadata.deletionTimestamp === undefined) await removeOne(client, now, signal)
        return [now]
      }),
    )
    pending = looked.flat()
    return pending.map((object) => ({
      what: describeReference(referenceOf(object)),
      reason: `it is still there${finalizersOf(object)}`,
    }))
  }
  const goal = {
    addon,
    code: 'ADDON_NOT_GONE',
    hint: 'whoever set its finalizers has to let go of it; then run the same command again',
  } as const
  await waitUntilNothingLacks(lookOnce, goal, patience)
}

async function removeOne(client: KubeClient, object: KubeObject, signal: AbortSignal): Promise<void> {
  const { uid } = object.metadata
  const kind = kindOf(object.apiVersion, object.kind)
  await remove(client, kind, object.metadata, { signal, ...(uid === undefined ? {} : { uid }) }).catch(
    (error: unknown) => {
      // It has changed hands, or is changing at this moment: whoever looks next sees which.
      if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
    },
  )
}

function finalizersOf({ metadata }: KubeObject): string {
  const finalizers = metadata['finalizers']
  return Array.isArray(finalizers) && finalizers.length > 0
    ? `, with finalizers ${finalizers.join(', ')}`
    : ''
}
