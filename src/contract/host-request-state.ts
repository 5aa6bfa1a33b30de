import { z } from 'zod'
import { fence } from './fence.ts'
import { hostRequest, hostResult } from './host-resource.ts'
import type { Format } from './versioned.ts'

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostRequestState'),
  /** Highest fence that the host knows. Requests with a lower fence are refused. */
  highestFence: fence.optional(),
  /** All started requests, oldest first. A request without a result may still be running. */
  started: z.array(
    z.strictObject({ id: hostRequest.shape.id, until: z.iso.datetime(), result: hostResult.optional() }),
  ),
})

/** Request state that survives a restart of the agent. Without it a host could run a request twice. */
export type HostRequestState = z.infer<typeof stateSchema>

export const hostRequestStateFormat: Format<HostRequestState> = {
  kind: 'HostRequestState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
