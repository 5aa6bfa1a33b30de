import packageFile from '../../../package.json' with { type: 'json' }
import { HyperkubeError } from '../../kit/errors.ts'
import { quoteShellIfNeeded } from '../../kit/text.ts'
import type { ClusterViewName, Overview, ViewRequest } from '../../ui/views.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import type { CommandContext, LeafCommand } from '../command/command.ts'
import { completeHint } from '../command/complete-commands.ts'
import type { PlanApplier } from './plan-applier.ts'
import { readCommandDocument } from './read-document.ts'
import { readLogsView } from './read-logs-view.ts'
import { readPlanView } from './read-plan-view.ts'
import { readRunView } from './read-run-view.ts'
import type { ShownClusters } from './shown-clusters.ts'

/**
 * Commands whose documents the views show, by view. The plan has its own code, because it must install no
 * agents.
 */
export type ViewCommands = Readonly<Record<Exclude<ClusterViewName, 'plan'> | 'fleet', LeafCommand>>

/** Returns the files of a shown cluster. Paths of files never come from a request. */
export function findClusterFiles(
  files: ClusterFiles,
  { fleet, clusters }: ShownClusters,
  name: string,
): ClusterFiles {
  const cluster = clusters.find((one) => one.name === name)
  if (cluster === undefined)
    throw new HyperkubeError('UI_CLUSTER_UNKNOWN', `this interface does not show the cluster ${name}`, {
      hint: 'if fleet.yml has changed, start again: hyperkube ui',
    })
  // A key belongs to one cluster, so clusters of a fleet use the default locations of their keys.
  return fleet === undefined ? { ...files, file: cluster.file } : { file: cluster.file }
}

/** Returns a function that reads views of the shown clusters. The applier keeps shown plans. */
export function createViewReader(
  context: CommandContext,
  files: ClusterFiles,
  shown: ShownClusters,
  commands: ViewCommands,
  applier?: PlanApplier,
): (request: ViewRequest) => Promise<unknown> {
  const { fleet, clusters } = shown
  const findFiles = (name: string): ClusterFiles => findClusterFiles(files, shown, name)
  const overview: Overview = {
    version: packageFile.version,
    ...(applier === undefined ? {} : { allowsChanges: true }),
    ...(fleet === undefined ? {} : { fleet }),
    // The browser only puts the path into commands.
    clusters: clusters.map(({ name, file }) => ({ name, file: quoteShellIfNeeded(file) })),
  }
  return async (request) => {
    switch (request.view) {
      case 'overview':
        return overview
      case 'fleet':
        return readCommandDocument(context, commands.fleet, files)
      case 'plan': {
        const own = findFiles(request.cluster)
        return completeHints(own.file, async () => readPlanView(context, own, applier))
      }
      case 'run': {
        const own = findFiles(request.cluster)
        return completeHints(own.file, async () => readRunView(context, commands.run, own, request.run))
      }
      case 'logs': {
        const own = findFiles(request.cluster)
        return completeHints(own.file, async () => readLogsView(context, commands.logs, own, request.search))
      }
      default: {
        const { view } = request
        const own = findFiles(request.cluster)
        return completeHints(own.file, async () => readCommandDocument(context, commands[view], own))
      }
    }
  }
}

/** Adds --file to the suggested commands of a document or an error, because an operator copies them. */
async function completeHints(file: string, read: () => Promise<unknown>): Promise<unknown> {
  try {
    const text = JSON.stringify(await read(), (name, value: unknown) =>
      (name === 'hint' || name === 'command') && typeof value === 'string'
        ? completeHint(value, file)
        : value,
    )
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof HyperkubeError) || error.hint === undefined) throw error
    const { code, message, host, component, cause } = error
    throw new HyperkubeError(code, message, {
      ...(host === undefined ? {} : { host }),
      ...(component === undefined ? {} : { component }),
      hint: completeHint(error.hint, file),
      cause,
    })
  }
}
