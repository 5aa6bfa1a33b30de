import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Reference } from './reference.ts'

const object = z.strictObject({
  namespace: z.string().optional(),
  name: z.string(),
  /** Not known yet, when a run was cut before it was told. */
  uid: z.string().optional(),
  /** It was there before the addon: it is kept as wished, and stays when the addon goes. */
  found: z.literal(true).optional(),
})

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AddonInventory'),
  addon: z.string(),
  /** The digest of all that was wished when it was last put there and ready; missing while that is under way. */
  settled: z.string().optional(),
  /** By kind, because most objects of an addon are of a few kinds: a thousand of them must fit. */
  kinds: z.array(z.strictObject({ apiVersion: z.string(), kind: z.string(), objects: z.array(object) })),
})
export type InventoryDocument = z.infer<typeof document>

/** As it is kept in the cluster. */
export const inventoryFormat: Format<InventoryDocument> = {
  kind: 'AddonInventory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** One object that an addon has put into the cluster, or is about to. */
export type Entry = Reference & z.infer<typeof object>

/** What an addon has put into the cluster. It may name what is not there, but nothing is there that it does not name. */
export interface Inventory {
  readonly addon: string
  /** What was last put there as a whole, until it was ready. */
  readonly settled?: string | undefined
  readonly entries: readonly Entry[]
}

/** In an order of its own, so that the same inventory is the same text. */
export function inventoryDocument({ addon, settled, entries }: Inventory): InventoryDocument {
  const kinds = Map.groupBy(entries, ({ apiVersion, kind }) => `${apiVersion} ${kind}`)
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonInventory',
    addon,
    ...(settled === undefined ? {} : { settled }),
    kinds: [...kinds.entries()].toSorted(byFirst).flatMap(([, members]) => {
      const [first] = members
      if (first === undefined) return []
      const objects = members.map((entry) => [`${entry.namespace ?? ''}/${entry.name}`, entry] as const)
      return {
        apiVersion: first.apiVersion,
        kind: first.kind,
        objects: objects.toSorted(byFirst).map(([, { namespace, name, uid, found }]) => ({
          ...(namespace === undefined ? {} : { namespace }),
          name,
          ...(uid === undefined ? {} : { uid }),
          ...(found === undefined ? {} : { found }),
        })),
      }
    }),
  }
}

function byFirst(a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]): number {
  return a[0] < b[0] ? -1 : 1
}

export function inventoryOf({ addon, settled, kinds }: InventoryDocument): Inventory {
  return {
    addon,
    settled,
    entries: kinds.flatMap(({ apiVersion, kind, objects }) =>
      objects.map((one) => ({ apiVersion, kind, ...one })),
    ),
  }
}

/** The API takes no more than a mebibyte in a ConfigMap; a little is left for what we do not count. */
const limit = 1_000_000

/** Fails when it is more than the API takes: before anything was applied that nobody would remember. */
export function inventoryText(inventory: Inventory): string {
  const text = JSON.stringify(inventoryDocument(inventory))
  const size = Buffer.byteLength(text)
  if (size <= limit) return text
  const { addon, entries } = inventory
  const message = `addon ${addon}: the list of its ${entries.length} objects takes ${size} bytes; at most ${limit} fit`
  throw new HyperkubeError('ADDON_TOO_LARGE', message, { hint: 'make two addons of it' })
}
