import { z } from 'zod'
import { windowsFacts } from './facts.ts'
import type { Format } from './versioned.ts'

/**
 * Facts of a Windows host that are read without PowerShell. They are enough for diagnosis, but not for making
 * a plan.
 */
const basicFacts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('BasicFacts'),
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
export type BasicFacts = z.infer<typeof basicFacts>

export const basicFactsFormat: Format<BasicFacts> = {
  kind: 'BasicFacts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: basicFacts },
  older: [],
}
