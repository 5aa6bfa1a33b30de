import type { Addon } from '../../../addons/addon.ts'
import { difference } from '../../../addons/diff-addon.ts'
import { isNone } from '../../../addons/addon-difference.ts'
import { digestOf } from '../../../addons/addon-digest.ts'
import { readInventories } from '../../../addons/inventory-store.ts'
import { put } from '../../../addons/apply-addon.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { ControllerRow } from '../../controller.ts'
import { reconciling } from '../../reconciler.ts'
import { inventoryOf, looksEvery } from './addon-drift.ts'

/** In milliseconds: how long something of an addon may take to be ready. */
const patience = 5 * 60_000

const mended = {
  type: 'Normal',
  reason: 'AddonMended',
  action: 'PutBack',
  note: 'something of it was gone or changed, and is as it was wished again',
} as const

/** Whose a field is that somebody else has set is for people to say. It need not be tried again and again. */
function conflictIn(error: unknown): HyperkubeError {
  if (error instanceof HyperkubeError && error.code === 'ADDON_CONFLICT') return error
  throw error
}

function inTheWay({ message, hint = '' }: HyperkubeError) {
  const note = `it stays as it is: ${message}; ${hint}`
  return { type: 'Warning', reason: 'AddonConflict', action: 'PutBack', note } as const
}

/** What addons are made of may be anything, rights among it: so it may do anything, and is off unless somebody wants that. */
export const addonMender: ControllerRow = {
  name: 'addon-mender',
  aliases: [],
  summary:
    'puts back all addons but coredns, metrics-server and those with Secrets; it may do anything in the cluster',
  byDefault: false,
  watches: [],
  rights: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  build(scene) {
    const { queue, client, events, settings, now, term, log } = scene
    const addons: readonly Addon[] = (settings.addons ?? []).map(({ force, ...addon }) => ({
      ...addon,
      ...(force === undefined ? {} : { force }),
    }))
    for (const { name } of addons) queue.add(name)
    return reconciling(scene, {
      async reconcile(name) {
        const addon = addons.find((one) => one.name === name)
        if (addon === undefined) return undefined
        const others = addons.filter((one) => one !== addon)
        const inventories = await readInventories(client)
        // What an operator has not put there as it is wished now is theirs to put there.
        if (inventories.find((one) => one.addon === name)?.settled !== digestOf(addon))
          return { requeueAfter: looksEvery }
        if (isNone(await difference(client, addon, { others }))) return { requeueAfter: looksEvery }
        const conflict = await put(client, addon, {
          ...{ others, now, deadline: now().getTime() + patience, signal: term.signal },
          tell: (what) => log(`${name}: waits for ${what.for}`),
        }).then(() => undefined, conflictIn)
        await events.record(inventoryOf(name), conflict === undefined ? mended : inTheWay(conflict))
        return { requeueAfter: looksEvery }
      },
    })
  },
}
