import type { z } from 'zod'
import type { Ask, Operation } from './operation.ts'
import { type Table, table } from './table.ts'

type Call<T> =
  T extends Operation<infer I, infer O>
    ? (input: z.input<I>, signal?: AbortSignal) => Promise<z.output<O>>
    : never

/** A Windows host, as the agent on it meets it: one small part for each row of the table. */
export type WindowsOperations = {
  readonly [Part in keyof Table]: { readonly [Verb in keyof Table[Part]]: Call<Table[Part][Verb]> }
}

/** A host from whoever carries operations to it. */
export function hostOf(ask: Ask): WindowsOperations {
  const parts = Object.entries(table).map(([part, operations]) => {
    const calls = Object.entries<Operation>(operations).map(
      ([verb, operation]) =>
        [verb, async (input: unknown, signal?: AbortSignal) => ask(operation, input, signal)] as const,
    )
    return [part, Object.fromEntries(calls)] as const
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- names and types come from the same table
  return Object.fromEntries(parts) as unknown as WindowsOperations
}
