import { dirname, join } from '../host/host-path.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { isLocked } from '../host/files.ts'
import type { Host } from '../host/host.ts'
import { downloadFiles } from './download.ts'
import { pendingDirectory, pendingRoot } from './pending-certificate-store.ts'
import { pathsOf, plannedPaths } from './resource-paths.ts'
import { isOwnBusiness } from './orphans.ts'

/** Takes away what runs before this one have left unfinished, but for what this one can go on with. */
export async function sweep(host: Host, ledger: Ledger, plan: NodePlan): Promise<void> {
  const { files, layout } = host
  const { current, swept } = layout
  const own = current === undefined ? [] : [current]
  const paths = [...plannedPaths(plan), ...ledger.things.flatMap(pathsOf), ...own]
  const more = [layout.state, ...swept]
  const wanted = new Set([...downloadsOf(plan), ...pendingOf(host, plan)])
  for (const directory of new Set([...paths.map((path) => dirname(path)), ...more])) {
    for (const { name } of (await files.list(directory)) ?? []) {
      const path = join(directory, name)
      if (isOwnBusiness(name) && !wanted.has(path)) await discard(host, path)
    }
  }
  for (const { name } of (await files.list(pendingRoot(host))) ?? []) {
    const path = join(pendingRoot(host), name)
    if (!wanted.has(path)) await files.removeTree(path)
  }
}

/** What a program still runs from can wait until it has ended. */
async function discard({ files, os }: Host, path: string): Promise<void> {
  await files.removeTree(path).catch((error: unknown) => {
    if (os === 'linux' || !isLocked(error)) throw error
  })
}

function downloadsOf({ components }: NodePlan): string[] {
  return components
    .flatMap(({ artifacts }) => artifacts)
    .flatMap((artifact) => (artifact.from === 'url' ? downloadFiles(artifact) : []))
}

function pendingOf(host: Host, { components }: NodePlan): string[] {
  return components
    .flatMap(({ certificates }) => certificates)
    .map((certificate) => pendingDirectory(host, certificate))
}
