import type { z } from 'zod'
import { fileOperations } from './files.ts'
import { firewallOperations } from './firewall.ts'
import {
  adapterOperations,
  endpointOperations,
  networkOperations,
  policyOperations,
  portOperations,
  routeOperations,
} from './network.ts'
import type { Operation, RunOperation } from './operation.ts'
import { serviceOperations } from './services.ts'
import { environmentOperations, processOperations, systemOperations } from './system.ts'

/** All operations of a Windows host. A test checks that host.ps1 implements exactly these. */
export const operationTable = {
  services: serviceOperations,
  networks: networkOperations,
  endpoints: endpointOperations,
  policies: policyOperations,
  adapters: adapterOperations,
  routes: routeOperations,
  ports: portOperations,
  firewall: firewallOperations,
  environment: environmentOperations,
  processes: processOperations,
  files: fileOperations,
  system: systemOperations,
}
export type OperationTable = typeof operationTable

export const allOperations: readonly Operation[] = Object.values(operationTable).flatMap((part) =>
  Object.values<Operation>(part),
)

type OperationCall<T> =
  T extends Operation<infer I, infer O>
    ? (input: z.input<I>, signal?: AbortSignal) => Promise<z.output<O>>
    : never

/** The operations of a Windows host, grouped as in `operationTable`. */
export type WindowsOperations = {
  readonly [Part in keyof OperationTable]: {
    readonly [Verb in keyof OperationTable[Part]]: OperationCall<OperationTable[Part][Verb]>
  }
}

/** Builds the operations from a function that runs a single operation on a host. */
export function buildWindowsOperations(run: RunOperation): WindowsOperations {
  const parts = Object.entries(operationTable).map(([part, operations]) => {
    const calls = Object.entries<Operation>(operations).map(
      ([verb, operation]) =>
        [verb, async (input: unknown, signal?: AbortSignal) => run(operation, input, signal)] as const,
    )
    return [part, Object.fromEntries(calls)] as const
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- names and types come from the same table
  return Object.fromEntries(parts) as unknown as WindowsOperations
}
