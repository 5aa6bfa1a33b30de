import type { z } from 'zod'
import type { Operation } from '../../../src/agent/windows/operations/operation.ts'
import type { Table } from '../../../src/agent/windows/operations/table.ts'

type Handler<T> = T extends Operation<infer I, infer O> ? (input: z.output<I>) => z.input<O> : never

/** What the script would have said of a host, property by property. */
export type Handlers = {
  readonly [Part in keyof Table]: { readonly [Verb in keyof Table[Part]]: Handler<Table[Part][Verb]> }
}
