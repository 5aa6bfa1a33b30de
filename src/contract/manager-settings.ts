import { z } from 'zod'
import type { Format } from './versioned.ts'

/**
 * User name in the manager's certificate. This user may only hold the leader lease and impersonate the users
 * of the controllers.
 */
export const managerUser = 'hyperkube:controller-manager'
/** Prefix of the user names that the controllers act as. */
export const controllerUserPrefix = 'hyperkube:controller:'

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
})

/** An addon without values that depend on hosts. */
export const addonContent = z.strictObject({
  name: z.string(),
  manifests: z.array(manifest),
  force: z.boolean().optional(),
})

const count = z.int().min(0).max(10_000)

/**
 * Maximum number of hourly, daily and weekly snapshots to keep. Of each hour, day or week, only the newest
 * snapshot counts.
 */
export const retention = z.strictObject({ hourly: count, daily: count, weekly: count })
export type Retention = z.infer<typeof retention>

const settings = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ControllerManagerSettings'),
  snapshots: z
    .strictObject({
      /** Cron schedule in UTC: minute, hour, day of month, month, day of week. */
      schedule: z.string(),
      keep: retention,
    })
    .optional(),
  /** All addons of the cluster as they were last applied. */
  addons: z.array(addonContent).optional(),
})

/**
 * Settings from cluster.yml that controllers need and that are not stored in any other object of the cluster.
 */
export type ManagerSettings = z.infer<typeof settings>

export const managerSettingsFormat: Format<ManagerSettings> = {
  kind: 'ControllerManagerSettings',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: settings },
  older: [],
}

/** Settings before the first `up`. */
export const emptySettings: ManagerSettings = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'ControllerManagerSettings',
}
