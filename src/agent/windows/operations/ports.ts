import { z } from 'zod'
import { defineRead, noInput } from './operation.ts'

const listener = z
  .object({ LocalPort: z.int().min(0), OwningProcess: z.int().min(0) })
  .transform(({ LocalPort, OwningProcess }) => ({ port: LocalPort, process: OwningProcess }))

/** Listening TCP ports, once per address. */
export const portOperations = {
  list: defineRead({
    name: 'ports.list',
    input: noInput,
    output: z.array(listener),
    uses: ['Get-NetTCPConnection'],
  }),
}
