import type { LedgerThing } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'

/** Where on the disk a plan puts something. */
export function plannedPaths({ components }: NodePlan): string[] {
  return components.flatMap(({ directories, files, derivedFiles, certificates, artifacts }) => [
    ...[...directories, ...files, ...derivedFiles].map(({ path }) => path),
    ...certificates.flatMap(({ certificateFile, keyFile }) => [certificateFile, keyFile]),
    ...artifacts.map(({ directory }) => directory),
  ])
}

/** Where on the disk a thing is. */
export function pathsOf(thing: LedgerThing): string[] {
  switch (thing.target) {
    case 'directory':
    case 'file':
    case 'derived-file':
      return [thing.name, ...thing.parents]
    case 'certificate':
      return [thing.name, thing.keyFile]
    case 'artifact':
      return [thing.directory]
    default:
      return []
  }
}
