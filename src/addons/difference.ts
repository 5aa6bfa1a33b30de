import { settleAll } from '../kit/settle.ts'
import type { KubeClient } from '../kube/client.ts'
import type { CallOptions } from '../kube/request.ts'
import { type Addon, labelled } from './addon.ts'
import { refuseWrong } from './check.ts'
import type { AddonDifference, UnwishedObject } from './difference-document.ts'
import { wishedEntries, without } from './entries.ts'
import { readInventories } from './inventory-store.ts'
import { judge } from './judge.ts'
import { lookAll } from './live.ts'
import { elsewhereOf, findingOf, type Verdict } from './prune.ts'
import { keyOf, type Reference, referenceOf } from './reference.ts'
import { inWaves } from './waves.ts'
import { wishedObject } from './wished-object.ts'

export interface DifferenceOptions extends CallOptions {
  /** The other addons that are wished. */
  readonly others: readonly Addon[]
}

/** What putting an addon there would change. Nothing is changed by asking. An addon without manifests is one that goes. */
export async function difference(
  client: KubeClient,
  addon: Addon,
  { others, ...options }: DifferenceOptions,
): Promise<AddonDifference> {
  refuseWrong([addon, ...others])
  const manifests = labelled(addon)
  const inventories = await readInventories(client, options)
  const live = await lookAll(client, manifests.map(referenceOf), options)
  const objects = await settleAll(
    manifests.map(async (manifest) =>
      wishedObject(client, addon, manifest, live.get(keyOf(referenceOf(manifest))), options),
    ),
  )
  const kept = wishedEntries(addon, live, inventories)
  const former = inventories.find((inventory) => inventory.addon === addon.name)?.entries ?? []
  const elsewhere = elsewhereOf({ addon: addon.name, kept, inventories, others })
  const verdicts: Verdict[] = []
  for (const wave of inWaves(without(former, kept), (entry) => entry).toReversed()) {
    verdicts.push(...(await judge(client, wave, elsewhere, verdicts, options)))
  }
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonDifference',
    addon: addon.name,
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
