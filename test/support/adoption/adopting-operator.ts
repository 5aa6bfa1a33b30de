import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import type { Event } from '../../../src/contract/event.ts'
import type { Identity } from '../../../src/identity/identity.ts'
import { privateFiles } from '../../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../../src/identity/store.ts'
import { type CommandResult, runProgram } from '../../../src/kit/command.ts'
import { type EventCommand, startEventCommand } from '../event-command.ts'

/** An operator with the hyperkube executable, in a directory that has no files of a cluster yet. */
export interface AdoptingOperator {
  /** Directory of the operator. */
  readonly directory: string
  readonly path: (name: string) => string
  readonly hyperkube: (...args: readonly string[]) => Promise<CommandResult>
  /** Starts a command on the cluster with JSON progress and calls `onEvent` for each event. */
  readonly startWithEvents: (onEvent: (event: Event) => void, ...args: readonly string[]) => EventCommand
  /** Lets the written cluster.yml use the mirror of the lab, and writes its lock. */
  readonly lock: () => Promise<CommandResult>
  /** Reads the identity that `adopt` wrote. */
  readonly identity: () => Promise<Identity>
}

export interface AdoptingOperatorOptions {
  readonly directory: string
  /** Path of the hyperkube executable. */
  readonly executable: string
  /** Address of the mirror. */
  readonly mirror: string
  /** Name of the cluster in the cluster.yml that `adopt` writes. */
  readonly clusterName: string
}

export function createAdoptingOperator({
  directory,
  executable,
  mirror,
  clusterName,
}: AdoptingOperatorOptions): AdoptingOperator {
  const path = (file: string): string => join(directory, file)
  const file = path('cluster.yml')
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
  const hyperkube: AdoptingOperator['hyperkube'] = async (...args) =>
    runProgram([executable, ...args], { env, allowFailure: true })
  return {
    directory,
    path,
    hyperkube,
    startWithEvents: (onEvent, ...args) =>
      startEventCommand([executable, ...args, '-f', file, '--progress', 'json'], env, onEvent),
    async lock() {
      const document = parseDocument(await readFile(file, 'utf8'))
      document.setIn(['spec', 'artifacts'], { mirror, digests: 'mirror' })
      document.setIn(
        ['spec', 'registries'],
        ['registry.k8s.io', 'docker.io'].map((host) => ({ host, mirrors: [mirror] })),
      )
      await writeFile(file, document.toString())
      return hyperkube('lock', '-f', file)
    },
    async identity() {
      const key = await readKeyFile(privateFiles(), path(`hyperkube/keys/${clusterName}.key`))
      return readIdentity(privateFiles(), path('cluster.identity'), key)
    },
  }
}
