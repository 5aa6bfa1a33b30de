import type { z } from 'zod'
import type { Operation } from '../../../src/agent/windows/operations/operation.ts'
import type { OperationTable } from '../../../src/agent/windows/operations/table.ts'

type Handler<T> = T extends Operation<infer I, infer O> ? (input: z.output<I>) => z.input<O> : never

/** Returns what the script would return for a host, property by property. */
export type Handlers = {
  readonly [Part in keyof OperationTable]: {
    readonly [Verb in keyof OperationTable[Part]]: Handler<OperationTable[Part][Verb]>
  }
}
