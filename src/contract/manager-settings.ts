import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Whom the manager's certificate names. It can do nothing but lead, and act as its controllers. */
export const managerUser = 'hyperkube:controller-manager'
/** What the names begin with that its controllers act under. */
export const controllerUsers = 'hyperkube:controller:'

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
})

const count = z.int().min(0).max(10_000)

/** Of each of the last so many hours, days and weeks that have one, the newest snapshot stays. */
export const retention = z.strictObject({ hourly: count, daily: count, weekly: count })
export type Retention = z.infer<typeof retention>

const settings = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ControllerManagerSettings'),
  snapshots: z
    .strictObject({
      /** As cron writes it, in UTC: minute, hour, day of month, month, day of week. */
      schedule: z.string(),
      keep: retention,
    })
    .optional(),
  /** What is put into the cluster as a whole, as it was wished last. */
  addons: z
    .array(z.strictObject({ name: z.string(), manifests: z.array(manifest), force: z.boolean().optional() }))
    .optional(),
})

/** What controllers must know that is nowhere in the cluster: what was wished in cluster.yml. */
export type ManagerSettings = z.infer<typeof settings>

export const managerSettingsFormat: Format<ManagerSettings> = {
  kind: 'ControllerManagerSettings',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: settings },
  older: [],
}

/** Nothing was wished. */
export const noSettings: ManagerSettings = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'ControllerManagerSettings',
}
