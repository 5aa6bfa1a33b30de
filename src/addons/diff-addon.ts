import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from '../kube/client.ts'
import type { CallOptions } from '../kube/request.ts'
import { satisfies } from '../kube/satisfies.ts'
import { type Addon, labelled } from './addon.ts'
import { refuseWrong } from './check-addons.ts'
import type { AddonDifference, UnwishedObject } from './addon-difference.ts'
import { digestOf } from './addon-digest.ts'
import { wishedEntries, without } from './inventory-entries.ts'
import { readInventories, type StoredInventory } from './inventory-store.ts'
import { judge } from './prune-decisions.ts'
import { type Live, lookAll } from './live-objects.ts'
import { elsewhereOf, findingOf, type Verdict } from './decide-prune.ts'
import { keyOf, type Reference, referenceOf } from './reference.ts'
import { inWaves } from './waves.ts'
import { wishedObject } from './object-change.ts'

export interface DifferenceOptions extends CallOptions {
  /** The other addons that are wished. */
  readonly others: readonly Addon[]
  /** What somebody has looked at already, for many at once. */
  readonly seen?: Seen
}

export interface Seen {
  readonly inventories: readonly StoredInventory[]
  readonly live: Live
}

/** What putting an addon there would change. Nothing is changed by asking. An addon without manifests is one that goes. */
export async function difference(
  client: KubeClient,
  addon: Addon,
  { others, seen, ...options }: DifferenceOptions,
): Promise<AddonDifference> {
  refuseWrong([addon, ...others])
  const manifests = labelled(addon)
  const inventories = seen?.inventories ?? (await readInventories(client, options))
  const inventory = inventories.find(({ addon: name }) => name === addon.name)
  const digest = digestOf(addon)
  const isSettled = inventory?.settled === digest
  const live = seen?.live ?? (await lookAll(client, manifests.map(referenceOf), options))
  const objects = await settleAll(
    manifests.map(async (manifest) => {
      const [reference, object] = [referenceOf(manifest), live.get(keyOf(referenceOf(manifest)))]
      // What was put there just so is compared here: asking the API to try it costs more than all the rest.
      if (isSettled && satisfies(object, manifest)) return { ...reference, change: 'none' as const }
      return wishedObject(client, addon, manifest, object, options)
    }),
  )
  const kept = wishedEntries(addon, live, inventories)
  const elsewhere = elsewhereOf({ addon: addon.name, kept, inventories, others })
  const verdicts: Verdict[] = []
  for (const wave of inWaves(without(inventory?.entries ?? [], kept), (entry) => entry).toReversed()) {
    verdicts.push(...(await judge(client, wave, elsewhere, verdicts, options)))
  }
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonDifference',
    addon: addon.name,
    digest,
    ...(inventory !== undefined && inventory.settled === undefined ? { unfinished: true } : {}),
    objects,
    unwished: verdicts.map(unwishedOf),
    findings: verdicts.flatMap((verdict) => findingOf(verdict, addon.name)),
  }
}

function unwishedOf(verdict: Verdict): UnwishedObject {
  const { apiVersion, kind, namespace, name }: Reference = verdict.entry
  return {
    ...referenceOf({ apiVersion, kind, metadata: { namespace, name } }),
    act: verdict.act,
    ...(verdict.act === 'remove' ? {} : { why: verdict.why }),
  }
}
