import { z } from 'zod'
import { changing, looking, one } from './operation.ts'

const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,100}$/)

/** Variables of the whole machine. Services see a change at the next start of the host alone. */
export const environment = {
  get: looking({
    name: 'environment.get',
    input: z.strictObject({ name }),
    output: one(z.object({ Value: z.string() }).transform(({ Value }) => Value)),
    uses: ['[Environment]::GetEnvironmentVariable'],
  }),
  /** Without a value it goes. */
  set: changing({
    name: 'environment.set',
    input: z.strictObject({ name, value: z.string().min(1).max(30_000).nullable() }),
    uses: ['[Environment]::SetEnvironmentVariable'],
  }),
}
