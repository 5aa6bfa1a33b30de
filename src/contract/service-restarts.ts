import { z } from 'zod'
import type { Format } from './versioned.ts'

const restarts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ServiceRestarts'),
  /** By the name of the service. */
  services: z.record(z.string(), z.int().min(0)),
})

/** How often services were started again by themselves, as the agent of a Windows host has seen it: their manager does not count. */
export type ServiceRestarts = z.infer<typeof restarts>

export const serviceRestartsFormat: Format<ServiceRestarts> = {
  kind: 'ServiceRestarts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: restarts },
  older: [],
}
