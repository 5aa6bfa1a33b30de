import { hasDrift } from '../../addons/addon-difference.ts'
import { type Addon, computeAddonDigest } from '../../addons/addon.ts'
import { applyAddon, type ApplyAddonOptions, removeAddon, repairAddon } from '../../addons/apply-addon.ts'
import { diffAddon } from '../../addons/diff-addon.ts'
import { readInventories } from '../../addons/inventory-store.ts'
import { findRemovedAddons } from '../../addons/removed-addons.ts'
import type { DesiredDocument } from '../../fleet/desired-document.ts'
import type { KubeClient } from '../../kube/client.ts'

/** Maximum time in milliseconds until the objects of an addon are ready. */
const readyTimeoutMs = 5 * 60_000

export interface ApplyDocumentOptions {
  /** False if the document was applied before and only drift is repaired. */
  readonly isNew: boolean
  /** Addons that earlier documents may have created. */
  readonly ownedAddons: readonly string[]
}

/**
 * Applies the addons of a document as `up` does, with the same inventories. Addons that an operator has changed
 * with `up` since then are left alone until the next document.
 */
export async function applyDocument(
  client: KubeClient,
  { addons: contents, others: kept = [] }: Pick<DesiredDocument, 'addons' | 'others'>,
  { isNew, ownedAddons }: ApplyDocumentOptions,
  { now, signal, log }: Pick<ApplyAddonOptions, 'now' | 'signal'> & { readonly log: (line: string) => void },
): Promise<void> {
  const addons = contents.map(toAddon)
  const desired = [...addons, ...kept.map(toAddon)]
  const buildOptions = (name: string): ApplyAddonOptions => ({
    ...{ others: desired.filter((one) => one.name !== name), now, signal },
    deadline: now().getTime() + readyTimeoutMs,
    emit: (event) => log(`${name}: waits for ${event.for}`),
  })
  const inventories = isNew ? [] : await readInventories(client)
  for (const addon of addons) {
    const options = buildOptions(addon.name)
    if (isNew) {
      await applyAddon(client, addon, options)
      continue
    }
    const applied = inventories.find((one) => one.addon === addon.name)?.appliedDigest
    if (applied !== computeAddonDigest(addon)) continue
    if (hasDrift(await diffAddon(client, addon, options))) await repairAddon(client, addon, options)
  }
  if (!isNew) return
  const removed = findRemovedAddons(await readInventories(client), desired)
  for (const name of removed)
    if (ownedAddons.includes(name)) await removeAddon(client, name, buildOptions(name))
}

function toAddon({ force, ...addon }: DesiredDocument['addons'][number]): Addon {
  return { ...addon, ...(force === undefined ? {} : { force }) }
}
