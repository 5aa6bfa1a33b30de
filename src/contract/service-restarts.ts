import { z } from 'zod'
import type { Format } from './versioned.ts'

const restarts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ServiceRestarts'),
  /** Number of restarts of each service (key: service name). */
  services: z.record(z.string(), z.int().min(0)),
})

/**
 * Automatic restarts of services on a Windows host. The agent counts them, because the Service Control
 * Manager does not.
 */
export type ServiceRestarts = z.infer<typeof restarts>

export const serviceRestartsFormat: Format<ServiceRestarts> = {
  kind: 'ServiceRestarts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: restarts },
  older: [],
}
