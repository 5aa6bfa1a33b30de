import type { LedgerResource } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'

/** Lists the paths that a plan writes. */
export function listPlannedPaths({ components }: NodePlan): string[] {
  return components.flatMap(({ directories, files, derivedFiles, certificates, artifacts }) => [
    ...[...directories, ...files, ...derivedFiles].map(({ path }) => path),
    ...certificates.flatMap(({ certificateFile, keyFile }) => [certificateFile, keyFile]),
    ...artifacts.map(({ directory }) => directory),
  ])
}

/** Lists the paths that a resource of the ledger occupies. */
export function listResourcePaths(resource: LedgerResource): string[] {
  switch (resource.target) {
    case 'directory':
    case 'file':
    case 'derived-file':
      return [resource.name, ...resource.parents]
    case 'certificate':
      return [resource.name, resource.keyFile]
    case 'artifact':
      return [resource.directory]
    default:
      return []
  }
}
