import { adapters } from './adapters.ts'
import { environment } from './environment.ts'
import { files } from './files.ts'
import { firewall } from './firewall.ts'
import { endpoints, networks, policies } from './hns.ts'
import type { Operation } from './operation.ts'
import { ports } from './ports.ts'
import { processes } from './processes.ts'
import { routes } from './routes.ts'
import { services } from './services.ts'
import { system } from './system.ts'

/** All that is ever asked of a Windows host. The script knows these and no others, which a test holds against it. */
export const table = {
  services,
  networks,
  endpoints,
  policies,
  adapters,
  routes,
  ports,
  firewall,
  environment,
  processes,
  files,
  system,
}
export type Table = typeof table

export const allOperations: readonly Operation[] = Object.values(table).flatMap((part) =>
  Object.values<Operation>(part),
)
