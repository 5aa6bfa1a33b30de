import { z } from 'zod'
import { defineChange, defineRead, atMostOne } from './operation.ts'

const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,100}$/)

/** Environment variables of the machine. Services see a change only after the next boot. */
export const environmentOperations = {
  get: defineRead({
    name: 'environment.get',
    input: z.strictObject({ name }),
    output: atMostOne(z.object({ Value: z.string() }).transform(({ Value }) => Value)),
    uses: ['[Environment]::GetEnvironmentVariable'],
  }),
  /** Sets a variable, or removes it if the value is null. */
  set: defineChange({
    name: 'environment.set',
    input: z.strictObject({ name, value: z.string().min(1).max(30_000).nullable() }),
    uses: ['[Environment]::SetEnvironmentVariable'],
  }),
}
