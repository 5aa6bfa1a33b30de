import { z } from 'zod'
import { fence } from './fence.ts'
import { hostRequest, hostResult } from './host-resource.ts'
import type { Format } from './versioned.ts'

const memory = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostRequestMemory'),
  /** The highest that was shown: nothing is done for a lower one. */
  highest: fence.optional(),
  /** All that was begun, from the oldest on; without a result it may be under way. */
  begun: z.array(
    z.strictObject({ id: hostRequest.shape.id, until: z.iso.datetime(), result: hostResult.optional() }),
  ),
})

/** What a host must know of requests, whatever happens to it and its agent: otherwise it would do them twice. */
export type HostRequestMemory = z.infer<typeof memory>

export const hostRequestMemoryFormat: Format<HostRequestMemory> = {
  kind: 'HostRequestMemory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memory },
  older: [],
}
