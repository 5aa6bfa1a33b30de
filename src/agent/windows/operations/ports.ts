import { z } from 'zod'
import { looking, noInput } from './operation.ts'

const listener = z
  .object({ LocalPort: z.int().min(0), OwningProcess: z.int().min(0) })
  .transform(({ LocalPort, OwningProcess }) => ({ port: LocalPort, process: OwningProcess }))

/** TCP ports that something listens on, once for each address. */
export const ports = {
  list: looking({
    name: 'ports.list',
    input: noInput,
    output: z.array(listener),
    uses: ['Get-NetTCPConnection'],
  }),
}
