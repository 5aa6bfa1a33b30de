import { hasDrift } from '../../addons/addon-difference.ts'
import { type Addon, computeAddonDigest } from '../../addons/addon.ts'
import { repairAddon } from '../../addons/apply-addon.ts'
import { conflictCodes } from '../../addons/conflict.ts'
import { diffAddon } from '../../addons/diff-addon.ts'
import { readInventories } from '../../addons/inventory-store.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { addonCheckIntervalMs, toInventoryReference } from './addon-drift.ts'

/** Maximum time in milliseconds until the objects of an addon are ready. */
const readyTimeoutMs = 5 * 60_000

/**
 * A controller that repairs addons. Addons may contain any object, including RBAC, so this controller needs
 * all permissions and is off by default.
 */
export const addonReconciler: ControllerDefinition = {
  name: 'addon-reconciler',
  aliases: [],
  summary:
    'applies addons again after drift, except coredns, metrics-server and addons with Secrets; needs all permissions in the cluster',
  byDefault: false,
  watches: [],
  rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  build(context) {
    const { queue, client, events, settings, now, term, log } = context
    const addons: readonly Addon[] = (settings.addons ?? []).map(({ force, ...addon }) => ({
      ...addon,
      ...(force === undefined ? {} : { force }),
    }))
    for (const { name } of addons) queue.add(name)
    return createReconciler(context, {
      async reconcile(name) {
        const addon = addons.find((one) => one.name === name)
        if (addon === undefined) return undefined
        const others = addons.filter((one) => one !== addon)
        const inventories = await readInventories(client)
        // If the operator has not applied these manifests yet, the controller does not apply them either.
        if (inventories.find((one) => one.addon === name)?.appliedDigest !== computeAddonDigest(addon))
          return { requeueAfter: addonCheckIntervalMs }
        if (!hasDrift(await diffAddon(client, addon, { others })))
          return { requeueAfter: addonCheckIntervalMs }
        const result = await repairAddon(client, addon, {
          ...{ others, now, deadline: now().getTime() + readyTimeoutMs, signal: term.signal },
          emit: (event) => log(`${name}: waits for ${event.for}`),
        }).catch(requireConflict)
        if (result === false) return { requeueAfter: addonCheckIntervalMs }
        await events.record(
          toInventoryReference(name),
          result === true ? reconciledEvent : buildConflictEvent(result),
        )
        return { requeueAfter: addonCheckIntervalMs }
      },
    })
  },
}

const reconciledEvent = {
  type: 'Normal',
  reason: 'AddonReconciled',
  action: 'ApplyAddon',
  note: 'missing or changed objects of the addon were applied again',
} as const

/**
 * Returns the error if it is a field conflict, and throws any other error. A conflict is reported and not
 * retried, because a user must decide which field manager owns the field.
 */
function requireConflict(error: unknown): HyperkubeError {
  if (error instanceof HyperkubeError && conflictCodes.has(error.code)) return error
  throw error
}

function buildConflictEvent({ message, hint = '' }: HyperkubeError) {
  const note = `the addon was not applied: ${message}; ${hint}`
  return { type: 'Warning', reason: 'AddonConflict', action: 'ApplyAddon', note } as const
}
