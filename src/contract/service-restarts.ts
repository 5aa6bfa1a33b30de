import { z } from 'zod'
import type { Format } from './versioned.ts'

const restarts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ServiceRestarts'),
  /** By service name. */
  services: z.record(z.string(), z.int().min(0)),
})

/**
 * Automatic restarts that the agent of a Windows host has counted, because the service manager does not count
 * them.
 */
export type ServiceRestarts = z.infer<typeof restarts>

export const serviceRestartsFormat: Format<ServiceRestarts> = {
  kind: 'ServiceRestarts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: restarts },
  older: [],
}
