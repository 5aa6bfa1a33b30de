import { dirname, join } from 'node:path'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { LinuxHost } from '../host/host.ts'
import { downloadFile, partial } from './download.ts'
import { pendingDirectory, pendingRoot } from './pending.ts'
import { pathsOf, plannedPaths } from './paths.ts'
import { isOwnBusiness } from './strays.ts'

/** Takes away what runs before this one have left unfinished, but for what this one can go on with. */
export async function sweep(host: LinuxHost, ledger: Ledger, plan: NodePlan): Promise<void> {
  const { files, layout } = host
  const paths = [...plannedPaths(plan), ...ledger.things.flatMap(pathsOf), layout.current]
  const more = [layout.state, layout.units, dirname(layout.modules), dirname(layout.sysctls)]
  const wanted = new Set([...downloadsOf(plan), ...pendingOf(host, plan)])
  for (const directory of new Set([...paths.map((path) => dirname(path)), ...more])) {
    for (const { name } of (await files.list(directory)) ?? []) {
      const path = join(directory, name)
      if (isOwnBusiness(name) && !wanted.has(path)) await files.removeTree(path)
    }
  }
  for (const { name } of (await files.list(pendingRoot(host))) ?? []) {
    const path = join(pendingRoot(host), name)
    if (!wanted.has(path)) await files.removeTree(path)
  }
}

function downloadsOf({ components }: NodePlan): string[] {
  return components
    .flatMap(({ artifacts }) => artifacts)
    .flatMap((artifact) =>
      artifact.from === 'url' ? [downloadFile(artifact), downloadFile(artifact, partial)] : [],
    )
}

function pendingOf(host: LinuxHost, { components }: NodePlan): string[] {
  return components
    .flatMap(({ certificates }) => certificates)
    .map((certificate) => pendingDirectory(host, certificate))
}
