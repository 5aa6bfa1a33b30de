import { z } from 'zod'
import { windowsFacts } from './facts.ts'
import type { Format } from './versioned.ts'

/** What of a Windows host is known without PowerShell: enough for a person who wonders why, too little for a plan. */
const bareFacts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('BareFacts'),
  host: z.string(),
  system: windowsFacts.pick({
    os: true,
    hostname: true,
    arch: true,
    cpus: true,
    memoryBytes: true,
    addresses: true,
    clock: true,
    disks: true,
    build: true,
    foreignServices: true,
  }),
})
export type BareFacts = z.infer<typeof bareFacts>

export const bareFactsFormat: Format<BareFacts> = {
  kind: 'BareFacts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: bareFacts },
  older: [],
}
