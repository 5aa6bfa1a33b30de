import type { z } from 'zod'
import type { Operation } from '../../../src/agent/host/windows-operations/operation.ts'
import type { OperationTable } from '../../../src/agent/host/windows-operations/table.ts'

type Handler<T> = T extends Operation<infer I, infer O> ? (input: z.output<I>) => z.input<O> : never

/** Handlers of the simulator, one per operation. They return objects with the same properties as host.ps1. */
export type Handlers = {
  readonly [Part in keyof OperationTable]: {
    readonly [Verb in keyof OperationTable[Part]]: Handler<OperationTable[Part][Verb]>
  }
}
