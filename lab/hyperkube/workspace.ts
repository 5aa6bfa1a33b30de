import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import { type CommandResult, run } from '../../src/kit/command.ts'
import { exists } from '../../src/kit/files.ts'
import type { Ground } from '../cluster/contender.ts'
import { clusterDocument } from './cluster-document.ts'

/** Where a person sits with the shipped executable and a cluster.yml. */
export interface Desk {
  readonly directory: string
  type(...words: readonly string[]): Promise<CommandResult>
}

/** Of one contender: another set of hosts is another cluster. What is typed ends with the signal. */
export function deskOf(ground: Ground, contender: string, signal?: AbortSignal): Desk {
  const addresses = ground.cast.controlPlanes.map(({ address }) => address)
  const directory = join(ground.directory, contender, addresses.join('-'))
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
  return {
    directory,
    type: async (...words) =>
      run([programOf(ground), ...words, '-f', join(directory, 'cluster.yml')], {
        env,
        ...(signal === undefined ? {} : { signal }),
      }),
  }
}

/** Puts there what a person has before the clock starts: a cluster.yml of the hosts, and its lock. */
export async function layDesk(ground: Ground, desk: Desk): Promise<void> {
  // The hosts of a former run had the same addresses and other keys.
  await rm(desk.directory, { recursive: true, force: true })
  await mkdir(desk.directory, { recursive: true })
  if (!(await exists(programOf(ground)))) await buildExecutable(ownTarget(), ground.directory)
  const { controlPlanes, workers } = ground.cast
  const kubernetes = ground.versions.kubernetes.replace(/^v/, '')
  const document = clusterDocument(kubernetes, ground.mirror, [...controlPlanes, ...workers], {
    addons: ground.addons,
    // As hosts of a lab do: then nobody has to ask them.
    forward: [],
  })
  await writeFile(join(desk.directory, 'cluster.yml'), stringify(document))
  await desk.type('lock')
}

function programOf({ directory }: Ground): string {
  return join(directory, `hyperkube-${ownTarget()}`)
}
