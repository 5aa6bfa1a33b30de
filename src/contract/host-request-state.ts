import { z } from 'zod'
import { fence } from './fence.ts'
import { hostRequest, hostResult } from './host-resource.ts'
import type { Format } from './versioned.ts'

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostRequestState'),
  /** Highest fence that was seen: lower ones are refused. */
  highestFence: fence.optional(),
  /** All requests that were started, oldest first; one without a result may still run. */
  started: z.array(
    z.strictObject({ id: hostRequest.shape.id, until: z.iso.datetime(), result: hostResult.optional() }),
  ),
})

/** What a host must remember of requests across restarts. Without it a host would run requests twice. */
export type HostRequestState = z.infer<typeof stateSchema>

export const hostRequestStateFormat: Format<HostRequestState> = {
  kind: 'HostRequestState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
