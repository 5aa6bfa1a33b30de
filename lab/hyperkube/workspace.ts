import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { buildExecutable, compressExecutable } from '../../scripts/executable.ts'
import { currentTarget } from '../../scripts/executable/runtime.ts'
import { fileExists } from '../../src/kit/files.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import type { SetupContext } from '../cluster/contender.ts'
import { buildClusterDocument } from './cluster-document.ts'
import { writeKnownHosts } from './known-hosts.ts'

/** A directory with a cluster.yml, in which an operator runs the shipped executable. */
export interface Workspace {
  readonly directory: string
  runHyperkube(...args: readonly string[]): Promise<CommandResult>
}

/**
 * Creates the workspace of one contender of the benchmark for one set of hosts. The signal aborts commands
 * that run in the workspace.
 */
export function createWorkspace(context: SetupContext, contender: string, signal?: AbortSignal): Workspace {
  const addresses = context.clusterHosts.controlPlanes.map(({ address }) => address)
  const directory = join(context.directory, contender, addresses.join('-'))
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
  return {
    directory,
    runHyperkube: async (...args) =>
      runProgram([findExecutable(context), ...args, '-f', join(directory, 'cluster.yml')], {
        env,
        ...(signal === undefined ? {} : { signal }),
      }),
  }
}

/**
 * Writes the files that an operator has before the time measurement starts: cluster.yml with the hosts, and
 * cluster.lock.
 */
export async function prepareWorkspace(context: SetupContext, workspace: Workspace): Promise<void> {
  // Deletes the files of a previous run, whose hosts had the same addresses but other keys.
  await rm(workspace.directory, { recursive: true, force: true })
  await mkdir(workspace.directory, { recursive: true })
  if (!(await fileExists(findExecutable(context))))
    await compressExecutable(await buildExecutable(currentTarget(), context.directory))
  const { controlPlanes, workers } = context.clusterHosts
  const kubernetes = context.versions.kubernetes.replace(/^v/, '')
  const document = buildClusterDocument(kubernetes, context.mirror, [...controlPlanes, ...workers], {
    addons: context.addons,
    // Lab hosts have no name servers to which CoreDNS could forward.
    forward: [],
  })
  await writeFile(join(workspace.directory, 'cluster.yml'), stringify(document))
  await writeKnownHosts(workspace.directory, [...controlPlanes, ...workers])
  await workspace.runHyperkube('lock')
}

function findExecutable({ directory }: SetupContext): string {
  return join(directory, `hyperkube-${currentTarget()}`)
}
