import { z } from 'zod'
import { defineRead, noInput } from './operation.ts'

const listener = z
  .object({ LocalPort: z.int().min(0), OwningProcess: z.int().min(0) })
  .transform(({ LocalPort, OwningProcess }) => ({ port: LocalPort, process: OwningProcess }))

/** Operations on listening TCP ports. A port is listed once for each address. */
export const portOperations = {
  list: defineRead({
    name: 'ports.list',
    input: noInput,
    output: z.array(listener),
    uses: ['Get-NetTCPConnection'],
  }),
}
