import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { type Document, parseDocument, stringify } from 'yaml'
import { selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Machine } from '../../lab/hosts/machine.ts'
import type { MirrorAccess } from '../../lab/mirror/server.ts'
import { buildClusterDocument, type ClusterDocumentOptions } from '../../lab/hyperkube/cluster-document.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import type { Event } from '../../src/contract/event.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { privateFiles } from '../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../src/identity/store.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { type PlanDocument, planFormat } from '../../src/lifecycle/proposal/plan-approval.ts'
import { type EventCommand, startEventCommand } from './event-command.ts'
import { openLabMirror } from './lab-mirror.ts'

/** Commands of one hyperkube program on the files of an operator. */
interface OperatorCommands {
  readonly hyperkube: (...args: readonly string[]) => Promise<CommandResult>
  /** Runs a command. Fails unless it exits with this code. */
  readonly must: (code: number, ...args: readonly string[]) => Promise<CommandResult>
  /** Starts a command that can be interrupted. */
  start(...args: readonly string[]): EventCommand
  /** Starts a command with JSON progress and calls `onEvent` for each event. */
  startWithEvents(onEvent: (event: Event) => void, ...args: readonly string[]): EventCommand
  /** Starts `up` and calls `onEvent` for each event. */
  startUp(onEvent: (event: Event) => void, ...args: readonly string[]): EventCommand
  /** Runs `plan`, which must find changes, and stores the plan in `planFile`. */
  plan(): Promise<PlanDocument>
}

/**
 * An operator with an executable, cluster.yml, identity and lock file. Hosts do not change before a test runs
 * a command.
 */
export interface Operator extends OperatorCommands {
  readonly hosts: readonly Machine[]
  /** Directory of cluster.yml and its companion files. */
  readonly directory: string
  /** Returns the same operator with another hyperkube program. */
  withProgram(program: string): Operator
  readonly planFile: string
  /** Changes cluster.yml. */
  readonly edit: (change: (document: Document) => void) => Promise<void>
  /** Reads the identity, including the host keys recorded so far. */
  readonly identity: () => Promise<Identity>
  close(): Promise<void>
}

export interface OperatorOptions extends ClusterDocumentOptions {
  /** The hyperkube program. Default: the executable that was built for this test run. */
  readonly program?: string
  /** Upstream components (parts) that the mirror serves in addition to the default ones. */
  readonly parts?: readonly string[]
  /** Directory with files that the mirror serves instead of its own. */
  readonly overrides?: string
  /** Address, TLS and login of the mirror. */
  readonly mirror?: MirrorAccess & { readonly address?: string }
  /** Called after `init` and before `lock`, to complete cluster.yml and the identity. */
  readonly beforeLock?: (operator: Pick<Operator, 'directory' | 'must' | 'edit'>) => Promise<void>
}

export async function createOperator(
  lab: Lab,
  hosts: readonly Machine[],
  kubernetes: string,
  options: OperatorOptions = {},
): Promise<Operator> {
  const { program = inject('executable'), parts = [], overrides, mirror: access = {}, beforeLock } = options
  const mirror = await openLabMirror(lab, {
    parts: [...(parts.length === 0 ? [] : selectParts(parts)), ...selectParts()],
    ...(overrides === undefined ? {} : { overrides }),
    ...access,
  })
  const directory = await mkdtemp(join(tmpdir(), 'up-'))
  const file = join(directory, 'cluster.yml')
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory, HYPERKUBE_FILE: file }
  const close = async (): Promise<void> => {
    await mirror.close()
    await rm(directory, { recursive: true, force: true })
  }
  const planFile = join(directory, 'cluster.plan')
  try {
    const { must } = buildCommands(program, env, planFile)
    await writeFile(file, stringify(buildClusterDocument(kubernetes, mirror.address, hosts, options)))
    // The file contains all hosts of the lab, because tests may add hosts to the cluster later.
    await writeKnownHosts(directory, [...hosts, ...(await lab.hosts())])
    const edit: Operator['edit'] = async (change) => {
      const document = parseDocument(await readFile(file, 'utf8'))
      change(document)
      await writeFile(file, document.toString())
    }
    await must(0, 'init')
    await beforeLock?.({ directory, must, edit })
    await must(0, 'lock')
    const withProgram: Operator['withProgram'] = (other) => ({
      ...buildCommands(other, env, planFile),
      ...{ hosts, directory, withProgram, planFile, edit, close },
      async identity() {
        const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/lab.key'))
        return readIdentity(privateFiles(), join(directory, 'cluster.identity'), key)
      },
    })
    return withProgram(program)
  } catch (error) {
    await close()
    throw error
  }
}

function buildCommands(
  program: string,
  env: Readonly<Record<string, string>>,
  planFile: string,
): OperatorCommands {
  const hyperkube: Operator['hyperkube'] = async (...args) =>
    runProgram([program, ...args], { env, allowFailure: true })
  const must: Operator['must'] = async (code, ...args) => {
    const result = await hyperkube(...args)
    if (result.code === code) return result
    throw new Error(`${args.join(' ')} ended with ${result.code}: ${result.stderr}${result.stdout}`)
  }
  return {
    hyperkube,
    must,
    start: (...args) => startEventCommand([program, ...args], env, () => undefined),
    startWithEvents: (onEvent, ...args) =>
      startEventCommand([program, ...args, '--progress', 'json'], env, onEvent),
    startUp: (onEvent, ...args) =>
      startEventCommand([program, 'up', '--yes', '--progress', 'json', ...args], env, onEvent),
    async plan() {
      await must(3, 'plan', '--out', planFile)
      return readVersioned(planFormat, JSON.parse(await readFile(planFile, 'utf8')))
    },
  }
}
