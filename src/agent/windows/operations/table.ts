import { adapterOperations } from './adapters.ts'
import { environmentOperations } from './environment.ts'
import { fileOperations } from './files.ts'
import { firewallOperations } from './firewall.ts'
import { endpointOperations, networkOperations, policyOperations } from './hns.ts'
import type { Operation } from './operation.ts'
import { portOperations } from './ports.ts'
import { processOperations } from './processes.ts'
import { routeOperations } from './routes.ts'
import { serviceOperations } from './services.ts'
import { systemOperations } from './system.ts'

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
